package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

type point struct {
	X int `json:"x"`
	Y int `json:"y,omitempty"`
}

type sum struct {
	Total int `json:"total"`
}

// run makes a tool from a function, registers it, and calls it.
func run[In, Out any](t *testing.T, fn func(context.Context, *registry.Call, In) (Out, error), args string) (*registry.ToolEntry, *protocol.CallToolResult, error) {
	t.Helper()
	made, err := registry.Typed(registry.Tool{Name: "t"}, fn)
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(nil)
	if err := r.AddTool(made); err != nil {
		t.Fatal(err)
	}
	e := r.Snapshot().Tool("t")
	if err := e.ValidateInput([]byte(args)); err != nil {
		t.Fatalf("the handler validates while it binds, and so did the entry: %v", err)
	}
	res, err := e.Handler(t.Context(), &registry.Call{Arguments: []byte(args)})
	return e, res, err
}

func TestTypedTool(t *testing.T) {
	add := func(_ context.Context, _ *registry.Call, p point) (sum, error) { return sum{p.X + p.Y}, nil }
	e, res, err := run(t, add, `{"x":1,"y":2}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.StructuredContent), `{"total":3}`; got != want {
		t.Errorf("structured content %s, want %s", got, want)
	}
	if len(res.Content) != 0 {
		t.Errorf("there is text beside the structured content already: %v", res.Content)
	}
	if err := e.ValidateOutput(res.StructuredContent); err != nil {
		t.Errorf("the result does not match the schema that was derived: %v", err)
	}
	for _, args := range []string{`{}`, `{"x":"1"}`, `{"x":1,"z":2}`, `{"x":1.5}`, `{"x":1,"x":2}`} {
		_, _, err := run(t, add, args)
		var invalid *registry.InvalidArguments
		if !errors.As(err, &invalid) {
			t.Errorf("%s: error %v, want invalid arguments", args, err)
		}
	}
	if _, res, err := run(t, add, `{"x":1,"y":null}`); err != nil || string(res.StructuredContent) != `{"total":1}` {
		t.Errorf("null for an optional argument: %v", err)
	}
}

func TestTypedResults(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		e, res, err := run(t, func(context.Context, *registry.Call, struct{}) (string, error) { return "hi", nil }, `{}`)
		if err != nil || e.OutputSchema != nil || res.StructuredContent != nil || res.Content[0].(*protocol.Text).Text != "hi" {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("a result as it is", func(t *testing.T) {
		want := registry.ErrorResult("no")
		_, res, err := run(t, func(context.Context, *registry.Call, struct{}) (*protocol.CallToolResult, error) { return want, nil }, `{}`)
		if err != nil || res != want {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("no result", func(t *testing.T) {
		_, res, err := run(t, func(context.Context, *registry.Call, struct{}) (*protocol.CallToolResult, error) { return nil, nil }, `{}`)
		if err != nil || res == nil {
			t.Errorf("%+v, %v; want an empty one", res, err)
		}
	})
	t.Run("an array", func(t *testing.T) {
		e, res, err := run(t, func(context.Context, *registry.Call, struct{}) ([]int, error) { return nil, nil }, `{}`)
		if err != nil || string(res.StructuredContent) != `[]` || !e.WrapsOutput() {
			t.Errorf("%s, wrapped %v, %v", res.StructuredContent, e.WrapsOutput(), err)
		}
	})
	t.Run("an error", func(t *testing.T) {
		want := registry.Failf("no %w", errors.ErrUnsupported)
		_, _, err := run(t, func(context.Context, *registry.Call, struct{}) (sum, error) { return sum{}, want }, `{}`)
		if err != want || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v, want it as it was", err)
		}
	})
}

// definition returns a tool as tools/list shows it.
func definition(t *testing.T, in registry.Tool, v protocol.Version) map[string]json.RawMessage {
	t.Helper()
	r := registry.New(nil)
	if err := r.AddTool(in); err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	raw := r.Snapshot().Tools[0].AppendDefinition(nil, v)
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return m
}

func TestDefinitionInEachVersion(t *testing.T) {
	in := with(tool("t"), func(t *registry.Tool) {
		t.Title, t.Description = "T", "d"
		t.Icons = []protocol.Icon{{Src: "https://example.com/i.png"}}
		t.OutputSchema = []byte(`{"type":"object"}`)
		t.Meta = []byte(`{"a":1}`)
	})
	tests := map[protocol.Version]string{
		protocol.V20241105: "description inputSchema name",
		protocol.V20250326: "annotations description inputSchema name",
		protocol.V20250618: "_meta annotations description inputSchema name outputSchema title",
		protocol.V20251125: "_meta annotations description icons inputSchema name outputSchema title",
		protocol.V20260728: "_meta annotations description icons inputSchema name outputSchema title",
	}
	for v, want := range tests {
		if diff := cmp.Diff(strings.Fields(want), sortedKeys(definition(t, in, v))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}

func TestSchemasAreListedAsTheyAre(t *testing.T) {
	const doc = `{"type":"object","$defs":{"z":{"type":"string"}},"properties":{"b":{"$ref":"#/$defs/z"},"a":{"const":1.0}},"additionalProperties":false}`
	in := with(tool("t"), func(t *registry.Tool) { t.InputSchema = []byte(strings.ReplaceAll(doc, ",", ",\n\t")) })
	got := string(definition(t, in, protocol.LatestStateless)["inputSchema"])
	if strings.ContainsAny(got, "\r\n") {
		t.Errorf("a line end in the list: %q", got)
	}
	if diff := cmp.Diff(doc, strings.ReplaceAll(got, "\t", "")); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

// Older versions want an object, so other output is wrapped, references and all.
func TestOutputOfOlderVersions(t *testing.T) {
	const doc = `{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}`
	in := with(tool("t"), func(t *registry.Tool) { t.OutputSchema = []byte(doc) })
	if got := string(definition(t, in, protocol.LatestStateless)["outputSchema"]); got != doc {
		t.Errorf("the newest version sees %s, want %s", got, doc)
	}
	legacy := definition(t, in, protocol.LatestHandshake)["outputSchema"]
	// What the older versions are shown must be a schema that a server could
	// register itself, and accept what they are sent.
	again := with(tool("t"), func(t *registry.Tool) { t.OutputSchema = legacy })
	r := registry.New(nil)
	if err := r.AddTool(again); err != nil {
		t.Fatalf("%v in %s", err, legacy)
	}
	e := r.Snapshot().Tool("t")
	if e.WrapsOutput() {
		t.Errorf("%s is no schema of an object", legacy)
	}
	if err := e.ValidateOutput([]byte(`{"result":[1,2]}`)); err != nil {
		t.Errorf("%s refuses what is sent: %v", legacy, err)
	}
	for _, bad := range []string{`{"result":["x"]}`, `[1]`, `{}`} {
		if e.ValidateOutput([]byte(bad)) == nil {
			t.Errorf("%s accepts %s", legacy, bad)
		}
	}
}

func TestHints(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		name         string
		capabilities policy.Capabilities
		in           *registry.ToolAnnotations
		want         string
	}{
		{"nothing", 0, nil, `{"readOnlyHint":true,"openWorldHint":false}`},
		{"reads", policy.ReadState | policy.ReadFS, nil, `{"readOnlyHint":true,"openWorldHint":false}`},
		{"reads from others", policy.Network, nil, `{"readOnlyHint":true,"openWorldHint":true}`},
		{"writes state", policy.WriteState, nil, `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`},
		{"writes files", policy.WriteFS, nil, `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`},
		{"runs programs", policy.Exec, nil, `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`},
		{"its author knows better", policy.WriteFS, &registry.ToolAnnotations{Destructive: &no, Idempotent: &yes, OpenWorld: &yes, Title: "T"},
			`{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true,"title":"T"}`},
		{"read only by its author", policy.WriteState, &registry.ToolAnnotations{ReadOnly: &yes}, `{"readOnlyHint":true,"openWorldHint":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := with(tool("t"), func(t *registry.Tool) { t.Capabilities, t.Annotations = tt.capabilities, tt.in })
			if diff := cmp.Diff(tt.want, string(definition(t, in, protocol.LatestStateless)["annotations"])); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	cause := errors.New("cause")
	err := registry.Failf("cannot do it: %w", cause)
	var f *registry.Failure
	if !errors.As(err, &f) || f.Text != "cannot do it: cause" || !errors.Is(err, cause) {
		t.Errorf("%#v", err)
	}
	if err := registry.Failf("no cause"); errors.Unwrap(err) != nil {
		t.Errorf("%v has a cause", err)
	}
}

// A call that nobody listens to can report all the same.
func TestCallWithoutClient(t *testing.T) {
	c := new(registry.Call)
	if err := c.Progress(t.Context(), 1, 2, "m"); err != nil {
		t.Error(err)
	}
	if err := c.Log(t.Context(), protocol.LogError, "l", "data"); err != nil {
		t.Error(err)
	}
	if got := c.Var("x"); got != "" {
		t.Errorf("a variable that is not there is %q", got)
	}
}
