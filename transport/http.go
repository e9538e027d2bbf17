package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// Backend is the protocol's side of the HTTP transport. Its methods may be
// called by several goroutines.
type Backend interface {
	// Decoder returns a decoder that knows the methods.
	Decoder() jsonrpc.Decoder
	// Claims reports whether a request claims the stateless era by what is in it.
	Claims(*jsonrpc.Request) bool
	// Stateless returns the handler for one request of the stateless era that
	// came with the given headers.
	Stateless(*policy.Principal, *protocol.Headers) jsonrpc.Handler
	// Open returns a session that begins with initialize, a [Session].
	Open(*policy.Principal) jsonrpc.Handler
	// Assume returns a session that is past its handshake, a [Session], for a
	// client whose sessions are not kept.
	Assume(*policy.Principal, protocol.Version) jsonrpc.Handler
	// ParamHeaders returns the names of the headers that mirror parameters of
	// tools.
	ParamHeaders() []string
	// Drain ends the listens that wait for events; see [jsonrpc.Handler].
	Drain()
}

// Session is a handshake session.
type Session interface {
	jsonrpc.Handler
	// Version returns what was negotiated.
	Version() protocol.Version
}

// Store keeps what the transport holds of handshake sessions. A session is in
// use between Acquire and Release.
type Store interface {
	// Add stores a session and returns its id. The error is a
	// [*policy.LimitError] at a bound. The session is closed when the store ends it.
	Add(*policy.Principal, io.Closer) (id string, err error)
	// Acquire returns the session with the id if it is the principal's.
	Acquire(id string, p *policy.Principal) (io.Closer, bool)
	// Release ends a use.
	Release(id string)
	// Remove ends the session with the id if it is the principal's.
	Remove(id string, p *policy.Principal) bool
}

// The defaults of [HTTPOptions].
const (
	DefaultPath         = "/mcp"
	DefaultMaxBody      = 4 << 20
	DefaultBodyTimeout  = 120 * time.Second
	DefaultWriteTimeout = 30 * time.Second
	DefaultKeepAlive    = 15 * time.Second
	DefaultUpgradeAfter = 500 * time.Millisecond
	DefaultMaxStreams   = 16
	DefaultMaxCalls     = 256
)

// HTTPOptions configures a [Handler]. Backend is mandatory. The zero value of
// the rest is usable for a loopback bind.
type HTTPOptions struct {
	Backend Backend
	Store   Store // nil: handshake clients are served without sessions

	Guard    *policy.Guard    // nil: the one of a loopback bind
	Tokens   *policy.Tokens   // nil: no tokens
	Failures *policy.Failures // nil: failed authentication is not slowed
	Resolver policy.Resolver  // nil: the principal is the token's, or "anonymous"

	Path       string       // of the endpoint; empty: DefaultPath
	PublicPath string       // what a proxy puts before our paths and strips again
	LegacySSE  bool         // serve /sse and /messages for 2024-11-05 clients
	HealthPath string       // empty: /healthz and /readyz; "-": none
	Ready      func() error // nil: always ready

	MaxBody      int64         // bytes; 0: DefaultMaxBody
	BodyTimeout  time.Duration // 0: DefaultBodyTimeout
	WriteTimeout time.Duration // of one write; 0: DefaultWriteTimeout
	KeepAlive    time.Duration // silence after which a stream gets a comment; 0: DefaultKeepAlive, negative: never
	UpgradeAfter time.Duration // a call that takes longer is answered by a stream if it may; 0: DefaultUpgradeAfter
	MaxStreams   int           // event streams of a session that are kept; 0: DefaultMaxStreams
	MaxCalls     int           // requests of a session in flight; 0: DefaultMaxCalls
	JSONResponse bool          // answer with JSON only, except listens
	AlwaysSSE    bool          // answer every request with a stream if the client allows it
	Logger       *slog.Logger  // nil discards
}

// Handler serves the streamable HTTP transport, of both eras on one path, and
// the endpoints around it. It is an [http.Handler] that any server can mount.
type Handler struct {
	opts      HTTPOptions
	decoder   jsonrpc.Decoder
	log       *slog.Logger
	anonymous *policy.Principal
	values    headerValues

	life context.Context // of handshake calls, which outlive their connection
	end  context.CancelCauseFunc

	mu       sync.Mutex // guards the fields below
	draining bool
	streams  map[*eventStream]struct{} // standalone ones, to be closed at the end
	active   int                       // requests that are being served
	quiet    chan struct{}             // closed when draining with none
}

// headerValues are header values that are set without being made anew.
type headerValues struct{ json, events, noStore, noCache, noBuffer []string }

// NewHandler returns a handler. The error says which option is wrong.
func NewHandler(o *HTTPOptions) (*Handler, error) {
	h := &Handler{opts: *o}
	if o.Backend == nil {
		return nil, errors.New("transport: HTTPOptions.Backend is missing")
	}
	if err := h.defaults(); err != nil {
		return nil, err
	}
	h.decoder = o.Backend.Decoder()
	h.anonymous = policy.NewPrincipal("anonymous")
	h.values = headerValues{
		json: []string{"application/json"}, events: []string{"text/event-stream"},
		noStore: []string{"no-store"}, noCache: []string{"no-cache, no-transform"}, noBuffer: []string{"no"},
	}
	h.life, h.end = context.WithCancelCause(context.Background())
	h.streams = make(map[*eventStream]struct{})
	h.quiet = make(chan struct{})
	return h, nil
}

func (h *Handler) defaults() error {
	o := &h.opts
	if h.log = o.Logger; h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if o.Guard == nil {
		g, err := policy.NewGuard(policy.GuardOptions{LoopbackBind: true})
		if err != nil {
			return err
		}
		o.Guard = g
	}
	if o.Path == "" {
		o.Path = DefaultPath
	}
	if !strings.HasPrefix(o.Path, "/") {
		return errors.New("transport: HTTPOptions.Path must begin with a slash")
	}
	o.Path = cleanPath(o.Path)
	o.PublicPath = strings.TrimRight(o.PublicPath, "/")
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.BodyTimeout, DefaultBodyTimeout)
	setDefault(&o.WriteTimeout, DefaultWriteTimeout)
	setDefault(&o.KeepAlive, DefaultKeepAlive)
	setDefault(&o.UpgradeAfter, DefaultUpgradeAfter)
	setDefault(&o.MaxStreams, DefaultMaxStreams)
	setDefault(&o.MaxCalls, DefaultMaxCalls)
	return nil
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// cleanPath collapses slashes at the start and drops those at the end, so that
// /mcp, /mcp/ and //mcp are one path and nothing is ever redirected.
func cleanPath(p string) string {
	for strings.HasPrefix(p, "//") {
		p = p[1:]
	}
	if len(p) > 1 {
		p = "/" + strings.Trim(p, "/")
	}
	return p
}

// ServeHTTP serves one request. Headers are judged before the body is read.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.begin() {
		w.Header().Set("Retry-After", "5")
		h.refuse(w, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer h.done()
	if !h.admit(w, r) {
		return
	}
	switch p := cleanPath(r.URL.Path); {
	case p == h.opts.Path:
		h.endpoint(w, r)
	case h.opts.HealthPath != "-" && (p == h.healthPath() || p == "/readyz"):
		h.health(w, r, p == "/readyz")
	case h.opts.LegacySSE && (p == ssePath || p == messagesPath):
		h.legacy(w, r, p == ssePath)
	default:
		h.refuse(w, http.StatusNotFound, "nothing is served here: the MCP endpoint is "+h.opts.PublicPath+h.opts.Path)
	}
}

func (h *Handler) healthPath() string {
	if h.opts.HealthPath == "" {
		return "/healthz"
	}
	return h.opts.HealthPath
}

// endpoint serves the MCP endpoint.
func (h *Handler) endpoint(w http.ResponseWriter, r *http.Request) {
	p := h.authenticate(w, r)
	if p == nil {
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, p)
	case http.MethodGet, http.MethodHead:
		h.get(w, r, p)
	case http.MethodDelete:
		h.delete(w, r, p)
	default:
		h.methodNotAllowed(w, "GET, POST, DELETE, OPTIONS")
	}
}

// begin counts a request, unless the handler is draining.
func (h *Handler) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return false
	}
	h.active++
	return true
}

func (h *Handler) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.active--; h.draining && h.active == 0 {
		close(h.quiet)
	}
}

// Shutdown refuses new requests, ends listens with their result and streams
// without one, and waits for requests in flight until ctx ends; then it cancels
// those that are left.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	first := !h.draining
	h.draining = true
	if first && h.active == 0 {
		close(h.quiet)
	}
	streams := make([]*eventStream, 0, len(h.streams))
	for s := range h.streams {
		streams = append(streams, s)
	}
	h.mu.Unlock()
	h.opts.Backend.Drain()
	for _, s := range streams {
		s.close(jsonrpc.ErrShutdown)
	}
	select {
	case <-h.quiet:
		h.end(jsonrpc.ErrShutdown)
		return nil
	case <-ctx.Done():
		h.end(jsonrpc.ErrShutdown)
		return context.Cause(ctx)
	}
}

// keep notes a stream that Shutdown must close, unless it is too late for one.
func (h *Handler) keep(s *eventStream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return false
	}
	h.streams[s] = struct{}{}
	return true
}

func (h *Handler) forget(s *eventStream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}
