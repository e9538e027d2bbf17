package layer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// GetPrompt expands the prompt called name.
func (l *Layer) GetPrompt(ctx context.Context, r *Request, name string, args map[string]string) (*protocol.GetPromptResult, error) {
	e := l.reg.Snapshot().Prompt(name)
	if e == nil || !l.visible(r, &e.Subject) {
		return nil, unknown("prompt", name)
	}
	inv := l.newInvocation(r, &e.Subject, e.Timeout)
	inv.Call.Strings = args
	inv.prompt = e
	out, err := l.handler(ctx, inv)
	if err != nil {
		return nil, err
	}
	res, ok := out.(*protocol.GetPromptResult)
	if !ok || res == nil {
		return nil, fmt.Errorf("prompt %q: the handler returned no result", e.Name)
	}
	if err := res.Check(); err != nil {
		return nil, fmt.Errorf("prompt %q: the handler returned what cannot be sent: %w", e.Name, err)
	}
	return res, nil
}

func (l *Layer) runPrompt(ctx context.Context, inv *Invocation) (_ Result, err error) {
	if err := checkPromptArguments(inv.prompt, inv.Call.Strings); err != nil {
		return nil, err
	}
	defer recovered(&err)
	res, err := inv.prompt.Handler(ctx, &inv.Call)
	if err != nil {
		return nil, l.deliberate(ctx, inv, err)
	}
	return res, nil
}

// checkPromptArguments refuses arguments that the prompt does not have, and the
// lack of those that it needs.
func checkPromptArguments(e *registry.PromptEntry, args map[string]string) error {
	for _, a := range e.Arguments {
		if _, ok := args[a.Name]; a.Required && !ok {
			return invalidParams("Missing required argument %q of prompt %s", a.Name, e.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if e.Argument(name) == nil {
			return invalidParams("Unknown argument %q of prompt %s", echo(name), e.Name)
		}
	}
	return nil
}
