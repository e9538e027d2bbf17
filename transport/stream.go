package transport

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// Bounds of what a stream keeps for a client that comes back.
const (
	replayEvents = 256
	replayBytes  = 1 << 20         // but the latest event in any case
	replayTime   = 5 * time.Minute // of an answer that is complete
)

var (
	errStreamDone     = errors.New("the stream is complete")
	errStreamCut      = errors.New("the stream was closed early, to be resumed")
	errStreamReplaced = errors.New("the client opened another stream")
	errSessionEnded   = fmt.Errorf("the session has ended: %w", jsonrpc.ErrClosed)
)

// replayStream is a stream that can be resumed: a sequence of events with ids,
// of which the latest are kept, and the answer that carries them now, if any.
// The ids hold a random token, so that they can neither be guessed nor used in
// another session.
type replayStream struct {
	h     *Handler
	token string

	// out is the answer that carries the stream; nil while the client is away.
	// It is set under mu, and read without it by who wants to replace it.
	out atomic.Pointer[eventStream]

	ended atomic.Int64 // when the last event was sent, in nanoseconds since 1970; 0 before; set under mu

	mu        writeLock // guards the fields below, and writing
	seq       uint64    // of the latest event
	sent      uint64    // of the latest one that an answer has taken
	kept      [][]byte  // the data of the latest events
	bytes     int64     // of what is kept
	discarded bool      // nothing is kept any more
	closed    bool      // the session has ended, and nothing is carried any more
}

func (h *Handler) newReplayStream() *replayStream {
	var b [12]byte
	rand.Read(b[:])
	return &replayStream{h: h, token: base64.RawURLEncoding.EncodeToString(b[:]), mu: newWriteLock()}
}

// maxEventID bounds an event id that a client sends, in bytes.
const maxEventID = 64

func appendEventID(dst []byte, stream string, seq uint64) []byte {
	return strconv.AppendUint(append(append(dst, stream...), '_'), seq, 10)
}

// parseEventID splits an event id into the token of its stream and its place
// there.
func parseEventID(id string) (token string, seq uint64, ok bool) {
	i := strings.LastIndexByte(id, '_')
	if i <= 0 || len(id) > maxEventID {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(id[i+1:], 10, 64)
	return id[:i], seq, err == nil
}

// send records a frame and sends it if the client is there. A client that is
// not gets it when it comes back.
func (s *replayStream) send(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete() {
		return
	}
	s.recordLocked(frame)
	s.sendLocked(&event{stream: s.token, seq: s.seq, data: frame})
}

// finish sends the last frame and ends the answer that carries the stream.
func (s *replayStream) finish(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete() {
		return
	}
	s.recordLocked(frame)
	s.ended.Store(time.Now().UnixNano())
	if out := s.out.Swap(nil); out != nil && out.finish(&event{stream: s.token, seq: s.seq, data: frame}) == nil {
		s.sent = s.seq
	} // a client that is gone may come back for it
}

// abandon ends the stream without a last frame.
func (s *replayStream) abandon() {
	s.lock()
	defer s.mu.Unlock()
	s.ended.Store(time.Now().UnixNano())
	if out := s.out.Swap(nil); out != nil {
		_ = out.finish(nil)
	}
}

func (s *replayStream) sendLocked(e *event) {
	out := s.out.Load()
	if out == nil {
		return
	}
	if out.send(e) != nil {
		s.out.Store(nil)
		return
	}
	s.sent = max(s.sent, e.seq)
}

// recordLocked counts a frame and keeps it, as far as the bounds allow. What is
// kept is always the latest, without gaps.
func (s *replayStream) recordLocked(frame []byte) {
	s.seq++
	n := int64(len(frame))
	for len(s.kept) > 0 && (len(s.kept) >= replayEvents || s.bytes+n > replayBytes) {
		s.dropLocked()
	}
	if s.discarded {
		return
	}
	if s.h.replayed.Add(n) > s.h.opts.MaxReplay {
		s.h.replayed.Add(-n)
		s.clearLocked()
		return
	}
	s.bytes += n
	s.kept = append(s.kept, bytes.Clone(frame))
}

// dropLocked forgets the oldest event that is kept.
func (s *replayStream) dropLocked() {
	n := int64(len(s.kept[0]))
	s.kept[0] = nil
	s.kept = s.kept[1:]
	s.bytes -= n
	s.h.replayed.Add(-n)
}

func (s *replayStream) clearLocked() {
	s.h.replayed.Add(-s.bytes)
	s.kept, s.bytes = nil, 0
}

// discard forgets what is kept, for good, unless something is being written.
func (s *replayStream) discard() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	s.discardLocked()
	return true
}

func (s *replayStream) discardLocked() {
	s.clearLocked()
	s.discarded = true
}

// lock is for who is about to end the answer that carries the stream: it does
// not wait for long while a client does not read.
func (s *replayStream) lock() {
	if s.mu.TryLock() {
		return
	}
	if out := s.out.Load(); out != nil {
		out.hurry()
	}
	s.mu.Lock()
}

// begin lets a new answer carry a new stream. Nothing is written yet, not even
// the event that tells the client where it is.
func (s *replayStream) begin(out *eventStream, prime bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Store(out)
	if prime {
		out.put(s.primingLocked(0))
	}
}

func (s *replayStream) primingLocked(seq uint64) *event {
	return &event{stream: s.token, seq: seq, retry: max(0, s.h.opts.Retry)}
}

// carry lets an answer carry the stream from now on, beginning with what no
// answer has taken yet. What carried it before ends. Prime says that the client
// is told at once where it is, so that it can come back before anything has
// happened. It reports false if the session has ended.
func (s *replayStream) carry(out *eventStream, prime bool) bool {
	s.lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.replaceLocked(out)
	from := max(s.sent, s.oldestLocked())
	if prime {
		s.sendLocked(s.primingLocked(from))
	}
	s.replayLocked(from)
	return true
}

// resume lets an answer carry the stream from behind the event with the given
// number. It reports false if that event is not known, or no longer.
func (s *replayStream) resume(out *eventStream, after uint64) bool {
	s.lock()
	defer s.mu.Unlock()
	if s.closed || after > s.seq || after < s.oldestLocked() {
		return false
	}
	s.replaceLocked(out)
	s.replayLocked(after)
	if s.complete() && s.out.CompareAndSwap(out, nil) {
		_ = out.finish(nil)
	}
	return true
}

// oldestLocked returns the number of the first event behind which a client can
// go on.
func (s *replayStream) oldestLocked() uint64 { return s.seq - uint64(len(s.kept)) }

func (s *replayStream) replaceLocked(out *eventStream) {
	if old := s.out.Swap(out); old != nil {
		old.end(errStreamReplaced)
	}
}

func (s *replayStream) replayLocked(after uint64) {
	first := s.oldestLocked() + 1
	for i, data := range s.kept {
		if seq := first + uint64(i); seq > after {
			s.sendLocked(&event{stream: s.token, seq: seq, data: data})
		}
	}
}

// detach forgets an answer, if it still carries the stream.
func (s *replayStream) detach(out *eventStream) { s.out.CompareAndSwap(out, nil) }

// carried reports whether an answer carries the stream.
func (s *replayStream) carried() bool { return s.out.Load() != nil }

// end ends the stream together with its session.
func (s *replayStream) end(cause error) {
	s.lock()
	defer s.mu.Unlock()
	if out := s.out.Swap(nil); out != nil {
		out.end(cause)
	}
	s.discardLocked()
	s.closed = true
}

// cut ends the answer that carries the stream, so that the client comes back for
// the rest after the given time. The stream itself goes on.
func (s *replayStream) cut(retry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out := s.out.Load(); out != nil && out.cut(&event{stream: s.token, seq: s.seq, retry: retry}) {
		s.out.Store(nil)
	}
}

// spent reports whether the stream need not be kept: it is complete and nobody
// has come back for it in time.
func (s *replayStream) spent(now time.Time) bool {
	ended := s.ended.Load()
	return ended != 0 && now.Sub(time.Unix(0, ended)) > replayTime
}

// complete reports whether the last event has been sent.
func (s *replayStream) complete() bool { return s.ended.Load() != 0 }
