package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/cli"
)

// TestRun_usage has a row for every way to get the command line wrong. What is
// expected is the sentence that tells so.
func TestRun_usage(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{\"a\":\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, in string
		want     string
	}{
		{"no subcommand", "", "cloudg: a subcommand is missing: want one of serve, tools"},
		{"unknown subcommand", "sevre", `unknown subcommand "sevre" (did you mean serve?)`},
		{"unlike any subcommand", "zzzzzzzzzz", `unknown subcommand "zzzzzzzzzz": want one of`},
		{"option first", "--root=/secret serve", "cloudg: --root comes before the subcommand"},
		{"unknown option", "serve --rot /x", "cloudg serve: unknown option --rot (did you mean --root?)"},
		{"unlike any option", "serve --zzzzzzzzzz", "unknown option --zzzzzzzzzz\n"},
		{"value is not repeated", "serve --tokn=hunter2", "unknown option --tokn"},
		{"option of another", "serve --args {}", "--args is not an option of serve: it belongs to call"},
		{"no options at all", "help --json", "--json is not an option of help: it belongs to tools, resources, prompts, version"},
		{"one dash", "serve -root /x", "unknown option -root (did you mean --root?)"},
		{"short option", "serve -v", "unknown option -v: options begin with two dashes; put -- before an operand"},
		{"switch with value", "call echo --raw=yes", "--raw takes no value: want --raw alone"},
		{"value missing at end", "serve --root", "--root needs a value: want --root DIR (or --root=…"},
		{"value missing before option", "serve --root --allow-write", "--root needs a value"},
		{"empty value", "serve --root=", "--root: the value is empty: want --root DIR"},
		{"twice", "serve --timeout 1s --timeout=2s", "--timeout is given twice"},
		{"switch twice", "call echo --raw --raw", "--raw is given twice"},
		{"operand of serve", "serve now", `unexpected operand "now": serve takes none`},
		{"operand too many", "call a b", `unexpected operand "b": want call TOOL`},
		{"operand too many behind --", "call -- a --b", `unexpected operand "--b": want call TOOL`},
		{"operand missing", "call", "TOOL is missing: want call TOOL"},
		{"second operand missing", "complete prompt:ask", "ARGUMENT is missing: want complete REF ARGUMENT [VALUE]"},
		{"unknown topic", "help exit-code", `there is no topic "exit-code" (did you mean exit-codes?): want one of serve,`},

		{"allow-write", "serve --allow-write", "--allow-write has no effect without a directory to write to: add --root DIR"},
		{"prefix", "serve --prefix a/b", "--prefix: want up to 64 letters, digits, '_', '-' or '.'"},
		{"prefix length", "serve --prefix " + strings.Repeat("a", 65), "--prefix: want up to 64"},
		{"include-category", "serve --include-category tlak", `--include-category: there is no category "tlak" (did you mean talk?): want one of`},
		{"exclude-category", "tools --exclude-category nowhere", `--exclude-category: there is no category "nowhere": want one of faults, talk`},
		{"include-tool", "serve --include-tool ech", `--include-tool: "ech" matches no tool (did you mean echo?): the tools are echo, shape,`},
		{"exclude-tool", "tools --exclude-tool x*", `--exclude-tool: "x*" matches no tool: the tools are`},
		{"include-tool syntax", "serve --include-tool [a]", "--include-tool: want a name of tools, in which '*' stands for any text"},
		{"exclude-tool syntax", `serve --exclude-tool a\b`, "--exclude-tool: want a name of tools"},
		{"timeout unit", "serve --timeout 5", "--timeout: want a duration up to 24h, such as 500ms"},
		{"timeout sign", "serve --timeout=-5s", "--timeout: want a duration"},
		{"timeout bound", "serve --timeout 25h", "--timeout: want a duration"},
		{"page-size", "serve --page-size -1", "--page-size: want a whole number from 0 to 100000"},
		{"page-size text", "serve --page-size all", "--page-size: want a whole number"},
		{"max-output", "serve --max-output 2GiB", "--max-output: want a number of bytes from 0 to 1073741824"},
		{"max-output overflow", "serve --max-output 99999999999999999999", "--max-output: want a number of bytes"},
		{"max-output unit", "serve --max-output 1MB", "--max-output: want a number of bytes from 0 to 1073741824, such as 65536, 64KiB or 1MiB"},
		{"max-line", "serve --max-line 1023", "--max-line: want a number of bytes from 1024"},
		{"max-in-flight", "serve --max-in-flight 0", "--max-in-flight: want a whole number from 1 to 100000"},
		{"drain", "serve --drain soon", "--drain: want a duration"},
		{"log-level", "serve --log-level INFO", "--log-level: want debug, info, warn or error"},
		{"log-format", "serve --log-format xml", "--log-format: want text or json"},
		{"protocol-version", "tools --protocol-version 2025-01-01", "--protocol-version: want one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"},
		{"json", "tools --json=1", "--json takes no value"},
		{"templates", "tools --templates", "--templates is not an option of tools: it belongs to resources"},
		{"args not JSON", "call echo --args {a}", "--args: not JSON: "},
		{"args no object", "call echo --args []", `--args: want a JSON object such as {"path":"notes.txt"}`},
		{"args from stdin, empty", "call echo --args -", "--args: not JSON"},
		{"args file missing", "call echo --args @/nonexistent/x", "--args: open /nonexistent/x"},
		{"args file broken", "call echo --args @" + broken, "--args: not JSON"},
		{"args file too long", "call echo --max-line 1KiB --args @/dev/zero", "--args: there are more than 1024 bytes: allow more with --max-line"},
		{"given", "complete prompt:ask what --given how", "--given: want NAME=VALUE"},
		{"given twice", "complete prompt:ask what --given how=1 --given how=2", `--given: the value of "how" is given twice`},
		{"reference", "complete ask what", "REF must be prompt:NAME or resource:TEMPLATE"},
		{"reference kind", "complete tool:echo what", "REF must be prompt:NAME or resource:TEMPLATE"},
		{"reference name", "complete prompt: what", "REF must be prompt:NAME or resource:TEMPLATE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.in, "/dev/zero") {
				if _, err := os.Stat("/dev/zero"); err != nil {
					t.Skip("there is no /dev/zero here")
				}
			}
			got := run(t, "", strings.Fields(tt.in)...)
			if got.code != cli.ExitUsage || got.stdout != "" || !strings.Contains(got.stderr, tt.want) {
				t.Errorf("got %+v\nwant exit code 2, no output, and on stderr: %s", got, tt.want)
			}
			if !strings.Contains(got.stderr, "Run 'cloudg help") || strings.Contains(got.stderr, "hunter2") || strings.Contains(got.stderr, "/secret") {
				t.Errorf("stderr does not point to the help, or repeats a value: %s", got.stderr)
			}
		})
	}
}

// TestRun_optionForms spells the same options in all ways that are allowed.
func TestRun_optionForms(t *testing.T) {
	tests := []struct {
		name string
		in   []string
	}{
		{"separate", []string{"call", "echo", "--args", `{"a":1}`}},
		{"joined", []string{"call", "echo", `--args={"a":1}`}},
		{"before the operand", []string{"call", "--args", `{"a":1}`, "echo"}},
		{"operand behind --", []string{"call", `--args={"a":1}`, "--", "echo"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := run(t, "", tt.in...); got.code != 0 || got.stdout != "{\"a\":1}\n" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRun_environment(t *testing.T) {
	tests := []struct {
		name, variable string
		in             string
		code           int
		want           string // on stderr
		lacks          string
	}{
		{"quiet", "error", "serve", 0, "", "level="},
		{"option wins", "error", "serve --log-level info", 0, "level=INFO", ""},
		{"wrong", "hunter2", "serve", 2, "the environment variable CLOUDG_LOG_LEVEL, which stands in for --log-level: want debug, info, warn or error", "hunter2"},
		{"wrong and overridden", "hunter2", "serve --log-level info", 0, "level=INFO", ""},
		{"empty", "", "serve", 0, "level=INFO", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(name string) string {
				if name == "CLOUDG_LOG_LEVEL" {
					return tt.variable
				}
				return ""
			}
			got := runEnv(t, cli.Env{Args: strings.Fields(tt.in), Getenv: getenv})
			if got.code != tt.code || !strings.Contains(got.stderr, tt.want) || tt.lacks != "" && strings.Contains(got.stderr, tt.lacks) {
				t.Errorf("got %+v, want code %d and %q without %q", got, tt.code, tt.want, tt.lacks)
			}
		})
	}
}
