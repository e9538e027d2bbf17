package session

import (
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// initialize answers the handshake. The version is the one asked for, if it has
// a handshake, and otherwise the newest that has.
func (x *exchange) initialize(dst []byte) ([]byte, error) {
	asked, err := x.text("protocolVersion")
	if err != nil {
		return dst, err
	}
	info, err := x.clientInfo()
	if err != nil {
		return dst, err
	}
	v := protocol.ParseVersion(asked)
	if !v.HasHandshake() {
		v = protocol.LatestHandshake
	}
	s := x.session
	s.mu.Lock()
	s.version, s.can = v, registry.ParseAbilities(x.req.Params.Get("capabilities"))
	s.mu.Unlock()
	x.server.log.InfoContext(x.ctx, "session begins", "version", v.String(), "client", brief(info.name), "clientVersion", brief(info.version))
	dst = append(dst, `{"protocolVersion":"`...)
	dst = append(dst, v.String()...)
	dst = append(dst, `","capabilities":`...)
	dst = x.server.appendCapabilities(dst, v)
	dst = append(dst, `,"serverInfo":`...)
	dst = x.server.info.Append(dst, v)
	dst = protocol.AppendText(dst, "instructions", x.server.instructions)
	return append(dst, '}'), nil
}

// clientInfo is what a client says of itself. It decides nothing, so it is
// logged and not kept.
type clientInfo struct{ name, version string }

// clientInfo reads what the client says of itself.
func (x *exchange) clientInfo() (clientInfo, error) {
	var c clientInfo
	caps := x.req.Params.Get("capabilities")
	if len(caps) == 0 || caps[0] != '{' {
		return c, invalidParams("initialize: params.capabilities must be an object")
	}
	info := x.req.Params.Get("clientInfo")
	name, version := jsonwire.Lookup(info, "name"), jsonwire.Lookup(info, "version")
	if len(name) == 0 || name[0] != '"' || len(version) == 0 || version[0] != '"' {
		return c, invalidParams("initialize: params.clientInfo must be an object with the strings name and version")
	}
	c.name, c.version = jsonwire.Unquote(name), jsonwire.Unquote(version)
	return c, nil
}

// ping answers that the server is there.
func (x *exchange) ping(dst []byte) ([]byte, error) { return x.empty(dst), nil }

// setLevel sets the severity from which the session wants log messages.
func (x *exchange) setLevel(dst []byte) ([]byte, error) {
	name, err := x.text("level")
	if err != nil {
		return dst, err
	}
	level := protocol.ParseLogLevel(name)
	if level == protocol.LogNone {
		return dst, invalidParams("logging/setLevel: unknown level: want one of %s", string(protocol.AppendStrings(nil, protocol.LogLevels())))
	}
	x.session.mu.Lock()
	x.session.logLevel = level
	x.session.mu.Unlock()
	return x.empty(dst), nil
}

// discover answers what a client needs to know before it sends anything else.
func (x *exchange) discover(dst []byte) ([]byte, error) {
	dst = x.open(dst)
	dst = append(dst, `"supportedVersions":`...)
	dst = protocol.AppendStrings(dst, protocol.StatelessVersions())
	dst = append(dst, `,"capabilities":`...)
	dst = x.server.appendCapabilities(dst, x.Version)
	dst = protocol.AppendText(dst, "instructions", x.server.instructions)
	dst = x.appendCaching(dst, false)
	return x.close(dst, nil), nil
}

// appendCaching appends how long a client may keep a list, and for whom.
func (x *exchange) appendCaching(dst []byte, private bool) []byte {
	if !x.Version.Stateless() {
		return dst
	}
	dst = append(dst, `,"ttlMs":`...)
	dst = strconv.AppendInt(dst, x.server.listTTL.Milliseconds(), 10)
	if private {
		return append(dst, `,"cacheScope":"private"`...)
	}
	return append(dst, `,"cacheScope":"public"`...)
}

// becomeReady begins the announcement of changes when the client says that the
// handshake is over.
func (s *Session) becomeReady(peer jsonrpc.Peer) {
	s.mu.Lock()
	if s.version == protocol.Unknown || s.ready || s.closed {
		s.mu.Unlock()
		return
	}
	s.ready = true
	s.mu.Unlock()
	s.announceChanges(peer)
}
