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
		h.methodNotAllowed(w, "GET, OPTIONS")
	case r.Method == http.MethodPost:
		h.legacyPost(w, r, p)
	default:
		h.methodNotAllowed(w, "POST, OPTIONS")
	}
}

// legacyPeer is a client of the HTTP+SSE transport: a [jsonrpc.Stream] whose
// frames come in by POST and go out as events.
type legacyPeer struct {
	in    chan []byte
	gone  chan struct{} // closed when the session ends
	leave func()        // closes gone, once
	out   *eventStream  // set before the client knows of the session
}

func newLegacyPeer() *legacyPeer {
	p := &legacyPeer{in: make(chan []byte, postQueue), gone: make(chan struct{})}
	p.leave = sync.OnceFunc(func() { close(p.gone) })
	return p
}

// legacyStream opens the stream of a session. The session lives as long as it.
func (h *Handler) legacyStream(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !accepted(r).events {
		h.refuse(w, http.StatusNotAcceptable, "the Accept header must allow text/event-stream")
		return
	}
	if h.opts.Store == nil {
		h.refuse(w, http.StatusNotFound, "this transport needs sessions, which are switched off")
		return
	}
	peer := newLegacyPeer()
	id, err := h.opts.Store.Add(p, peer)
	if err != nil {
		w.Header().Set("Retry-After", "5")
		h.refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer h.opts.Store.Remove(id, p)
	if _, ok := h.opts.Store.Acquire(id, p); !ok { // in use as long as the stream is open
		h.refuse(w, http.StatusServiceUnavailable, "the session ended before it began")
		return
	}
	defer h.opts.Store.Release(id)
	peer.out = h.openEvents(w, http.NewResponseController(w))
	if !h.keep(peer.out) {
		return
	}
	defer h.forget(peer.out)
	if peer.out.send(&event{name: "endpoint", data: []byte(h.messagesURI(r, id))}) != nil {
		return
	}
	peer.out.start()
	conn := jsonrpc.NewConn(peer, h.opts.Backend.Open(p), &jsonrpc.Options{
		Decoder: h.decoder, MaxInFlight: h.opts.MaxCalls, Logger: h.log,
		Ordered: func(method string) bool { return method == protocol.MethodInitialize },
	})
	_ = conn.Run(r.Context()) // the client has gone, or the server ends
	peer.out.close(errSessionEnded)
	peer.out.hold(r.Context())
}

// messagesURI returns the reference that the client posts to: relative, so that
// it is right behind any prefix, unless the prefix is known.
func (h *Handler) messagesURI(r *http.Request, id string) string {
	query := "?sessionId=" + url.QueryEscape(id)
	switch {
	case h.opts.PublicPath != "":
		return h.opts.PublicPath + messagesPath + query
	case strings.HasSuffix(r.URL.Path, "/"):
		return ".." + messagesPath + query
	}
	return strings.TrimPrefix(messagesPath, "/") + query
}

// legacyPost takes a message for a session.
func (h *Handler) legacyPost(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !isJSON(r) {
		h.refuse(w, http.StatusUnsupportedMediaType, "the body must be application/json")
		return
	}
	id := r.URL.Query().Get("sessionId")
	if id == "" || h.opts.Store == nil {
		h.refuse(w, http.StatusBadRequest, "the parameter sessionId is missing: it is part of what the endpoint event says")
		return
	}
	c, ok := h.opts.Store.Acquire(id, p)
	if ok {
		defer h.opts.Store.Release(id)
	}
	peer, ok := c.(*legacyPeer)
	if !ok {
		h.refuse(w, http.StatusNotFound, "there is no such session")
		return
	}
	body, ok := h.readBody(w, r, http.NewResponseController(w))
	if !ok {
		return
	}
	select {
	case peer.in <- body:
		w.WriteHeader(http.StatusAccepted)
	case <-peer.gone:
		h.refuse(w, http.StatusNotFound, "the session has ended")
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
