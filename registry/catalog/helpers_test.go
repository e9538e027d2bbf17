package catalog_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

// png is the smallest picture that is sniffed as one, wav likewise.
const (
	png = "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01"
	wav = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"
)

// rig is a catalog behind a layer, as a server has it.
type rig struct {
	t     *testing.T
	dir   string // the first root
	reg   *registry.Registry
	layer *layer.Layer
	req   *layer.Request
}

// tree writes files into a new folder and returns its path without links.
func tree(t *testing.T, content map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// start registers the catalog in an empty registry.
func start(t *testing.T, o *catalog.Options) *rig {
	t.Helper()
	return startIn(t, registry.New(nil), o)
}

func startIn(t *testing.T, reg *registry.Registry, o *catalog.Options) *rig {
	t.Helper()
	c, err := catalog.Register(reg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	r := &rig{
		t: t, reg: reg, layer: layer.New(&layer.Options{Registry: reg}),
		req: &layer.Request{Principal: policy.Local(), Version: protocol.LatestStateless},
	}
	if len(o.Roots) > 0 {
		r.dir = o.Roots[0]
	}
	return r
}

// writable is a catalog with everything over the given files.
func writable(t *testing.T, content map[string]string) *rig {
	t.Helper()
	return start(t, &catalog.Options{
		Roots: []string{tree(t, content)}, AllowWrite: true,
		Info: protocol.Implementation{Name: "cloudg", Title: "Cloudg", Version: "1.2.3"},
	})
}

// call calls a tool, which may fail as a tool does.
func (r *rig) call(ctx context.Context, name, args string) *protocol.CallToolResult {
	r.t.Helper()
	res, err := r.layer.CallTool(ctx, r.req, []byte(`"`+name+`"`), []byte(args))
	if err != nil {
		r.t.Fatalf("%s %s: %v", name, args, err)
	}
	return res.Explicit()
}

// ok calls a tool that must succeed, and holds the result against the output
// schema.
func (r *rig) ok(name, args string) *protocol.CallToolResult {
	r.t.Helper()
	res := r.call(r.t.Context(), name, args)
	if res.IsError {
		r.t.Fatalf("%s %s failed: %s", name, args, text(res))
	}
	s, err := schema.Compile(r.reg.Snapshot().Tool(name).OutputSchema, nil)
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	if err := s.Validate(res.StructuredContent); err != nil {
		r.t.Errorf("%s %s: the structured content does not conform: %v", name, args, err)
	}
	if len(res.Content) == 0 {
		r.t.Errorf("%s %s: there is no content beside the structured content", name, args)
	}
	return res
}

// fails calls a tool that must fail and returns the text of the failure.
func (r *rig) fails(name, args string) string {
	r.t.Helper()
	res := r.call(r.t.Context(), name, args)
	if !res.IsError {
		r.t.Fatalf("%s %s did not fail: %s", name, args, text(res))
	}
	return text(res)
}

// text joins the text blocks of a result.
func text(res *protocol.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*protocol.Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// structured decodes the structured content of a result.
func structured(t *testing.T, res *protocol.CallToolResult) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(res.StructuredContent, &v); err != nil {
		t.Fatalf("structured content %q: %v", res.StructuredContent, err)
	}
	return v
}

// prompt expands a prompt and returns the text of its only message.
func (r *rig) prompt(name string, args map[string]string) string {
	r.t.Helper()
	res, err := r.layer.GetPrompt(r.t.Context(), r.req, name, args)
	if err != nil {
		r.t.Fatalf("prompt %s %v: %v", name, args, err)
	}
	if len(res.Messages) != 1 || res.Messages[0].Role != protocol.RoleUser {
		r.t.Fatalf("prompt %s: want one message of the user, have %d", name, len(res.Messages))
	}
	return res.Messages[0].Content.(*protocol.Text).Text
}

// names lists the names of all that is registered, in order.
func names(reg *registry.Registry) []string {
	list := []string{}
	snap := reg.Snapshot()
	for _, e := range snap.Tools {
		list = append(list, e.Name)
	}
	for _, e := range snap.Resources {
		list = append(list, e.URI)
	}
	for _, e := range snap.Templates {
		list = append(list, e.URITemplate)
	}
	for _, e := range snap.Prompts {
		list = append(list, e.Name)
	}
	return list
}

// recorder is a client that notes progress.
type recorder struct {
	mu       sync.Mutex
	progress []string // the messages
	onReport func()   // may be nil
}

func (r *recorder) Progress(_ context.Context, _, _ float64, message string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, message)
	if r.onReport != nil {
		r.onReport()
	}
	return nil
}

func (r *recorder) Log(context.Context, protocol.LogLevel, string, []byte) error { return nil }

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func contains(t *testing.T, s string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(s, part) {
			t.Errorf("%q is not in\n%s", part, s)
		}
	}
}

// quote returns a path as a JSON string.
func quote(path string) string {
	b, _ := json.Marshal(filepath.ToSlash(path))
	return string(b)
}
