package session

import (
	"errors"
	"fmt"
	"log/slog"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// traced is the error of a request that came with a trace context, which the log
// line about it shows.
type traced struct {
	error
	trace registry.Trace
}

func (e *traced) Unwrap() error { return e.error }

// LogAttrs returns what the log line shows besides.
func (e *traced) LogAttrs() []slog.Attr { return e.trace.LogAttrs() }

// outcome returns the error of a request as its era knows it, with its trace.
func (x *exchange) outcome(err error) error { return x.withTrace(ofEra(x.Version, err)) }

// ofEra replaces what a handler may have returned that the stateless era must not
// be sent (R1.24): a resource that is not found has another code there, and a URL
// is asked for with [registry.Call.Elicit].
func ofEra(v protocol.Version, err error) error {
	if err == nil || !v.Stateless() {
		return err
	}
	var e *protocol.Error
	if !errors.As(err, &e) || e == nil {
		return err
	}
	switch e.Code {
	case protocol.CodeResourceNotFound:
		return &protocol.Error{Code: v.ResourceNotFound(), Message: e.Message, Data: e.Data, Status: e.Status}
	case protocol.CodeURLElicitation:
		return fmt.Errorf("a handler returned the error %d, which %s does not have; it should call Elicit with a URL: %v", e.Code, v, e)
	}
	return err
}

// withTrace ties the error of a request to its trace context, if it has one.
func (x *exchange) withTrace(err error) error {
	if err == nil || x.Meta == nil {
		return err
	}
	if t := registry.ParseTrace(x.Meta); t.Parent != "" {
		return &traced{err, t}
	}
	return err
}
