package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

// modern returns a request of the stateless era; params are raw members with a
// comma behind them.
func modern(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, method, params)
}

// messages decodes every line of an output, each of which must be a message.
func messages(t *testing.T, output string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(output) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || m["jsonrpc"] != "2.0" {
			t.Fatalf("not a message: %q: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// TestServe_purity (A07) writes nothing but messages, whatever comes in, and
// answers all of it before it ends (A51).
func TestServe_purity(t *testing.T) {
	in := `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r\n\r\n" +
		"{bad json\n" +
		modern(1, "tools/call", `"name":"report",`) +
		modern(2, "tools/call", `"name":"crash",`) +
		modern(3, "tools/list", "") +
		strings.Repeat("x", 2000) + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"ping"}` // no line end
	for _, level := range []string{"debug", "error"} {
		t.Run(level, func(t *testing.T) {
			got := run(t, in, "serve", "--log-level", level, "--max-line", "1KiB")
			answered := map[any]int{}
			for _, m := range messages(t, got.stdout) {
				if m["method"] == nil {
					answered[m["id"]]++
				}
			}
			want := map[any]int{"i": 1, 1.0: 1, 2.0: 1, 3.0: 1, 4.0: 1, nil: 2}
			if diff := cmp.Diff(want, answered); diff != "" || got.code != 0 {
				t.Errorf("code %d, answers by id (-want +got)\n%s", got.code, diff)
			}
		})
	}
}

// TestServe_announces says in one line what is served.
func TestServe_announces(t *testing.T) {
	got := run(t, modern(1, "server/discover", ""), "serve", "--log-format", "json", "--root", "/a", "--root", "/b", "--exclude-tool", "wait")
	var line map[string]any
	if err := json.Unmarshal([]byte(got.stderr), &line); err != nil {
		t.Fatalf("stderr is not one line of JSON: %v\n%s", err, got.stderr)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "INFO", "msg": "serving on standard input and output", "version": "devel",
		"tools": 6.0, "resources": 2.0, "prompts": 1.0, "roots": []any{"/a", "/b"}, "write": false,
		"protocol": []any{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"},
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestServe_closedInput is A102: one line says that nothing ever came.
func TestServe_closedInput(t *testing.T) {
	const told = "standard input was closed before a client sent anything"
	tests := []struct {
		name, in string
		want     int
	}{
		{"at once", "", 1},
		{"after a blank line", "\n", 0},
		{"after a request", modern(1, "tools/list", ""), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, tt.in, "serve")
			if n := strings.Count(got.stderr, told); got.code != 0 || n != tt.want {
				t.Errorf("told %d times, want %d: %+v", n, tt.want, got)
			}
		})
	}
}

// TestServe_stops ends serve from outside while a call is in flight.
func TestServe_stops(t *testing.T) {
	tests := []struct {
		name, drain string
		release     bool // the call ends by itself within the grace time
		took        time.Duration
		want        string // in the answer
	}{
		{"drained", "10s", true, 4 * time.Second, "released"},
		{"not drained", "3s", false, 3 * time.Second, "shutting down"},
		{"default", "", false, 2 * time.Second, "shutting down"}, // clients kill after about 4 s
		{"no grace", "0", false, 0, "shutting down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{started: make(chan struct{}), release: make(chan struct{})}
				ctx, cancel := context.WithCancelCause(t.Context())
				stdin, client := io.Pipe()
				defer client.Close()
				var stdout, stderr strings.Builder
				code := make(chan int)
				args := []string{"serve"}
				if tt.drain != "" {
					args = append(args, "--drain", tt.drain)
				}
				go func() {
					code <- cli.Run(ctx, cli.Env{Args: args, Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Register: f.register})
				}()
				io.WriteString(client, modern(1, "tools/call", `"name":"wait",`))
				<-f.started
				start := time.Now()
				cancel(errors.New("enough"))
				if tt.release {
					time.AfterFunc(tt.took, func() { close(f.release) })
				}
				got, took := <-code, time.Since(start)
				answers := messages(t, stdout.String())
				if got != 0 || took != tt.took || len(answers) != 1 || !strings.Contains(stdout.String(), tt.want) {
					t.Errorf("code %d after %v, want 0 after %v\nstdout: %s\nstderr: %s", got, took, tt.took, stdout.String(), stderr.String())
				}
				if !strings.Contains(stderr.String(), "cause=enough") {
					t.Errorf("stderr does not name the cause: %s", stderr.String())
				}
			})
		})
	}
}

// TestServe_fails tells of input and output that break.
func TestServe_fails(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		env  cli.Env
		want string
	}{
		{"input", cli.Env{Stdin: iotest.ErrReader(broken)}, "reading a frame: broken"},
		{"output", cli.Env{Stdin: &endless{first: modern(1, "tools/list", "")}, Stdout: brokenWriter{}}, "writing to the client: broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.env.Args = []string{"serve"}
			if got := runEnv(t, tt.env); got.code != 1 || !strings.Contains(got.stderr, "cloudg serve: ") || !strings.Contains(got.stderr, tt.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// endless reads a text and then blank lines.
type endless struct{ first string }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.first)
	e.first = e.first[n:]
	if n == 0 {
		n = copy(p, "\n")
	}
	return n, nil
}

// TestServe_inFlight refuses more calls than --max-in-flight allows.
func TestServe_inFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{started: make(chan struct{}), release: make(chan struct{})}
		stdin, client := io.Pipe()
		server, stdout := io.Pipe()
		code := make(chan int)
		go func() {
			code <- cli.Run(t.Context(), cli.Env{Args: []string{"serve", "--max-in-flight", "1"}, Stdin: stdin, Stdout: stdout, Register: f.register})
		}()
		io.WriteString(client, modern(1, "tools/call", `"name":"wait",`))
		<-f.started
		io.WriteString(client, modern(2, "tools/list", ""))
		line, err := bufio.NewReader(server).ReadString('\n')
		if err != nil || !strings.Contains(line, `"id":2`) || !strings.Contains(line, "1 requests are in flight, which is the limit") {
			t.Errorf("got %q, %v", line, err)
		}
		go io.Copy(io.Discard, server) // ends when serve closes its output
		close(f.release)
		client.Close()
		if got := <-code; got != 0 {
			t.Errorf("code %d", got)
		}
	})
}
