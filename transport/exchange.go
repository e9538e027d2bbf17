package transport

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// exchange is one request over HTTP, from its body to its answer. It is the
// [jsonrpc.Peer] of the handler: what the handler sends goes into the answer,
// which becomes an event stream with the first such message.
type exchange struct {
	h       *Handler
	w       http.ResponseWriter
	rc      *http.ResponseController
	session *httpSession // nil in the stateless era
	req     *jsonrpc.Request
	ctx     jsonrpc.CallContext
	accept  forms

	mu        sync.Mutex // guards the fields below
	events    *eventStream
	replay    *replayStream // nil if the answer cannot be resumed
	upgrade   *time.Timer
	cancelled bool // by the client: nothing more is sent
	done      bool
}

// run calls the handler and answers.
func (x *exchange) run(handler jsonrpc.Handler) {
	if x.accept.events {
		x.upgrade = time.AfterFunc(x.h.opts.UpgradeAfter, x.becomeStream)
	}
	frame, err := jsonrpc.Answer(&x.ctx, x.h.log, handler, x.req, x, make([]byte, 0, 512))
	x.ctx.Cancel(jsonrpc.ErrClosed)
	x.finish(frame, err)
}

// becomeStream turns an answer that takes long into a stream.
func (x *exchange) becomeStream() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.done && !x.cancelled && x.events == nil {
		x.streamLocked(true)
	}
}

// streamLocked turns the answer into a stream. Prime says that an event follows
// only later, so that the client is given an id to come back with.
func (x *exchange) streamLocked(prime bool) {
	x.events = x.h.openEvents(x.w, x.rc)
	if x.session != nil {
		x.replay = x.session.open()
	}
	if x.replay != nil {
		x.replay.attach(x.events, 0)
		if prime && x.session.handler.Version().PrimesStreams() {
			x.replay.prime(0)
		}
	}
	if prime {
		x.events.start()
	}
}

// Send implements [jsonrpc.Peer]. Without a stream there is no place for a
// message before the answer, and it is dropped, as R4.26 says.
func (x *exchange) Send(ctx context.Context, frame []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.done || x.cancelled || !x.accept.events:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case x.events == nil:
		x.streamLocked(true)
	}
	return x.sendLocked(frame)
}

func (x *exchange) sendLocked(frame []byte) error {
	if x.replay != nil {
		x.replay.send(frame, false)
		return nil
	}
	return x.events.send(&event{data: frame})
}

// Call implements [jsonrpc.Peer]: the request travels in the answer to the call
// that it serves, and the client posts the response.
func (x *exchange) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	if x.session == nil {
		return nil, errNoStream
	}
	return x.session.call(ctx, method, params, func(frame []byte) error {
		if !x.accept.events {
			return errNoStream
		}
		return x.Send(ctx, frame)
	})
}

// Cancel implements [jsonrpc.Peer].
func (x *exchange) Cancel(id jsonrpc.ID, cause error) bool {
	if x.session == nil {
		return false
	}
	return x.session.Cancel(id, cause)
}

// cancel cancels the call: nothing more is sent for it.
func (x *exchange) cancel(cause error) {
	x.mu.Lock()
	x.cancelled = true
	x.mu.Unlock()
	x.ctx.Cancel(cause)
}

// CloseStream ends the answer early, so that the client comes back for the rest
// after the given time. It does nothing if the answer cannot be resumed.
func (x *exchange) CloseStream(retry time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done || x.cancelled || !x.accept.events || x.session == nil {
		return
	}
	if x.events == nil {
		x.streamLocked(true)
	}
	if x.replay == nil || !x.replay.carried() {
		return
	}
	x.replay.mu.Lock()
	defer x.replay.mu.Unlock()
	if out := x.replay.out; out != nil && out.cut(&event{id: x.replay.id(x.replay.seq), retry: retry}) {
		x.replay.out = nil
	}
}

// finish answers with the response.
func (x *exchange) finish(frame []byte, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done = true
	if x.upgrade != nil {
		x.upgrade.Stop()
	}
	if x.events == nil && !x.cancelled && x.accept.events && (x.h.opts.AlwaysSSE || !x.accept.json) && statusOf(err) == http.StatusOK {
		x.streamLocked(false)
	}
	switch {
	case x.cancelled && x.events != nil:
		if x.replay != nil {
			x.replay.detach(x.events)
		}
		_ = x.events.finish(nil)
	case x.cancelled:
		x.w.WriteHeader(http.StatusAccepted)
	case x.replay != nil:
		x.replay.send(frame, true)
	case x.events != nil:
		_ = x.events.finish(&event{data: frame}) // a client that is gone needs no answer
	default:
		x.json(frame, err)
	}
}

// json answers with the response as JSON.
func (x *exchange) json(frame []byte, err error) {
	header := x.w.Header()
	header["Content-Type"] = x.h.values.json
	header["Cache-Control"] = x.h.values.noStore
	header["Content-Length"] = []string{strconv.Itoa(len(frame))}
	_ = x.rc.SetWriteDeadline(time.Now().Add(x.h.opts.WriteTimeout)) // not every writer has deadlines
	x.w.WriteHeader(statusOf(err))
	x.w.Write(frame) // a client that is gone needs no answer
}

// statusOf returns the status for the error of a handler: that which the error
// asks for, or 200, since an error is an answer.
func statusOf(err error) int {
	var s interface{ HTTPStatus() int }
	if err != nil && errors.As(err, &s) && s.HTTPStatus() != 0 {
		return s.HTTPStatus()
	}
	return http.StatusOK
}
