package cli_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

func TestRun_results(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args.json")
	if err := os.WriteFile(file, []byte("\ufeff {\"from\":\n\"file\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		in    []string
		stdin string
		want  result
	}{
		{"no arguments", []string{"call", "echo"}, "", result{stdout: "{}\n"}},
		{"arguments", []string{"call", "echo", "--args", `{"n":9007199254740993}`}, "", result{stdout: "{\"n\":9007199254740993}\n"}},
		{"arguments from a file", []string{"call", "echo", "--args", "@" + file}, "", result{stdout: "{\"from\":\n\"file\"}\n"}},
		{"arguments from stdin", []string{"call", "echo", "--args", "-"}, "{\"a\":[]}\r\n", result{stdout: "{\"a\":[]}\n"}},
		{"structured content without text", []string{"call", "shape"}, "", result{stdout: "[image/png, 12345 bytes]\n{\"edges\":4}\n"}},
		{"all kinds of blocks", []string{"call", "blocks"}, "", result{stdout: "with a line end\n[audio/wav, 7 bytes]\n[resource text: test://text]\nembedded\n[application/octet-stream, 2 bytes]\nwithout <one>\n"}},
		{"with a prefix", []string{"call", "p.echo", "--prefix", "p."}, "", result{stdout: "{}\n"}},
		{"handshake version", []string{"call", "echo", "--protocol-version", "2024-11-05"}, "", result{stdout: "{}\n"}},
		{"raw", []string{"call", "echo", "--raw", "--args", `{"a":"<&>"}`}, "", result{stdout: `{"resultType":"complete","content":[{"type":"text","text":"{\"a\":\"<&>\"}"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"cloudg","title":"cloudg","version":"devel"}}}` + "\n"}},
		{"raw handshake", []string{"call", "echo", "--raw", "--protocol-version", "2025-03-26"}, "", result{stdout: `{"content":[{"type":"text","text":"{}"}]}` + "\n"}},
		{"failure", []string{"call", "fail"}, "", result{code: 1, stdout: "no luck: try echo\n"}},
		{"raw failure", []string{"call", "fail", "--raw", "--protocol-version", "2025-11-25"}, "", result{code: 1, stdout: `{"content":[{"type":"text","text":"no luck: try echo"}],"isError":true}` + "\n"}},
		{"cut", []string{"call", "echo", "--max-output", "4", "--args", `{"long":true}`}, "", result{stdout: "{\"lo\n[Truncated: the text has 13 bytes, of which the first 4 are shown. Ask for less: narrow the query, or read the rest in parts if the tool can do that.]\n"}},
		{"not cut", []string{"call", "echo", "--max-output", "0", "--args", `{"long":true}`}, "", result{stdout: "{\"long\":true}\n"}},
		{"unknown tool", []string{"call", "ecko"}, "", result{code: 1, stderr: "cloudg call: Unknown tool: ecko (-32602) (did you mean echo?): 'cloudg tools' with the same options lists what there is\n"}},
		{"left out tool", []string{"call", "echo", "--exclude-tool", "echo"}, "", result{code: 1, stderr: "cloudg call: Unknown tool: echo (-32602): 'cloudg tools' with the same options lists what there is\n"}},
		{"progress and log", []string{"call", "report"}, "", result{stdout: "reported\n", stderr: "progress 1/2 half [2Jway\nprogress 2.5\ninfo fake: a sentence\nwarning: {\"n\":1}\n"}},
		{"more log", []string{"call", "report", "--log-level", "debug"}, "", result{stdout: "reported\n", stderr: "progress 1/2 half [2Jway\nprogress 2.5\ndebug fake: details\ninfo fake: a sentence\nwarning: {\"n\":1}\n"}},
		{"less log", []string{"call", "report", "--log-level", "error", "--protocol-version", "2025-11-25"}, "", result{stdout: "reported\n", stderr: "progress 1/2 half [2Jway\nprogress 2.5\n"}},

		{"read", []string{"read", "test://text"}, "", result{stdout: "no line end\x00\xff\n"}},
		{"read a template", []string{"read", "test://1/data"}, "", result{stdout: "one\n"}},
		{"read what is not there", []string{"read", "test://2/data"}, "", result{code: 1, stderr: "cloudg read: Resource not found: test://2/data (-32602)\n"}},
		{"read what nothing serves", []string{"read", "other://x", "--protocol-version", "2025-11-25"}, "", result{code: 1, stderr: "cloudg read: Resource not found: other://x (-32002)\n"}},

		{"complete", []string{"complete", "prompt:ask", "what", "x"}, "", result{stdout: "x1\nx\n"}},
		{"complete nothing yet", []string{"complete", "prompt:ask", "what", "--given", "how=so=so"}, "", result{stdout: "1\nso=so\n"}},
		{"complete a variable", []string{"complete", "resource:test://{id}/data", "id", "4"}, "", result{stdout: "41\n4\n"}},
		{"complete without a completer", []string{"complete", "prompt:ask", "how", "4"}, "", result{}},
		{"complete more", []string{"complete", "prompt:ask", "what", "many"}, "", result{stdout: "a\n", stderr: "There are more: give more of the value.\n"}},
		{"complete for an unknown prompt", []string{"complete", "prompt:no", "what"}, "", result{code: 1, stderr: "cloudg complete: Unknown prompt: no (-32602)\n"}},
		{"complete an unknown argument", []string{"complete", "prompt:ask", "who"}, "", result{code: 1, stderr: "cloudg complete: Unknown argument \"who\" of prompt ask (-32602)\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, run(t, tt.stdin, tt.in...), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRun_internalError shows the detail in the log and the incident in both.
func TestRun_internalError(t *testing.T) {
	got := run(t, "", "call", "crash", "--log-format", "json")
	_, incident, ok := strings.Cut(got.stderr, "cloudg call: internal error (incident ")
	incident, _, _ = strings.Cut(incident, ")")
	if got.code != 1 || got.stdout != "" || !ok || !strings.Contains(got.stderr, `"incident":"`+incident+`"`) || !strings.Contains(got.stderr, "the detail") {
		t.Errorf("got %+v", got)
	}
}

func TestRun_timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := run(t, "", "call", "wait", "--timeout", "3s")
		if got.code != 1 || !strings.HasPrefix(got.stdout, "wait did not finish within 3s") {
			t.Errorf("got %+v", got)
		}
	})
}

// TestRun_interrupted ends a call, and the wait for its arguments, from outside.
func TestRun_interrupted(t *testing.T) {
	tests := []struct {
		name string
		in   []string
	}{
		{"during the call", []string{"call", "wait"}},
		{"before it", []string{"call", "wait", "--args", "-"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				stdin, w := io.Pipe()
				defer w.Close()
				f := &fake{}
				var stdout, stderr strings.Builder
				code := make(chan int)
				go func() {
					code <- cli.Run(ctx, cli.Env{Args: tt.in, Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Register: f.register})
				}()
				synctest.Wait()
				cancel(errors.New("enough"))
				if got := <-code; got != 1 || stdout.String() != "" || stderr.String() != "cloudg call: interrupted: enough\n" {
					t.Errorf("got %d, %q, %q", got, stdout.String(), stderr.String())
				}
			})
		})
	}
}

// TestRun_brokenOutput fails when the result cannot be written.
func TestRun_brokenOutput(t *testing.T) {
	for _, in := range []string{"tools", "call echo", "version", "help"} {
		t.Run(in, func(t *testing.T) {
			got := runEnv(t, cli.Env{Args: strings.Fields(in), Stdout: brokenWriter{}})
			if got.code != 1 || !strings.Contains(got.stderr, "writing the result: broken") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

// TestRun_closes closes what was opened, whatever happens.
func TestRun_closes(t *testing.T) {
	for _, in := range []string{"tools", "resources", "prompts", "call echo", "call nothing", "read test://text", "complete prompt:ask what", "serve", "tools --include-tool nothing"} {
		t.Run(in, func(t *testing.T) {
			f := &fake{}
			runEnv(t, cli.Env{Args: strings.Fields(in), Register: f.register})
			if f.closed != 1 {
				t.Errorf("closed %d times", f.closed)
			}
		})
	}
}

// TestRun_cannotStart has no output and tells the reason.
func TestRun_cannotStart(t *testing.T) {
	for _, in := range []string{"serve", "tools", "call echo", "read test://text", "complete prompt:ask what"} {
		t.Run(in, func(t *testing.T) {
			f := &fake{fail: errors.New(`--root "x": no such directory`)}
			got := runEnv(t, cli.Env{Args: strings.Fields(in), Register: f.register})
			name, _, _ := strings.Cut(in, " ")
			want := result{code: 1, stderr: "cloudg " + name + ": --root \"x\": no such directory\n"}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRun_catalogOptions hands the options on.
func TestRun_catalogOptions(t *testing.T) {
	f := &fake{}
	runEnv(t, cli.Env{Args: strings.Fields("tools --root /a --root=/b --allow-write"), Register: f.register})
	if diff := cmp.Diff([]string{"/a", "/b"}, f.options.Roots); diff != "" || !f.options.AllowWrite || f.options.Logger == nil || f.options.Info.Name != "cloudg" {
		t.Errorf("got %+v, roots (-want +got)\n%s", f.options, diff)
	}
}
