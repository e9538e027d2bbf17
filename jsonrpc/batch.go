package jsonrpc

import "sync"

// batch collects the answers to the members of a batch. They are sent as one
// array when the last one is there; a batch that nothing answers is not
// answered.
type batch struct {
	mu      sync.Mutex // guards the fields below
	missing int
	frame   []byte
}

// batch handles a frame that holds an array. Its members share nothing but the
// frame that answers them.
func (c *Conn) batch(frame []byte) {
	if !c.handler.Dialect().Batches {
		c.refuse("", Errorf(CodeInvalidRequest, "batches are not part of this protocol version: send each message in a frame of its own"))
		return
	}
	members, err := c.opts.Decoder.Split(frame, c.opts.MaxBatch)
	if err != nil {
		c.refuse("", err.(*DecodeError).Err)
		return
	}
	b := &batch{missing: len(members)}
	for _, m := range members {
		in, refusal := c.accept(m, b)
		switch {
		case in == nil:
			b.done(c, refusal, refusal != nil)
		case c.ordered(in.req.Method):
			c.leave(in)
			in.cancel(ErrClosed)
			b.done(c, c.refusal(in.req.ID, Errorf(CodeInvalidRequest, "%s cannot be part of a batch", in.req.Method)), true)
		default:
			c.handOff(in)
		}
	}
}

// done adds the answer to one member, if it has one, and sends all of them
// after the last.
func (b *batch) done(c *Conn, answer []byte, wanted bool) {
	b.mu.Lock()
	if wanted {
		if b.frame == nil {
			b.frame = append(b.frame, '[')
		} else {
			b.frame = append(b.frame, ',')
		}
		b.frame = append(b.frame, answer...)
	}
	b.missing--
	last := b.missing == 0
	b.mu.Unlock()
	if last && b.frame != nil {
		c.respond(append(b.frame, ']'))
	}
}
