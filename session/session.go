package session

import (
	"context"
	"fmt"
	"sync"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// Session is one peer on a connection. It implements [jsonrpc.Handler].
//
// Its owner is whoever serves the connection. The hub refers to it weakly.
type Session struct {
	server    *Server
	principal *policy.Principal

	mu       sync.Mutex         // guards the fields below
	life     *lifetime          // nil until somebody asks for it
	changes  *notify.Subscriber // of the handshake session; nil before it is ready
	watched  map[string]bool    // resources that the handshake session subscribed to
	can      registry.Ability   // what the client declared in the handshake
	listens  int
	version  protocol.Version // negotiated; Unknown before the handshake
	logLevel protocol.LogLevel
	ready    bool // notifications/initialized has come
	closed   bool
}

// lifetime is a context that ends with a session. Most sessions never need it,
// and there may be many sessions.
type lifetime struct {
	context.Context
	end context.CancelFunc
}

// lifetime returns the context of what the session sends by itself, which ends
// by Drain.
func (s *Session) lifetime() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life == nil {
		s.life = new(lifetime)
		s.life.Context, s.life.end = context.WithCancel(context.Background())
		if s.closed {
			s.life.end()
		}
	}
	return s.life
}

// Handle implements [jsonrpc.Handler].
func (s *Session) Handle(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer, dst []byte) ([]byte, error) {
	x := &exchange{server: s.server, session: s, ctx: ctx, req: req, peer: peer}
	x.Principal, x.Client = s.principal, x
	defer x.finish()
	m, err := x.classify()
	if err != nil {
		return dst, err
	}
	dst, err = m.handle(x, dst)
	return dst, x.outcome(err)
}

// Notify implements [jsonrpc.Handler]. What it does not know it ignores.
func (s *Session) Notify(ctx context.Context, n *jsonrpc.Request, peer jsonrpc.Peer) {
	switch n.Method {
	case protocol.NotifyInitialized:
		s.becomeReady(peer)
	case protocol.NotifyCancelled:
		s.cancel(n, peer)
	}
}

// cancel cancels the request that a notification names. A notification that
// names none, or one that is not in flight, is ignored: it may have crossed the
// answer.
func (s *Session) cancel(n *jsonrpc.Request, peer jsonrpc.Peer) {
	id, ok := jsonrpc.ParseID(n.Params.Get("requestId"), jsonrpc.DefaultMaxID)
	if !ok {
		return
	}
	cause := jsonrpc.ErrCancelled
	if reason := n.Params.Get("reason"); len(reason) > 0 && reason[0] == '"' && len(reason) <= maxReason {
		cause = fmt.Errorf("%w: %s", cause, jsonwire.Unquote(reason))
	}
	peer.Cancel(id, cause)
}

// maxReason bounds the reason of a cancellation, in bytes.
const maxReason = 1024

// Dialect implements [jsonrpc.Handler].
func (s *Session) Dialect() jsonrpc.Dialect {
	v := s.negotiated()
	return jsonrpc.Dialect{Batches: v.AllowsBatch(), OmitUnknownID: v.OmitsUnknownID()}
}

// Drain implements [jsonrpc.Handler]: listens end with their result, and no
// change is announced any more.
func (s *Session) Drain() {
	s.mu.Lock()
	closed, changes, life := s.closed, s.changes, s.life
	s.closed, s.changes = true, nil
	s.mu.Unlock()
	if closed {
		return
	}
	if life != nil {
		life.end()
	}
	if changes != nil {
		changes.Close()
	}
}

func (s *Session) negotiated() protocol.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *Session) abilities() registry.Ability {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.can
}

func (s *Session) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// terms returns what the handshake and logging/setLevel have settled.
func (s *Session) terms() (protocol.Version, protocol.LogLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.logLevel
}
