package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cloudg.dev/cloudg/integration_test/interop/internal/child"
)

// tokenVariable has the bearer token that the server asks for, if any.
const tokenVariable = "INTEROP_TOKEN"

// serve runs so many servers, and a client that is told one address for all of
// them, and returns the exit code of the client. The words are those of the
// server command, "--", and those of the client command.
func serve(folder, count string, words []string) (code int, err error) {
	servers, err := strconv.Atoi(count)
	split := slices.Index(words, "--")
	if err != nil || servers < 1 || split < 1 || split == len(words)-1 {
		return 2, errUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%d.jsonl", os.Getpid())))
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	wire := newTranscript(file)

	t := &tap{wire: wire, transport: http.Transport{DisableCompression: true}}
	defer t.transport.CloseIdleConnections()
	for i := range servers {
		s, err := child.Start(words[:split], os.Stderr)
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, end(wire, i+1, s)) }()
		t.backends = append(t.backends, s.Address)
		if os.Getenv(tokenVariable) != "" {
			if err := locked(ctx, s.Address); err != nil {
				return 1, err
			}
		}
	}
	return drive(ctx, t, words[split+1:])
}

// end stops a server and puts its exit code into the transcript.
func end(wire *transcript, number int, s *child.Server) error {
	code, err := s.Stop()
	return errors.Join(err, wire.add(event{From: fromServer, Server: number, Exit: &code}))
}

// locked reports an error unless a server that is said to ask for a token
// refuses one without and one with another token, and says what it wants.
func locked(ctx context.Context, address string) error {
	for _, authorization := range []string{"", "Bearer not-" + os.Getenv(tokenVariable)} {
		body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"interop","version":"1"}}}`)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/mcp", body)
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_ = res.Body.Close() // only the head matters
		if challenge := res.Header.Get("WWW-Authenticate"); res.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(challenge, "Bearer") {
			return fmt.Errorf("without the right token the server answers %s with WWW-Authenticate %q, want 401 and Bearer", res.Status, challenge)
		}
	}
	return nil
}

// drive runs a client against the tap.
func drive(ctx context.Context, t *tap, command []string) (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1, err
	}
	srv := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }() // ends with Close
	client := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "--url", "http://"+l.Addr().String()+"/mcp")...)
	client.Stdout, client.Stderr = os.Stdout, os.Stderr
	client.Cancel = func() error { return client.Process.Signal(syscall.SIGTERM) }
	client.WaitDelay = 2 * time.Second
	runErr := client.Run()
	if exitErr := (*exec.ExitError)(nil); errors.As(runErr, &exitErr) {
		runErr = nil // the code says it
	}
	closeErr := srv.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		closeErr = errors.Join(closeErr, err)
	}
	t.exchanges.Wait() // none may write into the transcript any more
	code := 1
	if client.ProcessState != nil && client.ProcessState.ExitCode() >= 0 {
		code = client.ProcessState.ExitCode()
	}
	return code, errors.Join(runErr, closeErr)
}
