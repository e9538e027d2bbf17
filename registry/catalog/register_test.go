package catalog_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

func TestRegister(t *testing.T) {
	host := []string{"host_status", "list_processes", "list_listeners", "list_interfaces", "list_roots"}
	reads := []string{"list_directory", "find_files", "search_text", "file_info", "read_file", "read_files"}
	writes := []string{"write_file", "edit_file", "make_directory", "move_file", "delete_file"}
	withRoots := []string{"server_info", "cloudg://server", "file:///{+path}", "diagnose_host", "investigate_log", "summarize_directory"}
	dir := tree(t, nil)
	tests := []struct {
		name string
		in   *catalog.Options
		want []string
	}{
		{"nothing", &catalog.Options{}, slices.Concat(host, []string{"server_info", "cloudg://server", "diagnose_host"})},
		{"a root", &catalog.Options{Roots: []string{dir}}, slices.Concat(host, reads, withRoots)},
		{"writing", &catalog.Options{Roots: []string{dir}, AllowWrite: true}, slices.Concat(host, reads, writes, withRoots)},
		{"one category", &catalog.Options{Roots: []string{dir}, Accept: func(s *policy.Subject) bool { return s.Category == catalog.CategoryMeta }},
			[]string{"server_info", "cloudg://server"}},
		{"no tool that reads files", &catalog.Options{Roots: []string{dir}, AllowWrite: true, Accept: func(s *policy.Subject) bool {
			return s.Kind == policy.Tool && !s.Capabilities.Any(policy.ReadFS|policy.WriteFS)
		}}, []string{"host_status", "list_processes", "list_listeners", "list_interfaces", "server_info"}},
		{"only public", &catalog.Options{Roots: []string{dir}, Accept: func(s *policy.Subject) bool { return s.Sensitivity == policy.Public }},
			[]string{"server_info", "cloudg://server", "diagnose_host"}},
		{"one name", &catalog.Options{Roots: []string{dir}, Accept: func(s *policy.Subject) bool { return s.Name == "read_file" }}, []string{"read_file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			equal(t, tt.want, names(start(t, tt.in).reg))
		})
	}
}

func TestRegister_defaults(t *testing.T) {
	reg := registry.New(nil)
	c, err := catalog.Register(reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	equal(t, 8, len(names(reg)))
}

func TestRegister_refused(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x"})
	tests := []struct {
		name, want string
		in         *catalog.Options
	}{
		{"no such root", "--root", &catalog.Options{Roots: []string{filepath.Join(dir, "missing")}}},
		{"a file as root", "is not a directory", &catalog.Options{Roots: []string{filepath.Join(dir, "file")}}},
		{"writing without a root", "add --root DIR", &catalog.Options{AllowWrite: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg := registry.New(nil)
			_, err := catalog.Register(reg, tt.in)
			if err == nil {
				t.Fatal("there is no error")
			}
			contains(t, err.Error(), tt.want)
			equal(t, []string{}, names(reg))
		})
	}
}

// TestRegister_nameTaken shows that a failed registration leaves nothing behind
// but what was there before.
func TestRegister_nameTaken(t *testing.T) {
	taken := func(t *testing.T, reg *registry.Registry) {
		t.Helper()
		err := reg.AddPrompt(registry.Prompt{Name: "summarize_directory", Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
			return new(protocol.GetPromptResult), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	reg := registry.New(nil)
	taken(t, reg)
	_, err := catalog.Register(reg, &catalog.Options{Roots: []string{tree(t, nil)}, AllowWrite: true})
	if err == nil || !strings.Contains(err.Error(), `"summarize_directory" is registered already`) {
		t.Fatalf("want the name that is taken, got %v", err)
	}
	equal(t, []string{"summarize_directory"}, names(reg))
}

func TestRegister_logsWhatIsLeftOut(t *testing.T) {
	var out bytes.Buffer
	start(t, &catalog.Options{
		Accept: func(s *policy.Subject) bool { return s.Name != "list_processes" },
		Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	equal(t, 1, strings.Count(out.String(), "left out of the catalog"))
	contains(t, out.String(), "kind=tool name=list_processes")
}
