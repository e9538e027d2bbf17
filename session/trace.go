package session

import (
	"log/slog"

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
