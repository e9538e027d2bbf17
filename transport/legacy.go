package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// The endpoints of the HTTP+SSE transport of 2024-11-05.
const (
	ssePath      = "/sse"
	messagesPath = "/messages"
)

// postQueue bounds the messages that were posted and not taken up yet. A POST
// waits while it is full.
const postQueue = 16

// legacy serves the two endpoints of the HTTP+SSE transport.
func (h *Handler) legacy(w http.ResponseWriter, r *http.Request, stream bool) {
	p := h.authenticate(w, r)
	if p == nil {
		return
	}
	switch {
	case stream && r.Method == http.MethodGet:
		h.legacyStream(w, r, p)
	case stream:
		h.methodNotAllowed(w, r, allowStream)
	case r.Method == http.MethodPost:
		h.legacyPost(w, r, p)
	default:
		h.methodNotAllowed(w, r, allowPost)
	}
}

// legacyPeer is a client of the HTTP+SSE transport: a [jsonrpc.Stream] whose
// frames come in by POST and go out as events.
type legacyPeer struct {
	in    chan []byte
	gone  chan struct{} // closed when the session ends
	leave func()        // closes gone, once
	out   *eventStream
}

func newLegacyPeer(out *eventStream) *legacyPeer {
	p := &legacyPeer{in: make(chan []byte, postQueue), gone: make(chan struct{}), out: out}
	p.leave = sync.OnceFunc(func() { close(p.gone) })
	return p
}

// hurry implements [standing]. Answers to calls in flight may still be written.
func (p *legacyPeer) hurry() {}

// end implements [standing]: the session ends when its calls in flight have.
func (p *legacyPeer) end(error) { p.leave() }

// legacyStream opens the stream of a session. The session lives as long as it.
func (h *Handler) legacyStream(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !accepted(r).events {
		h.refuse(w, r, http.StatusNotAcceptable, "the Accept header must allow text/event-stream")
		return
	}
	if h.opts.Store == nil {
		h.refuse(w, r, http.StatusNotFound, "this transport needs sessions, which are switched off: use "+h.prefix(r)+h.opts.Path)
		return
	}
	peer := newLegacyPeer(h.newEvents(w, r))
	id, err := h.opts.Store.Add(p, peer)
	if err != nil {
		h.full(w, r, "", err)
		return
	}
	defer h.opts.Store.Remove(id, p)
	if _, ok := h.opts.Store.Acquire(id, p); !ok || !h.keep(peer) { // in use as long as the stream is open
		w.Header().Set("Retry-After", "1")
		h.refuse(w, r, http.StatusServiceUnavailable, "the session ended before it began")
		return
	}
	defer h.forget(peer)
	h.converse(r, p, peer, id)
}

// converse serves a session until one side ends it.
func (h *Handler) converse(r *http.Request, p *policy.Principal, peer *legacyPeer, id string) {
	defer peer.out.end(errSessionEnded) // nobody writes when the handler has returned
	if peer.out.send(&event{name: "endpoint", data: []byte(h.messagesURI(r, id))}) != nil {
		return
	}
	peer.out.start()
	conn := jsonrpc.NewConn(peer, &handshakeOnly{h.opts.Backend.Open(p), h}, &jsonrpc.Options{
		Decoder: h.decoder, MaxInFlight: h.opts.MaxCalls, Logger: h.log,
		Ordered: func(method string) bool { return method == protocol.MethodInitialize },
	})
	_ = conn.Run(r.Context()) // the client has gone, or the server ends
}

// handshakeOnly refuses requests of the stateless era, which has no such
// transport (R5.11).
type handshakeOnly struct {
	jsonrpc.Handler
	h *Handler
}

// Handle implements [jsonrpc.Handler].
func (s *handshakeOnly) Handle(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer, dst []byte) ([]byte, error) {
	if !s.h.opts.Backend.Claims(req) {
		return s.Handler.Handle(ctx, req, peer, dst)
	}
	e := protocol.Errorf(protocol.CodeUnsupportedVersion, "this transport has sessions only: send initialize, or post to %s", s.h.opts.PublicPath+s.h.opts.Path)
	e.Data = protocol.AppendStrings([]byte(`{"supported":`), protocol.HandshakeVersions())
	if v := s.h.opts.Backend.ClaimedVersion(req); len(v) > 0 && v[0] == '"' {
		e.Data = append(append(e.Data, `,"requested":`...), v...)
	}
	e.Data = append(e.Data, '}')
	return dst, e
}

// messagesURI returns the reference that the client posts to: relative, so that
// it is right behind any prefix, unless the prefix is known.
func (h *Handler) messagesURI(r *http.Request, id string) string {
	query := "?sessionId=" + url.QueryEscape(id)
	switch prefix := h.prefix(r); {
	case prefix != "":
		return prefix + messagesPath + query
	case strings.HasSuffix(r.URL.Path, "/"):
		return ".." + messagesPath + query
	}
	return strings.TrimPrefix(messagesPath, "/") + query
}

// legacyPost takes a message for a session. The answer comes on its stream.
func (h *Handler) legacyPost(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !isJSON(r) {
		h.refuseUnread(w, r, http.StatusUnsupportedMediaType, "the body must be application/json, without a content encoding")
		return
	}
	id := r.URL.Query().Get("sessionId")
	if id == "" || h.opts.Store == nil {
		h.refuseUnread(w, r, http.StatusBadRequest, "the parameter sessionId is missing: it is part of what the endpoint event says")
		return
	}
	c, ok := h.opts.Store.Acquire(id, p)
	if ok {
		defer h.opts.Store.Release(id)
	}
	peer, ok := c.(*legacyPeer)
	if !ok {
		h.refuseUnread(w, r, http.StatusNotFound, "there is no such session")
		return
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	select {
	case peer.in <- body:
		h.status(w, http.StatusAccepted)
	case <-peer.gone:
		h.refuse(w, r, http.StatusNotFound, "the session has ended")
	case <-r.Context().Done():
	}
}

// Read implements [jsonrpc.Stream].
func (p *legacyPeer) Read(ctx context.Context) ([]byte, error) {
	select {
	case frame := <-p.in:
		return frame, nil
	case <-p.gone:
		return nil, io.EOF
	case <-p.out.over:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, io.EOF
	}
}

// Write implements [jsonrpc.Stream].
func (p *legacyPeer) Write(_ context.Context, frames []byte) error {
	for len(frames) > 0 {
		frame, rest, _ := bytes.Cut(frames, []byte{'\n'})
		if err := p.out.send(&event{name: "message", data: frame}); err != nil {
			return err
		}
		frames = rest
	}
	return nil
}

// Delimiter implements [jsonrpc.Stream].
func (p *legacyPeer) Delimiter() string { return "\n" }

// Buffered implements [jsonrpc.Stream].
func (p *legacyPeer) Buffered() bool { return len(p.in) > 0 }

// Close ends the session, and with it the stream. The store and the connection
// call it.
func (p *legacyPeer) Close() error {
	p.leave()
	return nil
}
