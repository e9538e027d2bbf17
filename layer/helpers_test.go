package layer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// journal notes what happens, in order.
type journal struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// take returns what was noted since it was last called.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// errDenied is what the access of these tests refuses with.
var errDenied = protocol.Errorf(protocol.CodeAccessDenied, "denied")

// access hides and denies by name, and notes what it is asked.
type access struct {
	*journal
	hidden, denied []string
}

func (a *access) Class(p *policy.Principal) string { return fmt.Sprint(p.Roles) }

func (a *access) Visible(p *policy.Principal, s *policy.Subject) bool {
	a.note("visible %s", s.Name)
	return !slices.Contains(a.hidden, s.Name) && !p.HasRole("blind")
}

func (a *access) Check(_ context.Context, _ *policy.Principal, s *policy.Subject, uri string) error {
	a.note("check %s%s", s.Name, uri)
	if slices.Contains(a.denied, s.Name) {
		return errDenied
	}
	return nil
}

// named returns middleware that notes when it is entered and left.
func named(j *journal, name string) layer.Middleware {
	return func(next layer.Handler) layer.Handler {
		return func(ctx context.Context, inv *layer.Invocation) (layer.Result, error) {
			j.note("> %s", name)
			res, err := next(ctx, inv)
			j.note("< %s", name)
			return res, err
		}
	}
}

// local is a request of the newest version with a handshake.
func local() *layer.Request {
	return &layer.Request{Principal: policy.Local(), Version: protocol.LatestHandshake}
}

func in(v protocol.Version) *layer.Request {
	return &layer.Request{Principal: policy.Local(), Version: v}
}

// must fails the test if there is an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// tool returns a tool that takes an optional integer n.
func tool(name string, h registry.ToolHandler) registry.Tool {
	return registry.Tool{
		Name:        name,
		InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		Handler:     h,
	}
}

// text returns a handler that returns a text.
func text(s string) registry.ToolHandler {
	return func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		return registry.TextResult(s), nil
	}
}

// withTools returns a layer with the tools.
func withTools(t *testing.T, o layer.Options, tools ...registry.Tool) *layer.Layer {
	t.Helper()
	o.Registry = registry.New(nil)
	must(t, o.Registry.AddTool(tools...))
	return layer.New(&o)
}

// call calls a tool.
func call(t *testing.T, l *layer.Layer, r *layer.Request, name, args string) (*protocol.CallToolResult, error) {
	t.Helper()
	return l.CallTool(t.Context(), r, []byte(`"`+name+`"`), []byte(args))
}

// firstText returns the text of the first block.
func firstText(res *protocol.CallToolResult) string {
	if res == nil || len(res.Content) == 0 {
		return ""
	}
	if t, ok := res.Content[0].(*protocol.Text); ok {
		return t.Text
	}
	return ""
}

// object returns what of an error goes to the peer.
func object(t *testing.T, err error) string {
	t.Helper()
	var e *protocol.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not meant for the peer", err)
	}
	return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)
}
