package jsonrpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// The codes of JSON-RPC 2.0.
const (
	CodeParse          int = -32700
	CodeInvalidRequest int = -32600
	CodeMethodNotFound int = -32601
	CodeInvalidParams  int = -32602
	CodeInternal       int = -32603
)

// Error is an error object, made on purpose to be sent to the peer, or received
// from it.
type Error struct {
	Code    int
	Message string
	Data    []byte // raw JSON, or nil
}

func (e *Error) Error() string {
	if e == nil {
		return "a nil *jsonrpc.Error"
	}
	return e.Message + " (" + strconv.Itoa(e.Code) + ")"
}

// ErrorObject returns the members of the error object.
func (e *Error) ErrorObject() (code int, message string, data []byte) {
	return e.Code, e.Message, e.Data
}

// Errorf returns an [Error] with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Append appends the error object.
func (e *Error) Append(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonwire.AppendQuote(dst, e.Message)
	if len(e.Data) > 0 {
		dst = append(dst, `,"data":`...)
		dst = jsonwire.AppendLine(dst, e.Data)
	}
	return append(dst, '}')
}

// Reasons for which a call or a connection ends, found with [context.Cause] or
// [errors.Is].
var (
	ErrClosed    = errors.New("the connection is closed")
	ErrShutdown  = errors.New("the server is shutting down")
	ErrCancelled = errors.New("the peer cancelled the request")
)

// ErrBadResponse is the error of a request of our own whose answer is none that
// JSON-RPC allows.
var ErrBadResponse = errors.New("the answer is not a valid response")

// objecter is an error that is meant for the peer, of whatever package. The code
// 0 means that it is none: a nil pointer.
type objecter interface {
	error
	ErrorObject() (code int, message string, data []byte)
}

// A PanicError is a panic of a handler.
type PanicError struct {
	Value any
	stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// StackTrace returns the stack of the goroutine that panicked.
func (e *PanicError) StackTrace() []byte { return e.stack }

// WireError is the one place where an error becomes an error object. An error
// that is meant for the peer is sent as it is, without its data if that is no
// JSON. One that comes of the end of ctx
// is told by its cause. Any other, and every panic, is logged under an incident
// id, which is all that the peer is told.
func WireError(ctx context.Context, log *slog.Logger, method string, err error) *Error {
	if e, ok := forPeer(err); ok {
		if e != nil {
			return e.sendable(ctx, log, method)
		}
		err = fmt.Errorf("%w: %w", errNil, err)
	}
	var p stackTracer
	if !errors.As(err, &p) {
		if e := endedEarly(ctx); e != nil {
			log.DebugContext(ctx, "request ended early", "method", method, "cause", context.Cause(ctx), "error", err)
			return e
		}
	}
	incident := rand.Text()[:12]
	attrs := []slog.Attr{slog.String("incident", incident), slog.String("method", method), slog.String("error", err.Error())}
	if p != nil {
		attrs = append(attrs, slog.String("stack", string(p.StackTrace())))
	}
	var more interface{ LogAttrs() []slog.Attr }
	if errors.As(err, &more) {
		attrs = append(attrs, more.LogAttrs()...)
	}
	log.LogAttrs(ctx, slog.LevelError, "request failed", attrs...)
	return &Error{Code: CodeInternal, Message: "internal error (incident " + incident + ")"}
}

// sendable returns the error without data that is no JSON, which would break the
// message around it.
func (e *Error) sendable(ctx context.Context, log *slog.Logger, method string) *Error {
	if len(e.Data) == 0 {
		return e
	}
	err := jsonwire.Valid(e.Data, 0)
	if err == nil {
		return e
	}
	log.ErrorContext(ctx, "the data of an error is no JSON and was left out", "method", method, "error", err, "message", e.Message)
	return &Error{Code: e.Code, Message: e.Message}
}

// stackTracer is an error that knows where it comes from: a panic.
type stackTracer interface{ StackTrace() []byte }

// errNil stands for an error object without a code. Mostly it is a nil *Error, of
// this package or of another, that was returned as an error, which is not a nil
// error: a mistake that is easily made and must not end the server.
var errNil = errors.New("the handler returned an error object without a code, or a nil *Error as its error")

// forPeer reports whether err is meant for the peer, and the error object, which
// is nil for a nil pointer and for one without a code.
func forPeer(err error) (*Error, bool) {
	var own *Error
	if errors.As(err, &own) {
		if own != nil && own.Code == 0 {
			own = nil
		}
		return own, true
	}
	var o objecter
	if errors.As(err, &o) {
		code, message, data := o.ErrorObject()
		if code == 0 {
			return nil, true
		}
		return &Error{Code: code, Message: message, Data: data}, true
	}
	return nil, false
}

// endedEarly returns what the peer is told if ctx has ended for a reason of the
// connection's, or nil.
func endedEarly(ctx context.Context) *Error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrShutdown):
		return &Error{Code: CodeInternal, Message: ErrShutdown.Error()}
	case errors.Is(cause, ErrCancelled), errors.Is(cause, ErrClosed), errors.Is(cause, context.Canceled):
		// The peer does not want the answer, or is gone. Net/http ends the
		// context of a request whose client is gone without a cause.
		return &Error{Code: CodeInternal, Message: ErrCancelled.Error()}
	}
	return nil
}
