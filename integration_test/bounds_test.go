package integration_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
)

// roomAboveIdle is how much more memory than at rest a server may have taken at
// its worst.
const roomAboveIdle = 64 << 20

// measured starts a server without instruments and returns it with a function
// that checks, at the end, that it lives on and that its memory stayed within
// bounds.
func measured(t *testing.T) (s *server, check func()) {
	t.Helper()
	s = startCommand(t, built(t, everythingPlain), "-stdio")
	s.handshake(newest)
	s.send(ping(`"idle"`))
	s.result(`"idle"`)
	idle := s.peakMemory()
	return s, func() {
		t.Helper()
		s.send(ping(`"after"`))
		s.result(`"after"`)
		peak := s.peakMemory()
		t.Logf("%.1f MiB at rest, %.1f MiB at most", float64(idle)/(1<<20), float64(peak)/(1<<20))
		if peak-idle > roomAboveIdle {
			t.Errorf("memory grew by %.1f MiB, want 64 at most", float64(peak-idle)/(1<<20))
		}
	}
}

func TestA04UnboundedLine(t *testing.T) {
	s, check := measured(t)
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 200 {
		if _, err := s.stdin.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	// It is answered before its end is known.
	if e := s.anonymous(1); e.Code != protocol.CodeInvalidRequest || !strings.Contains(e.Message, "16777216") {
		t.Errorf("the line was answered with %d %q, want %d and the limit", e.Code, e.Message, protocol.CodeInvalidRequest)
	}
	if _, err := s.stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	check()
	if n := len(s.all(func(f *frame) bool { return f.err != nil })); n != 1 {
		t.Errorf("the line was answered %d times, want once", n)
	}
}

func TestLineLimitIsAnOption(t *testing.T) {
	s := start(t, "-max-line", "1000")
	s.handshake(newest)
	line := ping("1")
	fits := line + strings.Repeat(" ", 1000-len(line)) // white space counts
	s.sendBytes([]byte(fits + "\r\n"))
	s.result("1")
	s.sendBytes([]byte(`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"` + strings.Repeat("x", 1000) + "\"}}\n"))
	if e := s.anonymous(1); e.Code != protocol.CodeInvalidRequest || !strings.Contains(e.Message, "1000") {
		t.Errorf("the line was answered with %d %q, want %d and the limit", e.Code, e.Message, protocol.CodeInvalidRequest)
	}
}

func TestDeepNesting(t *testing.T) {
	tests := []struct {
		name, in string
		id       string
	}{
		{"arrays in params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`, "1"},
		{"objects in params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `}`, "1"},
		{"arguments", call("1", "echo_any", `{"v":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`), "1"},
		{"a batch in batches", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), ""},
		{"never closed", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 100_000), "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, check := measured(t)
			s.send(tt.in)
			var e *wireError
			if tt.id == "" {
				e = s.anonymous(1)
			} else {
				e = s.refusal(tt.id)
			}
			if e.Code != protocol.CodeParse {
				t.Errorf("answered with %d %q, want %d", e.Code, e.Message, protocol.CodeParse)
			}
			check()
		})
	}
}

func TestLongID(t *testing.T) {
	s, check := measured(t)
	s.send(ping(`"` + strings.Repeat("x", 4<<20) + `"`))
	if e := s.anonymous(1); e.Code != protocol.CodeInvalidRequest || !strings.Contains(e.Message, "1024") {
		t.Errorf("answered with %d %q, want %d and the limit", e.Code, e.Message, protocol.CodeInvalidRequest)
	}
	s.send(ping(strings.Repeat("9", 4<<20)))
	s.anonymous(2)
	check()
}

func TestTenThousandInFlight(t *testing.T) {
	const calls, limit = 10_000, 1024
	s, check := measured(t)
	var lines []string
	for i := range calls {
		lines = append(lines, call(fmt.Sprint(i), "sleep", `{"ms":1500}`))
	}
	s.send(lines...)
	s.await("all answers", func(frames []*frame) *frame {
		if len(frames) == 2+calls { // with the handshake's and that to the first ping
			return frames[0]
		}
		return nil
	})
	served, refused := 0, 0
	for _, f := range s.all(func(f *frame) bool { return strings.Trim(f.id, "0123456789") == "" }) {
		switch {
		case f.result != nil:
			served++
		case f.err.Code == protocol.CodeInternal && strings.Contains(f.err.Message, "1024"):
			refused++
		default:
			t.Errorf("request %s was answered with %s", f.id, f.raw)
		}
	}
	if served < limit || served+refused != calls {
		t.Errorf("%d were served, %d refused; want %d or more, and the rest", served, refused, limit)
	}
	check()
}

func TestLongNames(t *testing.T) {
	s, check := measured(t)
	long := strings.Repeat("é", 1<<20)
	s.send(request("1", long, ""), call("2", long, `{}`), request("3", "resources/read", `"uri":"x:`+long+`"`),
		request("4", "prompts/get", `"name":"`+long+`"`), call("5", "echo", `{"`+long+`":1}`),
		request("6", "completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"`+long+`","value":""}`))
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		if f := s.answer(id); len(f.raw) > 10_000 {
			t.Errorf("the answer to %s repeats what was sent: %d bytes", id, len(f.raw))
		}
	}
	check()
}
