package layer_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

// returning returns a tool that returns always the same result, which nobody may
// change.
func returning(res *protocol.CallToolResult, output string) registry.Tool {
	in := tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) { return res, nil })
	if output != "" {
		in.OutputSchema = []byte(output)
	}
	return in
}

// wire returns a result as a version gets it.
func wire(t *testing.T, l *layer.Layer, v protocol.Version) string {
	t.Helper()
	res, err := call(t, l, in(v), "t", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	return "{" + string(res.AppendMembers(nil, v)) + "}"
}

func TestCap(t *testing.T) {
	note := func(s string) bool { return strings.HasPrefix(s, "[Truncated") }
	tests := []struct {
		name  string
		limit int
		in    []string
		want  []string // without the note
	}{
		{"short enough", 10, []string{"12345", "67890"}, []string{"12345", "67890"}},
		{"one byte too long", 9, []string{"12345", "67890"}, []string{"12345", "6789"}},
		{"between characters", 4, []string{"aéé"}, []string{"aé"}},
		{"within the first character", 2, []string{"€"}, nil},
		{"four bytes", 7, []string{"abc😀x"}, []string{"abc😀"}},
		{"within four bytes", 6, []string{"abc😀x"}, []string{"abc"}},
		{"what follows is left out", 3, []string{"abcdef", "ghi", "jkl"}, []string{"abc"}},
		{"no limit", -1, []string{strings.Repeat("x", 1<<20)}, []string{strings.Repeat("x", 1<<20)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := new(protocol.CallToolResult)
			for _, s := range tt.in {
				res.Content = append(res.Content, &protocol.Text{Text: s})
			}
			out, err := call(t, withTools(t, layer.Options{MaxOutput: tt.limit}, returning(res, "")), local(), "t", `{}`)
			must(t, err)
			var got []string
			cut := false
			for _, c := range out.Content {
				s := c.(*protocol.Text).Text
				if !utf8.ValidString(s) {
					t.Errorf("%q is cut within a character", s)
				}
				if note(s) {
					cut = true
					continue
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if want := !cmp.Equal(tt.in, tt.want); cut != want {
				t.Errorf("the result says that it is cut: %v, want %v", cut, want)
			}
			if len(res.Content) != len(tt.in) || res.Content[0].(*protocol.Text).Text != tt.in[0] {
				t.Error("what the handler returned was changed")
			}
		})
	}
}

func TestCapOfOtherContent(t *testing.T) {
	picture := &protocol.Image{Data: make([]byte, 1000), MIMEType: "image/png"}
	embedded := &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "test://x", Text: strings.Repeat("é", 50)}}
	res := &protocol.CallToolResult{Content: []protocol.Content{picture, embedded}}
	out, err := call(t, withTools(t, layer.Options{MaxOutput: 51}, returning(res, "")), local(), "t", `{}`)
	must(t, err)
	if out.Content[0] != protocol.Content(picture) {
		t.Error("a picture was touched, which is broken when it is cut")
	}
	if got := out.Content[1].(*protocol.EmbeddedResource).Resource.Text; got != strings.Repeat("é", 25) {
		t.Errorf("the text of the resource has %d bytes, want 50", len(got))
	}
	if len(embedded.Resource.Text) != 100 {
		t.Error("what the handler returned was changed")
	}
}

// The tool's own cap counts before the layer's, and structured content is never
// cut.
func TestCapOfOneTool(t *testing.T) {
	in := returning(registry.TextResult("1234567890"), "")
	in.MaxOutput = 3
	out, err := call(t, withTools(t, layer.Options{MaxOutput: 5}, in), local(), "t", `{}`)
	must(t, err)
	if got := firstText(out); got != "123" {
		t.Errorf("%q, want 123", got)
	}
	out, err = call(t, withTools(t, layer.Options{MaxOutput: 5}, returning(registry.StructuredResult([]byte(`{"a":"1234567890"}`)), "")), local(), "t", `{}`)
	must(t, err)
	if !out.IsError || out.StructuredContent != nil || !strings.Contains(firstText(out), "18 bytes") {
		t.Errorf("too much structured content: isError %v, %q", out.IsError, firstText(out))
	}
}

func TestStructuredContent(t *testing.T) {
	object := &protocol.CallToolResult{StructuredContent: []byte(`{"a":1}`)}
	described := &protocol.CallToolResult{StructuredContent: []byte(`{"a":1}`), Content: []protocol.Content{&protocol.Text{Text: "one"}}}
	array := &protocol.CallToolResult{StructuredContent: []byte(`[1]`)}
	null := &protocol.CallToolResult{StructuredContent: []byte(`null`)}
	const (
		schemaObject = `{"type":"object","properties":{"a":{"type":"integer"}}}`
		schemaArray  = `{"type":"array","items":{"type":"integer"}}`
		schemaAny    = `{"properties":{"a":{"type":"integer"}}}`
	)
	tests := []struct {
		name       string
		res        *protocol.CallToolResult
		output     string
		old, c, m2 string // 2025-03-26, 2025-11-25, 2026-07-28
	}{
		{"an object", object, schemaObject,
			`{"content":[{"type":"text","text":"{\"a\":1}"}]}`,
			`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
			`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
		{"with a text of its own", described, "",
			`{"content":[{"type":"text","text":"one"}]}`,
			`{"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}}`,
			`{"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}}`},
		{"an array", array, schemaArray,
			`{"content":[{"type":"text","text":"[1]"}]}`,
			`{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`,
			`{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`},
		{"null, without a schema", null, "",
			`{"content":[{"type":"text","text":"null"}]}`,
			`{"content":[{"type":"text","text":"null"}],"structuredContent":{"result":null}}`,
			`{"content":[{"type":"text","text":"null"}],"structuredContent":null}`},
		{"an object that need not be one", object, schemaAny,
			`{"content":[{"type":"text","text":"{\"a\":1}"}]}`,
			`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"result":{"a":1}}}`,
			`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, err := json.Marshal(tt.res)
			must(t, err)
			l := withTools(t, layer.Options{}, returning(tt.res, tt.output))
			for v, want := range map[protocol.Version]string{protocol.V20250326: tt.old, protocol.LatestHandshake: tt.c, protocol.LatestStateless: tt.m2} {
				if diff := cmp.Diff(want, wire(t, l, v)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
			after, err := json.Marshal(tt.res)
			must(t, err)
			if diff := cmp.Diff(string(before), string(after)); diff != "" {
				t.Errorf("what the handler returned was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestOutputSchema(t *testing.T) {
	const schema = `{"type":"object","required":["a"]}`
	tests := []struct {
		name    string
		res     *protocol.CallToolResult
		isError bool
		text    string
	}{
		{"conforms", registry.StructuredResult([]byte(`{"a":1}`)), false, `{"a":1}`},
		{"does not", registry.StructuredResult([]byte(`{}`)), true, "fault of the tool"},
		{"is missing", registry.TextResult("x"), true, "fault of the tool"},
		{"errors need not", registry.ErrorResult("no"), true, "no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := call(t, withTools(t, layer.Options{}, returning(tt.res, schema)), local(), "t", `{}`)
			must(t, err)
			if out.IsError != tt.isError || !strings.Contains(firstText(out), tt.text) || tt.isError && out.StructuredContent != nil {
				t.Errorf("isError %v, %q, structured content %s; want %v, %q", out.IsError, firstText(out), out.StructuredContent, tt.isError, tt.text)
			}
		})
	}
}

// Raw JSON of a handler that is none must not reach the client: it would break
// the message, or be one.
func TestBrokenResults(t *testing.T) {
	broken := []string{`{`, ` `, `{"a":1} x`, "\"abc\n", "{\"a\":\"\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\"}", "{\n  \"rows\": [\n    \"say \\\"hel", "{\"a\":\"\xff\"}"}
	results := func(raw string) map[string]*protocol.CallToolResult {
		b := []byte(raw)
		text := func(meta []byte) protocol.Content { return &protocol.Text{Text: "t", Meta: meta} }
		return map[string]*protocol.CallToolResult{
			"structured content":              {StructuredContent: b},
			"structured content of a failure": {StructuredContent: b, IsError: true},
			"metadata":                        {Meta: b},
			"metadata of a text":              {Content: []protocol.Content{text(b)}},
			"metadata of an image":            {Content: []protocol.Content{text(nil), &protocol.Image{Meta: b}}},
			"metadata of a recording":         {Content: []protocol.Content{&protocol.Audio{Meta: b}}},
			"metadata of a link":              {Content: []protocol.Content{&protocol.ResourceLink{Meta: b}}},
			"metadata of a resource":          {Content: []protocol.Content{&protocol.EmbeddedResource{Meta: b}}},
			"metadata of its contents":        {Content: []protocol.Content{&protocol.EmbeddedResource{Resource: protocol.ResourceContents{Meta: b}}}},
			"nothing":                         {Content: []protocol.Content{nil}},
		}
	}
	for _, raw := range broken {
		for name, res := range results(raw) {
			for _, schema := range []string{"", `{}`} {
				out, err := call(t, withTools(t, layer.Options{}, returning(res, schema)), local(), "t", `{}`)
				if err != nil || !out.IsError || !strings.Contains(firstText(out), "fault of the tool") || out.StructuredContent != nil || out.Meta != nil {
					t.Errorf("%s %q with the schema %q: %+v, %v", name, raw, schema, out, err)
				}
			}
		}
	}
	// Nor must that of resources and prompts.
	reg := registry.New(nil)
	must(t, reg.AddResource(registry.Resource{URI: "test://r", Name: "r", Handler: func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
		return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: "test://r", Meta: []byte(`{`)}}}, nil
	}}), reg.AddPrompt(registry.Prompt{Name: "p", Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
		return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: protocol.RoleUser}}}, nil
	}}))
	l := layer.New(&layer.Options{Registry: reg})
	if _, err := l.ReadResource(t.Context(), local(), "test://r"); err == nil || !strings.Contains(err.Error(), "contents[0]: _meta") {
		t.Errorf("the resource: %v", err)
	}
	if _, err := l.GetPrompt(t.Context(), local(), "p", nil); err == nil || !strings.Contains(err.Error(), "messages[0]") {
		t.Errorf("the prompt: %v", err)
	}
}

// Empty structured content is none.
func TestEmptyStructuredContent(t *testing.T) {
	for _, v := range protocol.Versions() {
		res := &protocol.CallToolResult{Content: []protocol.Content{&protocol.Text{Text: "t"}}, StructuredContent: []byte{}}
		if got, want := wire(t, withTools(t, layer.Options{}, returning(res, "")), v), `{"content":[{"type":"text","text":"t"}]}`; got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}
