package integration_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listening finds the address in what the server logs.
var listening = regexp.MustCompile(`listening.* address=(\S+)`)

// startHTTP starts integration_test/everything over HTTP, on real sockets, and
// returns a client of it.
func startHTTP(t *testing.T, args ...string) *site {
	t.Helper()
	args = append([]string{"-http", "127.0.0.1:0", "-log-level", "info"}, args...)
	server := startCommand(t, built(t, everything), args...)
	server.saidTimes("listening", 1)
	found := listening.FindStringSubmatch(server.stderr.String())
	if found == nil {
		t.Fatalf("the server did not say where it listens:\n%s", server.stderr)
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, found[1])
	}
	s := &site{inProcess: &inProcess{t: t}, client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true}}}
	s.stop = func() {
		s.client.CloseIdleConnections()
		server.signal(syscall.SIGTERM)
		if code := server.exit(); code != 0 {
			t.Errorf("exit code %d:\n%s", code, server.stderr)
		}
	}
	t.Cleanup(s.stop)
	return s
}

// stream begins to read a stream of events.
func (s *site) stream(ctx context.Context, sessionID, message string) *http.Response {
	s.t.Helper()
	var resp *http.Response
	var err error
	if message != "" {
		resp, err = s.post(ctx, sessionID, message)
	} else {
		var req *http.Request
		if req, err = http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1/mcp", nil); err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Mcp-Session-Id", sessionID)
		req.Header.Set("Mcp-Protocol-Version", newest)
		resp, err = s.client.Do(req)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || ct != "text/event-stream" {
		s.t.Fatalf("%.80s: %s, %s", message, resp.Status, ct)
	}
	return resp
}

// TestA28WriteTimeoutSparesStreams: the time for a write is that of one write.
// Streams outlive it however little is written to them, and a client that does
// not read an answer at all is still cut off.
func TestA28WriteTimeoutSparesStreams(t *testing.T) {
	t.Parallel()
	const writeTimeout, quiet = 2 * time.Second, 5 * time.Second
	s := startHTTP(t, "-write-timeout", writeTimeout.String())
	ctx, cancel := context.WithTimeout(context.Background(), quiet+patience)
	defer cancel()
	session := s.open(`{}`)

	slow := dialSlowReader(t, s, session)
	get := s.stream(ctx, session, "")
	listen := s.stream(ctx, "", modern(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
	began := time.Now()
	call := s.stream(ctx, session, request("7", "tools/call", `"name":"sleep","arguments":{"ms":5000},"_meta":{"progressToken":1}`))
	silent, err := s.post(ctx, session, request("8", "tools/call", `"name":"sleep","arguments":{"ms":5000}`)) // says nothing meanwhile
	if err != nil {
		t.Fatal(err)
	}
	for name, resp := range map[string]*http.Response{"the call that reports progress": call, "the call that does not": silent} {
		if !contains(t, resp, "slept 5000 ms") {
			t.Errorf("%s was not answered", name)
		}
	}
	if took := time.Since(began); took < quiet {
		t.Fatalf("the calls took %v only, so they prove nothing", took)
	}

	if status := s.deliver(session, request("9", "tools/call", `"name":"test_trigger_tool_change","arguments":{}`)); status != http.StatusOK {
		t.Errorf("test_trigger_tool_change: status %d", status)
	}
	for name, resp := range map[string]*http.Response{"the GET stream": get, "subscriptions/listen": listen} {
		if !contains(t, resp, "notifications/tools/list_changed") {
			t.Errorf("%s ended within %v", name, quiet)
		}
	}

	n, err := io.Copy(io.Discard, slow)
	if n >= slowAnswer {
		t.Errorf("a client that did not read for %v got all of its %d bytes", quiet, n)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("a client that did not read for %v is still served: after %d bytes, %v", quiet, n, err)
	}
}

// slowAnswer is more than the buffers of a connection hold.
const slowAnswer = 32 << 20

// dialSlowReader asks for an answer that is not a stream and does not read it.
func dialSlowReader(t *testing.T, s *site, session string) net.Conn {
	t.Helper()
	conn, err := s.client.Transport.(*http.Transport).DialContext(t.Context(), "tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:1/mcp",
		strings.NewReader(request("6", "tools/call", `"name":"big","arguments":{"n":33554432}`)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	req.Header.Set("Mcp-Protocol-Version", newest)
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

// contains reads an answer until a line has the text, or until it ends.
func contains(t *testing.T, resp *http.Response, text string) bool {
	t.Helper()
	r := bufio.NewReader(resp.Body)
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, text) {
			return true
		}
		if err != nil {
			t.Logf("%q was not there at the end: %v", text, err)
			return false
		}
	}
}
