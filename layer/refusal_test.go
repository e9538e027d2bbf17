package layer_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// refusing is access that refuses all use with one error.
type refusing struct {
	access
	err error
}

func (r *refusing) Check(context.Context, *policy.Principal, *policy.Subject, string) error {
	return r.err
}

// A refusal that is meant for the model reaches it; others are what they are.
func TestRefusals(t *testing.T) {
	secret := errors.New("the database is down")
	tests := []struct {
		name         string
		err          error
		tool, prompt string // the text of the result, or the error
	}{
		{"failure", registry.Failf("ask an operator"), "ask an operator", "-32602 ask an operator "},
		{"bound", &policy.LimitError{Reason: "30 calls in a minute are the limit", RetryAfter: 20 * time.Second},
			"30 calls in a minute are the limit. Try again in 20s.", "-31029 30 calls in a minute are the limit. Try again in 20s. "},
		{"bound without a time", &policy.LimitError{Reason: "enough"}, "enough", "-31029 enough "},
		{"error for the peer", protocol.Errorf(protocol.CodeAccessDenied, "no"), "-31001 no ", "-31001 no "},
		{"any other", secret, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg := registry.New(nil)
			must(t, reg.AddTool(tool("t", text("done"))), reg.AddPrompt(registry.Prompt{Name: "p", Arguments: []registry.PromptArgument{{Name: "a"}}, Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
				return new(protocol.GetPromptResult), nil
			}}))
			l := layer.New(&layer.Options{Registry: reg, Access: &refusing{access{journal: new(journal)}, tt.err}})
			res, err := call(t, l, local(), "t", `{}`)
			_, promptErr := l.GetPrompt(t.Context(), local(), "p", nil)
			_, completeErr := l.CompletePrompt(t.Context(), local(), "p", &layer.CompletionRequest{Argument: "a"})
			if tt.tool == "" {
				if !errors.Is(err, secret) || !errors.Is(promptErr, secret) || !errors.Is(completeErr, secret) {
					t.Errorf("%v, %v and %v; want the error for the log", err, promptErr, completeErr)
				}
				return
			}
			got := firstText(res)
			if err != nil {
				got = object(t, err)
			} else if !res.IsError {
				t.Error("the tool was called")
			}
			if got != tt.tool {
				t.Errorf("the tool: %q, want %q", got, tt.tool)
			}
			for _, err := range []error{promptErr, completeErr} {
				if err == nil {
					t.Error("a prompt was not refused")
				} else if got := object(t, err); got != tt.prompt {
					t.Errorf("the prompt: %q, want %q", got, tt.prompt)
				}
			}
		})
	}
}

// What has no completer goes the way of all requests too.
func TestCompletionWithoutCompleter(t *testing.T) {
	j := new(journal)
	reg := registry.New(nil)
	must(t, reg.AddPrompt(registry.Prompt{Name: "p", Arguments: []registry.PromptArgument{{Name: "a"}}, Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
		return new(protocol.GetPromptResult), nil
	}}), reg.AddResource(registry.Resource{URI: "test://r", Name: "r", Handler: func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
		return nil, registry.ErrNotFound
	}}))
	l := layer.New(&layer.Options{Registry: reg, Access: &access{journal: j}, Middleware: []layer.Middleware{named(j, "mw")}})
	c := &layer.CompletionRequest{Argument: "a"}
	res, err := l.CompletePrompt(t.Context(), local(), "p", c)
	if err != nil || len(res.Values) > 0 {
		t.Errorf("%v, %v; want no values", res, err)
	}
	if got, want := j.take(), []string{"visible p", "> mw", "check p", "< mw"}; !slices.Equal(got, want) {
		t.Errorf("the prompt went %q, want %q", got, want)
	}
	if res, err := l.CompleteResource(t.Context(), local(), "test://r", c); err != nil || len(res.Values) > 0 {
		t.Errorf("%v, %v; want no values", res, err)
	}
	if got := j.take(); !slices.Contains(got, "> mw") {
		t.Errorf("the resource went %q, without the middleware", got)
	}
}
