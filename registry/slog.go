package registry

import (
	"context"
	"log/slog"

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
// becomes an object with msg and the attributes.
type callHandler struct {
	call   *Call
	name   string
	groups []string
	attrs  []byte // members, each after a comma, as appended so far
	open   int    // objects that are open in attrs
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
	b := jsonwire.AppendQuote([]byte(`{"msg":`), r.Message)
	b = append(b, h.attrs...)
	var groups []string
	if r.NumAttrs() > 0 {
		groups = h.groups
	}
	for _, g := range groups {
		b = append(jsonwire.AppendQuote(append(b, ','), g), ':', '{')
	}
	first := len(groups) > 0
	r.Attrs(func(a slog.Attr) bool {
		b, first = appendAttr(b, a, first)
		return true
	})
	for range len(groups) + h.open {
		b = append(b, '}')
	}
	return h.call.Client.Log(ctx, wireLevel(r.Level), h.name, append(b, '}'))
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
	b = append(jsonwire.AppendQuote(b, a.Key), ':')
	switch v := a.Value; v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindBool:
		b = append(b, v.String()...)
	case slog.KindFloat64:
		b = jsonwire.AppendFloat(b, v.Float64())
	default:
		b = jsonwire.AppendQuote(b, v.String())
	}
	return b, false
}

// appendGroup appends a group as an object, or its members if it has no name.
func appendGroup(b []byte, a slog.Attr, first bool) ([]byte, bool) {
	attrs := a.Value.Group()
	if len(attrs) == 0 {
		return b, first
	}
	if a.Key != "" {
		if !first {
			b = append(b, ',')
		}
		b = append(jsonwire.AppendQuote(b, a.Key), ':', '{')
		first = true
	}
	for _, m := range attrs {
		b, first = appendAttr(b, m, first)
	}
	if a.Key != "" {
		return append(b, '}'), false
	}
	return b, first
}

// WithAttrs implements [slog.Handler].
func (h *callHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	n := *h
	n.attrs = append([]byte(nil), h.attrs...)
	first := false
	for _, g := range h.groups {
		if !first {
			n.attrs = append(n.attrs, ',')
		}
		n.attrs = append(jsonwire.AppendQuote(n.attrs, g), ':', '{')
		n.open++
		first = true
	}
	n.groups = nil
	for _, a := range attrs {
		n.attrs, first = appendAttr(n.attrs, a, first)
	}
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
