package transport

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// admit judges Host and Origin, answers OPTIONS, and sets the CORS headers of
// the answer. It reports whether to go on.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header["Origin"]
	granted := len(origins) == 1 && h.opts.Guard.CORS(origins[0])
	switch {
	case granted:
		h.grant(w.Header(), origins[0])
	case h.opts.Guard.HasCORS(): // another origin's answer would have other headers
		w.Header().Add("Vary", "Origin")
	}
	refusal := h.opts.Guard.Check(policy.GuardRequest{Host: r.Host, HasHost: r.Host != "", Origins: origins, TLS: r.TLS != nil})
	switch {
	case refusal != nil:
		h.log.WarnContext(r.Context(), "request refused", "status", refusal.Status, "reason", refusal.Message)
		h.refuseUnread(w, r, refusal.Status, refusal.Message)
		return false
	case r.Method != http.MethodPost && r.ContentLength != 0:
		h.refuseUnread(w, r, http.StatusBadRequest, "a request with this method has no body")
		return false
	case r.Method != http.MethodOptions:
		return true
	}
	h.options(w, r, granted)
	return false
}

// grant lets a page of the origin read the answer. Credentials are never
// allowed, so that a browser sends none of its own.
func (h *Handler) grant(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After")
}

// options answers OPTIONS: a preflight of a page that may read the answers, or
// the plain question what there is. A preflight of another page is refused.
func (h *Handler) options(w http.ResponseWriter, r *http.Request, granted bool) {
	allow := h.allowed(cleanPath(r.URL.Path))
	preflight := r.Header.Get("Access-Control-Request-Method") != ""
	switch {
	case allow == "":
		h.refuseUnread(w, r, http.StatusNotFound, "nothing is served here")
		return
	case preflight && !granted:
		h.log.WarnContext(r.Context(), "preflight refused", "origin", r.Header.Get("Origin"))
		h.methodNotAllowed(w, r, allow)
		return
	case preflight:
		h.preflight(w.Header(), r, allow)
	default:
		w.Header().Set("Allow", allow)
	}
	h.status(w, http.StatusNoContent)
}

// preflight says what a page may send. The headers that repeat parameters are
// those that it asks for: which ones there are depends on tools that it may not
// see, and it has not said yet who it is.
func (h *Handler) preflight(header http.Header, r *http.Request, allow string) {
	allowed := []string{"Content-Type", "Accept", "Authorization", "Last-Event-ID", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}
	for _, list := range r.Header["Access-Control-Request-Headers"] {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.Trim(name, " \t"); isParamHeader(name) {
				allowed = append(allowed, name)
			}
		}
	}
	header.Set("Access-Control-Allow-Methods", allow)
	header.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	header.Set("Access-Control-Max-Age", "600")
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
}

// isParamHeader reports whether a name is that of a header which repeats a
// parameter.
func isParamHeader(name string) bool {
	if len(name) <= len(headerParam) || !strings.EqualFold(name[:len(headerParam)], headerParam) {
		return false
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return true
}

// health answers probes. They need no credential and learn nothing but whether
// the server lives, or is ready. A server that shuts down still lives.
func (h *Handler) health(w http.ResponseWriter, r *http.Request, ready bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.methodNotAllowed(w, r, allowHealth)
		return
	}
	status, text := http.StatusOK, "ok\n"
	if ready {
		if err := h.readiness(); err != nil {
			h.log.InfoContext(r.Context(), "not ready", "error", err)
			status, text = http.StatusServiceUnavailable, "not ready\n"
			w.Header().Set("Retry-After", "5")
		}
	}
	header := w.Header()
	header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	header["Content-Length"] = []string{strconv.Itoa(len(text))}
	header["Cache-Control"] = h.values.noStore
	h.status(w, status)
	w.Write([]byte(text)) // a client that is gone needs no answer
}

func (h *Handler) readiness() error {
	switch {
	case h.isDraining():
		return jsonrpc.ErrShutdown
	case h.opts.Ready != nil:
		return h.opts.Ready()
	}
	return nil
}

// authenticate returns the principal of a request. Without one it has refused
// the request and returns nil. Every request is authenticated by itself.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) *policy.Principal {
	if h.opts.Tokens == nil && h.opts.Resolver == nil {
		return h.anonymous
	}
	if f := h.opts.Failures; f != nil {
		if wait, blocked := f.Blocked(r.RemoteAddr); blocked {
			w.Header().Set("Retry-After", seconds(wait))
			h.refuseUnread(w, r, http.StatusTooManyRequests, "too many requests from this address have failed to authenticate")
			return nil
		}
	}
	p, refusal := h.identify(r)
	if refusal != nil {
		if h.opts.Failures != nil {
			h.opts.Failures.Failed(r.RemoteAddr)
		}
		h.log.WarnContext(r.Context(), "authentication failed", "reason", refusal.Message, "address", r.RemoteAddr)
		w.Header().Set("WWW-Authenticate", refusal.Challenge)
		h.refuseUnread(w, r, refusal.Status, refusal.Message)
		return nil
	}
	if h.opts.Failures != nil {
		h.opts.Failures.Succeeded(r.RemoteAddr)
	}
	return p
}

// identify says who sends a request. With tokens it must present one, and a
// resolver then has the last word.
func (h *Handler) identify(r *http.Request) (*policy.Principal, *policy.AuthError) {
	var p *policy.Principal
	if h.opts.Tokens != nil {
		var refusal *policy.AuthError
		if p, refusal = h.opts.Tokens.Authenticate(r.Header["Authorization"]); refusal != nil {
			return nil, refusal
		}
	}
	if h.opts.Resolver == nil {
		return p, nil
	}
	p, err := h.opts.Resolver.Resolve(requestInfo(r))
	if err != nil {
		h.log.WarnContext(r.Context(), "the resolver denied a request", "error", err)
		return nil, &policy.AuthError{Status: http.StatusUnauthorized, Challenge: "Bearer", Message: "this request is not allowed"}
	}
	return p, nil
}

// seconds renders a duration for Retry-After, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(max(1, (d+time.Second-1)/time.Second)))
}

// requestInfo is what a resolver may look at.
func requestInfo(r *http.Request) policy.RequestInfo {
	info := policy.RequestInfo{Method: r.Method, Path: r.URL.Path, RemoteAddr: r.RemoteAddr, Host: r.Host, Header: r.Header.Values}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		info.PeerSubject = r.TLS.PeerCertificates[0].Subject.String()
	}
	return info
}

// errNoCertificate is why [CertificateResolver] refuses.
var errNoCertificate = errors.New("the client presented no certificate that the server's authorities have signed")

// CertificateResolver is a [policy.Resolver] for servers that ask for client
// certificates: the subject of the verified certificate, as a distinguished name
// of RFC 2253, is the id of the principal. It refuses clients without one.
func CertificateResolver(r policy.RequestInfo) (*policy.Principal, error) {
	if r.PeerSubject == "" {
		return nil, errNoCertificate
	}
	return policy.NewPrincipal(r.PeerSubject), nil
}

// refuse answers a request whose body was read, or that has none, with an error
// that answers no message in particular.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	h.refuseID(w, r, status, "", message)
}

// refuseID answers a request with an error for the message with the id.
func (h *Handler) refuseID(w http.ResponseWriter, r *http.Request, status int, id jsonrpc.ID, message string) {
	h.refuseError(w, r, status, id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message})
}

// refuseError answers a request with an error. Without an id the header decides
// how the absence is spelled, since the session is not known everywhere.
func (h *Handler) refuseError(w http.ResponseWriter, r *http.Request, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	omit := protocol.ParseVersion(r.Header.Get(headerVersion)).OmitsUnknownID()
	h.frame(w, status, jsonrpc.AppendError(nil, id, omit, e))
}

// linger is how long we go on reading a body that we have refused, so that a
// client which sends first and reads then gets to see why.
const linger = time.Second

// refuseUnread refuses a request whose body was not read. What of it is still
// under way must not hold the connection for ever, which is closed afterwards.
func (h *Handler) refuseUnread(w http.ResponseWriter, r *http.Request, status int, message string) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(linger)) // not every writer has deadlines
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
	}
	h.refuse(w, r, status, message)
}

func (h *Handler) methodNotAllowed(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	h.refuseUnread(w, r, http.StatusMethodNotAllowed, "this method is not allowed here: use "+allow)
}

// frame answers with a status and a frame.
func (h *Handler) frame(w http.ResponseWriter, status int, frame []byte) {
	header := w.Header()
	header["Content-Type"] = h.values.json
	header["Cache-Control"] = h.values.noStore
	header["Content-Length"] = []string{strconv.Itoa(len(frame))}
	h.status(w, status)
	h.write(w, frame)
}

// portion is how much has to get through within the write timeout, in bytes. A
// client with a slow line is not one that does not read. Smaller portions would
// wake a client that is fast more often than it has to be.
const portion = 1 << 20

// write writes a body, in portions that each have their own deadline.
func (h *Handler) write(w http.ResponseWriter, body []byte) {
	for len(body) > portion {
		if _, err := w.Write(body[:portion]); err != nil {
			return // the client is gone and needs no answer
		}
		body = body[portion:]
		h.extend(w)
	}
	w.Write(body)
}

// extend gives the next write its time.
func (h *Handler) extend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.opts.WriteTimeout)) // not every writer has deadlines
}

// status begins an answer.
func (h *Handler) status(w http.ResponseWriter, status int) {
	h.extend(w)
	w.WriteHeader(status)
}
