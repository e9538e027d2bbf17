package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// conn is one end of a connection.
type conn struct{ in, out *half }

// Pipe returns the two ends of a connection that holds up to window bytes in
// each direction.
func Pipe(window int) (near, far net.Conn) {
	there, back := newHalf(window), newHalf(window)
	return &conn{back, there}, &conn{there, back}
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }

// Close ends both directions. What was written can still be read.
func (c *conn) Close() error {
	c.out.finish()
	c.in.abandon()
	return nil
}

// CloseWrite tells the other end that nothing more will come.
func (c *conn) CloseWrite() error {
	c.out.finish()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return addr{} }
func (c *conn) RemoteAddr() net.Addr { return addr{} }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.readBy.set(t)
	c.out.writeBy.set(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.readBy.set(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writeBy.set(t)
	return nil
}

// half is one direction of a connection.
type half struct {
	window int

	mu        sync.Mutex // guards the fields below
	changed   sync.Cond
	buf       []byte
	finished  bool // by the writer
	abandoned bool // by the reader
	readBy    deadline
	writeBy   deadline
}

func newHalf(window int) *half {
	h := &half{window: window}
	h.changed.L = &h.mu
	h.readBy.half, h.writeBy.half = h, h
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.abandoned:
			return 0, net.ErrClosed
		case h.readBy.over:
			return 0, os.ErrDeadlineExceeded
		case len(h.buf) > 0:
			n := copy(p, h.buf)
			h.buf = h.buf[:copy(h.buf, h.buf[n:])]
			h.changed.Broadcast()
			return n, nil
		case h.finished:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *half) write(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch room := h.window - len(h.buf); {
		case h.finished:
			return n, net.ErrClosed
		case h.abandoned:
			return n, io.ErrClosedPipe
		case h.writeBy.over:
			return n, os.ErrDeadlineExceeded
		case len(p) == 0:
			return n, nil
		case room > 0:
			room = min(room, len(p))
			h.buf = append(h.buf, p[:room]...)
			p, n = p[room:], n+room
			h.changed.Broadcast()
			continue
		}
		h.changed.Wait()
	}
}

func (h *half) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.finished = true
	h.changed.Broadcast()
}

func (h *half) abandon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abandoned, h.buf = true, nil
	h.changed.Broadcast()
}

// deadline is when the reads or the writes of a half begin to fail. It is
// guarded by the lock of the half.
type deadline struct {
	half  *half
	over  bool
	timer *time.Timer
}

// set sets the time; the zero time is never.
func (d *deadline) set(t time.Time) {
	d.half.mu.Lock()
	defer d.half.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.over = false
	if t.IsZero() {
		return
	}
	wait := time.Until(t)
	if wait <= 0 {
		d.over = true
		d.half.changed.Broadcast()
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		d.half.mu.Lock()
		defer d.half.mu.Unlock()
		if d.timer == timer {
			d.over = true
			d.half.changed.Broadcast()
		}
	})
	d.timer = timer
}
