package jsonrpc

import (
	"context"
	"errors"
	"fmt"
)

// pending is a request of our own that waits for its answer.
type pending struct{ answer chan *Response } // has room for one

// Call implements [Peer]. The ids of our requests are integers of our own; they
// have nothing to do with those of the peer. Before Run has begun it waits for
// that.
func (c *Conn) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	if err := c.awaitRun(ctx); err != nil {
		return nil, err
	}
	select {
	case <-c.ended:
		return nil, ErrClosed // the answer could not be read
	default:
	}
	id, p := c.expect()
	defer c.state.update(func(s *stateLocked) { delete(s.pending, id) })
	if err := c.out.add(ctx, AppendRequest(nil, id, method, params)); err != nil {
		return nil, err
	}
	c.out.flush(c.life)
	c.yield()
	return c.receive(ctx, id, p)
}

// expect notes a request of our own under a new id.
func (c *Conn) expect() (id ID, p *pending) {
	p = &pending{answer: make(chan *Response, 1)}
	c.state.update(func(s *stateLocked) {
		s.lastID++
		id = intID(s.lastID)
		if s.pending == nil {
			s.pending = make(map[ID]*pending)
		}
		s.pending[id] = p
	})
	return id, p
}

// receive waits for the answer to a request of our own.
func (c *Conn) receive(ctx context.Context, id ID, p *pending) ([]byte, error) {
	var err error
	select {
	case r := <-p.answer:
		return r.outcome()
	case <-ctx.Done():
		err = &CallError{ID: id, Cause: context.Cause(ctx)}
	case <-c.base.Done():
		err = context.Cause(c.base)
	case <-c.ended:
		err = ErrClosed
	}
	select {
	case r := <-p.answer: // it came before the end
		return r.outcome()
	default:
		return nil, err
	}
}

// outcome returns the response the way [Peer] does.
func (r *Response) outcome() ([]byte, error) {
	if r.fault != nil {
		return nil, r.fault
	}
	if r.Error != nil {
		return nil, r.Error
	}
	return r.Result, nil
}

// orderedPeer is the peer as a request sees it that is handled in order: nothing
// is read while it runs, so that waiting for an answer would never end.
type orderedPeer struct{ *Conn }

// Call implements [Peer].
func (orderedPeer) Call(context.Context, string, []byte) ([]byte, error) {
	return nil, errors.New("a request that is handled in order cannot call the peer")
}

// A CallError is a request of our own that was given up; the peer may be told
// so under its id.
type CallError struct {
	ID    ID
	Cause error
}

func (e *CallError) Error() string { return "gave up waiting for the peer: " + e.Cause.Error() }

func (e *CallError) Unwrap() error { return e.Cause }

// badResponse handles a message that was meant to be a response. Whoever waits for
// it need not wait any longer.
func (c *Conn) badResponse(e *DecodeError) {
	c.log.Warn("a response is not valid", "id", string(e.ID), "error", e.Err)
	if e.ID != "" {
		c.response(&Response{ID: e.ID, fault: fmt.Errorf("%w: %s", ErrBadResponse, e.Err.Message)})
	}
}

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
