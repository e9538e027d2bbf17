package jsonrpc

import (
	"context"
	"log/slog"
	"runtime/debug"
)

// Stream carries frames. One goroutine at a time reads, and one writes.
type Stream interface {
	// Read returns the next frame, which is never touched again by the stream.
	// The error is [io.EOF] at the end, and a [*FrameError] for a frame that
	// cannot be read while others may follow. A read that begins when ctx has
	// ended fails; one under way ends then if the system offers a way to do that.
	Read(ctx context.Context) ([]byte, error)
	// Write writes frames, each with [Stream.Delimiter] behind it. It neither
	// changes them nor keeps them when it has returned. After an error nothing
	// is written any more.
	Write(ctx context.Context, frames []byte) error
	// Delimiter is what ends every frame.
	Delimiter() string
	// Buffered reports whether a read would return without waiting, as far as
	// the stream knows: true is a promise, false is not. The reader calls it.
	Buffered() bool
	// Close ends the stream. It makes a Read and a Write under way return unless
	// the system offers no way to do that. It is called once.
	Close() error
}

// A FrameError is a frame that was skipped. The peer is told Err.
type FrameError struct{ Err *Error }

func (e *FrameError) Error() string { return e.Err.Error() }

func (e *FrameError) Unwrap() error { return e.Err }

// Dialect is what depends on the version that a peer speaks.
type Dialect struct {
	Batches       bool // a frame may hold an array
	OmitUnknownID bool // an error without an id has no member "id" instead of null
}

// Handler serves the requests of one peer.
type Handler interface {
	// Handle serves a request by appending its result, a JSON object without
	// line ends, to dst. It may be called by several goroutines at once. Errors
	// go through [WireError]. The request is valid until Handle returns.
	Handle(ctx context.Context, req *Request, peer Peer, dst []byte) ([]byte, error)
	// Notify takes a notification. It must not block.
	Notify(ctx context.Context, n *Request, peer Peer)
	// Dialect returns what the peer speaks now.
	Dialect() Dialect
	// Drain is called once when no more requests will come. Handlers that wait
	// for events should come to an end.
	Drain()
}

// Peer is the other side of a connection, as a handler sees it during a call.
type Peer interface {
	// Send sends a frame: a notification. The frame may be changed when Send
	// has returned. Send waits while too much is queued already, or while it
	// writes, if it is the one to do so. It sends nothing when ctx has ended, and
	// returns its cause.
	Send(ctx context.Context, frame []byte) error
	// Call sends a request and waits for the result, raw JSON, or the error: an
	// [*Error] of the peer, a [*CallError] when ctx ended after the request was
	// sent, or what ended the connection. It must not be called by Notify.
	Call(ctx context.Context, method string, params []byte) ([]byte, error)
	// Cancel cancels the request of the peer that has the id, so that no answer
	// will be sent. It reports false if there is none in flight.
	Cancel(id ID, cause error) bool
}

// Answer calls the handler for one request and appends the whole response,
// result or error. It is what a [Conn] does with each request, and what a
// transport with an exchange per request uses directly. The error is the one
// that the handler returned, for a transport that has to say more about it; the
// response is complete all the same.
func Answer(ctx context.Context, log *slog.Logger, h Handler, req *Request, peer Peer, dst []byte) ([]byte, error) {
	start := len(dst)
	out, err := invoke(ctx, h, req, peer, appendHead(dst, req.ID))
	if err != nil {
		return AppendError(out[:start], req.ID, true, WireError(ctx, log, req.Method, err)), err
	}
	return append(out, '}'), nil
}

// invoke calls the handler and turns a panic into an error. It always returns
// a buffer that dst can be found in.
func invoke(ctx context.Context, h Handler, req *Request, peer Peer, dst []byte) (out []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = dst, &PanicError{Value: v, stack: debug.Stack()}
		}
	}()
	out, err = h.Handle(ctx, req, peer, dst)
	if err != nil {
		out = dst
	}
	return out, err
}
