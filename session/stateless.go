package session

import (
	"context"
	"errors"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// stateless serves one request of the stateless era that came by itself. It
// implements [jsonrpc.Handler].
type stateless struct {
	server    *Server
	principal *policy.Principal
	headers   *protocol.Headers
}

// Stateless returns the handler for one request of the stateless era. Headers
// are those of the HTTP request that carried it; nil means that there were none
// and none are needed.
func (s *Server) Stateless(p *policy.Principal, h *protocol.Headers) jsonrpc.Handler {
	return &stateless{s, p, h}
}

// Handle implements [jsonrpc.Handler].
func (s *stateless) Handle(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer, dst []byte) ([]byte, error) {
	x := &exchange{server: s.server, ctx: ctx, req: req, peer: peer, headers: s.headers}
	x.Principal, x.Client = s.principal, x
	defer x.finish()
	c, err := x.readMeta()
	if err != nil {
		var e *protocol.Error
		if errors.As(err, &e) {
			e.Status = 400
		}
		return dst, err
	}
	m, err := x.classifyStateless(&c)
	if err != nil {
		return dst, err
	}
	dst, err = m.handle(x, dst)
	return dst, x.outcome(err)
}

// Notify implements [jsonrpc.Handler]. No notification means anything without a
// connection.
func (s *stateless) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}

// Dialect implements [jsonrpc.Handler].
func (s *stateless) Dialect() jsonrpc.Dialect { return jsonrpc.Dialect{OmitUnknownID: true} }

// Drain implements [jsonrpc.Handler].
func (s *stateless) Drain() {}

// Drain ends the listens of requests that came by themselves, with their
// result. Those of sessions end with their session.
func (s *Server) Drain() { s.drain() }

// Claims reports whether a request claims the stateless era by what is in it:
// one of the era's keys in its metadata, or a method that only the era has. What
// else is wrong with the metadata does not matter here.
func (s *Server) Claims(req *jsonrpc.Request) bool {
	if req.Method == protocol.MethodDiscover {
		return true
	}
	raw := req.Params.Get("_meta")
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	for o := jsonwire.Members(raw); ; {
		key, _, ok := o.Next()
		if !ok {
			return false
		}
		if jsonwire.EqualString(key, protocol.MetaProtocolVersion) || jsonwire.EqualString(key, protocol.MetaClientCapabilities) || jsonwire.EqualString(key, protocol.MetaClientInfo) {
			return true
		}
	}
}

// ClaimedVersion returns the version that a request claims in its metadata, raw
// JSON, or nil.
func (s *Server) ClaimedVersion(req *jsonrpc.Request) []byte {
	return jsonwire.Lookup(req.Params.Get("_meta"), protocol.MetaProtocolVersion)
}

// Open returns a session that begins with initialize, as [Server.NewSession]
// does, in the form that a transport wants.
func (s *Server) Open(p *policy.Principal) jsonrpc.Handler { return s.NewSession(p) }

// Assume returns a session that is past its handshake, for a client whose
// sessions are not kept. It is told of no changes.
func (s *Server) Assume(p *policy.Principal, v protocol.Version) jsonrpc.Handler {
	session := s.NewSession(p)
	session.version, session.ready = v, true
	return session
}

// Version returns what was negotiated.
func (s *Session) Version() protocol.Version { return s.negotiated() }
