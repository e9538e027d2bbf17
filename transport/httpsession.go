package transport

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// errNoStream means that a message of the server's own has no way to the client
// now.
var errNoStream = errors.New("the client has no stream open")

// httpSession is what the transport holds of a handshake session: the calls in
// flight, the streams, and the requests of our own that wait for an answer. It
// is the [jsonrpc.Peer] for what belongs to no call.
type httpSession struct {
	h       *Handler
	handler Session

	mu       sync.Mutex // guards the fields below
	calls    []*exchange
	own      *replayStream   // the standalone stream; nil before the first GET
	streams  []*replayStream // of calls, the oldest first
	pending  map[jsonrpc.ID]chan *jsonrpc.Response
	lastID   uint64
	finished bool
}

func (h *Handler) newSession(handler jsonrpc.Handler) *httpSession {
	return &httpSession{h: h, handler: handler.(Session)}
}

// Close ends the session: its calls are cancelled and its streams closed. The
// store calls it.
func (s *httpSession) Close() error {
	calls, streams, waiting, first := s.close()
	if !first {
		return nil
	}
	for _, x := range calls {
		x.ctx.Cancel(errSessionEnded)
	}
	for _, answer := range waiting {
		close(answer)
	}
	for _, r := range streams {
		r.end(errSessionEnded)
	}
	s.handler.Drain()
	return nil
}

// close lets nothing begin any more and returns what has to end.
func (s *httpSession) close() (calls []*exchange, streams []*replayStream, waiting []chan *jsonrpc.Response, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return nil, nil, nil, false
	}
	s.finished = true
	streams = slices.Clone(s.streams)
	if s.own != nil {
		streams = append(streams, s.own)
	}
	waiting = slices.Collect(maps.Values(s.pending))
	s.streams, s.pending = nil, nil
	return slices.Clone(s.calls), streams, waiting, true
}

// enter notes a call in flight. It reports false at the bound. A call of a
// session that has ended meanwhile is cancelled at once.
func (s *httpSession) enter(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) >= s.h.opts.MaxCalls {
		return false
	}
	s.calls = append(s.calls, x)
	x.ctx.Derive(s.h.life) // a client that is gone has not cancelled
	if s.finished {
		x.ctx.Cancel(errSessionEnded)
	}
	return true
}

func (s *httpSession) leave(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.calls, x)
	last := len(s.calls) - 1
	s.calls[i], s.calls[last] = s.calls[last], nil
	s.calls = s.calls[:last]
}

// Cancel implements [jsonrpc.Peer]. Over HTTP an id belongs to its exchange, so
// that two calls may have the same; both are meant.
func (s *httpSession) Cancel(id jsonrpc.ID, cause error) bool {
	s.mu.Lock()
	var found []*exchange
	for _, x := range s.calls {
		if x.req.ID.Equal(id) {
			found = append(found, x)
		}
	}
	s.mu.Unlock()
	for _, x := range found {
		x.cancel(cause)
	}
	return len(found) > 0
}

// Send implements [jsonrpc.Peer]: on the standalone stream. Of what happens
// before a client has opened that, it is not told.
func (s *httpSession) Send(_ context.Context, frame []byte) error {
	s.mu.Lock()
	own := s.own
	s.mu.Unlock()
	if own != nil {
		own.send(frame)
	}
	return nil
}

// Call implements [jsonrpc.Peer].
func (s *httpSession) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	return s.call(ctx, method, params, func(frame []byte) error {
		s.mu.Lock()
		own := s.own
		s.mu.Unlock()
		if own == nil || !own.carried() {
			return errNoStream
		}
		own.send(frame)
		return nil
	})
}

// call sends a request of our own by the given way and waits for the answer.
func (s *httpSession) call(ctx context.Context, method string, params []byte, send func([]byte) error) ([]byte, error) {
	answer := make(chan *jsonrpc.Response, 1)
	id, ok := s.expect(answer)
	if !ok {
		return nil, errSessionEnded
	}
	defer s.expectNoMore(id)
	if err := send(jsonrpc.AppendRequest(nil, id, method, params)); err != nil {
		return nil, err
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return nil, errSessionEnded
		case r.Error != nil:
			return nil, r.Error
		}
		return r.Result, nil
	case <-ctx.Done():
		return nil, &jsonrpc.CallError{ID: id, Cause: context.Cause(ctx)}
	}
}

// expect says where the response to our next request goes, and returns its id.
// Once the session has ended there will be none.
func (s *httpSession) expect(answer chan *jsonrpc.Response) (jsonrpc.ID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return "", false
	}
	s.lastID++
	id := jsonrpc.ID(strconv.FormatUint(s.lastID, 10))
	if s.pending == nil {
		s.pending = make(map[jsonrpc.ID]chan *jsonrpc.Response)
	}
	s.pending[id] = answer
	return id, true
}

func (s *httpSession) expectNoMore(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// answer hands a response of the client to whoever waits for it, at most once.
func (s *httpSession) answer(r *jsonrpc.Response) {
	s.mu.Lock()
	waiting := s.pending[r.ID]
	delete(s.pending, r.ID)
	s.mu.Unlock()
	if waiting != nil {
		waiting <- r
	}
}

// open makes a stream for a call that can be resumed, or returns nil if the
// version has none or too many are kept.
func (s *httpSession) open() *replayStream {
	if !s.handler.Version().Resumable() {
		return nil
	}
	s.Tidy(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished || len(s.streams) >= s.h.opts.MaxStreams && !s.evictLocked() {
		return nil
	}
	r := s.h.newReplayStream()
	s.streams = append(s.streams, r)
	return r
}

// Tidy forgets answers that nobody has come back for in time. The store calls it
// now and then.
func (s *httpSession) Tidy(now time.Time) {
	s.mu.Lock()
	var spent []*replayStream
	s.streams = slices.DeleteFunc(s.streams, func(r *replayStream) bool {
		over := r.spent(now)
		if over {
			spent = append(spent, r)
		}
		return over
	})
	s.mu.Unlock()
	for _, r := range spent {
		r.end(errStreamDone)
	}
}

// evictLocked drops the oldest stream that is complete. If somebody reads it
// just now, it stays.
func (s *httpSession) evictLocked() bool {
	for i, r := range s.streams {
		if r.complete() && r.discard() {
			s.streams = slices.Delete(s.streams, i, i+1)
			return true
		}
	}
	return false
}

// find returns the stream with the token.
func (s *httpSession) find(token string) *replayStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil && s.own.token == token {
		return s.own
	}
	for _, r := range s.streams {
		if r.token == token {
			return r
		}
	}
	return nil
}

func (s *httpSession) isFinished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished
}

// standalone returns the stream for messages that belong to no call, or nil when
// the session has ended.
func (s *httpSession) standalone() *replayStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return nil
	}
	if s.own == nil {
		s.own = s.h.newReplayStream()
	}
	return s.own
}
