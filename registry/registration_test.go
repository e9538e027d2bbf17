package registry_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry"
)

// with returns a copy of v that change has changed.
func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func TestToolRegistration(t *testing.T) {
	schemas := func(in, out string) registry.Tool {
		return with(tool("t"), func(t *registry.Tool) {
			t.InputSchema = []byte(in)
			if out != "" {
				t.OutputSchema = []byte(out)
			}
		})
	}
	tests := []struct {
		name string
		in   registry.Tool
		want string // in the error; empty for none
	}{
		{"sound", tool("aZ09_-."), ""},
		{"128 bytes", tool(strings.Repeat("a", 128)), ""},
		{"no name", tool(""), "name is empty"},
		{"129 bytes", tool(strings.Repeat("a", 129)), "129 bytes"},
		{"a space", tool("a b"), "byte 1"},
		{"a comma", tool("a,b"), "byte 1"},
		{"a slash", tool("a/b"), "byte 1"},
		{"a letter of another alphabet", tool("ä"), "byte 0"},
		{"no handler", with(tool("t"), func(t *registry.Tool) { t.Handler = nil }), "handler: missing"},
		{"no input schema", with(tool("t"), func(t *registry.Tool) { t.InputSchema = nil }), "input schema: missing"},
		{"metadata", with(tool("t"), func(t *registry.Tool) { t.Meta = []byte(` {"a":1} `) }), ""},
		{"metadata that is broken", with(tool("t"), func(t *registry.Tool) { t.Meta = []byte(`{`) }), "_meta"},
		{"metadata that is no object", with(tool("t"), func(t *registry.Tool) { t.Meta = []byte(`[]`) }), "_meta"},
		{"an input schema that is broken", schemas(`{`, ""), "input schema"},
		{"an input schema that is wrong", schemas(`{"type":"object","properties":7}`, ""), "input schema"},
		{"an input schema of another type", schemas(`{"type":"array"}`, ""), `"type":"object"`},
		{"an input schema of several types", schemas(`{"type":["object"]}`, ""), `"type":"object"`},
		{"an input schema without type", schemas(`{}`, ""), `"type":"object"`},
		{"an input schema of an unknown dialect", schemas(`{"$schema":"https://example.com/mine","type":"object"}`, ""), "input schema"},
		{"an input schema that leads outside", schemas(`{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}`, ""), "nothing is fetched"},
		{"an output schema", schemas(openObject, `{"type":"object"}`), ""},
		{"an output schema for any value", schemas(openObject, `{"type":"array","items":{}}`), ""},
		{"an output schema that is broken", schemas(openObject, `{`), "output schema"},
		{"an output schema that is no object", schemas(openObject, `true`), "output schema"},
		{"an output schema that is wrong", schemas(openObject, `{"type":"thing"}`), "output schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkRefusal(t, registry.New(nil).AddTool(tt.in), tt.want, "tool") })
	}
}

// checkRefusal checks that err says what is wrong, and with what.
func checkRefusal(t *testing.T, err error, want, what string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want an error with %q", want)
	case err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), what)):
		t.Errorf("refused because of %q, want %s … %s", err, what, want)
	}
}

func TestResourceRegistration(t *testing.T) {
	tests := []struct {
		name string
		in   registry.Resource
		want string
	}{
		{"sound", resource("test://a"), ""},
		{"no authority", resource("urn:a:b"), ""},
		{"percent-encoded", resource("file:///a%20b"), ""},
		{"no URI", resource(""), "URI is empty"},
		{"relative", resource("/a/b"), "no scheme"},
		{"a space", resource("file:///a b"), "byte 9"},
		{"a letter that must be encoded", resource("file:///ä"), "byte 8"},
		{"a control character", resource("file:///a\n"), "byte 9"},
		{"no URI at all", resource("file://[::1"), "not a URI"},
		{"no name", with(resource("test://a"), func(r *registry.Resource) { r.Name = "" }), "name: missing"},
		{"no handler", with(resource("test://a"), func(r *registry.Resource) { r.Handler = nil }), "handler: missing"},
		{"metadata that is broken", with(resource("test://a"), func(r *registry.Resource) { r.Meta = []byte(`x`) }), "_meta"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRefusal(t, registry.New(nil).AddResource(tt.in), tt.want, "resource")
		})
	}
}

func TestTemplateRegistration(t *testing.T) {
	completed := func(name string) registry.Template {
		return with(template("test://{a}/{b}"), func(t *registry.Template) { t.Complete = map[string]registry.Completer{name: noCompletion} })
	}
	tests := []struct {
		name string
		in   registry.Template
		want string
	}{
		{"sound", template("test://{a}/{+b}"), ""},
		{"not closed", template("test://{a"), `"test://{a"`},
		{"an unsupported operator", template("test://{!a}"), `"test://{!a}"`},
		{"no name", with(template("test://{a}"), func(t *registry.Template) { t.Name = "" }), "name: missing"},
		{"no handler", with(template("test://{a}"), func(t *registry.Template) { t.Handler = nil }), "handler: missing"},
		{"completion for a variable", completed("b"), ""},
		{"completion for no variable", completed("c"), `"c"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRefusal(t, registry.New(nil).AddTemplate(tt.in), tt.want, "resource template")
		})
	}
}

func TestPromptRegistration(t *testing.T) {
	args := func(names ...string) registry.Prompt {
		p := prompt("p")
		for _, n := range names {
			p.Arguments = append(p.Arguments, registry.PromptArgument{Name: n})
		}
		return p
	}
	tests := []struct {
		name string
		in   registry.Prompt
		want string
	}{
		{"sound", args("a", "b"), ""},
		{"no name", prompt(""), "name is empty"},
		{"a slash", prompt("a/b"), "byte 1"},
		{"no handler", with(prompt("p"), func(p *registry.Prompt) { p.Handler = nil }), "handler: missing"},
		{"an argument without name", args("a", ""), "argument 1"},
		{"an argument twice", args("a", "b", "a"), `"a" is declared twice`},
		{"metadata that is broken", with(prompt("p"), func(p *registry.Prompt) { p.Meta = []byte(`"x"`) }), "_meta"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRefusal(t, registry.New(nil).AddPrompt(tt.in), tt.want, "prompt")
		})
	}
}
