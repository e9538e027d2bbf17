package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// maxBody lets the benchmark send messages of 8 MiB.
const maxBody = 16 << 20

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, c *config, server *session.Server, log *slog.Logger) error {
	store := session.NewStore(&session.StoreOptions{MaxSessions: 20_000, MaxPerPrincipal: 20_000})
	defer store.Close()
	guard, tokens, err := c.border.policies()
	if err != nil {
		return err
	}
	handler, err := transport.NewHandler(&transport.HTTPOptions{
		Backend: server, Store: store, Guard: guard, Tokens: tokens, LegacySSE: true, MaxBody: maxBody,
		JSONResponse: c.mode == "json", AlwaysSSE: c.mode == "sse", Logger: log,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.http)
	if err != nil {
		return err
	}
	log.Info("listening", "address", l.Addr().String())
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }() // ends with Shutdown or Close below
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err = errors.Join(handler.Shutdown(grace), srv.Shutdown(grace))
	if err != nil {
		srv.Close()
	}
	return nil
}
