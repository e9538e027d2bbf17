package layer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// The defaults of [Options].
const (
	DefaultTimeout   = 5 * time.Minute
	DefaultMaxOutput = 200_000
	DefaultPageSize  = 1000
)

// Access decides who may see and use what. Its methods may be called by several
// goroutines and must not block.
type Access interface {
	// Class names the set of principals that see what this one sees. Lists are
	// kept per class, so their number should be small.
	Class(*policy.Principal) string
	// Visible reports whether the principal may know that the subject exists.
	Visible(*policy.Principal, *policy.Subject) bool
	// Check refuses one use of a visible subject with an error, or returns nil.
	// URI is what is read of a resource, or empty. A [*registry.Failure] and a
	// [*policy.LimitError] are told the model, as the result of a tool; a
	// [*protocol.Error] is sent as it is, and any other is logged and answered as
	// an internal error.
	Check(ctx context.Context, p *policy.Principal, s *policy.Subject, uri string) error
}

// Options configures a [Layer]. Registry is mandatory; the rest may be zero.
type Options struct {
	Registry   *registry.Registry
	Access     Access        // nil: everybody sees and may use everything
	Middleware []Middleware  // outermost first
	Timeout    time.Duration // of a call whose primitive has none; 0: DefaultTimeout; negative: none
	MaxOutput  int           // bytes of text of a tool that has no cap; 0: DefaultMaxOutput; negative: none
	PageSize   int           // entries of a page of a list; 0: DefaultPageSize; negative: all
	CursorKey  []byte        // 32 random bytes, the same for all replicas; nil: made at start
	Logger     *slog.Logger  // nil discards
}

// Layer serves what a registry holds. Its methods may be called by several
// goroutines.
type Layer struct {
	reg       *registry.Registry
	access    Access
	handler   Handler // the middleware around l.invoke
	plain     bool    // there is no middleware
	timeout   time.Duration
	maxOutput int
	pageSize  int
	cursors   *registry.Cursors
	log       *slog.Logger
	lists     lists
}

// New returns a layer over o.Registry.
func New(o *Options) *Layer {
	l := &Layer{reg: o.Registry, access: o.Access, timeout: o.Timeout, maxOutput: o.MaxOutput, pageSize: o.PageSize, log: o.Logger}
	if l.timeout == 0 {
		l.timeout = DefaultTimeout
	}
	if l.maxOutput == 0 {
		l.maxOutput = DefaultMaxOutput
	}
	if l.pageSize == 0 {
		l.pageSize = DefaultPageSize
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	key := o.CursorKey
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key)
	}
	l.cursors = registry.NewCursors(key)
	l.handler, l.plain = l.invoke, len(o.Middleware) == 0
	for i := len(o.Middleware) - 1; i >= 0; i-- {
		l.handler = o.Middleware[i](l.handler)
	}
	return l
}

// Registry returns what the layer serves.
func (l *Layer) Registry() *registry.Registry { return l.reg }

// Private reports whether lists depend on who asks.
func (l *Layer) Private() bool { return l.access != nil }

// Request is what all requests have in common.
type Request struct {
	Principal *policy.Principal
	Version   protocol.Version
	Meta      []byte          // raw _meta of the request, or nil
	Client    registry.Client // or nil
}

// Result is the outcome of an invocation: a [*protocol.CallToolResult], a
// [*protocol.ReadResourceResult], a [*protocol.GetPromptResult] or a
// [*protocol.Completion].
type Result interface {
	// AppendMembers appends the members of the result object without _meta.
	AppendMembers(dst []byte, v protocol.Version) []byte
}

// Handler runs an invocation.
type Handler func(context.Context, *Invocation) (Result, error)

// Middleware wraps a handler. It sees what the principal may see; it may answer
// by itself, change the call, or look at the result.
type Middleware func(next Handler) Handler

// An Invocation is one use of a primitive on its way through the layer.
type Invocation struct {
	Call registry.Call
	// Completion is set when values for an argument or a variable are asked
	// for, instead of what Call.Subject does otherwise.
	Completion *CompletionRequest

	timeout  time.Duration
	tool     *registry.ToolEntry
	resource registry.ResourceHandler
	prompt   *registry.PromptEntry
}

// CompletionRequest asks for values of an argument or a variable.
type CompletionRequest struct {
	Argument string
	Value    string            // what was typed so far
	Given    map[string]string // the values of others

	complete registry.Completer
}

func (l *Layer) newInvocation(r *Request, s *policy.Subject, timeout time.Duration) *Invocation {
	if timeout == 0 {
		timeout = l.timeout
	}
	return &Invocation{
		Call:    registry.Call{Subject: s, Principal: r.Principal, Version: r.Version, Meta: r.Meta, Client: r.Client},
		timeout: timeout,
	}
}

// visible reports whether the principal of a request may know of a subject.
func (l *Layer) visible(r *Request, s *policy.Subject) bool {
	return l.access == nil || l.access.Visible(r.Principal, s)
}

// invoke is the innermost handler: access, then what the kind of primitive
// needs, under the timeout.
func (l *Layer) invoke(ctx context.Context, inv *Invocation) (Result, error) {
	if l.access != nil {
		if err := l.access.Check(ctx, inv.Call.Principal, inv.Call.Subject, inv.Call.URI); err != nil {
			return refused(inv, err)
		}
	}
	if inv.timeout <= 0 {
		return l.run(ctx, inv)
	}
	if lifter, ok := inv.Call.Client.(lifter); ok && inv.tool != nil && inv.tool.Timeout == 0 {
		return l.runUntilLifted(ctx, inv, lifter)
	}
	if c, ok := ctx.(limiter); ok && c.Limit(inv.timeout, errTimeout) {
		return l.run(ctx, inv)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inv.timeout, errTimeout)
	defer cancel()
	return l.run(ctx, inv)
}

// refused says no to a use that access has refused. A model can act on a refusal
// that is meant for it: a [*registry.Failure], or a bound that will have room
// again.
func refused(inv *Invocation, err error) (Result, error) {
	text := ""
	var limit *policy.LimitError
	switch f := failure(err); {
	case f != nil:
		text = f.Text
	case errors.As(err, &limit) && limit.RetryAfter > 0:
		text = fmt.Sprintf("%s. Try again in %v.", limit.Reason, limit.RetryAfter)
	case limit != nil:
		text = limit.Reason
	default:
		return nil, err
	}
	if inv.tool != nil && inv.Completion == nil {
		return registry.ErrorResult(text), nil
	}
	if limit != nil {
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%s", text)
	}
	return nil, invalidParams("%s", text)
}

// run does what the invocation is for.
func (l *Layer) run(ctx context.Context, inv *Invocation) (Result, error) {
	switch {
	case inv.Completion != nil:
		return l.runCompletion(ctx, inv)
	case inv.tool != nil:
		return l.runTool(ctx, inv)
	case inv.prompt != nil:
		return l.runPrompt(ctx, inv)
	}
	return l.runResource(ctx, inv)
}

// limiter is a context that can be given a time limit after it was made, which
// costs less than deriving one. It reports false if it is too late for that.
type limiter interface {
	Limit(d time.Duration, cause error) bool
}

// lifter is the client's side of a call that may become a task. A task is not
// bounded by the time that a client is kept waiting, unless its tool says so, but
// by its time to live: the function that the lifter is given lifts the limit.
type lifter interface {
	OnTask(lift func())
}

// runUntilLifted is run under a time limit that ends early if the call becomes a
// task.
func (l *Layer) runUntilLifted(ctx context.Context, inv *Invocation, client lifter) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(inv.timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	client.OnTask(func() { timer.Stop() })
	return l.run(ctx, inv)
}
