package layer

import (
	"context"
	"errors"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// resolve finds what serves a URI for the principal: a resource with exactly
// this URI, or else the most specific template. It returns nil if nothing does.
func (l *Layer) resolve(r *Request, uri string) *Invocation {
	snap := l.reg.Snapshot()
	if e := snap.Resource(uri); e != nil && l.visible(r, &e.Subject) {
		inv := l.newInvocation(r, &e.Subject, e.Timeout)
		inv.Call.URI, inv.resource = uri, e.Handler
		return inv
	}
	e, vars := snap.Route(uri, func(e *registry.TemplateEntry) bool { return l.visible(r, &e.Subject) })
	if e == nil {
		return nil
	}
	inv := l.newInvocation(r, &e.Subject, e.Timeout)
	inv.Call.URI, inv.Call.Vars, inv.resource = uri, vars, e.Handler
	return inv
}

// Serves reports whether something serves the URI for the principal. What a
// template covers counts, whether it exists or not.
func (l *Layer) Serves(r *Request, uri string) bool { return l.resolve(r, uri) != nil }

// Hides reports whether something serves the URI, but not for the principal: it
// may not learn of what happens there.
func (l *Layer) Hides(r *Request, uri string) bool {
	if l.access == nil || l.resolve(r, uri) != nil {
		return false
	}
	snap := l.reg.Snapshot()
	if snap.Resource(uri) != nil {
		return true
	}
	e, _ := snap.Route(uri, func(*registry.TemplateEntry) bool { return true })
	return e != nil
}

// NotFound returns the error for a URI that nothing serves.
func (l *Layer) NotFound(r *Request, uri string) error { return notFound(r.Version, uri) }

// ReadResource reads the resource with the URI.
func (l *Layer) ReadResource(ctx context.Context, r *Request, uri string) (*protocol.ReadResourceResult, error) {
	inv := l.resolve(r, uri)
	if inv == nil {
		return nil, notFound(r.Version, uri)
	}
	out, err := l.handler(ctx, inv)
	if err != nil {
		return nil, err
	}
	res, ok := out.(*protocol.ReadResourceResult)
	if !ok || res == nil || len(res.Contents) == 0 {
		return nil, fmt.Errorf("resource %q: the handler returned no contents", inv.Call.Subject.Name)
	}
	if err := res.Check(); err != nil {
		return nil, fmt.Errorf("resource %q: the handler returned what cannot be sent: %w", inv.Call.Subject.Name, err)
	}
	return res, nil
}

func (l *Layer) runResource(ctx context.Context, inv *Invocation) (_ Result, err error) {
	defer recovered(&err)
	res, err := inv.resource(ctx, &inv.Call)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return nil, notFound(inv.Call.Version, inv.Call.URI)
	case err != nil:
		return nil, l.deliberate(ctx, inv, err)
	}
	return res, nil
}

// deliberate returns the error of a handler that has no results for failures:
// what the handler reported on purpose, or a timeout, goes to the peer.
func (l *Layer) deliberate(ctx context.Context, inv *Invocation, err error) error {
	if missing := missingAbility(inv, err); missing != nil {
		return missing
	}
	if errors.Is(err, registry.ErrInputRequired) {
		return err
	}
	if f := failure(err); f != nil {
		return invalidParams("%s", f.Text)
	}
	if context.Cause(ctx) == errTimeout {
		return protocol.Errorf(protocol.CodeInternal, "%s did not finish within %v", inv.Call.Subject.Kind, inv.timeout)
	}
	return err
}
