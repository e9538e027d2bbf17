package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloudg.dev/cloudg/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestA21CancelledCallIsNotAnswered(t *testing.T) {
	for _, version := range []string{newest, stateless} {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			s.send(inVersion(version, "7", "tools/call", `"name":"sleep","arguments":{"ms":600000}`))
			s.saidTimes("sleep started", 1)
			cancelled := time.Now()
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"the user said so"}}`)
			s.saidTimes("sleep cancelled", 1)
			if took := time.Since(cancelled); took > 3*time.Second {
				t.Errorf("the work stopped after %v, want at once", took)
			}
			s.send(inVersion(version, "8", "tools/list", ""))
			s.result("8")
			if code := s.end(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if got := s.answers("7"); len(got) > 0 {
				t.Errorf("the cancelled request was answered: %s", got[0].raw)
			}
		})
	}
	t.Run("ids are matched by type", func(t *testing.T) {
		s := startIn(t, newest)
		s.send(call("7", "sleep", `{"ms":100}`),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`)
		s.result("7")
	})
	t.Run("initialize cannot be cancelled", func(t *testing.T) {
		s := start(t)
		s.send(initialize(newest), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i"}}`)
		s.result(`"i"`)
	})
}

// That no progress follows its answer is checked for every line: it would be for
// a token that no request in flight has.
func TestA24NoProgressAfterTheAnswer(t *testing.T) {
	s := startIn(t, newest)
	const calls, together = 1000, 500 // the server takes 1024 at one time
	for first := 0; first < calls; first += together {
		var lines []string
		for i := first; i < first+together; i++ {
			lines = append(lines, request(fmt.Sprint(i), "tools/call", fmt.Sprintf(`"name":"sleep","arguments":{"ms":60},"_meta":{"progressToken":"t%d"}`, i)))
		}
		s.send(lines...)
		s.await("all answers", func(frames []*frame) *frame {
			n := 0
			for _, f := range frames {
				if f.result != nil {
					n++
				}
			}
			if n == 1+first+together { // with the handshake's
				return frames[0]
			}
			return nil
		})
	}
	if n := len(s.notifications("notifications/progress")); n < calls {
		t.Errorf("%d progress notifications came, want at least one per call", n)
	}
}

func TestA25ProgressTokens(t *testing.T) {
	tests := []struct {
		name, meta string
		want       string // the token on the wire; empty for no progress
	}{
		{"no metadata", ``, ``},
		{"no token", `,"_meta":{"x":1}`, ``},
		{"zero", `,"_meta":{"progressToken":0}`, `0`},
		{"string", `,"_meta":{"progressToken":"0"}`, `"0"`},
		{"large", `,"_meta":{"progressToken":9007199254740993}`, `9007199254740993`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startIn(t, newest)
			s.send(request("1", "tools/call", `"name":"sleep","arguments":{"ms":120}`+tt.meta))
			s.result("1")
			frames := s.notifications("notifications/progress")
			if (len(frames) > 0) != (tt.want != "") {
				t.Fatalf("%d progress notifications came", len(frames))
			}
			for _, f := range frames {
				if got := string(decode[map[string]json.RawMessage](t, f.params)["progressToken"]); got != tt.want {
					t.Errorf("progress for token %s, want %s", got, tt.want)
				}
			}
		})
	}
	t.Run("not a token", func(t *testing.T) {
		s := startIn(t, newest)
		for i, token := range []string{"1.5", "{}", "true"} {
			id := fmt.Sprint(i)
			s.send(request(id, "tools/call", `"name":"noargs","_meta":{"progressToken":`+token+`}`))
			if got := s.refusal(id).Code; got != protocol.CodeInvalidParams {
				t.Errorf("token %s was refused with %d, want %d", token, got, protocol.CodeInvalidParams)
			}
		}
	})
}

func TestA50NoOrphans(t *testing.T) {
	t.Run("end of input", func(t *testing.T) {
		s := start(t)
		began := time.Now()
		if code := s.end(); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the server ended after %v", took)
		}
	})
	t.Run("end of input within a line", func(t *testing.T) {
		s := startIn(t, newest)
		s.checker.Sent([]byte(ping("2")))
		if _, err := s.stdin.Write([]byte(ping("2"))); err != nil { // without an end
			t.Fatal(err)
		}
		if code := s.end(); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		s.result("2")
	})
	t.Run("with a listen and subscriptions", func(t *testing.T) {
		s := startIn(t, newest)
		s.send(request("1", "resources/subscribe", `"uri":"test://watched-resource"`),
			modern("2", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		s.result("1")
		s.notification("notifications/subscriptions/acknowledged", 1)
		if code := s.end(); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
		s.result("2")
	})
	t.Run("death of the parent", func(t *testing.T) { orphan(t) })
}

func TestA51AnswersAreNotLostAtTheEnd(t *testing.T) {
	s := start(t)
	lines := []string{initialize(newest), initialized}
	for i := range 20 {
		lines = append(lines, call(fmt.Sprint(i), "sleep", `{"ms":300}`))
	}
	s.send(lines...)
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if left := s.checker.Unanswered(); len(left) > 0 {
		t.Errorf("not answered: %v", left)
	}
}

func TestA52ExitCodes(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := startIn(t, newest)
			s.send(call("1", "sleep", `{"ms":300}`))
			s.saidTimes("sleep started", 1)
			s.signal(sig)
			if code := s.exit(); code != 0 {
				t.Errorf("exit code %d, want 0; it said\n%s", code, s.stderr)
			}
			s.result("1") // what was in flight was finished
		})
	}
	t.Run("wrong options", func(t *testing.T) {
		if code, _, stderr := runToEnd(t, built(t, everything), "-nonsense"); code == 0 || stderr == "" {
			t.Errorf("exit code %d, standard error %q; want another than 0, and a message", code, stderr)
		}
	})
}

// A client may close our standard error before it waits for us.
func TestClosedStandardErrorDoesNotKill(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := startCommandWith(t, built(t, everything), []string{"-stdio", "-log-level", "debug"}, w)
	w.Close()
	s.handshake(newest)
	r.Close()
	s.send(call("1", "sleep", `{"ms":100}`), call("2", "internal_error", `{}`))
	s.result("1") // it writes to standard error when it begins and when it ends
	s.refusal("2")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestTheSameIDTwice(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "sleep", `{"ms":300}`))
	s.saidTimes("sleep started", 1)
	s.send(ping("1"))
	if got := s.refusal("1").Code; got != protocol.CodeInvalidRequest {
		t.Errorf("the second use of an id was refused with %d, want %d", got, protocol.CodeInvalidRequest)
	}
	s.await("the answer to the first", func(frames []*frame) *frame {
		for _, f := range frames {
			if f.id == "1" && f.result != nil {
				return f
			}
		}
		return nil
	})
	s.send(ping("1")) // it may be used again now
	s.await("the answer to the third", func(frames []*frame) *frame {
		n := 0
		for _, f := range frames {
			if f.id == "1" {
				n++
			}
		}
		if n == 3 {
			return frames[0]
		}
		return nil
	})
}

func TestA58VersionNegotiation(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"2024-11-05", "2024-11-05", "2024-11-05"},
		{"2025-03-26", "2025-03-26", "2025-03-26"},
		{"2025-06-18", "2025-06-18", "2025-06-18"},
		{"2025-11-25", "2025-11-25", "2025-11-25"},
		{"the stateless one", stateless, newest},
		{"the future", "2099-01-01", newest},
		{"the past", "2024-10-07", newest},
		{"nonsense", "1.0.0", newest},
		{"nothing", "", newest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.send(initialize(tt.in))
			got := decode[struct{ ProtocolVersion string }](t, s.result(`"i"`)).ProtocolVersion
			if got != tt.want {
				t.Errorf("asked for %q the server speaks %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestA71ListsAreStable(t *testing.T) {
	for _, version := range []string{newest, stateless} {
		t.Run(version, func(t *testing.T) {
			for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
				var first string
				for restart := range 3 {
					s := startIn(t, version)
					for i := range 50 {
						id := fmt.Sprint(i)
						s.send(inVersion(version, id, method, ""))
						got := string(s.result(id))
						if first == "" {
							first = got
						}
						if got != first {
							t.Fatalf("%s differs at restart %d, call %d (-want +got):\n%s", method, restart, i, cmp.Diff(first, got))
						}
					}
				}
			}
		})
	}
}

func TestA81Listen(t *testing.T) {
	for _, id := range []string{`"L1"`, `4`} {
		t.Run(id, func(t *testing.T) {
			s := start(t)
			s.send(modern(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["test://watched-resource","test://nothing-here"]}`))
			ack := s.notification("notifications/subscriptions/acknowledged", 1)
			want := `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"]},"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`
			if diff := cmp.Diff(want, string(ack.params)); diff != "" {
				t.Errorf("acknowledgement (-want +got):\n%s", diff)
			}
			s.send(modern("10", "tools/call", `"name":"test_trigger_tool_change"`),
				modern("11", "tools/call", `"name":"test_trigger_prompt_change"`),
				modern("12", "tools/call", `"name":"test_trigger_resource_update"`))
			changed := s.notification("notifications/tools/list_changed", 1)
			if want := `{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`; string(changed.params) != want {
				t.Errorf("the change has the params %s, want %s", changed.params, want)
			}
			updated := s.notification("notifications/resources/updated", 1)
			if want := `{"uri":"test://watched-resource","_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`; string(updated.params) != want {
				t.Errorf("the update has the params %s, want %s", updated.params, want)
			}
			s.signal(syscall.SIGTERM)
			if code := s.exit(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			s.result(id)
			if got := s.notifications("notifications/prompts/list_changed"); len(got) > 0 {
				t.Errorf("what was not asked for came: %s", got[0].raw)
			}
			if all := s.all(func(f *frame) bool { return true }); all[len(all)-1].id != id {
				t.Errorf("the result of the listen is not the last message: %s", all[len(all)-1].raw)
			}
		})
	}
}

func TestListenBounds(t *testing.T) {
	t.Run("an empty filter stays open", func(t *testing.T) {
		s := start(t)
		s.send(modern("1", "subscriptions/listen", `"notifications":{}`))
		ack := s.notification("notifications/subscriptions/acknowledged", 1)
		if want := `{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`; string(ack.params) != want {
			t.Errorf("acknowledged %s, want %s", ack.params, want)
		}
		s.send(modern("2", "tools/list", ""))
		s.result("2")
		if got := s.answers("1"); len(got) > 0 {
			t.Errorf("the listen was ended: %s", got[0].raw)
		}
		s.end()
		s.result("1")
	})
	t.Run("cancelled", func(t *testing.T) {
		s := start(t)
		s.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		s.notification("notifications/subscriptions/acknowledged", 1)
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			modern("2", "tools/call", `"name":"test_trigger_tool_change"`),
			modern("3", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		s.result("2")
		s.notification("notifications/subscriptions/acknowledged", 2)
		s.send(modern("4", "tools/call", `"name":"test_trigger_tool_change"`))
		s.notification("notifications/tools/list_changed", 1)
		s.end()
		if got := s.answers("1"); len(got) > 0 {
			t.Errorf("the cancelled listen was answered: %s", got[0].raw)
		}
	})
	t.Run("each listen gets its own", func(t *testing.T) {
		s := start(t)
		s.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`),
			modern(`"1"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		s.notification("notifications/subscriptions/acknowledged", 2)
		s.send(modern("2", "tools/call", `"name":"test_trigger_tool_change"`))
		s.notification("notifications/tools/list_changed", 2)
		var got []string
		for _, f := range s.notifications("notifications/tools/list_changed") {
			got = append(got, string(decode[struct {
				Meta map[string]json.RawMessage `json:"_meta"`
			}](t, f.params).Meta["io.modelcontextprotocol/subscriptionId"]))
		}
		if joined := strings.Join(got, " "); joined != `1 "1"` && joined != `"1" 1` {
			t.Errorf("the change was announced to %s, want each once", joined)
		}
	})
	t.Run("too many", func(t *testing.T) {
		s := start(t)
		for i := range 64 {
			s.send(modern(fmt.Sprint(i), "subscriptions/listen", `"notifications":{}`))
		}
		s.notification("notifications/subscriptions/acknowledged", 64)
		s.send(modern("64", "subscriptions/listen", `"notifications":{}`))
		if got := s.refusal("64").Code; got != protocol.CodeInternal {
			t.Errorf("one listen too many was refused with %d, want %d", got, protocol.CodeInternal)
		}
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
		s.send(modern("65", "tools/list", ""))
		s.result("65")
	})
	bad := []struct{ name, in string }{
		{"no filter", ``},
		{"a filter that is no object", `"notifications":[]`},
		{"a flag that is no boolean", `"notifications":{"toolsListChanged":1}`},
		{"URIs that are no array", `"notifications":{"resourceSubscriptions":"x"}`},
		{"a URI that is no string", `"notifications":{"resourceSubscriptions":[1]}`},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.send(modern("1", "subscriptions/listen", tt.in))
			if got := s.refusal("1").Code; got != protocol.CodeInvalidParams {
				t.Errorf("refused with %d, want %d", got, protocol.CodeInvalidParams)
			}
		})
	}
}
