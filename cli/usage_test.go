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
		{"option of healthcheck", "serve --within 1s", "--within is not an option of serve: it belongs to healthcheck"},
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
		{"state-key form", "serve --state-key hunter2hunter2hunter2", "--state-key: want env:VAR or file:PATH"},
		{"state-key no variable", "serve --state-key env:", "--state-key: want env:VAR or file:PATH"},
		{"state-key not set", "serve --state-key env:UNSET", "--state-key: the environment variable UNSET is not set"},
		{"state-key file missing", "serve --state-key file:/nonexistent/x", "--state-key: open /nonexistent/x"},
		{"state-key file empty", "serve --transport http --state-key file:" + os.DevNull, "--state-key: "},

		{"transport", "serve --transport https", "--transport: want stdio, http or sse"},
		{"listen", "serve --transport http --listen 8080", "--listen: want HOST:PORT such as 127.0.0.1:8765, unix:PATH, or systemd"},
		{"listen port", "serve --transport http --listen localhost:http", "--listen: the port must be a number from 0 to 65535"},
		{"listen port bound", "serve --transport http --listen localhost:65536", "--listen: the port must be a number"},
		{"listen unix", "serve --transport http --listen unix:", "--listen: want HOST:PORT"},
		{"listen without transport", "serve --listen 127.0.0.1:0", "--listen is for --transport http or sse, and without that option cloudg serves standard input and output: add --transport http"},
		{"listen with stdio", "tools --transport stdio --listen 127.0.0.1:0", "--listen is for --transport http or sse"},
		{"max-line over HTTP", "serve --transport sse --max-line 1MiB", "--max-line has no effect with --transport sse: it is for --transport stdio"},
		{"open to all", "serve --transport http --listen 0.0.0.0:0", "--listen: other machines can reach this address, and nothing says who may use it: give --auth-token or --tls-client-ca, listen on 127.0.0.1, or let everybody in with --insecure-no-auth"},
		{"path", "serve --transport http --path mcp", "--path: want a path such as /mcp"},
		{"path with an umlaut", "serve --transport http --path /ä", "--path: want a path"},
		{"too many roots", "serve" + strings.Repeat(" --root .", 65), "--root: 65 directories are too many: want at most 64"},
		{"path with dots", "serve --transport http --path /a/../b", "--path: want a path"},
		{"path with a query", "serve --transport http --path /mcp?x", "--path: want a path"},
		{"path of the check", "serve --transport http --path /healthz/", "--path: something else is served there: want another path than /healthz, /readyz"},
		{"path of the old transport", "serve --transport sse --path /sse", "--path: something else is served there"},
		{"trusted-proxy", "serve --transport http --trusted-proxy proxy.example", `--trusted-proxy: "proxy.example" is no address: want one such as 10.0.0.7, or a range such as 10.0.0.0/24`},
		{"trusted-proxy range", "serve --transport http --trusted-proxy 10.0.0.0/33", `--trusted-proxy: "10.0.0.0/33" is no address`},
		{"trusted-proxy and public-path", "serve --transport http --public-path /x --trusted-proxy 10.0.0.7", "--trusted-proxy has no effect with --public-path"},
		{"public-path", "serve --transport http --public-path http://x/y", "--public-path: want a path"},
		{"allowed-host", "serve --transport http --allowed-host *", `--allowed-host "*" allows every host`},
		{"allowed-host URL", "serve --transport http --allowed-host https://mcp.example", `--allowed-host "https://mcp.example" is a URL`},
		{"allowed-origin", "serve --transport http --allowed-origin mcp.example", `--allowed-origin "mcp.example" is not an origin`},
		{"cors-origin", "serve --transport http --cors-origin null", `--cors-origin "null" lets every page read the answers`},
		{"auth-token empty", "serve --transport http --auth-token=", "--auth-token: the value is empty"},
		{"auth-token without a token", "serve --transport http --auth-token :ops:anna", "--auth-token: "},
		{"auth-token not set", "serve --transport http --auth-token env:UNSET", "--auth-token: environment variable UNSET is empty or not set"},
		{"auth-token file missing", "serve --transport http --auth-token file:/nonexistent/x", "--auth-token: opening token file: open /nonexistent/x"},
		{"auth-token roles", "serve --transport http --auth-token hunter2:a!b", "--auth-token: "},
		{"auth-token twice", "serve --transport http --auth-token hunter2:a:x --auth-token hunter2:b:y", "the tokens of --auth-token and CLOUDG_AUTH_TOKENS: token 2 is the same as token 1"},
		{"insecure and tokens", "serve --transport http --insecure-no-auth --auth-token hunter2", "--insecure-no-auth and --auth-token exclude each other"},
		{"insecure and certificates", "serve --transport http --insecure-no-auth --tls-cert a --tls-key b --tls-client-ca c", "--insecure-no-auth and --tls-client-ca exclude each other"},
		{"insecure with value", "serve --transport http --insecure-no-auth=yes", "--insecure-no-auth takes no value"},
		{"tls-cert alone", "serve --transport http --tls-cert a", "--tls-cert needs --tls-key"},
		{"tls-key alone", "serve --transport http --tls-key a", "--tls-key needs --tls-cert"},
		{"tls-client-ca alone", "serve --transport http --tls-client-ca a", "--tls-client-ca needs --tls-cert and --tls-key"},
		{"json and sse", "serve --transport http --json-response --always-sse", "--json-response and --always-sse exclude each other"},
		{"stateless and sse", "serve --transport sse --stateless", "--stateless has no effect with --transport sse, whose endpoints need sessions"},
		{"stateless and max-sessions", "serve --transport http --stateless --max-sessions 1", "--max-sessions has no effect with --stateless"},
		{"stateless and per principal", "serve --transport http --stateless --max-sessions-per-principal 1", "--max-sessions-per-principal has no effect with --stateless"},
		{"stateless and streams", "serve --transport http --stateless --max-streams 1", "--max-streams has no effect with --stateless"},
		{"stateless and idle", "serve --transport http --stateless --session-idle 1h", "--session-idle has no effect with --stateless"},
		{"max-body", "serve --transport http --max-body 1", "--max-body: want a number of bytes from 1024"},
		{"max-header", "serve --transport http --max-header 2MiB", "--max-header: want a number of bytes from 1024 to 1048576"},
		{"max-connections", "serve --transport http --max-connections 0", "--max-connections: want a whole number from 1 to 100000"},
		{"max-sessions", "serve --transport http --max-sessions -1", "--max-sessions: want a whole number from 1 to 1000000"},
		{"max-sessions-per-principal", "serve --transport http --max-sessions-per-principal x", "--max-sessions-per-principal: want a whole number"},
		{"max-streams", "serve --transport http --max-streams 10001", "--max-streams: want a whole number from 1 to 10000"},
		{"header-timeout", "serve --transport http --header-timeout 0", "--header-timeout: want a duration of more than 0, up to 24h"},
		{"body-timeout", "serve --transport http --body-timeout 25h", "--body-timeout: want a duration of more than 0"},
		{"write-timeout", "serve --transport http --write-timeout 5", "--write-timeout: want a duration of more than 0"},
		{"session-idle", "serve --transport http --session-idle=-1s", "--session-idle: want a duration up to 24h"},
		{"keep-alive", "serve --transport http --keep-alive never", "--keep-alive: want a duration up to 24h"},
		{"healthcheck of stdio", "healthcheck --transport stdio", "--transport stdio: there is nothing to ask"},
		{"healthcheck of systemd", "healthcheck --listen systemd", "--listen systemd: the address is in the .socket unit"},
		{"healthcheck of port 0", "healthcheck --listen 127.0.0.1:0", "--listen: port 0 stands for a free one"},
		{"within", "healthcheck --within 0", "--within: want a duration of more than 0"},
		{"strict without lint", "tools --strict", "--strict has no effect without --lint"},
		{"lint elsewhere", "prompts --lint", "--lint is not an option of prompts: it belongs to tools"},

		{"protocol-version", "tools --protocol-version 2025-01-01", "--protocol-version: want one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"},
		{"json", "tools --json=1", "--json takes no value"},
		{"templates", "tools --templates", "--templates is not an option of tools: it belongs to resources"},
		{"args not JSON", "call echo --args {a}", "--args: not JSON: "},
		{"args no object", "call echo --args []", `--args: want a JSON object such as {"path":"notes.txt"}`},
		{"args from stdin, empty", "call echo --args -", "--args: not JSON"},
		{"args file missing", "call echo --args @/nonexistent/x", "--args: open /nonexistent/x"},
		{"args file broken", "call echo --args @" + broken, "--args: not JSON"},
		{"args file too long over HTTP", "call echo --transport http --max-body 1KiB --args @/dev/zero", "--args: there are more than 1024 bytes: allow more with --max-body"},
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
		name string
		in   string
		env  map[string]string
		code int
		want string // on stderr
		not  string // neither there
	}{
		{"quiet", "serve", map[string]string{"CLOUDG_LOG_LEVEL": "error"}, 0, "", "level="},
		{"option wins", "serve --log-level info", map[string]string{"CLOUDG_LOG_LEVEL": "error"}, 0, "level=INFO", ""},
		{"wrong", "serve", map[string]string{"CLOUDG_LOG_LEVEL": "hunter2"}, 2, "the environment variable CLOUDG_LOG_LEVEL, which stands in for --log-level: want debug, info, warn or error", "hunter2"},
		{"wrong and overridden", "serve --log-level info", map[string]string{"CLOUDG_LOG_LEVEL": "hunter2"}, 0, "level=INFO", ""},
		{"empty", "serve", map[string]string{"CLOUDG_LOG_LEVEL": ""}, 0, "level=INFO", ""},

		{"transport", "serve --max-line 1KiB", map[string]string{"CLOUDG_TRANSPORT": "http"}, 2, "--max-line has no effect with --transport http", ""},
		{"wrong transport", "serve", map[string]string{"CLOUDG_TRANSPORT": "hunter2"}, 2, "the environment variable CLOUDG_TRANSPORT, which stands in for --transport: want stdio, http or sse", "hunter2"},
		{"of another transport", "serve", map[string]string{"CLOUDG_LISTEN": "nowhere", "CLOUDG_TLS_CERT": "a"}, 0, "serving on standard input", ""},
		{"listen", "serve --transport http", map[string]string{"CLOUDG_LISTEN": "nowhere"}, 2, "the environment variable CLOUDG_LISTEN, which stands in for --listen: want HOST:PORT", ""},
		{"hosts", "serve --transport http", map[string]string{"CLOUDG_ALLOWED_HOSTS": "mcp.example  *"}, 2, `--allowed-host "*" allows every host`, ""},
		{"certificate", "serve --transport http", map[string]string{"CLOUDG_TLS_CERT": "a"}, 2, "--tls-cert needs --tls-key", ""},
		{"key", "serve --transport http", map[string]string{"CLOUDG_TLS_KEY": "a"}, 2, "--tls-key needs --tls-cert", ""},
		{"authorities", "serve --transport http", map[string]string{"CLOUDG_TLS_CLIENT_CA": "a"}, 2, "--tls-client-ca needs --tls-cert", ""},
		{"wrong token", "serve --transport http", map[string]string{"CLOUDG_AUTH_TOKENS": "hunter2 :hunter3"}, 2, "the environment variable CLOUDG_AUTH_TOKENS: ", "hunter"},
		{"tokens for nobody", "serve --transport http --insecure-no-auth", map[string]string{"CLOUDG_AUTH_TOKENS": "hunter2"}, 2, "--insecure-no-auth and the tokens in CLOUDG_AUTH_TOKENS exclude each other", "hunter"},
		{"tokens on stdio", "serve", map[string]string{"CLOUDG_AUTH_TOKENS": ":hunter2"}, 0, "tokens are ignored on standard input and output", "hunter"},
		{"token on stdio", "serve --auth-token env:UNSET", nil, 0, "tokens are ignored on standard input and output", ""},
		{"no token on stdio", "serve", map[string]string{"CLOUDG_AUTH_TOKENS": " "}, 0, "", "tokens are ignored"},
		{"healthcheck", "healthcheck", map[string]string{"CLOUDG_TRANSPORT": "stdio"}, 2, "there is nothing to ask", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := runEnv(t, cli.Env{Args: strings.Fields(tt.in), Getenv: func(name string) string { return tt.env[name] }})
			if got.code != tt.code || !strings.Contains(got.stderr, tt.want) || tt.not != "" && strings.Contains(got.stderr, tt.not) {
				t.Errorf("got %+v, want code %d and %q without %q", got, tt.code, tt.want, tt.not)
			}
		})
	}
}
