package session

import (
	"context"
	"math"
	"sync"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
)

// exchange is one request while it is served. It is the [registry.Client] that
// the handler sees.
type exchange struct {
	layer.Request // what the layer wants to know; the client is the exchange itself

	server  *Server
	session *Session        // nil for a request without a session
	ctx     context.Context // of the request
	req     *jsonrpc.Request
	peer    jsonrpc.Peer
	drained <-chan struct{}   // closed when long requests should end
	headers *protocol.Headers // of the HTTP request; nil without one

	token        []byte // raw progress token, or nil
	capabilities []byte // of the client, raw; only in the stateless era
	logLevel     protocol.LogLevel

	mu       sync.Mutex // guards the fields below, and that nothing is sent after the end
	done     bool
	reported bool // progress has been sent
	progress float64
	frame    []byte
	inputs   *inputs // nil until something is asked or kept
}

// finish ends the exchange: what its handler left running sends nothing more.
func (x *exchange) finish() {
	x.mu.Lock()
	x.done = true
	x.mu.Unlock()
}

// Progress implements [registry.Client].
func (x *exchange) Progress(ctx context.Context, progress, total float64, message string) error {
	if x.token == nil || math.IsNaN(progress) || math.IsInf(progress, 0) {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done || x.reported && progress <= x.progress || ctx.Err() != nil {
		return nil
	}
	x.reported, x.progress = true, progress
	b := append(x.frame[:0], `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, x.token...)
	b = append(b, `,"progress":`...)
	b = jsonwire.AppendFloat(b, progress)
	if total > 0 && !math.IsInf(total, 0) {
		b = append(b, `,"total":`...)
		b = jsonwire.AppendFloat(b, total)
	}
	if x.Version.HasProgressMessage() {
		b = protocol.AppendText(b, "message", message)
	}
	x.frame = append(b, `}}`...)
	return x.peer.Send(ctx, x.frame)
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
	b := append(x.frame[:0], `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`...)
	b = append(b, level.String()...)
	b = append(b, '"')
	b = protocol.AppendText(b, "logger", logger)
	b = append(b, `,"data":`...)
	b = jsonwire.AppendLine(b, data)
	x.frame = append(b, `}}`...)
	return x.peer.Send(ctx, x.frame)
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
	if !x.Version.Stateless() {
		return append(protocol.AppendMeta(dst, meta, x.Version), '}')
	}
	dst = append(dst, ',')
	dst = append(dst, x.server.meta...)
	dst = protocol.AppendMembers(dst, meta)
	return append(dst, `}}`...)
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
