package registry

import (
	"log/slog"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// Bounds of what is taken over of a trace context, in bytes.
const (
	maxTraceState = 512
	maxBaggage    = 8 << 10
)

// Trace is the trace context that a client sent with a request, in the form of
// W3C Trace Context and Baggage (R1.36). Log lines about the request carry it,
// and a handler passes it on to what it calls itself.
type Trace struct {
	Parent  string // traceparent; empty if there is none, and then all is
	State   string // tracestate
	Baggage string // may hold what a log should not
}

// Trace returns the trace context of the call.
func (c *Call) Trace() Trace { return ParseTrace(c.Meta) }

// ParseTrace reads the trace context from the metadata of a request, valid raw
// JSON or nil. One without a well-formed traceparent is ignored, and so is a
// tracestate or baggage that is too long.
func ParseTrace(meta []byte) (t Trace) {
	for o := jsonwire.Members(meta); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		if value[0] != '"' {
			continue
		}
		switch {
		case jsonwire.EqualString(name, protocol.MetaTraceParent):
			t.Parent = jsonwire.Unquote(value)
		case jsonwire.EqualString(name, protocol.MetaTraceState) && len(value) <= maxTraceState:
			t.State = jsonwire.Unquote(value)
		case jsonwire.EqualString(name, protocol.MetaBaggage) && len(value) <= maxBaggage:
			t.Baggage = jsonwire.Unquote(value)
		}
	}
	if !isTraceParent(t.Parent) {
		return Trace{}
	}
	return t
}

// isTraceParent reports whether s is version-traceid-parentid-flags in lower
// case hexadecimal. A later version may add something behind a hyphen.
func isTraceParent(s string) bool {
	const length = 2 + 1 + 32 + 1 + 16 + 1 + 2
	if len(s) < length || len(s) > 4*length || s[:2] == "ff" || s[:2] == "00" && len(s) > length || len(s) > length && s[length] != '-' {
		return false
	}
	for i := range length {
		c := s[i]
		switch hyphen := i == 2 || i == 35 || i == 52; {
		case hyphen && c != '-':
			return false
		case !hyphen && (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// LogAttrs returns the attributes of a log line about the request. The baggage
// is not among them.
func (t Trace) LogAttrs() []slog.Attr {
	if t.Parent == "" {
		return nil
	}
	attrs := []slog.Attr{slog.String(protocol.MetaTraceParent, t.Parent)}
	if t.State != "" {
		attrs = append(attrs, slog.String(protocol.MetaTraceState, t.State))
	}
	return attrs
}

// AppendMembers appends the trace context as members of a metadata object, each
// after a comma, for a request of one's own.
func (t Trace) AppendMembers(dst []byte) []byte {
	dst = protocol.AppendText(dst, protocol.MetaTraceParent, t.Parent)
	dst = protocol.AppendText(dst, protocol.MetaTraceState, t.State)
	return protocol.AppendText(dst, protocol.MetaBaggage, t.Baggage)
}
