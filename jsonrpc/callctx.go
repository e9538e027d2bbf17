package jsonrpc

import (
	"context"
	"sync"
	"time"
)

// CallContext is the context of one call, made usable by [CallContext.Derive].
// It can be cancelled with a cause, and be given a time limit. Most calls end
// before anybody has asked whether they should, so it is only a note of what is
// to happen until somebody waits on it or looks for a value; then it becomes
// contexts of the standard library. The alternative, a WithCancelCause and a
// WithTimeout for every call, cost more than all else that the engine does for a
// small one.
type CallContext struct {
	parent context.Context
	began  time.Time // when the call came in, about; zero: not known yet

	mu       sync.Mutex    // guards the fields below
	ended    error         // the cause, once cancelled
	limit    time.Duration // since it began; 0: none
	overtime error         // the cause when the limit is over
	real     *standardContext
}

// standardContext is what a CallContext becomes.
type standardContext struct {
	context.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of the time limit; nil without one
}

// Derive makes the context a child of parent. It is called once, before anything
// else.
func (c *CallContext) Derive(parent context.Context) { c.parent = parent }

// Parent returns the context that Derive was given. What outlives the call uses
// its values, so that it does not keep the call, and the frame that it came in.
func (c *CallContext) Parent() context.Context { return c.parent }

// Limit ends the context with [context.DeadlineExceeded] and the given cause when
// d has passed since the call came in. It reports false, and does nothing, if it
// is too late for that: the caller then derives a context of its own.
func (c *CallContext) Limit(d time.Duration, cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real != nil || c.limit != 0 || d <= 0 {
		return false
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	c.limit, c.overtime = d, cause
	return true
}

// Cancel ends the context with a cause, unless it has ended before.
func (c *CallContext) Cancel(cause error) {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = cause
	}
	real := c.real
	c.mu.Unlock()
	if real == nil {
		return
	}
	real.cancel(cause)
	if real.stop != nil {
		real.stop()
	}
}

// givenUp reports whether the context was cancelled, or its parent has ended. The
// end of a time limit does not count.
func (c *CallContext) givenUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended != nil || c.parent.Err() != nil
}

// standard returns the context that stands behind this one, made at first use.
func (c *CallContext) standard() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real != nil {
		return c.real
	}
	c.real = new(standardContext)
	parent := c.parent
	if c.limit != 0 && c.ended == nil {
		parent, c.real.stop = context.WithDeadlineCause(parent, c.began.Add(c.limit), c.overtime)
	}
	c.real.Context, c.real.cancel = context.WithCancelCause(parent)
	if c.ended != nil {
		c.real.cancel(c.ended)
	}
	return c.real
}

// Deadline implements [context.Context].
func (c *CallContext) Deadline() (time.Time, bool) { return c.standard().Deadline() }

// Done implements [context.Context].
func (c *CallContext) Done() <-chan struct{} { return c.standard().Done() }

// Value implements [context.Context].
func (c *CallContext) Value(key any) any { return c.standard().Value(key) }

// Err implements [context.Context].
func (c *CallContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.real != nil:
		return c.real.Err()
	case c.ended != nil:
		return context.Canceled
	case c.limit != 0 && time.Since(c.began) >= c.limit:
		return context.DeadlineExceeded
	}
	return c.parent.Err()
}
