package transport

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// How events are gathered into writes: the first one after a pause goes out at
// once, those that follow closely wait for a moment so that many become one
// write.
const (
	eventPause  = 2 * time.Millisecond
	eventDelay  = time.Millisecond
	eventBuffer = 32 << 10
)

// eventStream is an open answer in the form of server-sent events. Its methods
// may be called by several goroutines.
type eventStream struct {
	h  *Handler
	w  http.ResponseWriter
	rc *http.ResponseController

	mu      sync.Mutex // guards the fields below, and writing
	buf     []byte
	wrote   time.Time // when something was written last
	late    *time.Timer
	beat    *time.Timer
	err     error
	over    chan struct{} // closed when the stream is over
	flusher bool          // a late flush is due
}

// openEvents answers with an event stream. The headers go out at once.
func (h *Handler) openEvents(w http.ResponseWriter, rc *http.ResponseController) *eventStream {
	header := w.Header()
	header["Content-Type"] = h.values.events
	header["Cache-Control"] = h.values.noCache
	header["X-Accel-Buffering"] = h.values.noBuffer
	w.WriteHeader(http.StatusOK)
	return &eventStream{h: h, w: w, rc: rc, over: make(chan struct{})}
}

// start sends the headers now and keeps the stream alive from now on.
func (s *eventStream) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushLocked()
	s.keepAliveLocked()
}

// keepAliveLocked sends a comment whenever the stream has been silent.
func (s *eventStream) keepAliveLocked() {
	if s.h.opts.KeepAlive > 0 && s.beat == nil && s.err == nil {
		s.beat = time.AfterFunc(s.h.opts.KeepAlive, s.keepAlive)
	}
}

func (s *eventStream) keepAlive() {
	if !s.mu.TryLock() {
		s.beat.Reset(s.h.opts.KeepAlive) // a write is under way
		return
	}
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	silent := time.Since(s.wrote)
	if silent >= s.h.opts.KeepAlive {
		s.buf = append(s.buf, ": keep-alive\n\n"...)
		s.flushLocked()
		silent = 0
	}
	if s.err == nil {
		s.beat.Reset(s.h.opts.KeepAlive - silent)
	}
}

// event is one server-sent event. Empty fields are left out, but an event with
// an id and no data gets an empty one.
type event struct {
	id, name string
	retry    time.Duration
	data     []byte
}

func (e *event) append(dst []byte) []byte {
	if e.name != "" {
		dst = append(append(append(dst, "event: "...), e.name...), '\n')
	}
	if e.id != "" {
		dst = append(append(append(dst, "id: "...), e.id...), '\n')
	}
	if e.retry > 0 {
		dst = append(dst, "retry: "...)
		dst = append(strconv.AppendInt(dst, e.retry.Milliseconds(), 10), '\n')
	}
	if len(e.data) == 0 {
		return append(dst, "data:\n\n"...)
	}
	dst = append(append(dst, "data: "...), e.data...)
	return append(dst, "\n\n"...)
}

// send sends an event. It waits while the client does not read, until the write
// timeout.
func (s *eventStream) send(e *event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.buf = e.append(s.buf)
	switch {
	case len(s.buf) >= eventBuffer:
		s.flushLocked()
	case s.flusher:
	case time.Since(s.wrote) > eventPause:
		s.flushLocked()
	default:
		s.flusher = true
		if s.late == nil {
			s.late = time.AfterFunc(eventDelay, s.lateFlush)
		} else {
			s.late.Reset(eventDelay)
		}
	}
	return s.err
}

func (s *eventStream) lateFlush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flusher {
		s.flushLocked()
	}
}

// flushLocked writes what waits.
func (s *eventStream) flushLocked() {
	s.flusher = false
	if s.err != nil {
		return
	}
	s.wrote = time.Now()
	_ = s.rc.SetWriteDeadline(s.wrote.Add(s.h.opts.WriteTimeout)) // not every writer has deadlines
	_, err := s.w.Write(s.buf)
	if err == nil {
		err = s.rc.Flush()
	}
	s.buf = s.buf[:0]
	if err != nil {
		s.endLocked(err)
	}
}

// finish sends the last event, if there is one, and ends the stream. The
// handler returns after it, which ends the answer.
func (s *eventStream) finish(e *event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if e != nil {
		s.buf = e.append(s.buf)
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.h.opts.WriteTimeout)) // not every writer has deadlines
	_, err := s.w.Write(s.buf)                                       // net/http writes it together with the end of the answer
	s.buf = nil
	s.endLocked(errStreamDone)
	return err
}

// close ends the stream for a reason of ours.
func (s *eventStream) close(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(cause)
}

func (s *eventStream) endLocked(cause error) {
	if s.err != nil {
		return
	}
	s.err = cause
	close(s.over)
	if s.beat != nil {
		s.beat.Stop()
	}
	if s.late != nil {
		s.late.Stop()
	}
}

// hold keeps the answer open until the stream is over or the client is gone.
func (s *eventStream) hold(ctx context.Context) {
	select {
	case <-s.over:
	case <-ctx.Done():
		s.close(context.Cause(ctx))
	}
	// A timer that fired may still be writing; nobody may write after the
	// handler has returned.
	s.mu.Lock()
	defer s.mu.Unlock()
}

// cut ends the answer while its handler goes on, which net/http offers only for
// HTTP/1: the chunked body is ended by hand and the connection closed. It
// reports whether that was possible.
func (s *eventStream) cut(e *event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	if e != nil {
		s.buf = e.append(s.buf)
	}
	s.flushLocked()
	if s.err != nil {
		return false
	}
	conn, rw, err := s.rc.Hijack()
	if err != nil {
		return false
	}
	_ = conn.SetDeadline(time.Now().Add(s.h.opts.WriteTimeout))
	_, _ = rw.WriteString("0\r\n\r\n")
	_ = rw.Flush()
	_ = conn.Close()
	s.endLocked(errStreamCut)
	return true
}
