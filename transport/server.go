package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The defaults of [ServerOptions].
const (
	DefaultMaxConnections    = 512
	DefaultReadHeaderTimeout = 30 * time.Second
	DefaultIdleTimeout       = 2 * time.Minute
	DefaultMaxHeaderBytes    = 64 << 10
	DefaultGrace             = 10 * time.Second
)

// maxHTTP2Streams bounds the requests that are in flight on one connection.
const maxHTTP2Streams = 100

// ServerOptions configures [Serve]. Handler and Listeners are mandatory.
type ServerOptions struct {
	Handler   *Handler
	Listeners []net.Listener // see [Listen]; Serve closes them

	// CertFile and KeyFile are PEM files: with them the server speaks TLS, and
	// HTTP/2. They are read again when they change. ClientCAFile holds the
	// authorities that may have signed client certificates; the handler then
	// needs a resolver, such as [CertificateResolver]. A client without a
	// certificate gets as far as that, so that probes need none.
	CertFile, KeyFile, ClientCAFile string

	// InsecureNoAuth allows listeners that other machines can reach although
	// the handler authenticates nobody.
	InsecureNoAuth bool

	MaxConnections    int             // 0: DefaultMaxConnections
	ReadHeaderTimeout time.Duration   // for the headers of a request; 0: DefaultReadHeaderTimeout
	IdleTimeout       time.Duration   // between two requests of a connection; 0: DefaultIdleTimeout
	MaxHeaderBytes    int             // of a request; 0: DefaultMaxHeaderBytes
	Grace             time.Duration   // for requests in flight at the end; 0: DefaultGrace
	Now               <-chan struct{} // closed to end the grace at once; nil: never
	NotifySocket      string          // NOTIFY_SOCKET of systemd, which is told that the server is ready; empty: nobody is told
	Logger            *slog.Logger    // nil discards
}

// Serve serves until ctx ends, and then shuts down: it accepts nothing more, ends
// streams, lets requests in flight finish within the grace, and cancels those
// that do not. It returns nil then, or what kept it from serving. When it has
// returned, the listeners are closed and nothing of it runs any more, except for
// handlers of tools that ignore the end of their context.
//
// It refuses to serve everybody: a listener that other machines can reach needs
// a handler that authenticates, or InsecureNoAuth.
func Serve(ctx context.Context, o *ServerOptions) error {
	s, err := newServer(o)
	if err != nil {
		closeAll(o.Listeners)
		return err
	}
	return s.run(ctx)
}

// server is a server that runs.
type server struct {
	opts ServerOptions
	log  *slog.Logger
	http http.Server
	tls  bool
	wg   sync.WaitGroup // all goroutines
}

func newServer(o *ServerOptions) (*server, error) {
	s := &server{opts: *o, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Handler == nil || len(o.Listeners) == 0 {
		return nil, errors.New("transport: ServerOptions.Handler or Listeners is missing")
	}
	if err := s.checkAccess(); err != nil {
		return nil, err
	}
	setDefault(&s.opts.MaxConnections, DefaultMaxConnections)
	setDefault(&s.opts.ReadHeaderTimeout, DefaultReadHeaderTimeout)
	setDefault(&s.opts.IdleTimeout, DefaultIdleTimeout)
	setDefault(&s.opts.MaxHeaderBytes, DefaultMaxHeaderBytes)
	setDefault(&s.opts.Grace, DefaultGrace)
	conns := newConnections(s.opts.MaxConnections)
	s.opts.Listeners = make([]net.Listener, len(o.Listeners))
	for i, l := range o.Listeners {
		s.opts.Listeners[i] = &limited{l, conns}
	}
	s.http = http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: s.opts.ReadHeaderTimeout,
		IdleTimeout:       s.opts.IdleTimeout,
		MaxHeaderBytes:    s.opts.MaxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return o.Handler.life }, // so that the end cancels every call
		ConnContext:       conns.mark,
		ConnState:         conns.note,
	}
	return s, s.configureTLS()
}

// checkAccess refuses what would let everybody in.
func (s *server) checkAccess() error {
	h := &s.opts.Handler.opts
	if s.opts.ClientCAFile != "" && h.Resolver == nil {
		return errors.New("transport: ServerOptions.ClientCAFile needs HTTPOptions.Resolver, such as CertificateResolver")
	}
	if s.opts.InsecureNoAuth || h.Tokens != nil || h.Resolver != nil {
		return nil
	}
	for _, l := range s.opts.Listeners {
		if !isLoopback(l.Addr()) {
			return fmt.Errorf("%s can be reached by other machines and nothing authenticates them: listen on 127.0.0.1, give --auth-token or --tls-client-ca, or allow everybody with --insecure-no-auth", l.Addr())
		}
	}
	return nil
}

func (s *server) configureTLS() error {
	if s.opts.CertFile == "" && s.opts.KeyFile == "" {
		if s.opts.ClientCAFile != "" {
			return errors.New("transport: ServerOptions.ClientCAFile needs CertFile and KeyFile")
		}
		return nil
	}
	certs, err := loadCertificates(s.opts.CertFile, s.opts.KeyFile, s.log)
	if err != nil {
		return err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certs.get}
	if s.opts.ClientCAFile != "" {
		if config.ClientCAs, err = loadAuthorities(s.opts.ClientCAFile); err != nil {
			return err
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.http.TLSConfig, s.tls = config, true
	return nil
}

// handle answers requests on connections beyond the limit, except for probes,
// and hands the others on.
func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	h := s.opts.Handler
	if isSurplus(r) {
		w.Header().Set("Connection", "close") // which net/http says in the way of HTTP/2 there
		if h.allowed(cleanPath(r.URL.Path)) != allowHealth {
			w.Header().Set("Retry-After", "1")
			h.refuseUnread(w, r, http.StatusServiceUnavailable, fmt.Sprintf("%d connections are open, which is the limit", s.opts.MaxConnections))
			return
		}
	}
	h.ServeHTTP(w, r)
}

// run serves until ctx ends or a listener fails.
func (s *server) run(ctx context.Context) error {
	defer s.wg.Wait()
	failed := make(chan error, len(s.opts.Listeners))
	for _, l := range s.opts.Listeners {
		s.wg.Go(func() { failed <- s.serve(l) }) // until shutdown
		s.log.Info("listening", "network", l.Addr().Network(), "address", l.Addr().String(), "tls", s.tls)
	}
	s.tell("READY=1")
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.log.Info("shutting down", "cause", context.Cause(ctx))
	}
	s.shutdown()
	return err
}

func (s *server) serve(l net.Listener) error {
	if s.tls {
		return s.http.ServeTLS(l, "", "") // the certificate is in the configuration
	}
	return s.http.Serve(l)
}

var errGrace = errors.New("the time for requests in flight is over")

// shutdown stops accepting, ends streams and requests, and closes what is left.
func (s *server) shutdown() {
	s.tell("STOPPING=1")
	grace, cancel := context.WithTimeoutCause(context.Background(), s.opts.Grace, errGrace)
	defer cancel()
	s.wg.Go(func() { _ = s.http.Shutdown(grace) }) // until grace has ended; what it leaves is closed below
	s.wg.Go(func() {                               // until grace has ended
		select {
		case <-s.opts.Now:
			cancel()
		case <-grace.Done():
		}
	})
	if err := s.opts.Handler.Shutdown(grace); err != nil {
		s.log.Warn("requests in flight were cancelled", "cause", err)
	}
	// The handlers are done, but net/http may still be writing what they said.
	last, cancelLast := context.WithTimeout(context.Background(), lastWords)
	defer cancelLast()
	_ = s.http.Shutdown(last)
	_ = s.http.Close() // the error is that of listeners which are closed already
}

// tell tells systemd of a new state. Nobody depends on it, so that a failure is
// only logged.
func (s *server) tell(state string) {
	if s.opts.NotifySocket == "" {
		return
	}
	conn, err := net.Dial("unixgram", s.opts.NotifySocket)
	if err == nil {
		_, err = conn.Write([]byte(state))
		_ = conn.Close()
	}
	if err != nil {
		s.log.Warn("systemd was not told", "state", state, "error", err)
	}
}
