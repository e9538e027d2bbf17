package jsonrpc

import (
	"context"
	"sync"
)

// connState is all that changes about a connection's messages. It is only
// reached through update, which upholds its one invariant.
type connState struct {
	mu sync.Mutex
	stateLocked
	quiet chan struct{} // closed when draining with nothing in flight
}

type stateLocked struct {
	calls    map[string]*call // requests of the peer that are in flight, by key
	pending  map[ID]*pending  // requests of our own that wait for their answer
	lastID   uint64           // of our own requests
	draining bool             // no request is accepted any more
	err      error            // what ended the stream
}

// update changes the state. No handler is called, nothing is written or logged
// under its lock.
func (s *connState) update(f func(*stateLocked)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stateLocked)
	if s.draining && len(s.calls) == 0 && s.quiet != nil {
		select {
		case <-s.quiet:
		default:
			close(s.quiet)
		}
	}
}

// call is a request of the peer in flight.
type call struct {
	req    *Request
	key    string
	ctx    context.Context
	cancel context.CancelCauseFunc
	batch  *batch // that the answer goes into; nil for a frame of its own

	cancelled bool // by the peer, so nothing is sent; guarded by the state
}

// enter puts a request in flight, or returns the frame that refuses it.
func (c *Conn) enter(req *Request, b *batch) (*call, []byte) {
	in := &call{req: req, key: req.ID.key(), batch: b}
	in.ctx, in.cancel = context.WithCancelCause(c.base)
	var refused *Error
	c.state.update(func(s *stateLocked) {
		switch {
		case s.draining:
			refused = Errorf(CodeInternal, "the server is shutting down")
		case s.calls[in.key] != nil:
			refused = Errorf(CodeInvalidRequest, "a request with this id is in flight already")
		case len(s.calls) >= c.opts.MaxInFlight:
			refused = Errorf(CodeInternal, "%d requests are in flight, which is the limit; send this one again when some have been answered", c.opts.MaxInFlight)
		default:
			s.calls[in.key] = in
		}
	})
	if refused != nil {
		in.cancel(ErrClosed)
		return nil, c.refusal(req.ID, refused)
	}
	return in, nil
}

// leave takes a request out of flight and reports whether its answer is wanted.
func (c *Conn) leave(in *call) (wanted bool) {
	c.state.update(func(s *stateLocked) {
		delete(s.calls, in.key)
		wanted = !in.cancelled
	})
	return wanted
}

// Cancel implements [Peer]. The request stays in flight until its handler has
// returned.
func (c *Conn) Cancel(id ID, cause error) bool {
	var in *call
	c.state.update(func(s *stateLocked) {
		if in = s.calls[id.key()]; in != nil && c.ordered(in.req.Method) {
			in = nil
		}
		if in != nil {
			in.cancelled = true
		}
	})
	if in == nil {
		return false
	}
	in.cancel(cause)
	return true
}

// buffers holds buffers for responses.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *[]byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return p
	}
	return new([]byte)
}

// maxPooled bounds the buffers that are kept: one very large answer should not
// hold its memory for long.
const maxPooled = 4 << 20

func (b *buffers) put(p *[]byte, used []byte) {
	if cap(used) > maxPooled {
		return
	}
	*p = used[:0]
	b.pool.Put(p)
}

// serve runs a request and queues its answer.
func (c *Conn) serve(in *call) {
	p := c.bufs.get()
	frame := Answer(in.ctx, c.log, c.handler, in.req, c, (*p)[:0])
	wanted := c.leave(in)
	in.cancel(ErrClosed)
	switch {
	case in.batch != nil:
		in.batch.done(c, frame, wanted)
	case wanted:
		frame = c.respond(frame)
	}
	c.bufs.put(p, frame)
}

// respond queues a response, or writes it if it is large, and returns its
// buffer.
func (c *Conn) respond(frame []byte) []byte {
	buf, done := c.out.direct(c.base, frame)
	if !done {
		_ = c.out.add(c.base, frame, false) // a failure has been reported by the writer
	}
	return buf
}
