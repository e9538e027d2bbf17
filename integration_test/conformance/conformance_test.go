package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestListing(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"scenarios of servers", "Server scenarios (test against a server):\n  - ping [2025-06-18,2025-11-25]\n  - tasks-x [extension]\n", []string{"ping", "tasks-x"}},
		{"a requirement set", "Required for 2025-11-25 (3 scenarios, frozen; run at the wire):\n\nServer scenarios (test against a server):\n  - ping\n  - tools-list\n\n" +
			"Client scenarios (test against a client):\n  - auth/x\n\nRun and reported, but never scored:\n  extension (2):\n    - auth/y [client]\n    - tasks-x [server]\n  pending (1):\n    - z [server]\n",
			[]string{"ping", "tools-list", "tasks-x", "z"}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, tt.want, parseList([]byte(tt.in))) })
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name, scenario string
		in             []check
		want           []string
	}{
		{"all well", "x", []check{{"a", success, ""}, {"b", info, ""}}, nil},
		{"failure", "x", []check{{"a", success, ""}, {"b", failure, "it\n  broke"}}, []string{"FAILURE b: it broke"}},
		{"warning", "x", []check{{"a", success, ""}, {"b", warning, "should"}}, []string{"WARNING b: should"}},
		{"unknown status", "x", []check{{"a", success, ""}, {"b", "MAYBE", ""}}, []string{"MAYBE b:"}},
		{"skipped", "x", []check{{"a", skipped, "not declared"}, {"wire-schema-valid", success, ""}}, []string{"SKIPPED a: not declared"}},
		{"always skipped", alwaysSkipped, []check{{"a", skipped, ""}}, nil},
		{"always skipped, but not done", alwaysSkipped, nil, []string{"there is no result of this scenario"}},
		{"information only", "x", []check{{"a", info, ""}}, []string{"nothing was checked"}},
		{"no checks", "x", []check{}, []string{"there is no result of this scenario"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := result{"all", tt.scenario, tt.in}
			equal(t, tt.want, r.faults())
		})
	}
}

// write writes files below a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResults(t *testing.T) {
	const at = "-2026-11-30T15-53-46-957Z/checks.json"
	dir := write(t, map[string]string{
		"server-server-x" + at: `[{"id":"b","status":"SUCCESS"},{"id":"a","status":"FAILURE","errorMessage":"no"}]`,
		"server-empty" + at:    `[]`,
		"notes/x":              "",
	})
	got, err := readResults("all", []string{"server-x", "empty", "missing"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, 3, len(got))
	equal(t, []check{{"a", failure, "no"}, {"b", success, ""}}, got[0].checks)
	equal(t, []string{"all/server-x", "all/empty", "all/missing"}, []string{got[0].name(), got[1].name(), got[2].name()})
	for i := range got {
		if len(got[i].faults()) == 0 {
			t.Errorf("%s passes", got[i].name())
		}
	}
}

func TestResultErrors(t *testing.T) {
	const at = "-2026-11-30T15-53-46-957Z/checks.json"
	tests := []struct {
		name string
		in   map[string]string
		want string
	}{
		{"not listed", map[string]string{"server-y" + at: "[]"}, "a result of a scenario that is not listed"},
		{"twice", map[string]string{"server-x" + at: "[]", "server-x-2026-11-30T15-53-47-000Z/checks.json": "[]"}, "a second result"},
		{"broken", map[string]string{"server-x" + at: "[{"}, "unexpected end of JSON"},
		{"without checks", map[string]string{"server-x-2026-11-30T15-53-46-957Z/other": ""}, "checks.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := readResults("all", []string{"x"}, write(t, tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestBaseline(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		fault    string
	}{
		{"names and comments", "# one\n\nall/x  # two\n 2025-11-25/y\n", []string{"all/x", "2025-11-25/y"}, ""},
		{"empty", "# nothing\n", nil, ""},
		{"no set", "all/x\ny\n", nil, `:2: "y" is not of the form SET/SCENARIO`},
		{"twice", "all/x\nall/x\n", nil, ":2: all/x is there twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"b": tt.in}), "b")
			got, err := readBaseline(file)
			if tt.fault != "" {
				if err == nil || err.Error() != file+tt.fault {
					t.Errorf("got %v, want %s", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, tt.want, got)
		})
	}
}

func TestDeviations(t *testing.T) {
	good, bad := []check{{"a", success, ""}}, []check{{"a", failure, ""}}
	tests := []struct {
		name  string
		known []string
		in    []result
		want  string // empty: exact
	}{
		{"all pass", nil, []result{{"all", "x", good}}, ""},
		{"known", []string{"all/x"}, []result{{"all", "x", bad}, {"all", "y", good}}, ""},
		{"unknown", []string{"all/x"}, []result{{"all", "x", bad}, {"2025-11-25", "x", bad}}, "2025-11-25/x fails and is not in the baseline\n"},
		{"passes now", []string{"all/x"}, []result{{"all", "x", good}}, "all/x passes: take it out of the baseline\n"},
		{"gone", []string{"all/z"}, []result{{"all", "x", good}}, "all/z is in the baseline, but there is no such scenario\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			exact := writeDeviations(&b, tt.known, tt.in)
			equal(t, tt.want, b.String())
			equal(t, tt.want == "", exact)
		})
	}
}

func TestChanges(t *testing.T) {
	first := []result{{"all", "x", []check{{"a", success, "1"}, {"b", success, ""}, {"i", info, ""}}}}
	tests := []struct {
		name string
		in   []check
		want string
	}{
		{"the same", []check{{"b", success, ""}, {"a", success, "2"}}, ""},
		{"another status", []check{{"a", failure, ""}, {"b", success, ""}}, "run 2: all/x differs from the first run: [+a FAILURE -a SUCCESS]\n"},
		{"one is missing", []check{{"b", success, ""}}, "run 2: all/x differs from the first run: [-a SUCCESS]\n"},
		{"one more", []check{{"a", success, ""}, {"b", success, ""}, {"b", success, ""}}, "run 2: all/x differs from the first run: [+b SUCCESS]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			same := writeChanges(&b, 2, first, []result{{"all", "x", tt.in}})
			equal(t, tt.want, b.String())
			equal(t, tt.want == "", same)
		})
	}
}

func TestTables(t *testing.T) {
	var b strings.Builder
	results := []result{
		{"all", "one", []check{{"a", success, ""}, {"b", skipped, ""}}},
		{"all", "another", []check{{"a", success, ""}, {"b", warning, "w"}, {"c", failure, "f"}}},
		{"2025-11-25", "one", nil},
	}
	writeTables(&b, results)
	writeTotals(&b, results)
	equal(t, `== all: 2 scenarios
      scenario  passed  failed  warnings  skipped
FAIL  one       1       0       0         1
FAIL  another   1       1       1         0
one: SKIPPED b:
another: WARNING b: w
another: FAILURE c: f

== 2025-11-25: 1 scenarios
      scenario  passed  failed  warnings  skipped
FAIL  one       0       0       0         0
one: there is no result of this scenario

0 passed, 3 failed
`, b.String())
}

func TestListening(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"the line", "time=2026-11-30T15:53:45.697Z level=INFO msg=listening address=127.0.0.1:38907\n", "127.0.0.1:38907"},
		{"another line", "level=INFO msg=other address=127.0.0.1:1\n", ""},
		{"no address", "level=INFO msg=listening \n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := listening(tt.in)
			equal(t, tt.want, got)
			equal(t, tt.want != "", ok)
		})
	}
}

func TestServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the servers of this test are shell scripts")
	}
	const announce = "echo level=INFO msg=starting >&2\necho level=INFO msg=listening address=127.0.0.1:1234 >&2\n"
	tests := []struct {
		name, in          string
		startFault, fault string
	}{
		{"ends well", "trap 'echo bye >&2; exit 0' TERM\n" + announce + "while :; do sleep 0.01; done\n", "", ""},
		{"ends badly", "trap 'exit 3' TERM\n" + announce + "while :; do sleep 0.01; done\n", "", "the server did not end well: exit status 3"},
		{"is ended by the signal", announce + "exec sleep 60\n", "", "the server did not end well: signal: terminated"},
		{"never listens", "echo no >&2\nexit 1\n", "the server ended before it listened", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, nil)
			script, log := filepath.Join(dir, "server"), filepath.Join(dir, "log")
			if err := os.WriteFile(script, []byte("#!/bin/sh\n"+tt.in), 0o755); err != nil {
				t.Fatal(err)
			}
			s, err := startServer(t.Context(), script, log)
			if tt.startFault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.startFault) {
					t.Errorf("got %v, want %s", err, tt.startFault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "http://127.0.0.1:1234/mcp", s.url)
			if err := s.stop(); tt.fault == "" && err != nil || tt.fault != "" && (err == nil || err.Error() != tt.fault) {
				t.Errorf("got %v, want %q", err, tt.fault)
			}
			if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), "msg=starting") {
				t.Errorf("the log has %q, %v", data, err)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"no server", []string{"-suite", "s", "-out", "o"}, "-server is needed"},
		{"no suite", []string{"-server", "s", "-out", "o"}, "-suite is needed"},
		{"no directory", []string{"-server", "s", "-suite", "s"}, "-out is needed"},
		{"no run", []string{"-server", "s", "-suite", "s", "-out", "o", "-repeat", "0"}, "-repeat 0: want 1 or more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseFlags(tt.in); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
