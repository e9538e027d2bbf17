package layer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

func TestToolNames(t *testing.T) {
	l := withTools(t, layer.Options{}, tool("a", text("found")))
	for name, want := range map[string]bool{`"a"`: true, `"\u0061"`: true, `"A"`: false, `""`: false, `"a "`: false} {
		_, err := l.CallTool(t.Context(), local(), []byte(name), nil)
		if (err == nil) != want {
			t.Errorf("%s: error %v, want none: %v", name, err, want)
		}
	}
	_, err := l.CallTool(t.Context(), local(), []byte(`"`+strings.Repeat("é", 1000)+`"`), nil)
	if got := object(t, err); len(got) > 300 || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("the refusal repeats too much: %q", got)
	}
}

func TestArguments(t *testing.T) {
	l := withTools(t, layer.Options{}, tool("t", func(_ context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
		return registry.TextResult(string(c.Arguments)), nil
	}))
	tests := []struct {
		name, in string
		want     string // "" for a protocol error
		isError  bool
	}{
		{"absent", ``, `{}`, false},
		{"null", `null`, `{}`, false},
		{"empty", `{}`, `{}`, false},
		{"as they came", `{ "n":1.0}`, `{ "n":1.0}`, false},
		{"null for an optional one", `{"n":null}`, `{"n":null}`, false},
		{"of another type", `{"n":"x"}`, `argument "n"`, true},
		{"unknown", `{"m":1}`, `"m"`, true},
		{"an array", `[]`, ``, false},
		{"a string", `"x"`, ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := call(t, l, local(), "t", tt.in)
			if tt.want == "" {
				if got := object(t, err); !strings.HasPrefix(got, "-32602 ") {
					t.Errorf("refused with %s", got)
				}
				return
			}
			must(t, err)
			if res.IsError != tt.isError || !strings.Contains(firstText(res), tt.want) {
				t.Errorf("isError %v, %q; want %v, %q", res.IsError, firstText(res), tt.isError, tt.want)
			}
		})
	}
}

func TestErrorsOfTools(t *testing.T) {
	cause := errors.New("secret")
	tests := []struct {
		name string
		err  error
		want string // the text of a result, or the error object, or "" for a fault
	}{
		{"a failure", registry.Failf("try again: %w", errors.New("later")), "try again: later"},
		{"a failure inside", fmt.Errorf("%w", registry.Failf("no")), "no"},
		{"for the peer", protocol.Errorf(-1, "m"), "-1 m "},
		{"a fault", cause, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := withTools(t, layer.Options{}, tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) { return nil, tt.err }))
			res, err := call(t, l, local(), "t", `{}`)
			got := firstText(res)
			var e *protocol.Error
			switch {
			case errors.As(err, &e):
				got = object(t, err)
			case err == nil && !res.IsError:
				t.Error("the failure is no error")
			case err != nil && !errors.Is(err, cause):
				t.Errorf("error %v", err)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// resources returns a layer with a resource, a template for more of its kind,
// and one for everything.
func resources(t *testing.T) *layer.Layer {
	t.Helper()
	named := func(name string) registry.ResourceHandler {
		return func(_ context.Context, c *registry.Call) (*protocol.ReadResourceResult, error) {
			switch c.Var("id") {
			case "gone":
				return nil, fmt.Errorf("looking: %w", registry.ErrNotFound)
			case "refused":
				return nil, registry.Failf("not for you")
			}
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: c.URI, Text: name + " " + c.Var("id")}}}, nil
		}
	}
	reg := registry.New(nil)
	must(t,
		reg.AddTemplate(registry.Template{URITemplate: "test://{+id}", Name: "all", Handler: named("all")}),
		reg.AddTemplate(registry.Template{URITemplate: "test://a/{id}", Name: "a", Handler: named("a"), Complete: map[string]registry.Completer{
			"id": func(_ context.Context, _ *registry.Call, value string, given map[string]string) (*protocol.Completion, error) {
				return &protocol.Completion{Values: []string{value + given["x"]}}, nil
			}}}),
		reg.AddResource(registry.Resource{URI: "test://a/1", Name: "one", Handler: named("one")}))
	return layer.New(&layer.Options{Registry: reg})
}

func TestReadResource(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"exactly", "test://a/1", "one "},
		{"the most specific template", "test://a/2", "a 2"},
		{"decoded", "test://a/x%20y", "a x y"},
		{"another template", "test://b/c", "all b/c"},
		{"not there", "other://x", `-32002 Resource not found: other://x {"uri":"other://x"}`},
		{"its handler does not have it", "test://a/gone", `-32002 Resource not found: test://a/gone {"uri":"test://a/gone"}`},
		{"its handler refuses", "test://a/refused", "-32602 not for you "},
	}
	l := resources(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := l.ReadResource(t.Context(), local(), tt.in)
			var got string
			if err != nil {
				got = object(t, err)
			} else {
				got = res.Contents[0].Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
	_, err := l.ReadResource(t.Context(), in(protocol.LatestStateless), "other://x")
	if got := object(t, err); !strings.HasPrefix(got, "-32602 ") {
		t.Errorf("the stateless era is refused with %s, want -32602", got)
	}
}

func TestComplete(t *testing.T) {
	l := resources(t)
	tests := []struct{ name, ref, argument, want string }{
		{"a variable", "test://a/{id}", "id", `"completion":{"values":["vy"]}`},
		{"a variable without completer", "test://{+id}", "id", `"completion":{"values":[]}`},
		{"a resource", "test://a/1", "id", `"completion":{"values":[]}`},
		{"an unknown variable", "test://a/{id}", "no", `-32602 Unknown variable "no" of resource template test://a/{id} `},
		{"an unknown template", "test://b/{id}", "id", `-32602 Unknown resource template: test://b/{id} `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := l.CompleteResource(t.Context(), local(), tt.ref, &layer.CompletionRequest{Argument: tt.argument, Value: "v", Given: map[string]string{"x": "y"}})
			var got string
			if err != nil {
				got = object(t, err)
			} else {
				got = string(res.AppendMembers(nil, protocol.LatestHandshake))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("completion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGetPrompt(t *testing.T) {
	reg := registry.New(nil)
	must(t, reg.AddPrompt(registry.Prompt{
		Name:      "p",
		Arguments: []registry.PromptArgument{{Name: "a", Required: true}, {Name: "b"}},
		Handler: func(_ context.Context, c *registry.Call) (*protocol.GetPromptResult, error) {
			if c.Strings["b"] == "refused" {
				return nil, registry.Failf("b cannot be that")
			}
			return &protocol.GetPromptResult{Description: c.Strings["a"] + c.Strings["b"]}, nil
		}}))
	l := layer.New(&layer.Options{Registry: reg})
	tests := []struct {
		name, prompt string
		in           map[string]string
		want         string
	}{
		{"all", "p", map[string]string{"a": "1", "b": "2"}, "12"},
		{"the required one", "p", map[string]string{"a": ""}, ""},
		{"not the required one", "p", map[string]string{"b": "2"}, `-32602 Missing required argument "a" of prompt p `},
		{"none", "p", nil, `-32602 Missing required argument "a" of prompt p `},
		{"an unknown one", "p", map[string]string{"a": "1", "c": "2"}, `-32602 Unknown argument "c" of prompt p `},
		{"refused by its handler", "p", map[string]string{"a": "1", "b": "refused"}, "-32602 b cannot be that "},
		{"unknown", "q", nil, "-32602 Unknown prompt: q "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := l.GetPrompt(t.Context(), local(), tt.prompt, tt.in)
			var got string
			if err != nil {
				got = object(t, err)
			} else {
				got = res.Description
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
		})
	}
}
