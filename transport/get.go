package transport

import (
	"net/http"
	"strings"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
)

// get serves a GET to the endpoint: the standalone stream of a session, or the
// rest of a stream that broke off. A person with a browser is told what this is.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !accepted(r).events || r.Method == http.MethodHead || strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.explain(w, r)
		return
	}
	if h.opts.Store == nil || len(r.Header[headerSession]) == 0 {
		h.methodNotAllowed(w, "POST, OPTIONS")
		return
	}
	s, release, ok := h.sessionOf(w, r, p, "")
	if !ok {
		return
	}
	defer release()
	stream, after, ok := h.streamOf(w, r, s)
	if !ok {
		return
	}
	out := h.openEvents(w, http.NewResponseController(w))
	if !h.keep(out) {
		return
	}
	defer h.forget(out)
	out.start()
	if !stream.attach(out, after) {
		out.close(jsonrpc.ErrClosed) // the event was dropped between the look-up and now
	}
	out.hold(r.Context())
	stream.detach(out)
}

// streamOf returns the stream that a GET asks for, and the number of the event
// behind which it begins. It has answered if it reports false.
func (h *Handler) streamOf(w http.ResponseWriter, r *http.Request, s *httpSession) (*replayStream, uint64, bool) {
	last := r.Header.Get(headerLastID)
	if last == "" || !s.handler.Version().Resumable() {
		own := s.standalone()
		own.mu.Lock()
		defer own.mu.Unlock()
		return own, own.seq, true
	}
	token, seq, ok := parseEventID(last)
	var stream *replayStream
	if ok {
		stream = s.find(token)
	}
	if stream == nil || !stream.has(seq) {
		h.refuse(w, http.StatusBadRequest, "the event that Last-Event-ID names is not known, or no longer: send the request again, or a GET without Last-Event-ID")
		return nil, 0, false
	}
	return stream, seq, true
}

// has reports whether the stream can be resumed behind the event.
func (s *replayStream) has(seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return seq <= s.seq && seq >= s.seq-uint64(len(s.kept))
}

// explain answers a GET that does not accept events.
func (h *Handler) explain(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Allow", "GET, POST, DELETE, OPTIONS")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header["Cache-Control"] = h.values.noStore
	w.WriteHeader(http.StatusMethodNotAllowed)
	w.Write([]byte("This is the endpoint of a Model Context Protocol server.\nMCP clients POST JSON-RPC messages here; a GET must accept text/event-stream.\n"))
}

// delete ends a session.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if h.opts.Store == nil {
		h.methodNotAllowed(w, "POST, OPTIONS")
		return
	}
	ids := r.Header[headerSession]
	switch {
	case len(ids) != 1:
		h.refuse(w, http.StatusBadRequest, "the Mcp-Session-Id header must name the session to end")
	case !h.opts.Store.Remove(ids[0], p):
		h.refuse(w, http.StatusNotFound, "there is no such session")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
