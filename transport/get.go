package transport

import (
	"net/http"
	"strings"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// get serves a GET to the endpoint: the standalone stream of a session, or the
// rest of a stream that broke off. A person with a browser is told what this is.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	switch accept := r.Header.Get("Accept"); {
	case strings.Contains(accept, "text/html"):
		h.explain(w)
		return
	case h.opts.Store == nil || claimsStateless(r) || len(r.Header[headerSession]) == 0:
		w.Header().Set("Allow", allowPost)
		h.refuse(w, r, http.StatusMethodNotAllowed, "there is no stream here without a session of the handshake era: POST messages")
		return
	case !accepted(r).events:
		h.refuse(w, r, http.StatusNotAcceptable, "the Accept header of a GET must allow text/event-stream")
		return
	}
	s, release, ok := h.sessionOf(w, r, p, "")
	if !ok {
		return
	}
	defer release()
	out := h.newEvents(w, r)
	if !h.keep(out) {
		w.Header().Set("Retry-After", "5")
		h.refuse(w, r, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer h.forget(out)
	stream := h.attach(r, s, out)
	switch {
	case stream == nil && s.isFinished():
		out.end(errSessionEnded)
		h.refuse(w, r, http.StatusNotFound, "the session has ended")
		return
	case stream == nil:
		out.end(errStreamDone)
		h.refuse(w, r, http.StatusBadRequest, "the event that Last-Event-ID names is not known, or no longer: send the request again, or a GET without Last-Event-ID")
		return
	}
	out.start()
	out.hold(r.Context())
	stream.detach(out)
}

// claimsStateless reports whether a request without a body claims the stateless
// era, which has nothing but POST.
func claimsStateless(r *http.Request) bool {
	return protocol.ParseVersion(r.Header.Get(headerVersion)).Stateless()
}

// attach finds the stream that a GET asks for and lets out carry it. It returns
// nil, and nothing has been written, if the event is unknown behind which it is
// to begin, or the session has ended.
func (h *Handler) attach(r *http.Request, s *httpSession, out *eventStream) *replayStream {
	version := s.handler.Version()
	last := r.Header.Get(headerLastID)
	if last == "" || !version.Resumable() {
		own := s.standalone()
		if own == nil || !own.carry(out, version.PrimesStreams()) {
			return nil
		}
		return own
	}
	token, seq, ok := parseEventID(last)
	if !ok {
		return nil
	}
	stream := s.find(token)
	if stream == nil || !stream.resume(out, seq) {
		return nil
	}
	return stream
}

// explain answers a browser.
func (h *Handler) explain(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Allow", allowPost)
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header["Cache-Control"] = h.values.noStore
	h.status(w, http.StatusMethodNotAllowed)
	w.Write([]byte("This is the endpoint of a Model Context Protocol server.\nMCP clients POST JSON-RPC messages here; a GET must accept text/event-stream and name a session.\n"))
}

// delete ends a session.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if h.opts.Store == nil || claimsStateless(r) {
		h.methodNotAllowed(w, r, allowPost)
		return
	}
	s, id, ok := h.acquire(r, p)
	switch {
	case len(r.Header[headerSession]) != 1:
		h.refuse(w, r, http.StatusBadRequest, "exactly one Mcp-Session-Id header must name the session to end")
	case !ok:
		h.refuse(w, r, http.StatusNotFound, "there is no such session")
	case !h.speaks(w, r, s, ""):
		h.opts.Store.Release(id)
	default:
		h.opts.Store.Remove(id, p)
		h.status(w, http.StatusNoContent)
	}
}
