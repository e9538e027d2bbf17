package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// ClaimedVersion returns the version that a request claims, raw JSON, or nil.
	ClaimedVersion(*jsonrpc.Request) []byte
	// CheckHeaders compares headers that a request of the handshake era repeats
	// parts of its body in, although it need not, with the body.
	CheckHeaders(*jsonrpc.Request, *protocol.Headers) error
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
	// [*policy.LimitError] at a bound. The session is closed when the store ends
	// it. If it has a method Tidy(time.Time), the store calls that every minute or
	// so, and the session forgets what nobody has come back for.
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
	DefaultHealthPath   = "/healthz"
	DefaultMaxBody      = 4 << 20
	DefaultBodyTimeout  = 120 * time.Second
	DefaultWriteTimeout = 30 * time.Second
	DefaultKeepAlive    = 15 * time.Second
	DefaultUpgradeAfter = 500 * time.Millisecond
	DefaultRetry        = time.Second
	DefaultMaxStreams   = 16
	DefaultMaxReplay    = 64 << 20
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

	Path       string // of the endpoint; empty: DefaultPath
	PublicPath string // what a proxy puts before our paths and strips again
	// TrustedProxies are the addresses of proxies whose X-Forwarded-Prefix is
	// believed where there is no PublicPath.
	TrustedProxies []netip.Prefix
	LegacySSE      bool         // serve /sse and /messages for 2024-11-05 clients
	HealthPath     string       // of the liveness probe; empty: DefaultHealthPath; "-": neither that nor /readyz
	Ready          func() error // nil: always ready

	MaxBody      int64         // bytes; 0: DefaultMaxBody
	BodyTimeout  time.Duration // 0: DefaultBodyTimeout
	WriteTimeout time.Duration // of one write; 0: DefaultWriteTimeout
	KeepAlive    time.Duration // silence after which a stream gets a comment; 0: DefaultKeepAlive, negative: never
	UpgradeAfter time.Duration // a call that takes longer is answered by a stream if it may; 0: DefaultUpgradeAfter, negative: never
	Retry        time.Duration // when clients come back for a stream that broke off; 0: DefaultRetry, negative: they decide
	MaxStreams   int           // event streams of a session that can be resumed; 0: DefaultMaxStreams
	MaxReplay    int64         // bytes that all sessions together keep for clients that come back; 0: DefaultMaxReplay
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

	buffers  sync.Pool    // of *[]byte, for answers
	replayed atomic.Int64 // bytes that are kept for clients that come back

	mu       sync.Mutex // guards the fields below
	draining bool
	streams  map[standing]struct{} // to be ended by Shutdown
	active   int                   // requests that are being served
	quiet    chan struct{}         // closed when draining with none
}

// standing is something that ends only when somebody ends it.
type standing interface {
	// hurry bounds the time that end may take. It does not wait.
	hurry()
	end(cause error)
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
	h.streams = make(map[standing]struct{})
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
	if o.PublicPath = strings.TrimRight(o.PublicPath, "/"); o.PublicPath != "" && !strings.HasPrefix(o.PublicPath, "/") {
		return errors.New("transport: HTTPOptions.PublicPath must begin with a slash")
	}
	switch {
	case o.HealthPath == "":
		o.HealthPath = DefaultHealthPath
	case o.HealthPath != "-" && !strings.HasPrefix(o.HealthPath, "/"):
		return errors.New(`transport: HTTPOptions.HealthPath must begin with a slash, or be "-" for none`)
	}
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.BodyTimeout, DefaultBodyTimeout)
	setDefault(&o.WriteTimeout, DefaultWriteTimeout)
	setDefault(&o.KeepAlive, DefaultKeepAlive)
	setDefault(&o.UpgradeAfter, DefaultUpgradeAfter)
	setDefault(&o.Retry, DefaultRetry)
	setDefault(&o.MaxStreams, DefaultMaxStreams)
	setDefault(&o.MaxReplay, DefaultMaxReplay)
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
		p = strings.TrimRight(p, "/")
	}
	return p
}

// ServeHTTP serves one request. Headers are judged before the body is read.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.admit(w, r) {
		return
	}
	p := cleanPath(r.URL.Path)
	if h.opts.HealthPath != "-" && (p == h.opts.HealthPath || p == readyPath) {
		h.health(w, r, p == readyPath)
		return
	}
	if !h.begin() {
		w.Header().Set("Retry-After", "5")
		h.refuseUnread(w, r, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer h.done()
	switch h.allowed(p) {
	case "":
		h.refuseUnread(w, r, http.StatusNotFound, "nothing is served here: the MCP endpoint is "+h.prefix(r)+h.opts.Path)
	case allowEndpoint:
		h.endpoint(w, r)
	default:
		h.legacy(w, r, p == ssePath)
	}
}

// The methods of each path.
const (
	allowEndpoint = "GET, POST, DELETE, OPTIONS"
	allowPost     = "POST, OPTIONS"
	allowStream   = "GET, OPTIONS"
	allowHealth   = "GET, HEAD, OPTIONS"
)

const readyPath = "/readyz"

// allowed returns the methods that a path has, or nothing for a path that is not
// served.
func (h *Handler) allowed(p string) string {
	switch {
	case p == h.opts.Path:
		return allowEndpoint
	case h.opts.HealthPath != "-" && (p == h.opts.HealthPath || p == readyPath):
		return allowHealth
	case h.opts.LegacySSE && p == ssePath:
		return allowStream
	case h.opts.LegacySSE && p == messagesPath:
		return allowPost
	}
	return ""
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
	case http.MethodGet:
		h.get(w, r, p)
	case http.MethodDelete:
		h.delete(w, r, p)
	default: // HEAD is one: what a GET would answer goes on for ever
		h.methodNotAllowed(w, r, allowEndpoint)
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

// lastWords is how long calls that were cancelled by Shutdown have to say so.
const lastWords = time.Second

// Shutdown refuses new requests, ends listens with their result and streams
// without one, and waits for requests in flight until ctx ends. Those that are
// left then are cancelled, and have another second to end. It returns nil if all
// requests ended by themselves, and otherwise the cause for the end of ctx.
func (h *Handler) Shutdown(ctx context.Context) error {
	streams := h.drain()
	h.opts.Backend.Drain()
	for _, s := range streams {
		s.hurry()
	}
	for _, s := range streams {
		s.end(jsonrpc.ErrShutdown)
	}
	defer h.end(jsonrpc.ErrShutdown)
	select {
	case <-h.quiet:
		return nil
	case <-ctx.Done():
	}
	h.end(jsonrpc.ErrShutdown)
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-h.quiet:
	case <-timer.C:
	}
	return context.Cause(ctx)
}

// drain refuses new requests from now on and returns what must be ended.
func (h *Handler) drain() []standing {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.draining && h.active == 0 {
		close(h.quiet)
	}
	h.draining = true
	return slices.Collect(maps.Keys(h.streams))
}

// isDraining reports whether Shutdown was called.
func (h *Handler) isDraining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// keep notes what Shutdown must end, unless it is too late for that.
func (h *Handler) keep(s standing) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return false
	}
	h.streams[s] = struct{}{}
	return true
}

func (h *Handler) forget(s standing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}
