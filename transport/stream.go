package transport

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what a stream keeps for a client that comes back.
const (
	replayEvents = 256
	replayBytes  = 1 << 20
	replayTime   = 5 * time.Minute // of an answer that is complete
)

var (
	errStreamDone     = errors.New("the stream is complete")
	errStreamCut      = errors.New("the stream was closed early, to be resumed")
	errStreamReplaced = errors.New("the client opened another stream")
)

// replayStream is a stream that can be resumed: a sequence of events with ids,
// of which the latest are kept, and the answer that carries them now, if any.
// The ids hold a random token, so that they can neither be guessed nor used in
// another session.
type replayStream struct {
	token string

	mu    sync.Mutex // guards the fields below
	seq   uint64     // of the latest event
	kept  []keptEvent
	bytes int
	out   *eventStream // nil while the client is away
	final bool         // the last event has been sent
	ended time.Time    // when that was
}

type keptEvent struct {
	seq  uint64
	data []byte
}

func newReplayStream() *replayStream {
	var b [12]byte
	rand.Read(b[:])
	return &replayStream{token: base64.RawURLEncoding.EncodeToString(b[:])}
}

func (s *replayStream) id(seq uint64) string {
	return s.token + "_" + strconv.FormatUint(seq, 10)
}

// parseEventID splits an event id into the token of its stream and its place
// there.
func parseEventID(id string) (token string, seq uint64, ok bool) {
	i := strings.LastIndexByte(id, '_')
	if i < 0 || len(id) > 64 {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(id[i+1:], 10, 64)
	return id[:i], seq, err == nil
}

// prime sends the event without data that tells the client an id to come back
// with.
func (s *replayStream) prime(retry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out != nil {
		s.sendLocked(&event{id: s.id(s.seq), retry: retry})
	}
}

// send records a frame and sends it if the client is there. A client that is
// not gets it when it comes back.
func (s *replayStream) send(frame []byte, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.kept = append(s.kept, keptEvent{s.seq, append([]byte(nil), frame...)})
	s.bytes += len(frame)
	for len(s.kept) > 1 && (len(s.kept) > replayEvents || s.bytes > replayBytes) {
		s.bytes -= len(s.kept[0].data)
		s.kept = s.kept[1:]
	}
	if final {
		s.final, s.ended = true, time.Now()
	}
	if s.out == nil {
		return
	}
	e := &event{id: s.id(s.seq), data: frame}
	if !final {
		s.sendLocked(e)
		return
	}
	_ = s.out.finish(e) // a client that is gone may come back for it
	s.out = nil
}

func (s *replayStream) sendLocked(e *event) {
	if s.out.send(e) != nil {
		s.out = nil
	}
}

// attach lets an answer carry the stream from behind the event with the given
// number. What was carried it before ends. It reports false if that event is no
// longer known.
func (s *replayStream) attach(out *eventStream, after uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.seq - uint64(len(s.kept))
	if after > s.seq || after < oldest {
		return false
	}
	if s.out != nil {
		s.out.close(errStreamReplaced)
	}
	s.out = out
	for i := range s.kept {
		if k := &s.kept[i]; k.seq > after && s.out != nil {
			s.sendLocked(&event{id: s.id(k.seq), data: k.data})
		}
	}
	if s.final && s.out != nil {
		_ = s.out.finish(nil)
		s.out = nil
	}
	return true
}

// detach forgets the answer, if it still carries the stream.
func (s *replayStream) detach(out *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == out {
		s.out = nil
	}
}

// carried reports whether an answer carries the stream.
func (s *replayStream) carried() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out != nil
}

// spent reports whether the stream need not be kept: it is complete and nobody
// has come back for it in time.
func (s *replayStream) spent(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.final && now.Sub(s.ended) > replayTime
}

// complete reports whether the last event has been sent.
func (s *replayStream) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.final
}
