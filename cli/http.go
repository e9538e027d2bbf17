package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// prepareHTTP reads what serving over HTTP needs, so that a mistake is found
// before anything is opened, and returns the function that serves.
func (inv *invocation) prepareHTTP() (func(context.Context, *assembly) error, error) {
	tokens, err := inv.tokens()
	if err != nil {
		return nil, err
	}
	if tokens != nil && inv.set.http.noAuth {
		return nil, usagef("--insecure-no-auth and the tokens in %s exclude each other: want one of them", tokensVariable)
	}
	if err := inv.set.http.checkFiles(); err != nil {
		return nil, err
	}
	return func(ctx context.Context, a *assembly) error { return inv.serveHTTP(ctx, a, tokens) }, nil
}

// checkFiles reads the files of TLS, to name the option of one that is wrong.
// The transport reads them again, now and whenever they change.
func (h *httpSettings) checkFiles() error {
	if h.certFile == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(h.certFile, h.keyFile); err != nil {
		return fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	if h.clientCA == "" {
		return nil
	}
	text, err := os.ReadFile(h.clientCA)
	if err != nil {
		return fmt.Errorf("--tls-client-ca: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return fmt.Errorf("--tls-client-ca: %s has no certificate in PEM form", h.clientCA)
	}
	return nil
}

// serveHTTP serves over HTTP until ctx ends.
func (inv *invocation) serveHTTP(ctx context.Context, a *assembly, tokens *policy.Tokens) (err error) {
	h := &inv.set.http
	listeners, err := transport.Listen(ctx, []string{h.listen}, inv.env.Getenv)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer closeListeners(listeners) // Serve does so, if it is reached
	loopback := transport.Loopback(listeners)
	if !loopback && tokens == nil && h.clientCA == "" && !h.noAuth {
		return usagef("--listen: other machines can reach this address, and nothing says who may use it: " +
			"give --auth-token or --tls-client-ca, listen on 127.0.0.1, or let everybody in with --insecure-no-auth")
	}
	handler, closeStore, err := inv.handler(a, tokens, loopback)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	inv.announce(ctx, a, "serving over HTTP", "listen", h.urls(listeners), "auth", h.authentication(tokens))
	return transport.Serve(ctx, &transport.ServerOptions{
		Handler: handler, Listeners: listeners,
		CertFile: h.certFile, KeyFile: h.keyFile, ClientCAFile: h.clientCA, InsecureNoAuth: h.noAuth,
		MaxConnections: h.maxConnections, ReadHeaderTimeout: h.headerTimeout, MaxHeaderBytes: h.maxHeader,
		Grace: inv.set.drain, NotifySocket: inv.env.Getenv("NOTIFY_SOCKET"), Logger: inv.log,
	})
}

func closeListeners(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // it is closed already, or was never used
	}
}

// urls returns where clients find the server, as far as it knows.
func (h *httpSettings) urls(listeners []net.Listener) []string {
	scheme := "http://"
	if h.certFile != "" {
		scheme = "https://"
	}
	var list []string
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			list = append(list, unixPrefix+l.Addr().String())
		} else {
			list = append(list, scheme+l.Addr().String()+h.path)
		}
	}
	return list
}

// authentication says who is let in.
func (h *httpSettings) authentication(tokens *policy.Tokens) string {
	switch {
	case tokens != nil && h.clientCA != "":
		return "tokens and client certificates"
	case tokens != nil:
		return "tokens"
	case h.clientCA != "":
		return "client certificates"
	}
	return "none"
}

// handler returns the handler of the HTTP transport and what to call when it is
// not used any more.
func (inv *invocation) handler(a *assembly, tokens *policy.Tokens, loopback bool) (*transport.Handler, func() error, error) {
	h := &inv.set.http
	guard, err := policy.NewGuard(h.guardOptions(loopback))
	if err != nil {
		return nil, nil, err
	}
	o := &transport.HTTPOptions{
		Backend: a.sessions, Guard: guard, Tokens: tokens,
		Path: h.path, PublicPath: h.publicPath, TrustedProxies: h.trustedProxies, LegacySSE: inv.set.transport == overSSE,
		MaxBody: int64(h.maxBody), BodyTimeout: h.bodyTimeout, WriteTimeout: h.writeTimeout, KeepAlive: h.keepAlive,
		MaxStreams: h.maxStreams, MaxCalls: inv.set.maxInFlight,
		JSONResponse: h.jsonResponse, AlwaysSSE: h.alwaysSSE, Logger: inv.log,
	}
	if tokens != nil || h.clientCA != "" {
		o.Failures = policy.NewFailures(policy.FailureOptions{})
	}
	if h.clientCA != "" {
		o.Resolver = transport.CertificateResolver
	}
	closeStore := func() error { return nil }
	if !h.stateless {
		store := session.NewStore(&session.StoreOptions{MaxSessions: h.maxSessions, MaxPerPrincipal: h.maxPerPrincipal, IdleTimeout: h.idle})
		o.Store, closeStore = store, store.Close
	}
	handler, err := transport.NewHandler(o)
	if err != nil {
		return nil, nil, errors.Join(err, closeStore())
	}
	return handler, closeStore, nil
}
