package registry_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

func toolNames(s *registry.Snapshot) []string {
	var names []string
	for _, e := range s.Tools {
		names = append(names, e.Name)
	}
	return names
}

func TestOrderIsThatOfRegistration(t *testing.T) {
	r := registry.New(nil)
	if err := r.AddTool(tool("z"), tool("a"), tool("m")); err != nil {
		t.Fatal(err)
	}
	if err := r.ReplaceTool(with(tool("a"), func(t *registry.Tool) { t.Description = "new" })); err != nil {
		t.Fatal(err)
	}
	r.RemoveTool("z")
	if err := r.AddTool(tool("z")); err != nil {
		t.Fatal(err)
	}
	if err := r.ReplaceTool(tool("b")); err != nil { // not there yet
		t.Fatal(err)
	}
	s := r.Snapshot()
	if diff := cmp.Diff([]string{"a", "m", "z", "b"}, toolNames(s)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got := s.Tool("a").Description; got != "new" {
		t.Errorf("the replaced tool says %q", got)
	}
}

func TestNamesAreTakenOnce(t *testing.T) {
	r := registry.New(nil)
	tests := []struct {
		name string
		add  func() error
	}{
		{"tool", func() error { return r.AddTool(tool("a")) }},
		{"resource", func() error { return r.AddResource(resource("test://a")) }},
		{"template", func() error { return r.AddTemplate(template("test://{a}")) }},
		{"prompt", func() error { return r.AddPrompt(prompt("a")) }}, // kinds do not share names
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.add(); err != nil {
				t.Fatal(err)
			}
			if err := tt.add(); err == nil {
				t.Error("the name was taken twice")
			}
		})
	}
	if err := r.AddTool(tool("b"), tool("a"), tool("c")); err == nil {
		t.Error("a tool whose name is taken was accepted among others")
	}
	if diff := cmp.Diff([]string{"a", "b"}, toolNames(r.Snapshot())); diff != "" {
		t.Errorf("those before it stay, those behind it are not added (-want +got):\n%s", diff)
	}
}

func TestPrefix(t *testing.T) {
	r := registry.New(&registry.Options{Prefix: "x_"})
	if err := r.AddTool(tool("a")); err != nil {
		t.Fatal(err)
	}
	if err := r.AddPrompt(prompt("a")); err != nil {
		t.Fatal(err)
	}
	if err := r.AddResource(resource("test://a")); err != nil {
		t.Fatal(err)
	}
	s := r.Snapshot()
	switch {
	case s.Tool("x_a") == nil || s.Tool("a") != nil || s.Tool("x_a").Subject.Name != "x_a":
		t.Error("the tool is not there under its prefix, and only so")
	case s.Prompt("x_a") == nil:
		t.Error("the prompt is not there under its prefix")
	case s.Resource("test://a") == nil:
		t.Error("a URI must have no prefix")
	}
	if !r.RemoveTool("a") || r.RemoveTool("a") {
		t.Error("a tool is removed by its name without prefix, once")
	}
}

func TestSnapshotsDoNotChange(t *testing.T) {
	r := registry.New(nil)
	if err := r.AddTool(tool("a")); err != nil {
		t.Fatal(err)
	}
	before := r.Snapshot()
	if r.Snapshot() != before {
		t.Error("without a change the snapshot is another one")
	}
	if err := r.AddTool(tool("b")); err != nil {
		t.Fatal(err)
	}
	r.RemoveTool("a")
	if diff := cmp.Diff([]string{"a"}, toolNames(before)); diff != "" || before.Tool("b") != nil || before.Tool("a") == nil {
		t.Errorf("a snapshot has changed (-want +got):\n%s", diff)
	}
	after := r.Snapshot()
	if after.Generation <= before.Generation {
		t.Errorf("generation %d after %d", after.Generation, before.Generation)
	}
	if diff := cmp.Diff([]string{"b"}, toolNames(after)); diff != "" {
		t.Errorf("the next snapshot (-want +got):\n%s", diff)
	}
}

func TestChangesAreTold(t *testing.T) {
	var got []policy.Kind
	var r *registry.Registry
	r = registry.New(&registry.Options{OnChange: func(k policy.Kind) {
		r.Snapshot() // no lock is held
		got = append(got, k)
	}})
	steps := []struct {
		name string
		do   func() error
		want []policy.Kind
	}{
		{"two tools", func() error { return r.AddTool(tool("a"), tool("b")) }, []policy.Kind{policy.Tool, policy.Tool}},
		{"a resource", func() error { return r.AddResource(resource("test://a")) }, []policy.Kind{policy.Resource}},
		{"a template", func() error { return r.AddTemplate(template("test://{a}")) }, []policy.Kind{policy.ResourceTemplate}},
		{"a prompt", func() error { return r.AddPrompt(prompt("a")) }, []policy.Kind{policy.Prompt}},
		{"replaced", func() error { return r.ReplacePrompt(prompt("a")) }, []policy.Kind{policy.Prompt}},
		{"removed", func() error { r.RemoveTool("a"); return nil }, []policy.Kind{policy.Tool}},
		{"removed again", func() error { r.RemoveTool("a"); return nil }, nil},
		{"removed template and resource", func() error { r.RemoveTemplate("test://{a}"); r.RemoveResource("test://a"); return nil }, []policy.Kind{policy.ResourceTemplate, policy.Resource}},
		{"removed prompt", func() error { r.RemovePrompt("a"); return nil }, []policy.Kind{policy.Prompt}},
	}
	for _, tt := range steps {
		got = nil
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	got = nil
	if err := r.AddTool(tool("a b")); err == nil || got != nil {
		t.Errorf("a refused tool was told as a change: %v, %v", err, got)
	}
}

func TestRoutes(t *testing.T) {
	r := registry.New(nil)
	if err := r.AddTemplate(template("file:///{+path}"), template("file:///logs/{name}"), template("db://{table}/{id}")); err != nil {
		t.Fatal(err)
	}
	all := func(*registry.TemplateEntry) bool { return true }
	tests := []struct {
		name, in string
		accept   func(*registry.TemplateEntry) bool
		want     string // template, then its variables
	}{
		{"the most specific", "file:///logs/a", all, "file:///logs/{name} name=a"},
		{"what it does not cover", "file:///logs/a/b", all, "file:///{+path} path=logs/a/b"},
		{"decoded", "db://users/a%2Fb", all, "db://{table}/{id} table=users id=a/b"},
		{"one that is not accepted", "file:///logs/a", func(e *registry.TemplateEntry) bool { return e.URITemplate != "file:///logs/{name}" }, "file:///{+path} path=logs/a"},
		{"nothing", "http://x", all, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if e, vars := r.Snapshot().Route(tt.in, tt.accept); e != nil {
				got = e.URITemplate
				for _, v := range vars {
					got += fmt.Sprintf(" %s=%s", v.Name, v.Value)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("route (-want +got):\n%s", diff)
			}
		})
	}
}

// Readers see one state or the other, never a mixture.
func TestConcurrentChange(t *testing.T) {
	r := registry.New(nil)
	const pairs = 50
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range pairs {
				name := fmt.Sprintf("t%d-%d", i, n)
				if err := r.AddTool(tool(name)); err != nil {
					t.Error(err)
				}
				if n%2 == 0 {
					r.RemoveTool(name)
				}
			}
		})
		wg.Go(func() {
			last := uint64(0)
			for range pairs {
				s := r.Snapshot()
				if s.Generation < last {
					t.Errorf("generation %d after %d", s.Generation, last)
				}
				last = s.Generation
				for _, name := range toolNames(s) {
					if s.Tool(name) == nil {
						t.Errorf("%s is in the list and cannot be found", name)
					}
				}
			}
		})
	}
	wg.Wait()
	names := toolNames(r.Snapshot())
	if len(names) != 4*pairs/2 {
		t.Errorf("%d tools are left, want %d", len(names), 4*pairs/2)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 4*pairs/2 {
		t.Error("a tool is there twice")
	}
}
