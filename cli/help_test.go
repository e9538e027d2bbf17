package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
	"cloudg.dev/cloudg/protocol"
)

// wantOptions says which subcommand has which options. It is written out here,
// apart from the table of the command.
func wantOptions() map[string][]string {
	server := strings.Fields("--root --allow-write --prefix --include-category --exclude-category --include-tool --exclude-tool " +
		"--timeout --page-size --max-output --max-line --max-in-flight --drain --log-level --log-format")
	with := func(more ...string) []string { return append(slices.Clone(server), more...) }
	return map[string][]string{
		"serve":     server,
		"tools":     with("--protocol-version", "--json"),
		"resources": with("--protocol-version", "--json", "--templates"),
		"prompts":   with("--protocol-version", "--json"),
		"call":      with("--protocol-version", "--args", "--raw"),
		"read":      with("--protocol-version"),
		"complete":  with("--protocol-version", "--given"),
		"version":   {"--json"},
		"help":      {},
	}
}

func TestHelp_listsOptions(t *testing.T) {
	all := run(t, "", "help", "options").stdout
	for name, want := range wantOptions() {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", "help", name)
			if diff := cmp.Diff(append(want, "--help"), headings(got.stdout)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, o := range want {
				if !slices.Contains(headings(all), o) {
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
	topics := strings.Fields("serve tools resources prompts call read complete version help clients errors exit-codes files library options protocol security")
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
// The directories in them are replaced by one that exists.
func TestHelp_examples(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"syslog": "an error\n", "picture.png": "\x89PNG", "query.json": `{"pattern":"error"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manual, err := filepath.Glob("help/*.txt")
	if err != nil || len(manual) < 18 {
		t.Fatalf("%d files, %v", len(manual), err)
	}
	place := strings.NewReplacer("/srv/data", filepath.ToSlash(dir), "/var/log", filepath.ToSlash(dir), "~/notes", filepath.ToSlash(dir), "DIR", filepath.ToSlash(dir), "@query", "@"+filepath.ToSlash(dir)+"/query", "'", "")
	example := regexp.MustCompile(`(?m)^  (?:echo .* \| )?cloudg ([a-z].*?)(?:  .*| >.*)?$`)
	for _, name := range manual {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range example.FindAllStringSubmatch(string(text), -1) {
			t.Run(m[1], func(t *testing.T) {
				var stdout, stderr strings.Builder
				code := cli.Run(t.Context(), cli.Env{Args: strings.Fields(place.Replace(m[1])), Stdin: strings.NewReader(`{"pattern":"error"}`), Stdout: &stdout, Stderr: &stderr})
				if code != 0 {
					t.Errorf("code %d\nstdout: %s\nstderr: %s", code, stdout.String(), stderr.String())
				}
			})
		}
	}
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
