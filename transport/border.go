package transport

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
)

// admit judges Host and Origin, answers preflights, and sets the CORS headers
// of the answer. It reports whether to go on.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header["Origin"]
	if h.opts.Guard.HasCORS() {
		w.Header().Add("Vary", "Origin") // also where it is not granted
	}
	if len(origins) == 1 && h.opts.Guard.CORS(origins[0]) {
		h.grant(w.Header(), origins[0])
	}
	if refusal := h.opts.Guard.Check(policy.GuardRequest{Host: r.Host, HasHost: r.Host != "", Origins: origins, TLS: r.TLS != nil}); refusal != nil {
		h.log.WarnContext(r.Context(), "request refused", "status", refusal.Status, "reason", refusal.Message)
		h.refuse(w, refusal.Status, refusal.Message)
		return false
	}
	if r.Method != http.MethodOptions {
		return true
	}
	if w.Header().Get("Access-Control-Allow-Origin") == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		w.Header().Set("Allow", "GET, POST, DELETE, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	h.preflight(w.Header())
	w.WriteHeader(http.StatusNoContent)
	return false
}

// grant lets a page of the origin read the answer. Credentials are never
// allowed, so that a browser sends none of its own.
func (h *Handler) grant(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After")
}

// preflight answers what a page may send.
func (h *Handler) preflight(header http.Header) {
	allowed := []string{"Content-Type", "Accept", "Authorization", "Last-Event-ID", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}
	allowed = append(allowed, h.opts.Backend.ParamHeaders()...)
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
	header.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	header.Set("Access-Control-Max-Age", "600")
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
}

// health answers probes. They need no credential and learn nothing but whether
// the server lives, or is ready.
func (h *Handler) health(w http.ResponseWriter, r *http.Request, ready bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.methodNotAllowed(w, "GET, HEAD, OPTIONS")
		return
	}
	header := w.Header()
	header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	header["Cache-Control"] = h.values.noStore
	if ready && h.opts.Ready != nil {
		if err := h.opts.Ready(); err != nil {
			h.log.InfoContext(r.Context(), "not ready", "error", err)
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte("not ready\n"))
			return
		}
	}
	w.WriteHeader(http.StatusOK)
	w.Write([]byte("ok\n"))
}

// authenticate returns the principal of a request. Without one it has refused
// the request and returns nil.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) *policy.Principal {
	var p *policy.Principal
	if h.opts.Tokens != nil {
		if p = h.checkToken(w, r); p == nil {
			return nil
		}
	}
	if h.opts.Resolver == nil {
		if p == nil {
			p = h.anonymous
		}
		return p
	}
	p, err := h.opts.Resolver.Resolve(requestInfo(r))
	if err != nil {
		h.log.WarnContext(r.Context(), "the resolver denied a request", "error", err)
		h.challenge(w, "Bearer", "this request is not allowed")
		return nil
	}
	return p
}

// checkToken authenticates by token. Addresses that keep failing are slowed.
func (h *Handler) checkToken(w http.ResponseWriter, r *http.Request) *policy.Principal {
	addr := r.RemoteAddr
	if f := h.opts.Failures; f != nil {
		if wait, blocked := f.Blocked(addr); blocked {
			w.Header().Set("Retry-After", seconds(wait))
			h.refuse(w, http.StatusTooManyRequests, "too many requests from this address have failed to authenticate")
			return nil
		}
	}
	p, refusal := h.opts.Tokens.Authenticate(r.Header["Authorization"])
	if refusal != nil {
		if h.opts.Failures != nil && len(r.Header["Authorization"]) > 0 {
			h.opts.Failures.Failed(addr) // a guess; no credential at all is none
		}
		h.log.WarnContext(r.Context(), "authentication failed", "reason", refusal.Message, "address", addr)
		h.challenge(w, refusal.Challenge, refusal.Message)
		return nil
	}
	if h.opts.Failures != nil {
		h.opts.Failures.Succeeded(addr)
	}
	return p
}

func (h *Handler) challenge(w http.ResponseWriter, challenge, message string) {
	w.Header().Set("WWW-Authenticate", challenge)
	h.refuse(w, http.StatusUnauthorized, message)
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

// refuse answers a request that was not served, with an error that answers no
// message in particular.
func (h *Handler) refuse(w http.ResponseWriter, status int, message string) {
	h.refuseFrame(w, status, jsonrpc.AppendError(nil, "", false, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}))
}

// refuseFrame answers with a status and a frame.
func (h *Handler) refuseFrame(w http.ResponseWriter, status int, frame []byte) {
	header := w.Header()
	header["Content-Type"] = h.values.json
	header["Cache-Control"] = h.values.noStore
	header["Content-Length"] = []string{strconv.Itoa(len(frame))}
	w.WriteHeader(status)
	w.Write(frame) // a client that is gone needs no answer
}

func (h *Handler) methodNotAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	h.refuse(w, http.StatusMethodNotAllowed, "this method is not allowed here: use "+allow)
}
