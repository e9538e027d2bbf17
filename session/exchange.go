package session

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// exchange is one request while it is served. It is the [registry.Client] that
// the handler sees.
type exchange struct {
	layer.Request // what the layer wants to know; the client is the exchange itself

	server   *Server
	session  *Session        // nil for a request without a session
	ctx      context.Context // of the request
	req      *jsonrpc.Request
	peer     jsonrpc.Peer
	headers  *protocol.Headers // of the HTTP request; nil without one
	progress *progress         // nil if the client did not ask for it
	logLevel protocol.LogLevel

	mu     sync.Mutex // guards the fields below, and that nothing is sent after the end
	done   bool
	inputs *inputs // nil until something is asked or kept
}

// progress is what was reported to a client that asked for it.
type progress struct {
	token []byte // raw
	sent  bool
	value float64 // the latest
	frame []byte  // room for the next notification
}

// drained returns the channel that is closed when long requests should end.
func (x *exchange) drained() <-chan struct{} {
	if x.session != nil {
		return x.session.lifetime().Done()
	}
	return x.server.drained
}

// abilities returns what the client declared: with this request, or in the
// handshake.
func (x *exchange) abilities() registry.Ability {
	switch {
	case x.Version.Stateless():
		return registry.ParseAbilities(jsonwire.Lookup(x.Meta, protocol.MetaClientCapabilities))
	case x.session != nil:
		// Tasks are not used in this era, whatever the client declares: R19.43.
		return x.session.abilities() &^ registry.CanRunTasks
	}
	return 0
}

// finish ends the exchange: what its handler left running sends nothing more.
func (x *exchange) finish() {
	x.mu.Lock()
	x.done = true
	x.mu.Unlock()
}

// Progress implements [registry.Client].
func (x *exchange) Progress(ctx context.Context, progress, total float64, message string) error {
	p := x.progress
	if p == nil || math.IsNaN(progress) || math.IsInf(progress, 0) {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done || p.sent && progress <= p.value || ctx.Err() != nil {
		return nil
	}
	p.sent, p.value = true, progress
	b := append(p.frame[:0], `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, p.token...)
	b = append(b, `,"progress":`...)
	b = jsonwire.AppendFloat(b, progress)
	if total > 0 && !math.IsInf(total, 0) {
		b = append(b, `,"total":`...)
		b = jsonwire.AppendFloat(b, total)
	}
	if x.Version.HasProgressMessage() {
		b = protocol.AppendText(b, "message", message)
	}
	p.frame = append(b, `}}`...)
	return x.peer.Send(ctx, p.frame)
}

// Log implements [registry.Client].
func (x *exchange) Log(ctx context.Context, level protocol.LogLevel, logger string, data []byte) error {
	if x.logLevel == protocol.LogNone || level < x.logLevel {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done || ctx.Err() != nil {
		return nil
	}
	b := append([]byte(nil), `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`...)
	b = append(b, level.String()...)
	b = append(b, '"')
	b = protocol.AppendText(b, "logger", logger)
	b = append(b, `,"data":`...)
	b, err := jsonwire.AppendValue(b, data, 0)
	if err != nil {
		return fmt.Errorf("the data of a log message: %w", err)
	}
	return x.peer.Send(ctx, append(b, `}}`...))
}

// open appends the start of a result object. Members follow, each but the first
// after a comma.
func (x *exchange) open(dst []byte) []byte {
	if x.Version.Stateless() {
		return append(dst, `{"resultType":"complete",`...)
	}
	return append(dst, '{')
}

// close appends what ends a result object that has members: metadata of the
// handler's, raw JSON or nil, merged with the server's own.
func (x *exchange) close(dst, meta []byte) []byte {
	meta = withoutServerInfo(meta)
	if !x.Version.Stateless() {
		// Results have metadata in all versions; what is inside them does not.
		return append(protocol.AppendMeta(dst, meta, protocol.LatestHandshake), '}')
	}
	dst = append(dst, ',')
	dst = append(dst, x.server.meta...)
	dst = protocol.AppendMembers(dst, meta)
	return append(dst, `}}`...)
}

// withoutServerInfo returns a handler's metadata without the member that is the
// server's to write, in the stateless era, and nobody's in the other.
func withoutServerInfo(meta []byte) []byte {
	meta = meta[jsonwire.SkipSpace(meta):]
	if jsonwire.Lookup(meta, protocol.MetaServerInfo) == nil {
		return meta
	}
	rest := []byte{'{'}
	for members := jsonwire.Members(meta); ; {
		name, value, ok := members.Next()
		if !ok {
			return append(rest, '}')
		}
		if jsonwire.EqualString(name, protocol.MetaServerInfo) {
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(rest, name...)
		rest = append(rest, ':')
		rest = append(rest, value...)
	}
}

// empty appends a result without members.
func (x *exchange) empty(dst []byte) []byte {
	if !x.Version.Stateless() {
		return append(dst, `{}`...)
	}
	return x.close(append(dst, `{"resultType":"complete"`...), nil)
}

// text returns a parameter that must be a string.
func (x *exchange) text(name string) (string, error) {
	raw := x.req.Params.Get(name)
	if len(raw) == 0 || raw[0] != '"' {
		return "", invalidParams("%s: params.%s must be a string", x.req.Method, name)
	}
	return jsonwire.Unquote(raw), nil
}

// Detach lets go of the stream of the answer; see [registry.Call.Detach].
func (x *exchange) Detach(retry time.Duration) {
	if p, ok := x.peer.(interface{ CloseStream(time.Duration) }); ok && x.Version.PrimesStreams() {
		p.CloseStream(retry)
	}
}
