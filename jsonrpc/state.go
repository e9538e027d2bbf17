package jsonrpc

import "sync"

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
	over     bool             // something has ended the connection
	err      error            // what did so; nil for the end of the stream
}

// update changes the state. No handler is called, nothing is written or logged
// under its lock.
func (s *connState) update(f func(*stateLocked)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stateLocked)
	if s.draining && len(s.calls) == 0 {
		select {
		case <-s.quiet:
		default:
			close(s.quiet)
		}
	}
}

// finish notes what ends the connection. Only the first reason counts.
func (s *connState) finish(err error) {
	s.update(func(s *stateLocked) {
		if !s.over {
			s.over, s.err = true, err
		}
	})
}

// call is a request of the peer in flight.
type call struct {
	req     Request
	ctx     CallContext
	batch   *batch // that the answer goes into; nil for a frame of its own
	ordered bool   // handled by the reader, so that it cannot be cancelled

	cancelled bool // by the peer, so nothing is sent; guarded by the state
}

// enter puts a request in flight, or returns the frame that refuses it.
func (c *Conn) enter(in *call) (*call, []byte) {
	key := in.req.ID.key()
	in.ordered = c.ordered(in.req.Method)
	in.ctx.Derive(c.base)
	in.ctx.began = c.now
	var refused *Error
	c.state.update(func(s *stateLocked) {
		switch {
		case s.draining:
			refused = Errorf(CodeInternal, "the server is shutting down")
		case len(s.calls) > 0 && s.calls[key] != nil:
			refused = Errorf(CodeInvalidRequest, "a request with this id is in flight already")
		case len(s.calls) >= c.opts.MaxInFlight:
			refused = Errorf(CodeInternal, "%d requests are in flight, which is the limit; send this one again when some have been answered", c.opts.MaxInFlight)
		default:
			s.calls[key] = in
		}
	})
	if refused != nil {
		in.ctx.Cancel(ErrClosed)
		return nil, c.refusal(in.req.ID, refused)
	}
	return in, nil
}

// leave takes a request out of flight, ends its context, and reports whether its
// answer is wanted. It is called when the answer is queued, since only then may
// the peer use the id again, and a cancellation before that is in time.
func (c *Conn) leave(in *call) (wanted bool) {
	c.state.update(func(s *stateLocked) {
		delete(s.calls, in.req.ID.key())
		wanted = !in.cancelled
	})
	in.ctx.Cancel(ErrClosed)
	return wanted
}

// Cancel implements [Peer]. The request stays in flight until its handler has
// returned.
func (c *Conn) Cancel(id ID, cause error) bool {
	var in *call
	c.state.update(func(s *stateLocked) {
		if in = s.calls[id.key()]; in != nil && in.ordered {
			in = nil
		}
		if in != nil {
			in.cancelled = true
		}
	})
	if in == nil {
		return false
	}
	c.out.exclude(func() { in.ctx.Cancel(cause) })
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

// serve runs a request and queues its answer. While there is no room for that,
// the request stays in flight, so that what waits is bounded.
func (c *Conn) serve(in *call) {
	if in.batch != nil {
		c.serveMember(in)
		return
	}
	p := c.bufs.get()
	frame, _ := Answer(&in.ctx, c.log, c.handler, &in.req, c, (*p)[:0])
	if sent := c.out.answer(c.base, c.life, in.ctx.givenUp, func() []byte { return c.conclude(in, frame) }); sent != nil {
		frame = sent
	}
	c.bufs.put(p, frame)
}

// serveOrdered is serve for the reader.
func (c *Conn) serveOrdered(in *call) {
	frame, _ := Answer(&in.ctx, c.log, c.handler, &in.req, orderedPeer{c}, nil)
	c.answer(func() []byte { return c.conclude(in, frame) })
}

// conclude takes a request out of flight and returns its answer if it is wanted.
func (c *Conn) conclude(in *call, frame []byte) []byte {
	if c.leave(in) {
		return frame
	}
	return nil
}
