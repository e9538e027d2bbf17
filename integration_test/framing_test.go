package integration_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestA01BrokenLineIsAnsweredAndSkipped(t *testing.T) {
	s := start(t)
	s.send(initialize(newest), `{bad json`, ``, ping("2"))
	s.result(`"i"`)
	if got := s.anonymous(1).Code; got != protocol.CodeParse {
		t.Errorf("the broken line was answered with %d, want %d", got, protocol.CodeParse)
	}
	s.result("2")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestA02NoMessageEndsTheSession(t *testing.T) {
	tests := []struct {
		name, in, id string
		want         int
	}{
		{"unknown method", `{"jsonrpc":"2.0","id":2,"method":"no/such"}`, "2", protocol.CodeMethodNotFound},
		{"call with params null", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":null}`, "3", protocol.CodeInvalidParams},
		{"call without a name", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"arguments":{}}}`, "4", protocol.CodeInvalidParams},
		{"params that are a number", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":3}`, "5", protocol.CodeInvalidParams},
		{"empty array", `[]`, "", protocol.CodeInvalidRequest},
		{"number", `7`, "", protocol.CodeInvalidRequest},
		{"null", `null`, "", protocol.CodeInvalidRequest},
		{"empty object", `{}`, "", protocol.CodeInvalidRequest},
		{"wrong jsonrpc", `{"jsonrpc":"1.0","id":8,"method":"ping"}`, "8", protocol.CodeInvalidRequest},
		{"missing jsonrpc", `{"id":9,"method":"ping"}`, "9", protocol.CodeInvalidRequest},
		{"method twice", `{"jsonrpc":"2.0","id":10,"method":"ping","method":"tools/list"}`, "10", protocol.CodeInvalidRequest},
		{"a boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "", protocol.CodeInvalidRequest},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "", protocol.CodeInvalidRequest},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "", protocol.CodeInvalidRequest},
		{"trailing garbage", `{"jsonrpc":"2.0","id":11,"method":"ping"} x`, "11", protocol.CodeParse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startIn(t, newest)
			s.send(tt.in, request(`"after"`, "tools/list", ""))
			s.result(`"after"`)
			var got *wireError
			if tt.id == "" {
				got = s.anonymous(1)
			} else {
				got = s.refusal(tt.id)
			}
			if got.Code != tt.want {
				t.Errorf("%s was answered with %d, want %d", tt.in, got.Code, tt.want)
			}
			if all := s.all(func(*frame) bool { return true }); len(all) != 3 {
				t.Errorf("%d frames came, want 3 with the handshake's", len(all))
			}
		})
	}
}

func TestA03LongLines(t *testing.T) {
	for _, size := range []int{64 << 10, 1_000_000, 5_000_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := startIn(t, newest)
			text := strings.Repeat("x", size)
			s.send(call("2", "echo", fmt.Sprintf(`{"text":%q}`, text)), call("3", "big", fmt.Sprintf(`{"n":%d}`, size)))
			if got := s.tool("2").text(); got != text {
				t.Errorf("echo returned %d bytes, want %d", len(got), len(text))
			}
			if got := len(s.tool("3").text()); got != size {
				t.Errorf("big returned %d bytes, want %d", got, size)
			}
		})
	}
}

func TestA05LineEnds(t *testing.T) {
	s := start(t)
	// That no \r comes back is checked for every line.
	s.sendBytes([]byte("\ufeff" + initialize(newest) + "\r\n\r\n  \r\n" + ping("2") + "\r\n"))
	s.result(`"i"`)
	s.result("2")
	s.sendBytes([]byte(ping("3") + " \t\n"))
	s.result("3")
	if all := s.all(func(*frame) bool { return true }); len(all) != 3 {
		t.Errorf("%d frames came, want 3", len(all))
	}
}

func TestA06InvalidRequestKeepsItsID(t *testing.T) {
	s := start(t)
	s.send(`{"jsonrpc":"2.0","id":99,"foo":1}`, `{"jsonrpc":"2.0","id":"ü","method":5}`, `"just a string"`)
	for _, id := range []string{"99", `"ü"`} {
		if got := s.refusal(id).Code; got != protocol.CodeInvalidRequest {
			t.Errorf("%s was answered with %d, want %d", id, got, protocol.CodeInvalidRequest)
		}
	}
	if got := s.anonymous(1).Code; got != protocol.CodeInvalidRequest {
		t.Errorf("the string was answered with %d, want %d", got, protocol.CodeInvalidRequest)
	}
}

// That standard output has nothing but messages is checked in every test; here
// it is also when the server cannot start, and when a tool misbehaves.
func TestA07StandardOutputIsPure(t *testing.T) {
	t.Run("misbehaving tools", func(t *testing.T) {
		s := startIn(t, newest, "-log-level", "debug")
		s.send(call("1", "panics", `{}`), call("2", "internal_error", `{}`), call("3", "sleep", `{"ms":1}`))
		s.answer("1")
		s.answer("2")
		s.result("3")
	})
	tests := []struct {
		name string
		args []string
	}{
		{"unknown option", []string{"-stdio", "-no-such-option"}},
		{"broken value", []string{"-stdio", "-max-line", "many"}},
		{"unknown level", []string{"-stdio", "-log-level", "loud"}},
		{"no transport", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runToEnd(t, built(t, everything), tt.args...)
			if code != 2 || stdout != "" || stderr == "" {
				t.Errorf("exit code %d, standard output %q, standard error %q; want 2, nothing, a message", code, stdout, stderr)
			}
		})
	}
}

// runToEnd runs a command that ends by itself.
func runToEnd(t *testing.T, path string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestA10IDsAreEchoed(t *testing.T) {
	s := startIn(t, newest)
	ids := []string{`"1"`, `1`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `"é"`, `""`, `"a\u0062\/"`, `" "`, `0`}
	for _, id := range ids {
		s.send(ping(id))
	}
	for _, id := range ids {
		s.result(id) // found by its bytes
	}
}

func TestA11NullIDIsNoNotification(t *testing.T) {
	s := startIn(t, newest)
	s.send(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, ping("2"))
	if got := s.anonymous(1).Code; got != protocol.CodeInvalidRequest {
		t.Errorf("the null id was answered with %d, want %d", got, protocol.CodeInvalidRequest)
	}
	s.result("2")
}

func TestA12NotificationsAreNotAnswered(t *testing.T) {
	s := start(t)
	s.send(initialize(newest), initialized,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/x/y","params":[1]}`,
		`{"jsonrpc":"2.0","method":"notifications/x/y","params":7}`,
		`{"jsonrpc":"2.0","method":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":6,"error":{"code":1,"message":"m"}}`,
		ping("2"))
	s.result("2")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	var got []string
	for _, f := range s.all(func(*frame) bool { return true }) {
		got = append(got, f.id)
	}
	if diff := cmp.Diff([]string{`"i"`, "2"}, got); diff != "" {
		t.Errorf("the answers are those to (-want +got):\n%s", diff)
	}
}

func TestA13Ping(t *testing.T) {
	for _, version := range protocol.HandshakeVersions() {
		t.Run(version, func(t *testing.T) {
			s := start(t)
			s.send(ping("1"), initialize(version), ping("2"))
			for _, id := range []string{"1", "2"} {
				if got := string(s.result(id)); got != `{}` {
					t.Errorf("ping %s was answered with %s, want {}", id, got)
				}
			}
		})
	}
}

func TestA15IntegersAreNotRounded(t *testing.T) {
	for _, v := range []string{"9223372036854775807", "9007199254740993", "-9007199254740993", "123456789012345678901234567890", "1.00", "2.005000002e+09", `"\u00e9\/"`} {
		for _, version := range []string{newest, stateless} {
			t.Run(v+" in "+version, func(t *testing.T) {
				s := startIn(t, version)
				s.send(inVersion(version, "1", "tools/call", `"name":"echo_any","arguments":{"v":`+v+`}`))
				want := `{"v":` + v + `}`
				r := s.tool("1")
				if got := string(r.StructuredContent); got != want {
					t.Errorf("structured content %s, want %s", got, want)
				}
				if got := r.text(); got != want {
					t.Errorf("text %s, want %s", got, want)
				}
			})
		}
	}
}

func TestA17OneBadByte(t *testing.T) {
	s := start(t)
	s.sendBytes([]byte(initialize(newest) + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping","x":"` + "\xff" + `"}` + "\n" + ping("3") + "\n"))
	if got := s.refusal("2").Code; got != protocol.CodeParse {
		t.Errorf("the line with a bad byte was answered with %d, want %d", got, protocol.CodeParse)
	}
	s.result("3")
}

func TestA18BadBytesInOutput(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "rawbytes", `{"b64":"/wD+gA=="}`), call("2", "rawbytes", `{"b64":"QWLk"}`))
	for id, want := range map[string]string{"1": "\ufffd\x00\ufffd\ufffd", "2": "Ab\ufffd"} {
		if got := s.tool(id).text(); got != want {
			t.Errorf("call %s returned %q, want %q", id, got, want)
		}
	}
}

func TestA19NoNullArrays(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			methods := []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}
			for i, method := range methods {
				s.send(inVersion(version, fmt.Sprint(i), method, ""))
			}
			s.send(inVersion(version, `"get"`, "prompts/get", `"name":"test_simple_prompt"`),
				inVersion(version, `"call"`, "tools/call", `"name":"noargs"`),
				inVersion(version, `"complete"`, "completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"name","value":"x"}`))
			for _, id := range []string{"0", "1", "2", "3", `"get"`, `"call"`, `"complete"`} {
				if path := findNull(decode[any](t, s.result(id))); path != "" {
					t.Errorf("the result of %s has null at %s", id, path)
				}
			}
		})
	}
}

// findNull returns the path of a null, or "".
func findNull(v any) string {
	switch v := v.(type) {
	case nil:
		return "."
	case []any:
		for i, e := range v {
			if path := findNull(e); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	case map[string]any:
		for k, e := range v {
			if path := findNull(e); path != "" {
				return "." + k + path
			}
		}
	}
	return ""
}

func TestA20Batches(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"no/such"}]`
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25", stateless} {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			s.send(batch, `[]`, request(`"after"`, "tools/list", ""))
			for n := 1; n <= 2; n++ {
				if got := s.anonymous(n).Code; got != protocol.CodeInvalidRequest {
					t.Errorf("batch %d was answered with %d, want %d", n, got, protocol.CodeInvalidRequest)
				}
			}
			s.answer(`"after"`)
		})
	}
	t.Run("2025-03-26", func(t *testing.T) {
		s := startIn(t, "2025-03-26")
		s.send(batch,
			`[]`,
			`[{"jsonrpc":"2.0","method":"notifications/x"}]`,
			`[1,{"jsonrpc":"2.0","id":3,"method":"ping"}]`,
			`[`+initialize("2025-03-26")+`]`)
		if got := string(s.result("1")); got != "{}" {
			t.Errorf("member 1 was answered with %s, want {}", got)
		}
		if got := s.refusal("2").Code; got != protocol.CodeMethodNotFound {
			t.Errorf("member 2 was answered with %d, want %d", got, protocol.CodeMethodNotFound)
		}
		for n := 1; n <= 2; n++ {
			if got := s.anonymous(n).Code; got != protocol.CodeInvalidRequest {
				t.Errorf("refusal %d has %d, want %d", n, got, protocol.CodeInvalidRequest)
			}
		}
		s.result("3")
		s.await("the refusal of initialize", func(frames []*frame) *frame {
			for _, f := range frames {
				if f.id == `"i"` && f.err != nil {
					return f
				}
			}
			return nil
		})
		s.send(request(`"after"`, "tools/list", ""))
		s.result(`"after"`)
		if n := len(s.all(func(*frame) bool { return true })); n != 8 {
			t.Errorf("%d messages came, want 8", n)
		}
	})
}

func TestA100KeysAreExact(t *testing.T) {
	s := startIn(t, newest, "-side", t.TempDir()+"/side")
	s.send(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"side","arguments":{"text":"x"},"Arguments":{"text":"y"}}}`,
		`{"jsonrpc":"2.0","id":2,"Method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"Name":"side","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","name":"side","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"Text":"x"}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"Tools/List"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Echo","arguments":{"text":"x"}}}`)
	if got := s.tool("1").text(); got != "x" {
		t.Errorf("the call returned %q, want x", got)
	}
	for id, want := range map[string]int{"2": protocol.CodeInvalidRequest, "3": protocol.CodeInvalidParams, "6": protocol.CodeMethodNotFound, "7": protocol.CodeInvalidParams} {
		if got := s.refusal(id).Code; got != want {
			t.Errorf("request %s was refused with %d, want %d", id, got, want)
		}
	}
	s.refusal("4")
	if !s.tool("5").IsError {
		t.Error("an argument of another case was accepted")
	}
}
