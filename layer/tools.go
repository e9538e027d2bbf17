package layer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// CallTool calls the tool whose name is the JSON string name. Args is the raw
// JSON object of its arguments; nil and null mean {}. The failures of the tool
// itself, arguments that its schema refuses and a timeout are results with
// isError.
func (l *Layer) CallTool(ctx context.Context, r *Request, name, args []byte) (*protocol.CallToolResult, error) {
	e := l.tool(name)
	if e == nil || !l.visible(r, &e.Subject) {
		return nil, unknown("tool", jsonwire.Unquote(name))
	}
	switch {
	case len(args) == 0 || string(args) == "null":
		args = emptyObject()
	case args[0] != '{':
		return nil, invalidParams("arguments must be an object")
	}
	inv := l.newInvocation(r, &e.Subject, e.Timeout)
	inv.Call.Arguments = args
	inv.tool = e
	res, err := l.handler(ctx, inv)
	if err != nil {
		return nil, err
	}
	return l.finishTool(ctx, inv, res)
}

// Tool returns the tool whose name is the JSON string name, if the principal
// may see it, or nil.
func (l *Layer) Tool(r *Request, name []byte) *registry.ToolEntry {
	if e := l.tool(name); e != nil && l.visible(r, &e.Subject) {
		return e
	}
	return nil
}

func emptyObject() []byte { return []byte("{}") }

func (l *Layer) tool(name []byte) *registry.ToolEntry {
	snap := l.reg.Snapshot()
	if e := snap.ToolBytes(name[1 : len(name)-1]); e != nil {
		return e
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return nil
	}
	return snap.Tool(jsonwire.Unquote(name))
}

// runTool validates the arguments, runs the handler and turns what a model can
// act on into results.
func (l *Layer) runTool(ctx context.Context, inv *Invocation) (Result, error) {
	res, err := l.tryTool(ctx, inv)
	if err == nil {
		return res, nil
	}
	var invalid *registry.InvalidArguments
	if errors.As(err, &invalid) {
		return registry.ErrorResult(fmt.Sprintf("Invalid arguments for %s: %s", inv.tool.Name, invalid.Error())), nil
	}
	if missing := missingAbilities(err); missing != 0 && !inv.Call.Version.Stateless() {
		return registry.ErrorResult(fmt.Sprintf("%s cannot run here: %v.", inv.tool.Name, &registry.MissingAbilityError{Missing: missing})), nil
	}
	if err := missingAbility(inv, err); err != nil {
		return nil, err
	}
	if errors.Is(err, registry.ErrInputRequired) {
		return nil, err
	}
	if f := failure(err); f != nil {
		if f.Err != nil {
			l.logTool(ctx, slog.LevelDebug, "tool failed", inv, f.Err)
		}
		return registry.ErrorResult(f.Text), nil
	}
	if context.Cause(ctx) == errTimeout {
		return registry.ErrorResult(fmt.Sprintf("%s did not finish within %v and was stopped. Ask for less, or ask the operator for a longer timeout.", inv.tool.Name, inv.timeout)), nil
	}
	return nil, err
}

// logTool logs something about a call of a tool.
func (l *Layer) logTool(ctx context.Context, level slog.Level, text string, inv *Invocation, err error) {
	attrs := []slog.Attr{slog.String("tool", inv.tool.Name), slog.Any("error", err)}
	l.log.LogAttrs(ctx, level, text, append(attrs, inv.Call.Trace().LogAttrs()...)...)
}

// tryTool runs the handler if nothing speaks against it.
func (l *Layer) tryTool(ctx context.Context, inv *Invocation) (*protocol.CallToolResult, error) {
	always := inv.tool.Task == registry.TaskAlways
	if always {
		if err := inv.Call.Require(registry.CanRunTasks); err != nil {
			return nil, err
		}
	}
	if err := inv.tool.ValidateInput(inv.Call.Arguments); err != nil {
		return nil, err
	}
	if always {
		if err := inv.Call.StartTask(ctx); err != nil {
			return nil, err
		}
	}
	return l.callHandler(ctx, inv)
}

func (l *Layer) callHandler(ctx context.Context, inv *Invocation) (res *protocol.CallToolResult, err error) {
	defer recovered(&err)
	res, err = inv.tool.Handler(ctx, &inv.Call)
	if err == nil && res != nil && !l.plain {
		res = res.Explicit() // middleware sees what the model will read
	}
	return res, err
}

// finishTool checks and shapes the result of a tool on its way out.
func (l *Layer) finishTool(ctx context.Context, inv *Invocation, out Result) (*protocol.CallToolResult, error) {
	res, ok := out.(*protocol.CallToolResult)
	if !ok || res == nil {
		return nil, fmt.Errorf("tool %q: the handler returned no result", inv.tool.Name)
	}
	if !(l.plain && inv.tool.ExactOutput()) {
		if fault, err := checkOutput(inv.tool, res); err != nil {
			l.logTool(ctx, slog.LevelError, "a tool returned a result that "+fault, inv, err)
			return registry.ErrorResult(fmt.Sprintf("%s returned a result that %s. This is a fault of the tool, not of the arguments.", inv.tool.Name, fault)), nil
		}
	}
	return wrapStructure(inv, l.cap(inv.tool, res)), nil
}

// checkOutput returns what is wrong with the result of a tool, and in detail.
func checkOutput(e *registry.ToolEntry, res *protocol.CallToolResult) (fault string, err error) {
	if err := res.Check(); err != nil {
		return "cannot be sent", err
	}
	if res.IsError {
		return "", nil
	}
	return "does not match its own output schema", e.ValidateOutput(res.StructuredContent)
}

// wrapStructure puts structured content that is no object into one for versions
// that want that. The schema that they were shown says the same.
func wrapStructure(inv *Invocation, res *protocol.CallToolResult) *protocol.CallToolResult {
	if len(res.StructuredContent) == 0 || inv.Call.Version.AnyStructuredContent() {
		return res
	}
	raw := res.StructuredContent[jsonwire.SkipSpace(res.StructuredContent):]
	if !inv.tool.WrapsOutput() && len(raw) > 0 && raw[0] == '{' {
		return res
	}
	wrapped := *res.Explicit() // the text is not wrapped
	wrapped.StructuredContent = append(append([]byte(`{"result":`), raw...), '}')
	return &wrapped
}
