package jsonrpc

import (
	"context"
	"sync"
)

// Bounds of what waits to be written, in bytes. What handlers send waits above
// the soft bound, as long as somebody else is writing. The reader's own answers,
// refusals for the most part, pass it until the hard bound, so that a peer that
// does not read its answers can still cancel. Above the hard bound the reader
// waits too: such a peer is given nothing more until it reads.
const (
	softQueue = 256 << 10
	hardQueue = 16 << 20
	// A frame of this size is written from where it is, if nothing waits.
	directFrame = 32 << 10
	// A buffer that grew above this is not kept.
	keepBuffer = 1 << 20
)

// outbox is the one way to the stream. Whoever finds nobody writing writes all
// that waits, in one go, until nothing does; others add to it and leave.
type outbox struct {
	stream Stream
	onFail func(error) // called once, when writing fails, without the lock

	mu      sync.Mutex // guards the fields below
	queue   []byte     // frames that wait
	spare   []byte     // an empty buffer to take the place of the queue
	writing bool
	err     error         // why nothing is written any more
	room    chan struct{} // closed when the queue has been taken; nil if nobody waits
	idle    chan struct{} // closed when all is written; nil if nobody waits
}

// add queues a frame of a handler as soon as there is room, which is a matter of
// the peer reading. Nothing is queued when ctx has ended.
func (o *outbox) add(ctx context.Context, frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waitLocked(ctx, softQueue, func() bool { return ctx.Err() != nil })
	switch {
	case o.err != nil:
		return o.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	o.putLocked(frame)
	return nil
}

// exclude calls f while nothing can be added, so that what f ends adds nothing
// when exclude has returned, and waits for room no longer.
func (o *outbox) exclude(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
	wake(&o.room)
}

// answer queues the frame that commit returns, or writes it from where it is if
// it is large and nothing waits. It waits for room first, until the call is given
// up, which base's end does to all of them; that the time of a call is over is no
// reason to queue more than there is room for. Nothing can be added while commit
// decides, so that the decision and the frame have one place in the order; nil
// means that nothing is sent. answer returns the buffer of the frame, which may
// have grown.
func (o *outbox) answer(base, life context.Context, givenUp func() bool, commit func() []byte) []byte {
	o.mu.Lock()
	o.waitLocked(base, softQueue, givenUp)
	frame := commit()
	if o.err != nil || len(frame) < directFrame || o.writing || len(o.queue) > 0 {
		o.putLocked(frame)
		o.mu.Unlock()
		return frame
	}
	o.writing = true
	o.mu.Unlock()
	frame = append(frame, o.stream.Delimiter()...)
	o.written(o.stream.Write(life, frame))
	o.flush(life) // what was added meanwhile
	return frame
}

// answerAsReader is answer for the holder of the lead, who must not wait for
// the peer: it has more room, and writes nothing. It reports whether it has waited
// for that room.
func (o *outbox) answerAsReader(ctx context.Context, commit func() []byte) (waited bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	waited = o.waitLocked(ctx, hardQueue, func() bool { return ctx.Err() != nil })
	o.putLocked(commit())
	return waited
}

// waitLocked waits, without the lock, until there is room in the queue, nothing is
// written any more, or enough says so, which is asked again when ctx ends or
// exclude was called. It reports whether it has waited.
func (o *outbox) waitLocked(ctx context.Context, bound int, enough func() bool) (waited bool) {
	for o.err == nil && o.writing && len(o.queue) > bound && !enough() {
		waited = true
		if o.room == nil {
			o.room = make(chan struct{})
		}
		room := o.room
		o.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		o.mu.Lock()
	}
	return waited
}

// putLocked queues a frame, if there is one and it can still be written.
func (o *outbox) putLocked(frame []byte) {
	if frame == nil || o.err != nil {
		return
	}
	o.queue = append(append(o.queue, frame...), o.stream.Delimiter()...)
}

// full reports whether the queue should be written even if more is to come.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > softQueue/4
}

// dirty reports whether frames wait and nobody is writing them.
func (o *outbox) dirty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > 0 && !o.writing
}

// flush writes what waits, unless somebody is doing so already.
func (o *outbox) flush(life context.Context) {
	o.mu.Lock()
	for o.err == nil && !o.writing && len(o.queue) > 0 {
		frames := o.queue
		o.queue, o.spare = o.spare[:0], nil
		o.writing = true
		wake(&o.room)
		o.mu.Unlock()
		o.written(o.stream.Write(life, frames))
		o.mu.Lock()
		if o.spare == nil && cap(frames) <= keepBuffer {
			o.spare = frames[:0]
		}
	}
	o.mu.Unlock()
}

// written ends a write.
func (o *outbox) written(err error) {
	o.mu.Lock()
	o.writing = false
	failed := err != nil && o.err == nil
	if failed {
		o.endLocked(err)
	}
	if len(o.queue) == 0 {
		wake(&o.room)
		wake(&o.idle)
	}
	o.mu.Unlock()
	if failed {
		o.onFail(err)
	}
}

// close ends the outbox: nothing is written any more, for the given reason.
func (o *outbox) close(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.endLocked(reason)
	}
}

func (o *outbox) endLocked(reason error) {
	o.err, o.queue, o.spare = reason, nil, nil
	wake(&o.room)
	wake(&o.idle)
}

// settled returns a channel that is closed when all has been written or nothing
// will be any more. Somebody must flush.
func (o *outbox) settled() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil {
		o.idle = make(chan struct{})
	}
	idle := o.idle
	if o.err != nil || !o.writing && len(o.queue) == 0 {
		wake(&o.idle)
	}
	return idle
}

// wake closes the channel that others wait on, if there is one.
func wake(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}
