package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cloudg.dev/cloudg/cli"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// asking has a tool that asks its client for a name.
func asking() *fake {
	return &fake{more: []registry.Tool{{Name: "greet", Category: "talk", InputSchema: []byte(`{"type":"object","properties":{}}`),
		Handler: func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			name, err := call.Elicit(ctx, "name", &registry.Elicitation{Message: "Who?", Form: &registry.Form{Fields: []registry.Field{{Name: "name", Required: true}}}})
			if err != nil {
				return nil, err
			}
			return registry.TextResult("hello " + name.Text("name")), nil
		}}}}
}

// TestStateKey asks one process and brings the answer to another one.
func TestStateKey(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	first, second := file("first", strings.Repeat("1", 16)), file("second", strings.Repeat("2", 4096)+"\r\n")
	tests := []struct {
		name      string
		asked, by []string // the keys of both
		want      string
	}{
		{"the same", []string{first}, []string{first}, "hello Anna"},
		{"from the environment", []string{first}, []string{"env:KEY"}, "hello Anna"},
		{"line end", []string{second}, []string{second}, "hello Anna"},
		{"replaced", []string{first}, []string{second, first}, "hello Anna"},
		{"other", []string{first}, []string{second}, "-32602"},
		{"the first seals", []string{first, second}, []string{second}, "-32602"},
		{"none", nil, nil, "-32602"},
	}
	const capable = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	call := func(t *testing.T, keys []string, more string) string {
		t.Helper()
		args := []string{"serve", "--log-level", "error"}
		for _, key := range keys {
			args = append(args, "--state-key", key)
		}
		in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet",%s%s}}`+"\n", more, capable)
		got := runEnv(t, cli.Env{Args: args, Stdin: strings.NewReader(in), Register: asking().register, Getenv: func(name string) string {
			if name == "KEY" {
				return strings.Repeat("1", 16)
			}
			return ""
		}})
		if got.code != 0 || strings.Contains(got.stderr, "1111") {
			t.Fatalf("got %+v", got)
		}
		return got.stdout
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var question struct {
				Result struct {
					RequestState  string
					InputRequests map[string]json.RawMessage
				}
			}
			asked := call(t, tt.asked, "")
			if err := json.Unmarshal([]byte(asked), &question); err != nil || len(question.Result.InputRequests) != 1 {
				t.Fatalf("got %s, %v", asked, err)
			}
			state, err := json.Marshal(question.Result.RequestState)
			if err != nil {
				t.Fatal(err)
			}
			var key string
			for key = range question.Result.InputRequests {
			}
			got := call(t, tt.by, fmt.Sprintf(`"requestState":%s,"inputResponses":{%q:{"action":"accept","content":{"name":"Anna"}}},`, state, key))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestStateKey_refused never repeats a key.
func TestStateKey_refused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	secret := strings.Repeat("hunter2", 3)
	good := write("good", secret, 0o600)
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"short", []string{write("short", "hunter2", 0o600)}, "the secret must have 16 to 4096 bytes"},
		{"short but for the line end", []string{write("line", "123456789012345\n", 0o600)}, "the secret must have 16 to 4096 bytes"},
		{"long", []string{write("long", strings.Repeat("hunter2", 600), 0o600)}, "the secret must have 16 to 4096 bytes"},
		{"directory", []string{"file:" + dir}, "--state-key: "},
		{"twice", []string{good, write("again", secret+"\n", 0o600)}, "two keys are the same"},
		{"not replaced", []string{write("variable", "${STATE_KEY_OF_HUNTER2}", 0o600)}, "the secret begins with ${"},
		{"open to all", []string{write("open", secret, 0o644)}, "has mode 0644, which lets every user read or write it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "open to all" && runtime.GOOS == "windows" {
				t.Skip("a mode says nothing here")
			}
			args := []string{"serve"}
			for _, key := range tt.in {
				args = append(args, "--state-key", key)
			}
			got := run(t, "", args...)
			if got.code != 2 || !strings.Contains(got.stderr, tt.want) || strings.Contains(strings.ToLower(got.stderr), "hunter2") {
				t.Errorf("got %+v, want code 2 and %s", got, tt.want)
			}
		})
	}
}
