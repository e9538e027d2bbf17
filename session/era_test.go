package session_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/session"
	"github.com/google/go-cmp/cmp"
)

func TestNegotiation(t *testing.T) {
	newest := protocol.LatestHandshake.String()
	tests := map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": newest, "2099-01-01": newest, "1.0.0": newest, "": newest,
	}
	for asked, want := range tests {
		t.Run(asked, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got struct {
					ProtocolVersion string
					Capabilities    map[string]json.RawMessage
				}
				if err := json.Unmarshal(fixture{}.connect(t).ask(initialize(asked)).Result, &got); err != nil {
					t.Fatal(err)
				}
				if got.ProtocolVersion != want {
					t.Errorf("negotiated %s, want %s", got.ProtocolVersion, want)
				}
				if has := got.Capabilities["completions"] != nil; has != protocol.ParseVersion(want).DeclaresCompletions() {
					t.Errorf("completions are declared: %v", has)
				}
			})
		})
	}
}

func TestClassification(t *testing.T) {
	const (
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		able    = `"io.modelcontextprotocol/clientCapabilities":{}`
	)
	tests := []struct {
		name, method, params string
		before, after        string // the outcome before a handshake, and after one
	}{
		{"ping", "ping", ``, "result", "result"},
		{"a list", "tools/list", ``, "-32600", "result"},
		{"an unknown method", "no/such", ``, "-32600", "-32601"},
		{"a method of the other era", "subscriptions/listen", ``, "-32600", "-32601"},
		{"a claim", "tools/list", meta, "result", "result"},
		{"a claim of ping", "ping", meta, "-32601", "-32601"},
		{"a claim of initialize", "initialize", meta, "-32601", "-32601"},
		{"a claim of an unknown method", "no/such", meta, "-32601", "-32601"},
		{"discover", "server/discover", meta, "result", "result"},
		{"discover without a claim", "server/discover", ``, "-32602", "-32602"},
		{"half a claim", "tools/list", `"_meta":{` + version + `}`, "-32602", "-32602"},
		{"the other half", "tools/list", `"_meta":{` + able + `}`, "-32602", "-32602"},
		{"a version with a handshake", "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",` + able + `}`, "-32022", "-32022"},
		{"metadata that is no object", "tools/list", `"_meta":7`, "-32602", "-32602"},
		{"other metadata", "tools/list", `"_meta":{"a":1,"io.modelcontextprotocol/logLevel":"debug"}`, "-32600", "result"},
		{"a token that is none", "tools/list", `"_meta":{"progressToken":[]}`, "-32602", "-32602"},
		{"a key in another case", "tools/list", `"_meta":{"IO.modelcontextprotocol/protocolVersion":"2026-07-28"}`, "-32600", "result"},
		{"a key with an escape", "tools/list", `"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28",` + able + `}`, "result", "result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fixture{}.connect(t)
				before := p.ask(request("1", tt.method, tt.params)).outcome()
				p.handshake("2025-11-25")
				after := p.ask(request("2", tt.method, tt.params)).outcome()
				if before != tt.before || after != tt.after {
					t.Errorf("before the handshake %s, after it %s; want %s, %s", before, after, tt.before, tt.after)
				}
			})
		})
	}
}

func TestRefusalsAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{}.connect(t)
		p.handshake("2025-11-25")
		a := p.ask(request("1", strings.Repeat("é", 5000), ""))
		if len(a.Error.Message) > 200 || strings.ContainsRune(a.Error.Message, '\ufffd') {
			t.Errorf("the refusal repeats too much: %q", a.Error.Message)
		}
	})
}

// What the era demands of a result.
func TestEnvelopes(t *testing.T) {
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}`
	synctest.Test(t, func(t *testing.T) {
		p := fixture{}.connect(t)
		p.handshake("2025-11-25")
		tests := []struct{ in, want string }{
			{request("1", "ping", ""), `{}`},
			{request("1", "logging/setLevel", `"level":"error"`), `{}`},
			{request("1", "prompts/list", ""), `{"prompts":[]}`},
			{modern("1", "prompts/list", ""), `{"resultType":"complete","prompts":[],"ttlMs":60000,"cacheScope":"public",` + info + `}}`},
			{modern("1", "resources/read", `"uri":"test://a"`), `{"resultType":"complete","contents":[{"uri":"test://a","text":"x"}],"ttlMs":0,"cacheScope":"private",` + info + `}}`},
			{request("1", "resources/read", `"uri":"test://a"`), `{"contents":[{"uri":"test://a","text":"x"}]}`},
		}
		for _, tt := range tests {
			if diff := cmp.Diff(tt.want, string(p.ask(tt.in).Result)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.in, diff)
			}
		}
	})
}

func TestListTTL(t *testing.T) {
	for ttl, want := range map[time.Duration]string{0: `"ttlMs":60000`, -1: `"ttlMs":0`, 1500 * time.Millisecond: `"ttlMs":1500`} {
		synctest.Test(t, func(t *testing.T) {
			p := fixture{options: session.Options{ListTTL: ttl}}.connect(t)
			if got := string(p.ask(modern("1", "tools/list", "")).Result); !strings.Contains(got, want) {
				t.Errorf("%v: %s, want %s", ttl, got, want)
			}
		})
	}
}

// Without a hub nothing is announced, and nothing is promised.
func TestWithoutHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{noHub: true}.connect(t)
		got := string(p.ask(initialize("2025-11-25")).Result)
		if strings.Contains(got, "listChanged") || strings.Contains(got, "subscribe") {
			t.Errorf("promised: %s", got)
		}
		p.send(initialized)
		if got := p.ask(request("1", "resources/subscribe", `"uri":"test://a"`)).outcome(); got != "-32601" {
			t.Errorf("subscribe: %s, want -32601", got)
		}
		p.send(modern("2", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		if got := p.take(); len(got) != 1 || !strings.Contains(got[0], `"notifications":{}`) {
			t.Errorf("a listen for what is never announced: %s", got)
		}
	})
}
