package transport

import (
	"errors"
	"net/http"

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
	if !isJSON(r) || r.Header.Get("Content-Encoding") != "" {
		w.Header().Set("Connection", "close") // the body is not read
		h.refuse(w, http.StatusUnsupportedMediaType, "the body must be application/json, without a content encoding")
		return
	}
	accept := accepted(r)
	if !accept.json && !accept.events {
		w.Header().Set("Connection", "close")
		h.refuse(w, http.StatusNotAcceptable, "the Accept header must allow application/json or text/event-stream")
		return
	}
	rc := http.NewResponseController(w)
	body, ok := h.readBody(w, r, rc)
	if !ok {
		return
	}
	if jsonrpc.IsBatch(body) {
		h.batch(w, r, p, body)
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
		x := &exchange{h: h, w: w, rc: rc, req: m, accept: accept}
		if h.opts.JSONResponse && accept.json && m.Method != protocol.MethodListen {
			x.accept.events = false
		}
		h.request(x, r, p)
	}
}

// broken answers a body that is no message.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	var de *jsonrpc.DecodeError
	if !errors.As(err, &de) {
		h.refuse(w, http.StatusBadRequest, "the body is not a message")
		return
	}
	v := protocol.ParseVersion(r.Header.Get(headerVersion))
	h.refuseFrame(w, http.StatusBadRequest, jsonrpc.AppendError(nil, de.ID, v.OmitsUnknownID(), de.Err))
}

// request routes a request or a notification by the era that it claims.
func (h *Handler) request(x *exchange, r *http.Request, p *policy.Principal) {
	if h.claims(x.req, r) {
		h.stateless(x, r, p)
		return
	}
	if x.req.Method == protocol.MethodInitialize && !x.req.IsNotification() {
		h.initialize(x, r, p)
		return
	}
	h.handshake(x, r, p)
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
	if len(r.Header[headerSession]) > 0 && !protocol.ParseVersion(version[0]).Stateless() {
		return false // a handshake session with a version that it does not speak
	}
	return !protocol.ParseVersion(version[0]).HasHandshake()
}

// stateless serves a request of the stateless era. The client ends it by closing
// the connection.
func (h *Handler) stateless(x *exchange, r *http.Request, p *policy.Principal) {
	if x.req.IsNotification() {
		x.w.WriteHeader(http.StatusAccepted) // none has a meaning here
		return
	}
	if x.req.Method == protocol.MethodListen && !x.accept.events {
		h.refuseFrame(x.w, http.StatusNotAcceptable, jsonrpc.AppendError(nil, x.req.ID, true,
			jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "subscriptions/listen is answered by an event stream: the Accept header must allow text/event-stream")))
		return
	}
	x.ctx.Derive(r.Context())
	x.run(h.opts.Backend.Stateless(p, headersOf(r)))
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

// initialize begins a handshake session. Nothing is stored unless it succeeds.
func (h *Handler) initialize(x *exchange, r *http.Request, p *policy.Principal) {
	if _, id, ok := h.acquire(r, p); ok {
		h.opts.Store.Release(id)
		h.refuseFrame(x.w, http.StatusBadRequest, jsonrpc.AppendError(nil, x.req.ID, true,
			jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize was answered already in this session")))
		return
	}
	session := h.newSession(h.opts.Backend.Open(p))
	x.ctx.Derive(session.life)
	frame, err := jsonrpc.Answer(&x.ctx, h.log, session.handler, x.req, session, nil)
	x.ctx.Cancel(jsonrpc.ErrClosed)
	if err != nil {
		session.Close()
		x.finish(frame, err)
		return
	}
	if h.opts.Store == nil {
		session.Close()
	} else if !h.store(x, p, session) {
		return
	}
	x.finish(frame, nil)
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
	status := http.StatusServiceUnavailable
	var full *policy.LimitError
	if errors.As(err, &full) {
		x.w.Header().Set("Retry-After", seconds(full.RetryAfter))
		if full.Own {
			status = http.StatusTooManyRequests
		}
	}
	h.log.Warn("a session was refused", "reason", err)
	h.refuseFrame(x.w, status, jsonrpc.AppendError(nil, x.req.ID, true, jsonrpc.Errorf(jsonrpc.CodeInternal, "%v", err)))
	return false
}

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
		h.opts.Store.Release(ids[0])
	}
	return s, ids[0], ok
}

// handshake serves a request or a notification of a handshake session.
func (h *Handler) handshake(x *exchange, r *http.Request, p *policy.Principal) {
	s, release, ok := h.sessionOf(x.w, r, p, x.req.ID)
	if !ok {
		return
	}
	defer release()
	x.session = s
	if x.req.IsNotification() {
		s.handler.Notify(s.life, x.req, s)
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	if !s.enter(x) {
		x.w.Header().Set("Retry-After", "1")
		h.refuseFrame(x.w, http.StatusTooManyRequests, jsonrpc.AppendError(nil, x.req.ID, true,
			jsonrpc.Errorf(jsonrpc.CodeInternal, "%d requests of this session are in flight, which is the limit", h.opts.MaxCalls)))
		return
	}
	defer s.leave(x)
	x.ctx.Derive(s.life) // a client that is gone has not cancelled
	x.run(s.handler)
}

// sessionOf returns the session for a request that needs one. It has answered if
// it reports false.
func (h *Handler) sessionOf(w http.ResponseWriter, r *http.Request, p *policy.Principal, id jsonrpc.ID) (*httpSession, func(), bool) {
	if h.opts.Store == nil {
		return h.assume(w, r, p, id)
	}
	if len(r.Header[headerSession]) == 0 {
		h.refuseID(w, http.StatusBadRequest, id, "the Mcp-Session-Id header is missing: send initialize first, or the metadata of "+protocol.LatestStateless.String()+" with every request")
		return nil, nil, false
	}
	s, sid, ok := h.acquire(r, p)
	if !ok {
		h.refuseID(w, http.StatusNotFound, id, "there is no such session: send initialize without a session id")
		return nil, nil, false
	}
	release := func() { h.opts.Store.Release(sid) }
	if v := r.Header[headerVersion]; len(v) > 0 && v[0] != s.handler.Version().String() {
		release()
		h.refuseID(w, http.StatusBadRequest, id, "this session speaks "+s.handler.Version().String()+", which the MCP-Protocol-Version header must say")
		return nil, nil, false
	}
	return s, release, true
}

// assume serves a handshake client whose sessions are not kept, at the version
// that it names, or 2025-03-26 as R4.47 says.
func (h *Handler) assume(w http.ResponseWriter, r *http.Request, p *policy.Principal, id jsonrpc.ID) (*httpSession, func(), bool) {
	v := protocol.V20250326
	if values := r.Header[headerVersion]; len(values) > 0 {
		if v = protocol.ParseVersion(values[0]); !v.HasHandshake() {
			h.refuseID(w, http.StatusBadRequest, id, "the MCP-Protocol-Version header names a version that is not supported")
			return nil, nil, false
		}
	}
	s := h.newSession(h.opts.Backend.Assume(p, v))
	return s, func() { s.Close() }, true
}

func (h *Handler) refuseID(w http.ResponseWriter, status int, id jsonrpc.ID, message string) {
	h.refuseFrame(w, status, jsonrpc.AppendError(nil, id, false, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}))
}

// response takes the answer to a request of our own.
func (h *Handler) response(w http.ResponseWriter, r *http.Request, p *policy.Principal, m *jsonrpc.Response) {
	s, id, ok := h.acquire(r, p)
	switch {
	case ok:
		defer h.opts.Store.Release(id)
		s.answer(m)
		w.WriteHeader(http.StatusAccepted)
	case len(r.Header[headerSession]) > 0 && h.opts.Store != nil:
		h.refuse(w, http.StatusNotFound, "there is no such session")
	default:
		h.refuse(w, http.StatusBadRequest, "a response needs the session whose request it answers")
	}
}

// batch serves an array of messages, which only 2025-03-26 has. The members are
// served one after the other and answered together.
func (h *Handler) batch(w http.ResponseWriter, r *http.Request, p *policy.Principal, body []byte) {
	s, release, ok := h.sessionOf(w, r, p, "")
	if !ok {
		return
	}
	defer release()
	if !s.handler.Dialect().Batches {
		h.refuse(w, http.StatusBadRequest, "batches are not part of this protocol version: post each message by itself")
		return
	}
	members, err := h.decoder.Split(body, 0)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	var out []byte
	for _, m := range members {
		if answer := h.member(s, m); answer != nil {
			out = append(append(out, ','), answer...)
		}
	}
	if out == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out[0] = '['
	h.refuseFrame(w, http.StatusOK, append(out, ']'))
}

// member serves one member of a batch and returns its answer, if it has one.
func (h *Handler) member(s *httpSession, raw []byte) []byte {
	m, err := h.decoder.Decode(raw)
	if err != nil {
		var de *jsonrpc.DecodeError
		errors.As(err, &de)
		return jsonrpc.AppendError(nil, de.ID, false, de.Err)
	}
	req, ok := m.(*jsonrpc.Request)
	switch {
	case !ok:
		s.answer(m.(*jsonrpc.Response))
		return nil
	case req.IsNotification():
		s.handler.Notify(s.life, req, s)
		return nil
	case req.Method == protocol.MethodInitialize:
		return jsonrpc.AppendError(nil, req.ID, true, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize cannot be part of a batch"))
	}
	x := &exchange{h: h, session: s, req: req}
	if !s.enter(x) {
		return jsonrpc.AppendError(nil, req.ID, true, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests of this session are in flight"))
	}
	defer s.leave(x)
	x.ctx.Derive(s.life)
	frame, _ := jsonrpc.Answer(&x.ctx, h.log, s.handler, req, x, nil)
	x.ctx.Cancel(jsonrpc.ErrClosed)
	if x.isCancelled() {
		return nil
	}
	return frame
}

func (x *exchange) isCancelled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cancelled
}
