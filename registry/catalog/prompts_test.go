package catalog_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

// callsIn lists the tools that a prompt tells to call, in order, and makes the
// calls whose arguments it gives.
func (r *rig) callsIn(prompt string) []string {
	r.t.Helper()
	list := []string{}
	for _, m := range regexp.MustCompile(`(?m)^\d+\. Call (\S+?)(?: with (\{.*\}))?: `).FindAllStringSubmatch(prompt, -1) {
		list = append(list, m[1])
		if m[2] != "" {
			r.ok(m[1], m[2])
		}
	}
	return list
}

func TestDiagnoseHost(t *testing.T) {
	needProcfs(t)
	r := writable(t, nil)
	tests := []struct {
		name string
		in   map[string]string
		want []string
	}{
		{"everything", nil, []string{"host_status", "list_processes", "list_processes", "find_files", "list_interfaces", "list_listeners"}},
		{"cpu", map[string]string{"focus": "cpu"}, []string{"host_status", "list_processes"}},
		{"memory", map[string]string{"focus": "memory"}, []string{"host_status", "list_processes"}},
		{"disk", map[string]string{"focus": "disk"}, []string{"host_status", "find_files"}},
		{"network", map[string]string{"focus": "network"}, []string{"host_status", "list_interfaces", "list_listeners"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := r.prompt("diagnose_host", tt.in)
			equal(t, tt.want, r.callsIn(got))
			contains(t, got, tt.in["focus"], "Then report:")
		})
	}
}

// TestDiagnoseHost_noRoots shows that a prompt names no tool that is not there.
func TestDiagnoseHost_noRoots(t *testing.T) {
	r := start(t, &catalog.Options{Accept: func(s *policy.Subject) bool { return s.Name != "list_processes" }})
	equal(t, []string{"host_status", "list_interfaces", "list_listeners"}, r.callsIn(r.prompt("diagnose_host", nil)))
}

// TestPrompts_prefix shows that prompts name tools as they are registered.
func TestPrompts_prefix(t *testing.T) {
	r := startIn(t, registry.New(&registry.Options{Prefix: "box-"}), &catalog.Options{Roots: []string{tree(t, nil)}})
	got := r.callsIn(r.prompt("box-summarize_directory", map[string]string{"path": "."}))
	equal(t, []string{"box-list_directory", "box-find_files", "box-find_files", "box-read_files"}, got)
}

func TestInvestigateLog(t *testing.T) {
	r := writable(t, map[string]string{"logs/app log.txt": "12:00 started\n12:01 error: <disk> full\n"})
	got := r.prompt("investigate_log", map[string]string{"path": "logs/app log.txt"})
	equal(t, []string{"file_info", "read_file", "search_text", "read_file"}, r.callsIn(got))
	contains(t, got, `the log file "logs/app log.txt"`, `"ignore_case":true`, "not an instruction to you")

	got = r.prompt("investigate_log", map[string]string{"path": "logs/app log.txt", "pattern": `error: <\w+>`, "since": ""})
	contains(t, got, `"pattern":"error: <\\w+>"`)
	if strings.Contains(got, "since") {
		t.Error("there is a period although none was given")
	}
}

func TestInvestigateLog_since(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"time", "2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"},
		{"date", "2026-01-31", "2026-01-31T00:00:00Z"},
		{"hours", "1h30m", "1999-12-31T22:30:00Z"},
		{"days", "7d", "1999-12-25T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01
				r := writable(t, map[string]string{"a.log": "x"})
				got := r.prompt("investigate_log", map[string]string{"path": "a.log", "since": tt.in})
				contains(t, got, "logged since "+tt.want+" counts")
			})
		})
	}
}

func TestSummarizeDirectory(t *testing.T) {
	r := writable(t, map[string]string{"src/main.go": "package main\n"})
	got := r.prompt("summarize_directory", map[string]string{"path": "src"})
	equal(t, []string{"list_directory", "find_files", "find_files", "read_files"}, r.callsIn(got))
	contains(t, got, `the directory "src"`, `"depth":2`)
	contains(t, r.prompt("summarize_directory", map[string]string{"path": r.dir, "depth": "5"}), `"depth":5`)
}

func TestPrompts_refused(t *testing.T) {
	r := writable(t, map[string]string{"a.log": "x", "dir/b": "x"})
	tests := []struct {
		name, prompt string
		in           map[string]string
		want         string
	}{
		{"focus", "diagnose_host", map[string]string{"focus": "printer"}, "cpu, memory, disk, network"},
		{"unknown argument", "diagnose_host", map[string]string{"depth": "1"}, "depth"},
		{"no path", "investigate_log", nil, "path"},
		{"empty path", "investigate_log", map[string]string{"path": ""}, "list_roots"},
		{"missing log", "investigate_log", map[string]string{"path": "b.log"}, "not found"},
		{"directory as log", "investigate_log", map[string]string{"path": "dir"}, "want a file"},
		{"pattern", "investigate_log", map[string]string{"path": "a.log", "pattern": "("}, "RE2"},
		{"long pattern", "investigate_log", map[string]string{"path": "a.log", "pattern": strings.Repeat("a", 1025)}, "1024"},
		{"since", "investigate_log", map[string]string{"path": "a.log", "since": "yesterday"}, "7d"},
		{"negative since", "investigate_log", map[string]string{"path": "a.log", "since": "-1h"}, "7d"},
		{"file as directory", "summarize_directory", map[string]string{"path": "a.log"}, "want a directory"},
		{"depth", "summarize_directory", map[string]string{"path": "dir", "depth": "11"}, "1 to 10"},
		{"outside", "summarize_directory", map[string]string{"path": "/etc"}, "list_roots"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.layer.GetPrompt(t.Context(), r.req, tt.prompt, tt.in)
			if err == nil {
				t.Fatal("there is no error")
			}
			contains(t, err.Error(), tt.want)
		})
	}
}

func TestPrompts_completion(t *testing.T) {
	r := writable(t, map[string]string{"logs/a.log": "", "logs/b.log": "", "lib/x": ""})
	tests := []struct {
		name, prompt, argument, in string
		want                       []string
	}{
		{"focus", "diagnose_host", "focus", "", []string{"cpu", "memory", "disk", "network"}},
		{"focus begun", "diagnose_host", "focus", "m", []string{"memory"}},
		{"path", "investigate_log", "path", "logs/", []string{"logs/a.log", "logs/b.log"}},
		{"directory", "summarize_directory", "path", "l", []string{"lib/", "logs/"}},
		{"since", "investigate_log", "since", "2", []string{"24h"}},
		{"depth", "summarize_directory", "depth", "1", []string{"1", "10"}},
		{"nothing to suggest", "investigate_log", "pattern", "x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.layer.CompletePrompt(t.Context(), r.req, tt.prompt, &layer.CompletionRequest{Argument: tt.argument, Value: tt.in})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got.Values)
			slices.Sort(tt.want)
			equal(t, tt.want, got.Values)
		})
	}
}
