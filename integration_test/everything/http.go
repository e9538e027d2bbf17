package main

import (
	"context"
	"log/slog"
	"time"

	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

const (
	// maxBody lets the benchmark send messages of 8 MiB.
	maxBody = 16 << 20
	// maxSessions lets the benchmark hold as many sessions as it asks for.
	maxSessions = 20_000
	// maxConnections, since each session may hold a stream open.
	maxConnections = maxSessions + 1000
	// maxSubscribers, since sessions and listening requests subscribe.
	maxSubscribers = 2 * maxSessions
)

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, c *config, server *session.Server, log *slog.Logger) error {
	store := session.NewStore(&session.StoreOptions{MaxSessions: maxSessions, MaxPerPrincipal: maxSessions})
	defer store.Close()
	listeners, err := transport.Listen(ctx, []string{c.http}, nil)
	if err != nil {
		return err
	}
	guard, tokens, err := c.border.policies(transport.Loopback(listeners))
	if err != nil {
		return err
	}
	handler, err := transport.NewHandler(&transport.HTTPOptions{
		Backend: server, Store: store, Guard: guard, Tokens: tokens, LegacySSE: true, MaxBody: maxBody,
		WriteTimeout: c.writeTimeout, JSONResponse: c.mode == "json", AlwaysSSE: c.mode == "sse", Logger: log,
	})
	if err != nil {
		return err
	}
	for _, l := range listeners {
		log.Info("listening", "address", l.Addr().String())
	}
	return transport.Serve(ctx, &transport.ServerOptions{
		Handler: handler, Listeners: listeners, MaxConnections: maxConnections, Grace: 2 * time.Second, Logger: log,
	})
}
