package layer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

// The way of a request: visibility, middleware, access, validation, handler,
// output.
func TestOrderOfThePath(t *testing.T) {
	j := new(journal)
	handler := func(result *protocol.CallToolResult) registry.ToolHandler {
		return func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			j.note("handler")
			return result, nil
		}
	}
	broken := tool("broken", handler(registry.StructuredResult([]byte(`7`))))
	broken.OutputSchema = []byte(`{"type":"object"}`)
	l := withTools(t, layer.Options{
		Access:     &access{journal: j, hidden: []string{"hidden"}, denied: []string{"denied"}},
		Middleware: []layer.Middleware{named(j, "outer"), named(j, "inner")},
	}, tool("fine", handler(registry.TextResult("ok"))), tool("hidden", handler(nil)), tool("denied", handler(nil)), broken)
	around := func(name string, steps ...string) []string {
		all := append([]string{"visible " + name, "> outer", "> inner", "check " + name}, steps...)
		return append(all, "< inner", "< outer")
	}
	tests := []struct {
		name, tool, args string
		want             []string
		outcome          string
	}{
		{"all is well", "fine", `{"n":1}`, around("fine", "handler"), "ok"},
		{"invalid arguments", "fine", `{"n":"x"}`, around("fine"), "isError"},
		{"denied, whatever the arguments", "denied", `{"n":"x"}`, around("denied"), "error"},
		{"hidden", "hidden", `{}`, []string{"visible hidden"}, "error"},
		{"missing", "missing", `{}`, nil, "error"},
		{"broken output", "broken", `{}`, around("broken", "handler"), "isError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := call(t, l, local(), tt.tool, tt.args)
			if diff := cmp.Diff(tt.want, j.take()); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			outcome := firstText(res)
			switch {
			case err != nil:
				outcome = "error"
			case res.IsError:
				outcome = "isError"
			}
			if outcome != tt.outcome {
				t.Errorf("the outcome is %s, want %s", outcome, tt.outcome)
			}
		})
	}
}

func TestMiddleware(t *testing.T) {
	replace := func(next layer.Handler) layer.Handler {
		return func(ctx context.Context, inv *layer.Invocation) (layer.Result, error) {
			switch string(inv.Call.Arguments) {
			case `{"n":1}`:
				return registry.TextResult("answered by middleware"), nil
			case `{"n":2}`:
				inv.Call.Arguments = []byte(`{"n":"changed"}`)
			}
			return next(ctx, inv)
		}
	}
	l := withTools(t, layer.Options{Middleware: []layer.Middleware{replace}}, tool("t", text("answered by the tool")))
	for args, want := range map[string]string{`{"n":1}`: "answered by middleware", `{"n":3}`: "answered by the tool"} {
		if res, err := call(t, l, local(), "t", args); err != nil || firstText(res) != want {
			t.Errorf("%s: %q, %v; want %q", args, firstText(res), err, want)
		}
	}
	// What middleware made of the arguments is validated.
	if res, err := call(t, l, local(), "t", `{"n":2}`); err != nil || !res.IsError {
		t.Errorf("changed arguments were not validated: %q, %v", firstText(res), err)
	}
}

// both returns a layer in which something is hidden, and one in which it was
// never registered.
func both(t *testing.T) (hidden, missing *layer.Layer) {
	t.Helper()
	reg := registry.New(nil)
	read := func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
		return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: "test://x"}}}, nil
	}
	must(t,
		reg.AddTool(tool("x", text("secret"))),
		reg.AddPrompt(registry.Prompt{Name: "x", Arguments: []registry.PromptArgument{{Name: "a", Required: true}}, Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
			return new(protocol.GetPromptResult), nil
		}}),
		reg.AddResource(registry.Resource{URI: "test://x", Name: "x", Handler: read}),
		reg.AddTemplate(registry.Template{URITemplate: "test://x/{a}", Name: "x", Handler: read}))
	hide := &access{journal: new(journal), hidden: []string{"x", "test://x", "test://x/{a}"}}
	hidden = layer.New(&layer.Options{Registry: reg, Access: hide})
	missing = layer.New(&layer.Options{Registry: registry.New(nil), Access: hide})
	return hidden, missing
}

func TestHiddenEqualsMissing(t *testing.T) {
	hidden, missing := both(t)
	tests := []struct {
		name string
		ask  func(*layer.Layer, *layer.Request) error
	}{
		{"tool", func(l *layer.Layer, r *layer.Request) error { _, err := call(t, l, r, "x", `{}`); return err }},
		{"tool with arguments that are no object", func(l *layer.Layer, r *layer.Request) error { _, err := call(t, l, r, "x", `[]`); return err }},
		{"prompt", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.GetPrompt(t.Context(), r, "x", nil)
			return err
		}},
		{"resource", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.ReadResource(t.Context(), r, "test://x")
			return err
		}},
		{"template", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.ReadResource(t.Context(), r, "test://x/1")
			return err
		}},
		{"completion of a prompt", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.CompletePrompt(t.Context(), r, "x", &layer.CompletionRequest{Argument: "a"})
			return err
		}},
		{"completion of a template", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.CompleteResource(t.Context(), r, "test://x/{a}", &layer.CompletionRequest{Argument: "a"})
			return err
		}},
		{"completion of a resource", func(l *layer.Layer, r *layer.Request) error {
			_, err := l.CompleteResource(t.Context(), r, "test://x", &layer.CompletionRequest{Argument: "a"})
			return err
		}},
	}
	for _, tt := range tests {
		for _, v := range protocol.Versions() {
			t.Run(tt.name+" in "+v.String(), func(t *testing.T) {
				if diff := cmp.Diff(object(t, tt.ask(missing, in(v))), object(t, tt.ask(hidden, in(v)))); diff != "" {
					t.Errorf("hidden and missing differ (-missing +hidden):\n%s", diff)
				}
			})
		}
	}
	for _, kind := range []policy.Kind{policy.Tool, policy.Resource, policy.ResourceTemplate, policy.Prompt} {
		want, err := missing.AppendList(nil, kind, local(), "", false)
		must(t, err)
		got, err := hidden.AppendList(nil, kind, local(), "", false)
		must(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("list of %s (-missing +hidden):\n%s", kind, diff)
		}
		if !strings.HasSuffix(string(got), "[]") {
			t.Errorf("the empty list is %s", got)
		}
	}
	if hidden.Serves(local(), "test://x") || hidden.Serves(local(), "test://x/1") {
		t.Error("what is hidden can be subscribed to")
	}
	if hidden.Tool(local(), []byte(`"x"`)) != nil {
		t.Error("the hidden tool is returned")
	}
}

func TestTimeouts(t *testing.T) {
	wait := func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	sleep := func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Hour):
			return registry.TextResult("slept"), nil
		}
	}
	with := func(h registry.ToolHandler, d time.Duration) registry.Tool {
		in := tool("t", h)
		in.Timeout = d
		return in
	}
	tests := []struct {
		name  string
		layer time.Duration
		in    registry.Tool
		after time.Duration
		want  string
	}{
		{"the layer's own", 0, with(wait, 0), layer.DefaultTimeout, "5m0s"},
		{"the layer's", time.Second, with(wait, 0), time.Second, "1s"},
		{"the tool's", time.Second, with(wait, 2*time.Second), 2 * time.Second, "2s"},
		{"none for the tool", time.Second, with(sleep, -1), time.Hour, "slept"},
		{"none at all", -1, with(sleep, 0), time.Hour, "slept"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := withTools(t, layer.Options{Timeout: tt.layer}, tt.in)
				began := time.Now()
				res, err := call(t, l, local(), "t", `{}`)
				if err != nil || !strings.Contains(firstText(res), tt.want) || res.IsError != (tt.want != "slept") {
					t.Errorf("%q, %v; want a result with %q", firstText(res), err, tt.want)
				}
				if took := time.Since(began); took != tt.after {
					t.Errorf("it took %v, want %v", took, tt.after)
				}
			})
		})
	}
}

// A handler that reports another error when its time is over, and a client that
// cancels, are told apart.
func TestTimeoutIsNotCancellation(t *testing.T) {
	l := withTools(t, layer.Options{}, tool("t", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
		return nil, context.Cause(ctx)
	}))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the client has gone")
	cancel(cause)
	if _, err := l.CallTool(ctx, local(), []byte(`"t"`), nil); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
}

func TestTimeoutOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := registry.New(nil)
		must(t, reg.AddResource(registry.Resource{URI: "test://x", Name: "x", Handler: func(ctx context.Context, _ *registry.Call) (*protocol.ReadResourceResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}))
		l := layer.New(&layer.Options{Registry: reg, Timeout: time.Second})
		_, err := l.ReadResource(t.Context(), local(), "test://x")
		if got := object(t, err); !strings.HasPrefix(got, "-32603 ") || !strings.Contains(got, "1s") {
			t.Errorf("refused with %s", got)
		}
	})
}

func TestPanics(t *testing.T) {
	reg := registry.New(nil)
	boom := func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) { panic("boom") }
	must(t,
		reg.AddTool(tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) { panic("boom") })),
		reg.AddResource(registry.Resource{URI: "test://x", Name: "x", Handler: boom}),
		reg.AddTemplate(registry.Template{URITemplate: "test://x/{a}", Name: "x", Handler: boom, Complete: map[string]registry.Completer{
			"a": func(context.Context, *registry.Call, string, map[string]string) (*protocol.Completion, error) {
				panic("boom")
			}}}),
		reg.AddPrompt(registry.Prompt{Name: "x", Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) { panic("boom") }}))
	l := layer.New(&layer.Options{Registry: reg})
	tests := map[string]func() error{
		"tool":     func() error { _, err := call(t, l, local(), "t", `{}`); return err },
		"resource": func() error { _, err := l.ReadResource(t.Context(), local(), "test://x"); return err },
		"template": func() error { _, err := l.ReadResource(t.Context(), local(), "test://x/1"); return err },
		"prompt":   func() error { _, err := l.GetPrompt(t.Context(), local(), "x", nil); return err },
		"completion": func() error {
			_, err := l.CompleteResource(t.Context(), local(), "test://x/{a}", &layer.CompletionRequest{Argument: "a"})
			return err
		},
	}
	for name, ask := range tests {
		var p *layer.PanicError
		if err := ask(); !errors.As(err, &p) || p.Value != "boom" || !strings.Contains(string(p.StackTrace()), "path_test.go") {
			t.Errorf("%s: error %v, want the panic and where it was", name, err)
		}
	}
}

// What handlers return that is no result at all is a fault of the server.
func TestNoResult(t *testing.T) {
	reg := registry.New(nil)
	must(t,
		reg.AddTool(tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) { return nil, nil })),
		reg.AddResource(registry.Resource{URI: "test://x", Name: "x", Handler: func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
			return new(protocol.ReadResourceResult), nil
		}}),
		reg.AddPrompt(registry.Prompt{Name: "x", Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) { return nil, nil }}))
	l := layer.New(&layer.Options{Registry: reg})
	tests := map[string]func() error{
		"tool":     func() error { _, err := call(t, l, local(), "t", `{}`); return err },
		"resource": func() error { _, err := l.ReadResource(t.Context(), local(), "test://x"); return err },
		"prompt":   func() error { _, err := l.GetPrompt(t.Context(), local(), "x", nil); return err },
	}
	for name, ask := range tests {
		var e *protocol.Error
		if err := ask(); err == nil || errors.As(err, &e) {
			t.Errorf("%s: error %v, want one that the client is not told", name, err)
		}
	}
}
