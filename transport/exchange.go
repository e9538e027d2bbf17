package transport

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// exchange is one request over HTTP, from its body to its answer. It is the
// [jsonrpc.Peer] of the handler: what the handler sends goes into the answer,
// which becomes an event stream with the first such message.
type exchange struct {
	h       *Handler
	w       http.ResponseWriter // nil for a member of a batch
	r       *http.Request
	session *httpSession // nil in the stateless era
	req     *jsonrpc.Request
	ctx     jsonrpc.CallContext
	accept  forms

	cancelled atomic.Bool // by the client: nothing more is sent

	mu      sync.Mutex // guards the fields below, which nobody changes once done
	events  *eventStream
	replay  *replayStream // nil if the answer cannot be resumed
	upgrade *time.Timer
	done    bool
}

// run calls the handler and answers.
func (x *exchange) run(handler jsonrpc.Handler) {
	if x.accept.events && x.h.opts.UpgradeAfter > 0 {
		x.upgrade = time.AfterFunc(x.h.opts.UpgradeAfter, x.becomeStream)
	}
	buf := x.h.buffer()
	frame, err := jsonrpc.Answer(&x.ctx, x.h.log, handler, x.req, x, (*buf)[:0])
	x.ctx.Cancel(jsonrpc.ErrClosed)
	x.finish(frame, err)
	x.h.recycle(buf, frame)
}

// maxBuffer bounds the buffers that are kept for other answers, in bytes.
const maxBuffer = 4 << 20

// buffer returns a buffer for an answer.
func (h *Handler) buffer() *[]byte {
	if b, ok := h.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 1024)
	return &b
}

// recycle keeps the buffer of an answer that nobody uses any more.
func (h *Handler) recycle(b *[]byte, answer []byte) {
	if *b = answer; cap(answer) <= maxBuffer {
		h.buffers.Put(b)
	}
}

// becomeStream turns an answer that takes long into a stream.
func (x *exchange) becomeStream() {
	if events, _ := x.stream(); events != nil {
		events.start()
	}
}

// stream returns the stream that the answer is, or becomes by this, and what can
// resume it, if anything can. It returns nil if nothing more is to be sent, or
// the client does not accept a stream. Nothing is written yet. Where the version
// has that, the first event gives the client an id to come back with.
func (x *exchange) stream() (*eventStream, *replayStream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done || x.cancelled.Load() || !x.accept.events {
		return nil, nil
	}
	if x.events == nil {
		x.events = x.h.newEvents(x.w, x.r)
		if x.session != nil {
			x.replay = x.session.open()
		}
		if x.replay != nil {
			x.replay.begin(x.events, x.session.handler.Version().PrimesStreams())
		}
	}
	return x.events, x.replay
}

// Send implements [jsonrpc.Peer]. Without a stream there is no place for a
// message before the answer, and it is dropped, as R4.26 says.
func (x *exchange) Send(ctx context.Context, frame []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch events, replay := x.stream(); {
	case replay != nil:
		replay.send(frame)
		return nil
	case events != nil:
		return events.send(&event{data: frame})
	}
	return nil
}

// TakeBack sends the notification that a request of ours is not waited for any
// more. It belongs to the session rather than to the call, so that it has a place
// to go to when nothing more is sent for the call.
func (x *exchange) TakeBack(ctx context.Context, frame []byte) error {
	if events, _ := x.stream(); events == nil && x.session != nil {
		return x.session.Send(ctx, frame)
	}
	return x.Send(ctx, frame)
}

// Call implements [jsonrpc.Peer]: the request travels in the answer to the call
// that it serves, or by itself if that answer has no room for it. The client
// posts the response.
func (x *exchange) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	switch {
	case x.session == nil:
		return nil, errNoStream
	case !x.accept.events:
		return x.session.Call(ctx, method, params)
	}
	return x.session.call(ctx, method, params, func(frame []byte) error { return x.Send(ctx, frame) })
}

// Cancel implements [jsonrpc.Peer].
func (x *exchange) Cancel(id jsonrpc.ID, cause error) bool {
	if x.session == nil {
		return false
	}
	return x.session.Cancel(id, cause)
}

// cancel cancels the call: nothing more is sent for it. It does not wait for a
// message that is being sent.
func (x *exchange) cancel(cause error) {
	x.cancelled.Store(true)
	x.ctx.Cancel(cause)
}

// CloseStream ends the answer early, so that the client comes back for the rest
// after the given time; the call goes on meanwhile. It does nothing where that is
// not possible: in a version whose clients do not expect it (R4.22), for a client
// that accepts no event stream, and over HTTP/2.
func (x *exchange) CloseStream(retry time.Duration) {
	if x.session == nil || !x.session.handler.Version().PrimesStreams() {
		return
	}
	if _, replay := x.stream(); replay != nil {
		replay.cut(retry)
	}
}

// finish answers with the response. Nobody writes when it has returned.
func (x *exchange) finish(frame []byte, err error) {
	x.conclude()
	switch cancelled := x.cancelled.Load(); {
	case cancelled && x.replay != nil:
		x.replay.abandon()
	case cancelled && x.events != nil:
		_ = x.events.finish(nil)
	case cancelled:
		x.h.status(x.w, http.StatusAccepted)
	case x.replay != nil:
		x.replay.finish(frame)
	case x.events != nil:
		_ = x.events.finish(&event{data: frame}) // a client that is gone needs no answer
	case x.mustStream(err):
		x.h.single(x.w, frame)
	default:
		x.h.frame(x.w, statusOf(err), frame)
	}
	if x.events != nil {
		x.events.end(errStreamDone)
	}
}

// conclude settles what the answer is so far: from now on that does not change.
func (x *exchange) conclude() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done = true
	if x.upgrade != nil {
		x.upgrade.Stop()
	}
}

// mustStream reports whether an answer that could be JSON has to be a stream.
// One with a status of its own cannot.
func (x *exchange) mustStream(err error) bool {
	return x.accept.events && (x.h.opts.AlwaysSSE || !x.accept.json) && statusOf(err) == http.StatusOK
}

// statusOf returns the status for the error of a handler: that which the error
// asks for, or 200, since an error is an answer.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	var s interface{ HTTPStatus() int }
	if errors.As(err, &s) && s.HTTPStatus() != 0 {
		return s.HTTPStatus()
	}
	return http.StatusOK
}
