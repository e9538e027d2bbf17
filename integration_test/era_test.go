package integration_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestErasOnOnePipe(t *testing.T) {
	t.Run("discover, then initialize", func(t *testing.T) {
		s := start(t)
		s.send(modern(`"d"`, "server/discover", ""))
		got := decode[struct{ SupportedVersions []string }](t, s.result(`"d"`)).SupportedVersions
		if diff := cmp.Diff([]string{stateless}, got); diff != "" {
			t.Errorf("supported versions (-want +got):\n%s", diff)
		}
		s.handshake(newest)
		s.send(request("1", "tools/list", ""))
		s.result("1")
	})
	t.Run("initialize after other requests", func(t *testing.T) {
		s := start(t)
		s.send(modern("1", "tools/list", ""), modern("2", "tools/call", `"name":"noargs"`))
		s.result("1")
		s.result("2")
		s.handshake("2025-06-18")
		s.send(call("3", "noargs", `{}`))
		s.result("3")
	})
	t.Run("message by message", func(t *testing.T) {
		s := start(t)
		s.handshake("2025-03-26")
		for i := range 20 {
			s.send(inVersion([]string{stateless, "2025-03-26"}[i%2], fmt.Sprint(i), "tools/list", ""))
		}
		for i := range 20 {
			s.result(fmt.Sprint(i)) // each is judged by the schema of its era
		}
	})
	t.Run("twice", func(t *testing.T) {
		s := start(t)
		s.handshake(newest)
		s.send(strings.Replace(initialize("2024-11-05"), `"i"`, `"j"`, 1))
		if got := s.refusal(`"j"`).Code; got != protocol.CodeInvalidRequest {
			t.Errorf("the second initialize was refused with %d, want %d", got, protocol.CodeInvalidRequest)
		}
	})
	t.Run("no handshake", func(t *testing.T) {
		s := start(t)
		s.send(request("1", "tools/list", ""), request("2", "no/such", ""))
		for _, id := range []string{"1", "2"} {
			e := s.refusal(id)
			if e.Code != protocol.CodeInvalidRequest || !strings.Contains(e.Message, newest) || !strings.Contains(e.Message, stateless) {
				t.Errorf("refused with %d %q, want %d and the versions that are served", e.Code, e.Message, protocol.CodeInvalidRequest)
			}
		}
	})
}

// What a claim of the stateless era must have, in the order in which it is
// checked.
func TestClaims(t *testing.T) {
	const (
		version      = `"io.modelcontextprotocol/protocolVersion":`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":`
		client       = `"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}`
		level        = `"io.modelcontextprotocol/logLevel":`
	)
	tests := []struct {
		name, method, meta string
		want               int // 0 for a result
	}{
		{"all there is", "tools/list", version + `"2026-07-28",` + capabilities + `{},` + client, 0},
		{"no client info", "tools/list", version + `"2026-07-28",` + capabilities + `{}`, 0},
		{"no version", "tools/list", capabilities + `{}`, protocol.CodeInvalidParams},
		{"a version that is no string", "tools/list", version + `20260728,` + capabilities + `{}`, protocol.CodeInvalidParams},
		{"a null version", "tools/list", version + `null,` + capabilities + `{}`, protocol.CodeInvalidParams},
		{"no capabilities", "tools/list", version + `"2026-07-28"`, protocol.CodeInvalidParams},
		{"capabilities that are no object", "tools/list", version + `"2026-07-28",` + capabilities + `[]`, protocol.CodeInvalidParams},
		{"client info only", "tools/list", client, protocol.CodeInvalidParams},
		{"an unknown version", "tools/list", version + `"2031-01-01",` + capabilities + `{}`, protocol.CodeUnsupportedVersion},
		{"a version with a handshake", "tools/list", version + `"2025-11-25",` + capabilities + `{}`, protocol.CodeUnsupportedVersion},
		{"an unknown version before the method", "no/such", version + `"2031-01-01",` + capabilities + `{}`, protocol.CodeUnsupportedVersion},
		{"missing metadata before the version", "no/such", version + `"2031-01-01"`, protocol.CodeInvalidParams},
		{"an unknown method", "no/such", version + `"2026-07-28",` + capabilities + `{}`, protocol.CodeMethodNotFound},
		{"an unknown log level", "tools/list", version + `"2026-07-28",` + capabilities + `{},` + level + `"loud"`, protocol.CodeInvalidParams},
		{"discover without metadata", "server/discover", ``, protocol.CodeInvalidParams},
	}
	for _, handshake := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, handshake %v", tt.name, handshake), func(t *testing.T) {
				s := start(t)
				if handshake {
					s.handshake(newest)
				}
				s.send(request("1", tt.method, `"_meta":{`+tt.meta+`}`))
				if tt.want == 0 {
					s.result("1")
					return
				}
				e := s.refusal("1")
				if e.Code != tt.want {
					t.Errorf("refused with %d %s, want %d", e.Code, e.Message, tt.want)
				}
				if e.Code != protocol.CodeUnsupportedVersion {
					return
				}
				got := decode[struct {
					Supported []string
					Requested string
				}](t, e.Data)
				if !slices.Equal(got.Supported, []string{stateless}) || !strings.Contains(tt.meta, `"`+got.Requested+`"`) {
					t.Errorf("the data of the refusal is %s", e.Data)
				}
			})
		}
	}
}

// methods lists every method with params that it accepts and whether it is part
// of the handshake era, of the stateless one, or of both.
func methods() []struct {
	name, params         string
	handshake, stateless bool
} {
	return []struct {
		name, params         string
		handshake, stateless bool
	}{
		{"ping", ``, true, false},
		{"server/discover", ``, false, true},
		{"tools/list", ``, true, true},
		{"tools/call", `"name":"noargs"`, true, true},
		{"resources/list", ``, true, true},
		{"resources/templates/list", ``, true, true},
		{"resources/read", `"uri":"test://static-text"`, true, true},
		{"resources/subscribe", `"uri":"test://watched-resource"`, true, false},
		{"resources/unsubscribe", `"uri":"test://watched-resource"`, true, false},
		{"prompts/list", ``, true, true},
		{"prompts/get", `"name":"hello","arguments":{"name":"x"}`, true, true},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"test://template/{id}/data"},"argument":{"name":"id","value":"1"}`, true, true},
		{"logging/setLevel", `"level":"warning"`, true, false},
		{"tasks/list", ``, false, false},
		{"roots/list", ``, false, false},
		{"sampling/createMessage", ``, false, false},
		{"elicitation/create", ``, false, false},
		{"tools", ``, false, false},
		{"", ``, false, false},
	}
}

func TestMethodsOfEachVersion(t *testing.T) {
	for _, version := range versions() {
		v := protocol.ParseVersion(version)
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			for i, m := range methods() {
				id := fmt.Sprint(i)
				s.send(inVersion(version, id, m.name, m.params))
				if v.Stateless() && m.stateless || !v.Stateless() && m.handshake {
					s.result(id)
					continue
				}
				want := protocol.CodeMethodNotFound
				if m.name == "server/discover" {
					want = protocol.CodeInvalidParams // which is a claim, and a broken one
				}
				if got := s.refusal(id).Code; got != want {
					t.Errorf("%s was refused with %d, want %d", m.name, got, want)
				}
			}
			if !v.Stateless() {
				s.send(request(`"listen"`, "subscriptions/listen", `"notifications":{}`))
				if got := s.refusal(`"listen"`).Code; got != protocol.CodeMethodNotFound {
					t.Errorf("listen was refused with %d, want %d", got, protocol.CodeMethodNotFound)
				}
				return
			}
			s.send(strings.Replace(initialize(newest), `"params":{`, `"params":{`+meta+`,`, 1))
			if got := s.refusal(`"i"`).Code; got != protocol.CodeMethodNotFound {
				t.Errorf("initialize with a claim was refused with %d, want %d", got, protocol.CodeMethodNotFound)
			}
		})
	}
}

func TestHandshakeNeedsItsParams(t *testing.T) {
	tests := []struct{ name, params string }{
		{"nothing", ``},
		{"no version", `"capabilities":{},"clientInfo":{"name":"t","version":"0"}`},
		{"a version that is no string", `"protocolVersion":1,"capabilities":{},"clientInfo":{"name":"t","version":"0"}`},
		{"no capabilities", `"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"0"}`},
		{"no client", `"protocolVersion":"2025-11-25","capabilities":{}`},
		{"a client without version", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.send(request("1", "initialize", tt.params))
			if got := s.refusal("1").Code; got != protocol.CodeInvalidParams {
				t.Errorf("refused with %d, want %d", got, protocol.CodeInvalidParams)
			}
			s.handshake(newest) // a refused handshake is none
		})
	}
}

func TestCachingHints(t *testing.T) {
	s := start(t)
	tests := []struct {
		method, params string
		ttl            int // -1 for none
		scope          string
	}{
		{"server/discover", ``, 60000, "public"},
		{"tools/list", ``, 60000, "public"},
		{"resources/list", ``, 60000, "public"},
		{"resources/templates/list", ``, 60000, "public"},
		{"prompts/list", ``, 60000, "public"},
		{"resources/read", `"uri":"test://static-text"`, 0, "private"},
		{"tools/call", `"name":"noargs"`, -1, ""},
		{"prompts/get", `"name":"test_simple_prompt"`, -1, ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"name","value":""}`, -1, ""},
	}
	for i, tt := range tests {
		id := fmt.Sprint(i)
		s.send(modern(id, tt.method, tt.params))
		r := decode[struct {
			ResultType, CacheScope string
			TTLMs                  *int
		}](t, s.result(id))
		ttl := -1
		if r.TTLMs != nil {
			ttl = *r.TTLMs
		}
		if ttl != tt.ttl || r.CacheScope != tt.scope || r.ResultType != "complete" {
			t.Errorf("%s: ttlMs %d, cacheScope %q, resultType %q; want %d, %q, complete", tt.method, ttl, r.CacheScope, r.ResultType, tt.ttl, tt.scope)
		}
	}
}

func TestLogLevels(t *testing.T) {
	t.Run("handshake", func(t *testing.T) {
		s := startIn(t, newest)
		s.send(call("1", "test_logging_tool", `{}`)) // at info, which is where a session begins
		s.result("1")
		s.send(request("2", "logging/setLevel", `"level":"warning"`), request("3", "logging/setLevel", `"level":"loud"`))
		if got := string(s.result("2")); got != "{}" {
			t.Errorf("setLevel was answered with %s, want {}", got)
		}
		if got := s.refusal("3").Code; got != protocol.CodeInvalidParams {
			t.Errorf("an unknown level was refused with %d, want %d", got, protocol.CodeInvalidParams)
		}
		s.send(call("4", "test_logging_tool", `{}`))
		s.result("4")
		s.send(request("5", "logging/setLevel", `"level":"debug"`))
		s.result("5")
		s.send(call("6", "test_logging_tool", `{}`))
		s.result("6")
		logs := s.notifications("notifications/message")
		if len(logs) != 2 {
			t.Fatalf("%d log messages came, want 2", len(logs))
		}
		if want := `{"level":"info","logger":"everything","data":"a log message"}`; string(logs[0].params) != want {
			t.Errorf("the log message is %s, want %s", logs[0].params, want)
		}
	})
	for level, want := range map[string]int{"": 0, "debug": 1, "info": 1, "notice": 0, "emergency": 0} {
		t.Run("stateless "+level, func(t *testing.T) {
			s := start(t)
			params := `"name":"test_logging_tool"`
			in := modern("1", "tools/call", params)
			if level != "" {
				in = strings.Replace(in, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"`+level+`",`, 1)
			}
			s.send(in)
			s.result("1")
			if got := len(s.notifications("notifications/message")); got != want {
				t.Errorf("%d log messages came, want %d", got, want)
			}
		})
	}
	t.Run("setLevel says nothing for the stateless era", func(t *testing.T) {
		s := startIn(t, newest)
		s.send(request("1", "logging/setLevel", `"level":"debug"`))
		s.result("1")
		s.send(modern("2", "tools/call", `"name":"test_logging_tool"`))
		s.result("2")
		if got := s.notifications("notifications/message"); len(got) > 0 {
			t.Errorf("a log message came that nobody asked for: %s", got[0].raw)
		}
	})
}

func TestSubscriptionsOfTheHandshakeEra(t *testing.T) {
	for _, version := range protocol.HandshakeVersions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			s.send(request("1", "resources/subscribe", `"uri":"test://watched-resource"`),
				request("2", "resources/subscribe", `"uri":"test://nothing-here"`),
				request("3", "resources/unsubscribe", `"uri":"test://static-text"`),
				request("4", "resources/subscribe", ``))
			if got := string(s.result("1")); got != "{}" {
				t.Errorf("subscribe was answered with %s, want {}", got)
			}
			if got := s.refusal("2").Code; got != protocol.CodeResourceNotFound {
				t.Errorf("a resource that is not there was refused with %d, want %d", got, protocol.CodeResourceNotFound)
			}
			s.result("3")
			if got := s.refusal("4").Code; got != protocol.CodeInvalidParams {
				t.Errorf("subscribe without a URI was refused with %d, want %d", got, protocol.CodeInvalidParams)
			}
			s.send(call("5", "test_trigger_resource_update", `{}`))
			if got, want := string(s.notification("notifications/resources/updated", 1).params), `{"uri":"test://watched-resource"}`; got != want {
				t.Errorf("the update has the params %s, want %s", got, want)
			}
			s.send(request("6", "resources/unsubscribe", `"uri":"test://watched-resource"`))
			s.result("6")
			s.send(call("7", "test_trigger_resource_update", `{}`), call("8", "test_trigger_tool_change", `{}`), call("9", "test_trigger_prompt_change", `{}`))
			s.notification("notifications/tools/list_changed", 1)
			s.notification("notifications/prompts/list_changed", 1)
			if got := s.notifications("notifications/resources/updated"); len(got) != 1 {
				t.Errorf("%d updates came, want the one before unsubscribe", len(got))
			}
		})
	}
}

// Many changes at once are announced once, and none before the handshake is
// over, which is checked for every line.
func TestChangesAreCoalesced(t *testing.T) {
	s := start(t)
	s.send(initialize(newest))
	s.result(`"i"`)
	s.send(call("0", "test_trigger_tool_change", `{}`))
	s.result("0")
	s.send(initialized)
	var lines []string
	for i := 1; i <= 200; i++ {
		lines = append(lines, call(fmt.Sprint(i), "test_trigger_tool_change", `{}`))
	}
	s.send(lines...)
	s.notification("notifications/tools/list_changed", 1)
	s.result("200")
	s.end()
	if n := len(s.notifications("notifications/tools/list_changed")); n > 10 {
		t.Errorf("200 changes were announced %d times", n)
	}
}

// Titles and icons are not in the fixtures; what a version does not know is
// refused by its schema, which is closed for that.
func TestServerInfoInEachVersion(t *testing.T) {
	for _, version := range protocol.HandshakeVersions() {
		s := start(t)
		s.send(initialize(version))
		r := decode[struct {
			ServerInfo   map[string]json.RawMessage
			Capabilities map[string]json.RawMessage
			Instructions string
		}](t, s.result(`"i"`))
		v := protocol.ParseVersion(version)
		if has := r.ServerInfo["title"] != nil; has != v.HasTitle() {
			t.Errorf("%s: the server has a title: %v", version, has)
		}
		if has := r.Capabilities["completions"] != nil; has != v.DeclaresCompletions() {
			t.Errorf("%s: completions are declared: %v", version, has)
		}
		if r.Instructions == "" {
			t.Errorf("%s: no instructions", version)
		}
	}
}
