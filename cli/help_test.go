package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// wantOptions says which subcommand has which options. It is written out here,
// apart from the table of the command.
func wantOptions() map[string][]string {
	server := strings.Fields("--transport --root --allow-write --skills --task-dir --prefix --include-category --exclude-category --include-tool --exclude-tool " +
		"--timeout --page-size --max-output --max-in-flight --drain --state-key --log-level --log-format --auth-token")
	some := strings.Fields("--help --max-line --listen --path --public-path --trusted-proxy --allowed-host --allowed-origin --cors-origin --insecure-no-auth " +
		"--tls-cert --tls-key --tls-client-ca --stateless --json-response --always-sse --max-body --max-header --max-connections --max-sessions " +
		"--max-sessions-per-principal --max-streams --header-timeout --body-timeout --write-timeout --session-idle --keep-alive")
	with := func(own ...string) []string { return slices.Concat(server, own, some) }
	return map[string][]string{
		"serve":       with(),
		"tools":       with("--protocol-version", "--json", "--lint", "--strict"),
		"resources":   with("--protocol-version", "--json", "--templates"),
		"prompts":     with("--protocol-version", "--json"),
		"call":        with("--protocol-version", "--args", "--raw"),
		"read":        with("--protocol-version"),
		"complete":    with("--protocol-version", "--given"),
		"healthcheck": with("--within"),
		"version":     {"--json", "--help"},
		"help":        {"--help"},
	}
}

func TestHelp_listsOptions(t *testing.T) {
	all := run(t, "", "help", "options").stdout
	for name, want := range wantOptions() {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", "help", name)
			if diff := cmp.Diff(want, headings(got.stdout)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, o := range want {
				if o != "--help" && !slices.Contains(headings(all), o) {
					t.Errorf("'help options' lacks %s", o)
				}
			}
			for _, flag := range []string{"--help", "-h"} {
				if diff := cmp.Diff(got, run(t, "", name, "--", flag), cmp.AllowUnexported(result{})); diff == "" {
					t.Errorf("%s behind -- is not an operand", flag)
				}
				if diff := cmp.Diff(got, run(t, "", name, flag), cmp.AllowUnexported(result{})); diff != "" {
					t.Errorf("%s (-help %s +%s %s)\n%s", flag, name, name, flag, diff)
				}
			}
		})
	}
}

// headings returns the options that have an entry in a help text, in order.
func headings(text string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  (?:-h, )?(--[a-z-]+)`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestHelp_topics shows every topic, also those that the overview names.
func TestHelp_topics(t *testing.T) {
	overview := run(t, "", "help")
	for _, in := range [][]string{{"--help"}, {"-h"}, {"help", "cloudg"}} {
		if diff := cmp.Diff(overview, run(t, "", in...), cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%v (-help +other)\n%s", in, diff)
		}
	}
	topics := strings.Fields("serve tools resources prompts call read complete healthcheck version help clients eras errors exit-codes files http library lint options protocol security stateless tokens")
	for _, topic := range topics {
		t.Run(topic, func(t *testing.T) {
			got := run(t, "", "help", topic)
			title, body, _ := strings.Cut(got.stdout, "\n")
			if got.code != 0 || got.stderr != "" || !strings.HasPrefix(title, topic+" - ") || len(body) < 200 {
				t.Fatalf("got %+v", got)
			}
			if _, listed, _ := strings.Cut(title, " - "); !regexp.MustCompile(`(?m)^  ` + topic + ` +` + regexp.QuoteMeta(listed) + `$`).MatchString(overview.stdout) {
				t.Errorf("the overview lacks the line of %s", topic)
			}
			for line := range strings.Lines(got.stdout) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("a line has %d characters: %s", n, line)
				}
				if strings.Contains(line, "\t") || strings.HasSuffix(line, " \n") {
					t.Errorf("a line has a tab, or a space at its end: %q", line)
				}
			}
		})
	}
}

// TestHelp_errors names every code of the protocol.
func TestHelp_errors(t *testing.T) {
	text := run(t, "", "help", "errors").stdout
	for _, code := range []int{
		protocol.CodeParse, protocol.CodeInvalidRequest, protocol.CodeMethodNotFound, protocol.CodeInvalidParams, protocol.CodeInternal,
		protocol.CodeResourceNotFound, protocol.CodeURLElicitation, protocol.CodeHeaderMismatch, protocol.CodeMissingCapability,
		protocol.CodeUnsupportedVersion, protocol.CodeAccessDenied, protocol.CodeRateLimited,
	} {
		if !regexp.MustCompile(fmt.Sprintf(`%d\b`, code)).MatchString(text) {
			t.Errorf("code %d is missing", code)
		}
	}
}

// TestHelp_examples runs every example of the manual with the built-in catalog.
// The files and directories in them are replaced by some that exist. What serves
// over HTTP is ended once it does, and what checks a server finds one.
func TestHelp_examples(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for name, text := range map[string]string{
		"syslog": "an error\n", "picture.png": "\x89PNG", "query.json": `{"pattern":"error"}`,
		"token": "secret", "key": strings.Repeat("k", 32),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manual, err := filepath.Glob("help/*.txt")
	if err != nil || len(manual) < 24 {
		t.Fatalf("%d files, %v", len(manual), err)
	}
	place := strings.NewReplacer("/srv/data", dir, "/var/log", dir, "~/notes", dir, "DIR", dir, "@query", "@"+dir+"/query",
		"file:token", "file:"+dir+"/token", "file:key", "file:"+dir+"/key", "'", "")
	running := startHTTP(t, cli.Env{}, "--listen", "127.0.0.1:0")
	example := regexp.MustCompile(`(?m)^  (?:echo .* \| )?cloudg ([a-z].*?)(?:  .*| >.*)?$`)
	for _, name := range manual {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range example.FindAllStringSubmatch(string(text), -1) {
			t.Run(m[1], func(t *testing.T) {
				env := map[string]string{"TOKEN": "secret", "CLOUDG_LISTEN": "127.0.0.1:0"}
				if strings.HasPrefix(m[1], "healthcheck") {
					env["CLOUDG_LISTEN"] = running.address()
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var stdout strings.Builder
				stderr := &startLog{started: cancel}
				code := cli.Run(ctx, cli.Env{
					Args: strings.Fields(place.Replace(m[1])), Stdin: strings.NewReader(`{"pattern":"error"}`), Stdout: &stdout, Stderr: stderr,
					Getenv: func(name string) string { return env[name] },
				})
				if code != 0 {
					t.Errorf("code %d\nstdout: %s\nstderr: %s", code, stdout.String(), stderr)
				}
			})
		}
	}
}

// TestHelp_defaults finds the default of each limit in the help of its option.
func TestHelp_defaults(t *testing.T) {
	text := strings.Join(strings.Fields(run(t, "", "help", "serve").stdout), " ")
	for option, want := range map[string]any{
		"--path PATH": transport.DefaultPath, "--max-body BYTES": size(transport.DefaultMaxBody), "--max-header BYTES": size(transport.DefaultMaxHeaderBytes),
		"--max-line BYTES": size(transport.DefaultMaxLine), "--max-connections N": transport.DefaultMaxConnections, "--max-streams N": transport.DefaultMaxStreams,
		"--max-sessions N": session.DefaultMaxSessions, "--max-sessions-per-principal N": session.DefaultMaxPerPrincipal,
		"--header-timeout DURATION": span(transport.DefaultReadHeaderTimeout), "--body-timeout DURATION": span(transport.DefaultBodyTimeout),
		"--write-timeout DURATION": span(transport.DefaultWriteTimeout), "--keep-alive DURATION": span(transport.DefaultKeepAlive),
		"--session-idle DURATION": span(session.DefaultIdleTimeout), "--timeout DURATION": span(layer.DefaultTimeout),
		"--max-output BYTES": layer.DefaultMaxOutput,
		"--max-in-flight N":  fmt.Sprintf("1024; over HTTP, %d", transport.DefaultMaxCalls),
	} {
		if !regexp.MustCompile(" " + regexp.QuoteMeta(option) + ` (?:[^-]|-[^-])*? Default ` + regexp.QuoteMeta(fmt.Sprint(want)) + `\.`).MatchString(text) {
			t.Errorf("the help of %s does not say: Default %v.", option, want)
		}
	}
}

// size is a number of bytes as the help has it.
type size int

func (s size) String() string {
	if s%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", int(s>>20))
	}
	return fmt.Sprintf("%dKiB", int(s>>10))
}

// span is a duration as the help has it, without the units that are 0.
type span time.Duration

func (s span) String() string {
	text := time.Duration(s).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func TestVersion(t *testing.T) {
	built := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
		},
	}
	clean := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "now"}, {Key: "vcs.modified", Value: "false"}}}
	tests := []struct {
		name  string
		build *debug.BuildInfo
		in    string
		want  string // a regular expression
	}{
		{"unknown", nil, "version", `^cloudg devel\ngo \S+ \w+/\w+\nprotocol 2024-11-05, .*, 2026-07-28\n$`},
		{"changed", built, "version", `^cloudg v1\.2\.3\ngo .*\nrevision abc123 2026-01-02T03:04:05Z \(changed since\)\nprotocol .*\n$`},
		{"clean", clean, "--version", `^cloudg devel\ngo .*\nrevision abc123 now \(as committed\)\nprotocol .*\n$`},
		{"JSON", built, "version --json", `^\{"name":"cloudg","version":"v1\.2\.3","go":"[^"]+","os":"\w+","arch":"\w+","revision":"abc123","revisionTime":"2026-01-02T03:04:05Z","modified":true,"protocolVersions":\["2024-11-05",.*,"2026-07-28"\]\}\n$`},
		{"JSON unknown", nil, "--version --json", `^\{"name":"cloudg","version":"devel",.*"modified":false,"protocolVersions":\[.*\]\}\n$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := runEnv(t, cli.Env{Args: strings.Fields(tt.in), Build: tt.build})
			if got.code != 0 || got.stderr != "" || !regexp.MustCompile(tt.want).MatchString(got.stdout) {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}
