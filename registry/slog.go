package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// Logger returns a logger whose records go to the client of the call, for as
// long as it runs and as far as the client wants them. Name is the logger's name
// on the wire. Nothing confidential may be logged there.
func (c *Call) Logger(name string) *slog.Logger {
	return slog.New(&callHandler{call: c, name: name})
}

// callHandler is a [slog.Handler] that sends records to the client. A record
// becomes an object with msg and the attributes; the level has a place of its
// own in the message, and the time is that at which the client gets it.
type callHandler struct {
	call   *Call
	name   string
	groups []string // that nothing was put into yet
	attrs  []byte   // members, each after a comma, as appended so far
	open   int      // objects that are open in attrs
}

// Enabled implements [slog.Handler].
func (h *callHandler) Enabled(_ context.Context, level slog.Level) bool {
	if a, ok := h.call.asker(); ok {
		return a.Wants(wireLevel(level))
	}
	return h.call.Client != nil
}

func wireLevel(l slog.Level) protocol.LogLevel {
	switch {
	case l < slog.LevelInfo:
		return protocol.LogDebug
	case l < slog.LevelWarn:
		return protocol.LogInfo
	case l < slog.LevelError:
		return protocol.LogWarning
	}
	return protocol.LogError
}

// Handle implements [slog.Handler].
func (h *callHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.call.Client == nil {
		return nil
	}
	b := jsonwire.AppendQuote([]byte(`{"msg":`), r.Message)
	b = append(b, h.attrs...)
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	b, opened := h.appendWithin(b, attrs)
	for range h.open + opened {
		b = append(b, '}')
	}
	return h.call.Client.Log(ctx, wireLevel(r.Level), h.name, append(b, '}'))
}

// appendWithin appends attributes within the groups that nothing was put into
// yet. It reports how many objects it opened: none if there is nothing to put
// into them.
func (h *callHandler) appendWithin(b []byte, attrs []slog.Attr) (out []byte, opened int) {
	start := len(b)
	for i, g := range h.groups {
		b = appendOpen(b, g, i > 0)
	}
	before, first := len(b), len(h.groups) > 0
	for _, a := range attrs {
		b, first = appendAttr(b, a, first)
	}
	if len(b) == before {
		return b[:start], 0
	}
	return b, len(h.groups)
}

// appendOpen opens an object as a member, after a comma unless it is the first.
func appendOpen(b []byte, name string, first bool) []byte {
	if !first {
		b = append(b, ',')
	}
	return append(jsonwire.AppendQuote(b, name), ':', '{')
}

// appendAttr appends an attribute, after a comma unless it is the first of its
// object. It reports whether the next one would be the first.
func appendAttr(b []byte, a slog.Attr, first bool) ([]byte, bool) {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return b, first
	}
	if a.Value.Kind() == slog.KindGroup {
		return appendGroup(b, a, first)
	}
	if !first {
		b = append(b, ',')
	}
	return appendLogValue(append(jsonwire.AppendQuote(b, a.Key), ':'), a.Value), false
}

// appendLogValue appends the value of an attribute, which is no group.
func appendLogValue(b []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindBool:
		return append(b, v.String()...)
	case slog.KindFloat64:
		return jsonwire.AppendFloat(b, v.Float64())
	case slog.KindTime:
		return jsonwire.AppendQuote(b, v.Time().Format(time.RFC3339Nano))
	case slog.KindAny:
		return appendAny(b, v)
	}
	return jsonwire.AppendQuote(b, v.String())
}

// appendAny appends a value of any type: an error as its text, and what JSON
// cannot express as well.
func appendAny(b []byte, v slog.Value) []byte {
	if _, ok := v.Any().(error); ok {
		return jsonwire.AppendQuote(b, v.String())
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if e.Encode(v.Any()) != nil {
		return jsonwire.AppendQuote(b, v.String())
	}
	return jsonwire.AppendLine(b, buf.Bytes())
}

// appendGroup appends a group as an object, or its members if it has no name.
// One without members is left out.
func appendGroup(b []byte, a slog.Attr, first bool) ([]byte, bool) {
	start := len(b)
	inner := first
	if a.Key != "" {
		b, inner = appendOpen(b, a.Key, first), true
	}
	before := len(b)
	for _, m := range a.Value.Group() {
		b, inner = appendAttr(b, m, inner)
	}
	switch {
	case len(b) == before:
		return b[:start], first
	case a.Key != "":
		return append(b, '}'), false
	}
	return b, inner
}

// WithAttrs implements [slog.Handler].
func (h *callHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	b, opened := h.appendWithin(bytes.Clone(h.attrs), attrs)
	if len(b) == len(h.attrs) {
		return h
	}
	n := *h
	n.attrs, n.open = b, h.open+opened
	n.groups = nil
	return &n
}

// WithGroup implements [slog.Handler].
func (h *callHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	n := *h
	n.groups = append(append([]string(nil), h.groups...), name)
	return &n
}
