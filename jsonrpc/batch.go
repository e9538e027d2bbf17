package jsonrpc

import (
	"errors"
	"sync"
)

// batch collects the answers to the members of a batch. They are sent as one
// array when the last one is there; a batch that nothing answers is not
// answered. Members stay in flight until then, since what waits must be bounded,
// and may be cancelled as long as nothing was sent.
type batch struct {
	mu      sync.Mutex // guards the fields below
	missing int
	answers []answer
}

// answer is the answer to a member of a batch.
type answer struct {
	in    *call // nil if the member was refused
	frame []byte
}

// batch handles a frame that holds an array. Its members share nothing but the
// frame that answers them.
func (c *Conn) batch(frame []byte) {
	members, err := c.opts.Decoder.Split(frame, c.opts.MaxBatch)
	var refused *DecodeError
	switch errors.As(err, &refused); {
	case refused != nil && refused.Err.Code == CodeParse:
		c.refuse("", refused.Err)
		return
	case !c.handler.Dialect().Batches:
		c.refuse("", Errorf(CodeInvalidRequest, "batches are not part of this protocol version: send each message in a frame of its own"))
		return
	case refused != nil:
		c.refuse("", refused.Err)
		return
	}
	b := &batch{missing: len(members)}
	for _, m := range members {
		in, refusal := c.accept(m, b)
		switch {
		case in != nil:
			c.handOff(in)
		case b.put(nil, refusal):
			c.answer(func() []byte { return b.conclude(c) })
		}
	}
}

// serveMember runs a request of a batch, and queues the answer to the batch if
// it is complete.
func (c *Conn) serveMember(in *call) {
	frame, _ := Answer(&in.ctx, c.log, c.handler, &in.req, c, nil)
	if in.batch.put(in, frame) {
		c.out.answer(c.life, c.life, func() bool { return c.life.Err() != nil }, func() []byte { return in.batch.conclude(c) })
	}
}

// put notes that a member has been handled, with its answer if it has one. It
// reports whether it was the last.
func (b *batch) put(in *call, frame []byte) (last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if frame != nil {
		b.answers = append(b.answers, answer{in, frame})
	}
	b.missing--
	return b.missing == 0
}

// conclude takes the members out of flight and returns the answer to the batch,
// or nil if there is none. It is called once, after the last member.
func (b *batch) conclude(c *Conn) []byte {
	var frame []byte
	for _, a := range b.answers {
		if a.in != nil && !c.leave(a.in) {
			continue
		}
		if frame == nil {
			frame = append(frame, '[')
		} else {
			frame = append(frame, ',')
		}
		frame = append(frame, a.frame...)
	}
	if frame == nil {
		return nil
	}
	return append(frame, ']')
}
