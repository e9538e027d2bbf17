package transport

import (
	"context"
	"errors"
	"io"
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

// hurryTime is how long a write under way may take when its stream is to end.
const hurryTime = time.Second

// eventStream is an answer in the form of server-sent events. Its methods may be
// called by several goroutines, until it is over: from then on nobody touches
// the ResponseWriter, which is not ours any more when the handler has returned.
type eventStream struct {
	h       *Handler
	w       http.ResponseWriter
	rc      *http.ResponseController
	http2   bool
	chunked bool          // the end of the body is a chunk that can be written by hand
	over    chan struct{} // closed when the stream is over

	gate    sync.Mutex // guards the fields below, and that no deadline is set once left
	hurried bool
	left    bool

	mu     writeLock // guards the fields below, and writing
	opened bool      // the headers are set
	buf    []byte
	wrote  time.Time // when something was written last
	late   *time.Timer
	isLate bool // the timer will flush
	beat   *time.Timer
	err    error // why the stream is over
}

// newEvents returns the stream that answers a request. Nothing is written yet.
func (h *Handler) newEvents(w http.ResponseWriter, r *http.Request) *eventStream {
	return &eventStream{
		h: h, w: w, rc: http.NewResponseController(w), over: make(chan struct{}), mu: newWriteLock(),
		http2: r.ProtoMajor == 2, chunked: r.ProtoMajor == 1 && r.ProtoMinor >= 1,
	}
}

func (h *Handler) eventHeaders(header http.Header) {
	header["Content-Type"] = h.values.events
	header["Cache-Control"] = h.values.noCache
	header["X-Accel-Buffering"] = h.values.noBuffer
}

// single answers with a stream of one event. There is nothing to come back for,
// so that it has no id.
func (h *Handler) single(w http.ResponseWriter, frame []byte) {
	const before, after = "data: ", "\n\n"
	header := w.Header()
	h.eventHeaders(header)
	header["Content-Length"] = []string{strconv.Itoa(len(before) + len(frame) + len(after))}
	h.status(w, http.StatusOK)
	io.WriteString(w, before)
	h.write(w, frame)
	io.WriteString(w, after) // a client that is gone needs no answer
}

// start sends the headers, and what was sent already, and keeps the stream alive
// from now on.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	silent := time.Since(s.wrote)
	if silent >= s.h.opts.KeepAlive {
		s.buf = append(s.buf, ": keep-alive\n\n"...)
		s.flushLocked()
		s.buf, silent = nil, 0 // an idle stream needs no buffer
	}
	if s.err == nil {
		s.beat.Reset(s.h.opts.KeepAlive - silent)
	}
}

// event is one server-sent event. Empty fields are left out, but an event with
// an id and no data gets an empty one.
type event struct {
	name   string
	stream string // the id is stream_seq
	seq    uint64
	retry  time.Duration
	data   []byte
}

func (e *event) append(dst []byte) []byte {
	if e.name != "" {
		dst = append(append(append(dst, "event: "...), e.name...), '\n')
	}
	if e.stream != "" {
		dst = append(appendEventID(append(dst, "id: "...), e.stream, e.seq), '\n')
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

// put adds an event to what the next write will write.
func (s *eventStream) put(e *event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.buf = e.append(s.buf)
	}
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
	case len(s.buf) >= eventBuffer || !s.isLate && time.Since(s.wrote) > eventPause:
		s.flushLocked()
		s.keepAliveLocked()
	case !s.isLate:
		s.isLate = true
		if s.late == nil {
			s.late = time.AfterFunc(eventDelay, s.flushLate)
		} else {
			s.late.Reset(eventDelay)
		}
	}
	return s.err
}

func (s *eventStream) flushLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLate {
		s.flushLocked()
	}
}

// flushLocked writes what waits.
func (s *eventStream) flushLocked() {
	s.isLate = false
	if s.err != nil {
		return
	}
	err := s.writeLocked()
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) { // some writers send everything at the end
		s.endLocked(err)
		return
	}
	if s.http2 {
		s.deadline(time.Time{}) // it would reset the stream although nothing is being written
	}
}

// writeLocked hands what waits to net/http.
func (s *eventStream) writeLocked() error {
	if !s.opened {
		s.opened = true
		s.h.eventHeaders(s.w.Header())
		s.w.WriteHeader(http.StatusOK)
	}
	rest := s.buf
	for {
		s.wrote = time.Now()
		s.deadline(s.wrote.Add(s.h.opts.WriteTimeout))
		n := min(len(rest), portion)
		_, err := s.w.Write(rest[:n])
		if rest = rest[n:]; err != nil || len(rest) == 0 {
			s.buf = s.buf[:0]
			return err
		}
	}
}

// deadline sets the time until which writes must have succeeded, unless there
// is a shorter one.
func (s *eventStream) deadline(t time.Time) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if !s.hurried && !s.left {
		_ = s.rc.SetWriteDeadline(t) // not every writer has deadlines
	}
}

// hurry implements [standing]: a write under way to a client that does not read
// fails soon.
func (s *eventStream) hurry() {
	s.gate.Lock()
	defer s.gate.Unlock()
	if !s.hurried && !s.left {
		s.hurried = true
		_ = s.rc.SetWriteDeadline(time.Now().Add(hurryTime)) // not every writer has deadlines
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
	err := s.writeLocked() // net/http sends it together with the end of the answer
	s.endLocked(errStreamDone)
	return err
}

// end implements [standing]: it ends the stream for a reason of ours.
func (s *eventStream) end(cause error) {
	if !s.mu.TryLock() {
		s.hurry() // whoever writes
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	s.endLocked(cause)
}

func (s *eventStream) endLocked(cause error) {
	if s.err != nil {
		return
	}
	s.err, s.buf = cause, nil
	close(s.over)
	if s.beat != nil {
		s.beat.Stop()
	}
	if s.late != nil {
		s.late.Stop()
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	s.left = true
}

// hold keeps the answer open until the stream is over or the client is gone.
func (s *eventStream) hold(client context.Context) {
	select {
	case <-s.over:
	case <-client.Done():
	}
	s.end(errStreamDone)
}

// cut ends the answer while its handler goes on, which net/http offers only for
// HTTP/1: the chunked body is ended by hand and the connection closed. It
// reports whether that was possible.
func (s *eventStream) cut(e *event) bool {
	if s.http2 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	s.buf = e.append(s.buf)
	s.flushLocked()
	if s.err != nil {
		return false
	}
	conn, rw, err := s.rc.Hijack()
	if err != nil {
		return false // the server has put a writer of its own around it
	}
	s.endLocked(errStreamCut)
	_ = conn.SetDeadline(time.Now().Add(hurryTime))
	if s.chunked {
		_, _ = rw.WriteString("0\r\n\r\n")
		_ = rw.Flush()
	}
	_ = conn.Close()
	return true
}
