package transport

import (
	"errors"
	"net/http"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// The headers of the protocol, as net/http spells them.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	headerLastID  = "Last-Event-Id"
)

// post serves a POST to the endpoint: one message, or a batch where the version
// has them.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, p *policy.Principal) {
	if !isJSON(r) {
		h.refuseUnread(w, r, http.StatusUnsupportedMediaType, "the body must be application/json, without a content encoding")
		return
	}
	accept := accepted(r)
	if !accept.json && !accept.events {
		h.refuseUnread(w, r, http.StatusNotAcceptable, "the Accept header must allow application/json or text/event-stream")
		return
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	if jsonrpc.IsBatch(body) {
		h.batch(w, r, p, body, accept)
		return
	}
	m, err := h.decoder.Decode(body)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		h.response(w, r, p, m)
	case *jsonrpc.Request:
		x := &exchange{h: h, w: w, r: r, req: m, accept: accept}
		if h.opts.JSONResponse && accept.json && m.Method != protocol.MethodListen {
			x.accept.events = false
		}
		h.request(x, p)
	}
}

// broken answers a body that is no message.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	var de *jsonrpc.DecodeError
	if !errors.As(err, &de) {
		h.refuse(w, r, http.StatusBadRequest, "the body is not a message")
		return
	}
	h.refuseError(w, r, http.StatusBadRequest, de.ID, de.Err)
}

// request routes a request or a notification by the era that it claims.
func (h *Handler) request(x *exchange, p *policy.Principal) {
	switch {
	case h.claims(x.req, x.r):
		h.stateless(x, p)
	case x.req.Method == protocol.MethodInitialize && !x.req.IsNotification():
		h.initialize(x, p)
	default:
		h.handshake(x, p)
	}
}

// claims decides the era, once: by what is in the request, or by a header that
// names a version without a handshake or one that nobody knows. Initialize is
// a handshake whatever the header says.
func (h *Handler) claims(req *jsonrpc.Request, r *http.Request) bool {
	if h.opts.Backend.Claims(req) {
		return true
	}
	version := r.Header[headerVersion]
	if len(version) == 0 || req.Method == protocol.MethodInitialize {
		return false
	}
	v := protocol.ParseVersion(version[0])
	if len(r.Header[headerSession]) > 0 && !v.Stateless() {
		return false // a handshake session with a version that it does not speak
	}
	return !v.HasHandshake()
}

// stateless serves a request of the stateless era. The client ends it by closing
// the connection.
func (h *Handler) stateless(x *exchange, p *policy.Principal) {
	if x.req.IsNotification() {
		for _, v := range x.r.Header[headerVersion] {
			if protocol.ParseVersion(v) == protocol.Unknown {
				h.refuse(x.w, x.r, http.StatusBadRequest, "the Mcp-Protocol-Version header names a version that is not known here")
				return
			}
		}
		h.status(x.w, http.StatusAccepted) // none has a meaning here
		return
	}
	if x.req.Method == protocol.MethodListen && !x.accept.events {
		h.refuseID(x.w, x.r, http.StatusNotAcceptable, x.req.ID, "subscriptions/listen is answered by an event stream: the Accept header must allow text/event-stream")
		return
	}
	x.ctx.Derive(x.r.Context())
	x.run(h.opts.Backend.Stateless(p, headersOf(x.r)))
}

// headersOf returns the headers that repeat what is in the body.
func headersOf(r *http.Request) *protocol.Headers {
	return &protocol.Headers{
		Version: r.Header[headerVersion],
		Method:  r.Header[headerMethod],
		Name:    r.Header[headerName],
		Param:   func(suffix string) []string { return r.Header.Values(headerParam + suffix) },
	}
}

// initialize begins a handshake session. Nothing is stored unless it succeeds. A
// session id that is not known, or no longer, does not matter: the client wants
// a new one.
func (h *Handler) initialize(x *exchange, p *policy.Principal) {
	if _, id, ok := h.acquire(x.r, p); ok {
		h.opts.Store.Release(id)
		h.refuseID(x.w, x.r, http.StatusBadRequest, x.req.ID, "initialize was answered already in this session")
		return
	}
	session := h.newSession(h.opts.Backend.Open(p))
	x.ctx.Derive(h.life)
	frame, err := jsonrpc.Answer(&x.ctx, h.log, session.handler, x.req, session, nil)
	x.ctx.Cancel(jsonrpc.ErrClosed)
	switch {
	case err != nil || h.opts.Store == nil:
		session.Close()
	case !h.store(x, p, session):
		return
	}
	x.finish(frame, err)
}

// store stores a new session and names it in the answer. At a bound it answers
// and reports false.
func (h *Handler) store(x *exchange, p *policy.Principal, session *httpSession) bool {
	id, err := h.opts.Store.Add(p, session)
	if err == nil {
		x.w.Header()[headerSession] = []string{id}
		return true
	}
	session.Close()
	h.full(x.w, x.r, x.req.ID, err)
	return false
}

// full answers a client that the store has no room for: 429 if the client's own
// sessions are too many, 503 if those of all are.
func (h *Handler) full(w http.ResponseWriter, r *http.Request, id jsonrpc.ID, err error) {
	status, wait := http.StatusServiceUnavailable, time.Second
	var limit *policy.LimitError
	if errors.As(err, &limit) {
		wait = limit.RetryAfter
		if limit.Own {
			status = http.StatusTooManyRequests
		}
	}
	h.log.WarnContext(r.Context(), "a session was refused", "reason", err)
	w.Header().Set("Retry-After", seconds(wait))
	h.refuseError(w, r, status, id, jsonrpc.Errorf(jsonrpc.CodeInternal, "%v", err))
}

// handshake serves a request or a notification of a handshake session.
func (h *Handler) handshake(x *exchange, p *policy.Principal) {
	s, release, ok := h.sessionOf(x.w, x.r, p, x.req.ID)
	if !ok {
		return
	}
	defer release()
	x.session = s
	if x.req.IsNotification() {
		s.handler.Notify(h.life, x.req, s)
		h.status(x.w, http.StatusAccepted)
		return
	}
	if err := h.volunteered(x); err != nil {
		h.refuseError(x.w, x.r, http.StatusBadRequest, x.req.ID, jsonrpc.WireError(x.r.Context(), h.log, x.req.Method, err))
		return
	}
	if !s.enter(x) {
		x.w.Header().Set("Retry-After", "1")
		h.refuseError(x.w, x.r, http.StatusTooManyRequests, x.req.ID, h.tooManyCalls())
		return
	}
	defer s.leave(x)
	x.run(s.handler)
}

func (h *Handler) tooManyCalls() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "%d requests of this session are in flight, which is the limit", h.opts.MaxCalls)
}

// volunteered checks headers of the stateless era that came although they need
// not. Something in between may have judged the request by them.
func (h *Handler) volunteered(x *exchange) error {
	if len(x.r.Header[headerMethod]) == 0 && len(x.r.Header[headerName]) == 0 {
		return nil
	}
	return h.opts.Backend.CheckHeaders(x.req, headersOf(x.r))
}

// response takes the answer to a request of our own.
func (h *Handler) response(w http.ResponseWriter, r *http.Request, p *policy.Principal, m *jsonrpc.Response) {
	if h.opts.Store == nil || len(r.Header[headerSession]) == 0 {
		h.refuse(w, r, http.StatusBadRequest, "a response needs the session whose request it answers")
		return
	}
	s, release, ok := h.sessionOf(w, r, p, "")
	if !ok {
		return
	}
	defer release()
	s.answer(m)
	h.status(w, http.StatusAccepted)
}
