package layer

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// CompletePrompt suggests values for an argument of a prompt.
func (l *Layer) CompletePrompt(ctx context.Context, r *Request, name string, c *CompletionRequest) (*protocol.Completion, error) {
	e := l.reg.Snapshot().Prompt(name)
	if e == nil || !l.visible(r, &e.Subject) {
		return nil, unknown("prompt", name)
	}
	a := e.Argument(c.Argument)
	if a == nil {
		return nil, invalidParams("Unknown argument %q of prompt %s", echo(c.Argument), e.Name)
	}
	return l.complete(ctx, l.newInvocation(r, &e.Subject, e.Timeout), c, a.Complete)
}

// CompleteResource suggests values for a variable of a resource template. The
// reference may also be the URI of a resource, which has nothing to suggest.
func (l *Layer) CompleteResource(ctx context.Context, r *Request, uri string, c *CompletionRequest) (*protocol.Completion, error) {
	snap := l.reg.Snapshot()
	if e := snap.Template(uri); e != nil && l.visible(r, &e.Subject) {
		if !e.HasVar(c.Argument) {
			return nil, invalidParams("Unknown variable %q of resource template %s", echo(c.Argument), e.URITemplate)
		}
		return l.complete(ctx, l.newInvocation(r, &e.Subject, e.Timeout), c, e.Complete[c.Argument])
	}
	if e := snap.Resource(uri); e != nil && l.visible(r, &e.Subject) {
		return l.complete(ctx, l.newInvocation(r, &e.Subject, e.Timeout), c, nil)
	}
	return nil, unknown("resource template", uri)
}

// complete completes with f, or suggests nothing if that is nil.
func (l *Layer) complete(ctx context.Context, inv *Invocation, c *CompletionRequest, f registry.Completer) (*protocol.Completion, error) {
	req := *c
	req.complete = f
	inv.Completion = &req
	out, err := l.handler(ctx, inv)
	if err != nil {
		return nil, err
	}
	res, ok := out.(*protocol.Completion)
	if !ok || res == nil {
		return nil, fmt.Errorf("completion for %q: the handler returned no result", inv.Call.Subject.Name)
	}
	return res, nil
}

func (l *Layer) runCompletion(ctx context.Context, inv *Invocation) (_ Result, err error) {
	defer recovered(&err)
	c := inv.Completion
	if c.complete == nil {
		return new(protocol.Completion), nil
	}
	res, err := c.complete(ctx, &inv.Call, c.Value, c.Given)
	if err != nil {
		return nil, l.deliberate(ctx, inv, err)
	}
	return res, nil
}
