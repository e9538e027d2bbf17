package jsonrpc

import (
	"context"
	"sync"
)

// Bounds of what waits to be written. A sender waits above the soft bound, as
// long as somebody else is writing. The reader's own answers, refusals for the
// most part, pass it until the hard bound, so that a peer that does not read
// its answers can still cancel.
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
	onFail func(error)

	mu      sync.Mutex // guards the fields below
	queue   []byte     // frames that wait
	spare   []byte     // an empty buffer to take the place of the queue
	writing bool
	err     error         // the failure that ended writing
	room    chan struct{} // closed when the queue has been taken; nil if nobody waits
}

// add queues a frame. Unless it is urgent, it waits for room first, which is a
// matter of the peer reading.
func (o *outbox) add(ctx context.Context, frame []byte, urgent bool) error {
	o.mu.Lock()
	for o.err == nil && o.writing && len(o.queue) > o.bound(urgent) {
		if err := o.waitLocked(ctx); err != nil {
			o.mu.Unlock()
			return err
		}
	}
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	o.queue = append(append(o.queue, frame...), o.stream.Delimiter()...)
	return nil
}

func (o *outbox) bound(urgent bool) int {
	if urgent {
		return hardQueue
	}
	return softQueue
}

// waitLocked waits, without the lock, until the queue has been taken.
func (o *outbox) waitLocked(ctx context.Context) error {
	if o.room == nil {
		o.room = make(chan struct{})
	}
	room := o.room
	o.mu.Unlock()
	defer o.mu.Lock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// direct writes a large frame from its own buffer if nothing waits and nobody
// writes. It reports whether it did; buf is the buffer of the frame, which may
// have grown.
func (o *outbox) direct(ctx context.Context, frame []byte) (buf []byte, done bool) {
	if len(frame) < directFrame {
		return frame, false
	}
	o.mu.Lock()
	if o.err != nil || o.writing || len(o.queue) > 0 {
		o.mu.Unlock()
		return frame, false
	}
	o.writing = true
	o.mu.Unlock()
	frame = append(frame, o.stream.Delimiter()...)
	err := o.stream.Write(ctx, frame)
	o.written(err)
	return frame, true
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
func (o *outbox) flush(ctx context.Context) {
	o.mu.Lock()
	for o.err == nil && !o.writing && len(o.queue) > 0 {
		batch := o.queue
		o.queue, o.spare = o.spare[:0], nil
		o.writing = true
		o.wakeLocked()
		o.mu.Unlock()
		err := o.stream.Write(ctx, batch)
		o.written(err)
		o.mu.Lock()
		if o.spare == nil && cap(batch) <= keepBuffer {
			o.spare = batch[:0]
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
		o.err = err
		o.queue = nil
	}
	o.wakeLocked()
	o.mu.Unlock()
	if failed {
		o.onFail(err)
	}
}

func (o *outbox) wakeLocked() {
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}
