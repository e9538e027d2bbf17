package transport

import (
	"net/http"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// acquire returns the session that a request names, in use.
func (h *Handler) acquire(r *http.Request, p *policy.Principal) (*httpSession, string, bool) {
	ids := r.Header[headerSession]
	if len(ids) != 1 || h.opts.Store == nil {
		return nil, "", false
	}
	c, ok := h.opts.Store.Acquire(ids[0], p)
	if !ok {
		return nil, "", false
	}
	s, ok := c.(*httpSession)
	if !ok {
		h.opts.Store.Release(ids[0]) // the id of a client of the older transport
	}
	return s, ids[0], ok
}

// sessionOf returns the session for a request that needs one, and what to call
// when it is not needed any more. It has answered if it reports false.
func (h *Handler) sessionOf(w http.ResponseWriter, r *http.Request, p *policy.Principal, id jsonrpc.ID) (*httpSession, func(), bool) {
	if h.opts.Store == nil {
		return h.assume(w, r, p, id)
	}
	switch n := len(r.Header[headerSession]); {
	case n == 0:
		h.refuseID(w, r, http.StatusBadRequest, id, "the Mcp-Session-Id header is missing: send initialize first, or the metadata of "+protocol.LatestStateless.String()+" with every request")
		return nil, nil, false
	case n > 1:
		h.refuseID(w, r, http.StatusBadRequest, id, "the Mcp-Session-Id header was sent more than once")
		return nil, nil, false
	}
	s, sid, ok := h.acquire(r, p)
	if !ok {
		h.refuseID(w, r, http.StatusNotFound, id, "there is no such session: send initialize without a session id")
		return nil, nil, false
	}
	if !h.speaks(w, r, s, id) {
		h.opts.Store.Release(sid)
		return nil, nil, false
	}
	return s, func() { h.opts.Store.Release(sid) }, true
}

// speaks checks that the version header, if there is one, names what the session
// has negotiated. It has answered if it reports false.
func (h *Handler) speaks(w http.ResponseWriter, r *http.Request, s *httpSession, id jsonrpc.ID) bool {
	values := r.Header[headerVersion]
	speaks := s.handler.Version().String()
	if len(values) == 0 || len(values) == 1 && values[0] == speaks {
		return true
	}
	h.refuseID(w, r, http.StatusBadRequest, id, "this session speaks "+speaks+", which the MCP-Protocol-Version header must say, once")
	return false
}

// assume serves a handshake client whose sessions are not kept, at the version
// that it names, or 2025-03-26 as R4.47 says.
func (h *Handler) assume(w http.ResponseWriter, r *http.Request, p *policy.Principal, id jsonrpc.ID) (*httpSession, func(), bool) {
	v := protocol.V20250326
	if values := r.Header[headerVersion]; len(values) > 0 {
		if v = protocol.ParseVersion(values[0]); len(values) > 1 || !v.HasHandshake() {
			h.refuseID(w, r, http.StatusBadRequest, id, "the MCP-Protocol-Version header does not name a version that is supported, once")
			return nil, nil, false
		}
	}
	s := h.newSession(h.opts.Backend.Assume(p, v))
	return s, func() { s.Close() }, true
}
