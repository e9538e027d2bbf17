package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// handler is a typed tool as [registry.Typed] takes it.
type handler[In, Out any] = func(context.Context, *registry.Call, In) (Out, error)

// operation makes a tool of a function that needs nothing of the call but its
// arguments.
func operation[In, Out any](fn func(context.Context, In) (Out, error)) handler[In, Out] {
	return func(ctx context.Context, _ *registry.Call, in In) (Out, error) {
		out, err := fn(ctx, in)
		return out, failure(err)
	}
}

// failure makes an error of a package below a failure of the tool: their errors
// are written for whoever chooses the next call. The end of the context is not
// one of them; the layer knows why it has ended.
func failure(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &registry.Failure{Text: err.Error(), Err: err}
}

// rendered is [registry.Typed] for a tool whose result a model reads better as
// something else than JSON. Show makes the content blocks; what they carry and
// the structured content need not repeat, it may clear.
func rendered[In, Out any](t registry.Tool, fn handler[In, Out], show func(*Out) []protocol.Content) (registry.Tool, error) {
	structured, err := registry.Typed(t, fn)
	if err != nil {
		return registry.Tool{}, err
	}
	t.OutputSchema = structured.OutputSchema
	return registry.Typed(t, func(ctx context.Context, call *registry.Call, in In) (*protocol.CallToolResult, error) {
		out, err := fn(ctx, call, in)
		if err != nil {
			return nil, err
		}
		blocks := show(&out)
		raw, err := marshal(&out)
		if err != nil {
			return nil, fmt.Errorf("encoding the result: %w", err)
		}
		return &protocol.CallToolResult{Content: blocks, StructuredContent: raw}, nil
	})
}

// marshal returns v as JSON in which nothing is escaped for the sake of HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func textBlock(s string) protocol.Content { return &protocol.Text{Text: s} }

// hint returns a value for a hint of [registry.ToolAnnotations].
func hint(b bool) *bool { return &b }
