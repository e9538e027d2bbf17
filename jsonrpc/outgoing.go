package jsonrpc

import "context"

// pending is a request of our own that waits for its answer.
type pending struct{ answer chan *Response } // has room for one

// Call implements [Peer]. The ids of our requests are integers of our own; they
// have nothing to do with those of the peer.
func (c *Conn) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	p := &pending{answer: make(chan *Response, 1)}
	var id ID
	c.state.update(func(s *stateLocked) {
		s.lastID++
		id = intID(s.lastID)
		if s.pending == nil {
			s.pending = make(map[ID]*pending)
		}
		s.pending[id] = p
	})
	defer c.state.update(func(s *stateLocked) { delete(s.pending, id) })
	if err := c.out.add(ctx, AppendRequest(nil, id, method, params), false); err != nil {
		return nil, err
	}
	c.out.flush(c.base)
	c.yield()
	select {
	case r := <-p.answer:
		if r.Error != nil {
			return nil, r.Error
		}
		return r.Result, nil
	case <-ctx.Done():
		return nil, &CallError{ID: id, Cause: context.Cause(ctx)}
	case <-c.base.Done():
		return nil, context.Cause(c.base)
	}
}

// A CallError is a request of our own that was given up; the peer may be told
// so under its id.
type CallError struct {
	ID    ID
	Cause error
}

func (e *CallError) Error() string { return "gave up waiting for the peer: " + e.Cause.Error() }

func (e *CallError) Unwrap() error { return e.Cause }

// response hands the answer to whoever waits for it. One that nobody waits for
// is ignored, as it must be: it may have crossed a cancellation.
func (c *Conn) response(r *Response) {
	var p *pending
	c.state.update(func(s *stateLocked) {
		p = s.pending[r.ID]
		delete(s.pending, r.ID)
	})
	if p == nil {
		c.log.Debug("ignoring a response that nobody waits for", "id", string(r.ID))
		return
	}
	p.answer <- r
}
