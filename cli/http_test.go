package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

// startLog takes the log and calls started once, when it says that clients are
// served over HTTP.
type startLog struct {
	started func()

	mu   sync.Mutex // guards the fields below
	text bytes.Buffer
	told bool
}

func (l *startLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if !l.told && strings.Contains(l.text.String(), "serving over HTTP") {
		l.told = true
		l.started()
	}
	return len(p), nil
}

func (l *startLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// httpServer is a serve that runs in this process.
type httpServer struct {
	t    *testing.T
	log  *startLog
	stop context.CancelCauseFunc
	code chan int
}

// startHTTP runs serve over HTTP until the end of the test and waits until it
// listens.
func startHTTP(t *testing.T, env cli.Env, args ...string) *httpServer {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	started := make(chan struct{})
	s := &httpServer{t: t, stop: stop, code: make(chan int, 1), log: &startLog{started: func() { close(started) }}}
	env.Args, env.Stderr = append([]string{"serve", "--log-format", "json"}, args...), s.log
	if !slices.Contains(args, "--transport") {
		env.Args = append(env.Args, "--transport", "http")
	}
	if env.Register == nil {
		env.Register = (&fake{}).register
	}
	go func() { s.code <- cli.Run(ctx, env) }()
	select {
	case <-started:
	case code := <-s.code:
		t.Fatalf("ended with code %d\n%s", code, s.log)
	}
	t.Cleanup(func() { s.end() })
	return s
}

// end ends the server and returns its exit code.
func (s *httpServer) end() int {
	s.stop(errors.New("enough"))
	code := <-s.code
	s.code <- code // for the next one who asks
	return code
}

// line returns the line of the log that says what is served.
func (s *httpServer) line() map[string]any {
	s.t.Helper()
	first, _, _ := strings.Cut(s.log.String(), "\n")
	var line map[string]any
	if err := json.Unmarshal([]byte(first), &line); err != nil {
		s.t.Fatalf("%v in %s", err, first)
	}
	return line
}

// url returns where the endpoint is.
func (s *httpServer) url() string {
	s.t.Helper()
	listen, ok := s.line()["listen"].([]any)
	if !ok || len(listen) != 1 {
		s.t.Fatalf("no address in %v", s.line())
	}
	return listen[0].(string)
}

// address returns what --listen would have to be to get the same.
func (s *httpServer) address() string {
	s.t.Helper()
	address := regexp.MustCompile(`^https?://|/[^:/]*$`).ReplaceAllString(s.url(), "")
	if strings.HasPrefix(s.url(), "unix:") {
		address = s.url()
	}
	return address
}

// do sends a request with the headers, which are pairs, and returns status and
// body.
func do(t *testing.T, method, url, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if path, ok := strings.CutPrefix(url, "unix:"); ok {
		url = "http://localhost/mcp"
		client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// list is a request of 2026-07-28 and its headers.
func list() (body string, headers []string) {
	return strings.TrimSpace(modern(1, "tools/list", "")), []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
}

// ask asks for the tools.
func ask(t *testing.T, url string, headers ...string) (int, string, http.Header) {
	t.Helper()
	body, own := list()
	return do(t, http.MethodPost, url, body, append(own, headers...)...)
}

// TestHTTP_announces says in the first line where it serves, and to whom.
func TestHTTP_announces(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	tests := []struct {
		name         string
		in           []string
		listen, auth string // the first a regular expression
	}{
		{"free port", []string{"--listen", "127.0.0.1:0"}, `^http://127\.0\.0\.1:[1-9]\d*/mcp$`, "none"},
		{"path and token", []string{"--listen", "127.0.0.1:0", "--path", "/x/y", "--auth-token", "secret"}, `^http://127\.0\.0\.1:\d+/x/y$`, "tokens"},
		{"everywhere", []string{"--listen", "0.0.0.0:0", "--insecure-no-auth"}, `^http://.*:\d+/mcp$`, "none"},
		{"socket", []string{"--listen", "unix:" + socket}, "^unix:" + regexp.QuoteMeta(socket) + "$", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := startHTTP(t, cli.Env{}, tt.in...)
			line := s.line()
			if !regexp.MustCompile(tt.listen).MatchString(s.url()) || line["auth"] != tt.auth || line["tools"] != 7.0 || line["version"] != "devel" {
				t.Errorf("got %v, want listen %s and auth %s", line, tt.listen, tt.auth)
			}
			if code := s.end(); code != 0 {
				t.Errorf("code %d\n%s", code, s.log)
			}
			if strings.Contains(s.log.String(), "secret") {
				t.Errorf("the log has the token: %s", s.log)
			}
		})
	}
}

// TestHTTP_options asks servers that were started in different ways.
func TestHTTP_options(t *testing.T) {
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	body, headers := list()
	modernList := func(more ...string) []string { return append(headers[:len(headers):len(headers)], more...) }
	tests := []struct {
		name     string
		in       string // options
		tokens   string // in the environment
		method   string // default POST
		path     string // default /mcp
		body     string
		headers  []string
		status   int
		contains string // in the body
		header   [2]string
	}{
		{name: "both eras, modern", body: body, headers: modernList(), status: 200, contains: `"tools":[{"name":"echo"`},
		{name: "both eras, handshake", body: initialize, status: 200, contains: `"protocolVersion":"2025-11-25"`},
		{name: "health", method: "GET", path: "/healthz", status: 200, contains: "ok"},
		{name: "ready", method: "GET", path: "/readyz", status: 200, contains: "ok"},
		{name: "health needs no token", in: "--auth-token secret", method: "GET", path: "/healthz", status: 200},
		{name: "no token", in: "--auth-token secret", body: body, headers: modernList(), status: 401, header: [2]string{"WWW-Authenticate", "Bearer"}},
		{name: "wrong token", in: "--auth-token secret", body: body, headers: modernList("Authorization", "Bearer other"), status: 401},
		{name: "token", in: "--auth-token secret:ops:anna", body: body, headers: modernList("Authorization", "Bearer secret"), status: 200},
		{name: "second token", in: "--auth-token a --auth-token secret", body: body, headers: modernList("Authorization", "Bearer secret"), status: 200},
		{name: "token of the environment", in: "--auth-token a", tokens: " b\n secret:ops ", body: body, headers: modernList("Authorization", "Bearer secret"), status: 200},
		{name: "token of the option beside it", in: "--auth-token a", tokens: "b", body: body, headers: modernList("Authorization", "Bearer a"), status: 200},
		{name: "path", in: "--path /x/y", path: "/x/y/", body: body, headers: modernList(), status: 200},
		{name: "other path", in: "--path /x/y", body: body, headers: modernList(), status: 404, contains: "the MCP endpoint is /x/y"},
		{name: "public path", in: "--public-path /tools", path: "/none", body: body, headers: modernList(), status: 404, contains: "the MCP endpoint is /tools/mcp"},
		{name: "foreign host", body: body, headers: modernList("Host", "mcp.example"), status: 421, contains: "--allowed-host"},
		{name: "allowed host", in: "--allowed-host mcp.example", body: body, headers: modernList("Host", "mcp.example"), status: 200},
		{name: "allowed host alone", in: "--allowed-host mcp.example", body: body, headers: modernList(), status: 421},
		{name: "foreign origin", body: body, headers: modernList("Origin", "https://app.example"), status: 403, contains: "--allowed-origin"},
		{name: "allowed origin", in: "--allowed-origin https://app.example", body: body, headers: modernList("Origin", "https://app.example"), status: 200, header: [2]string{"Access-Control-Allow-Origin", ""}},
		{name: "CORS origin", in: "--cors-origin https://app.example", body: body, headers: modernList("Origin", "https://app.example"), status: 200, header: [2]string{"Access-Control-Allow-Origin", "https://app.example"}},
		{name: "no old endpoints", method: "GET", path: "/sse", status: 404},
		{name: "old endpoints", in: "--transport sse", path: "/messages", status: 400},
		{name: "session", body: initialize, status: 200, header: [2]string{"Mcp-Session-Id", "*"}},
		{name: "no session", in: "--stateless", body: initialize, status: 200, header: [2]string{"Mcp-Session-Id", ""}},
		{name: "no stream without sessions", in: "--stateless", method: "GET", headers: []string{"Accept", "text/event-stream"}, status: 405},
		{name: "JSON by itself", body: body, headers: modernList("Accept", "application/json, text/event-stream"), status: 200, header: [2]string{"Content-Type", "application/json"}},
		{name: "always events", in: "--always-sse", body: body, headers: modernList("Accept", "application/json, text/event-stream"), status: 200, header: [2]string{"Content-Type", "text/event-stream"}},
		{name: "always JSON", in: "--json-response", body: strings.TrimSpace(modern(1, "tools/call", `"name":"report",`)),
			headers: []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "report"}, status: 200, header: [2]string{"Content-Type", "application/json"}},
		{name: "body", in: "--max-body 1KiB", body: `"` + strings.Repeat("x", 1023) + `"`, status: 413},
		{name: "header", in: "--max-header 1KiB", body: body, headers: modernList("X-Long", strings.Repeat("x", 8<<10)), status: 431},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(name string) string {
				if name == "CLOUDG_AUTH_TOKENS" {
					return tt.tokens
				}
				return ""
			}
			args := append([]string{"--listen", "127.0.0.1:0"}, strings.Fields(tt.in)...)
			s := startHTTP(t, cli.Env{Getenv: getenv}, args...)
			method, path := "POST", "/mcp"
			if tt.method != "" {
				method = tt.method
			}
			if tt.path != "" {
				path = tt.path
			}
			status, text, header := do(t, method, "http://"+strings.Split(strings.TrimPrefix(s.url(), "http://"), "/")[0]+path, tt.body, tt.headers...)
			got := header.Get(tt.header[0])
			if tt.header[1] == "*" && got != "" {
				got = "*"
			}
			if status != tt.status || !strings.Contains(text, tt.contains) || tt.header[0] != "" && got != tt.header[1] {
				t.Errorf("got %d %v %s\nwant %d, %q, header %q", status, header, text, tt.status, tt.contains, tt.header)
			}
		})
	}
}

// TestHTTP_limits starts with every limit changed, and reaches the one for
// sessions.
func TestHTTP_limits(t *testing.T) {
	s := startHTTP(t, cli.Env{}, strings.Fields("--listen 127.0.0.1:0 --max-connections 5 --max-sessions 2 --max-sessions-per-principal 2 --max-streams 1 --max-in-flight 3 "+
		"--header-timeout 1s --body-timeout 2s --write-timeout 3s --session-idle 0 --keep-alive 0 --drain 0")...)
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	var ids []string
	for range 3 {
		_, _, header := do(t, "POST", s.url(), initialize)
		ids = append(ids, header.Get("Mcp-Session-Id"))
	}
	var got []int
	for _, id := range ids {
		status, _, _ := do(t, "POST", s.url(), `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", id)
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{404, 200, 200}, got); diff != "" {
		t.Errorf("the first session made no room (-want +got)\n%s", diff)
	}
}

// TestHTTP_stops ends a server with a stream that waits for events.
func TestHTTP_stops(t *testing.T) {
	s := startHTTP(t, cli.Env{}, "--listen", "127.0.0.1:0")
	body := strings.TrimSpace(modern(7, "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if code := s.end(); code != 0 || !strings.Contains(s.log.String(), `"cause":"enough"`) {
		t.Errorf("code %d\n%s", code, s.log)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(text), "acknowledged") || !strings.Contains(string(text), `"id":7,"result":{"resultType":"complete"`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestHTTP_cannotListen is A52: the reason, and an exit code.
func TestHTTP_cannotListen(t *testing.T) {
	s := startHTTP(t, cli.Env{}, "--listen", "127.0.0.1:0")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"taken", []string{"--listen", s.address()}, "--listen: listen tcp " + s.address() + ": bind: "},
		{"no socket", []string{"--listen", "unix:" + file}, "--listen: address \"unix:" + file + "\": there is a file of that name"},
		{"no systemd", []string{"--listen", "systemd"}, "--listen: address \"systemd\": systemd has passed no sockets"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			got := runEnv(t, cli.Env{Args: append([]string{"serve", "--transport", "http"}, tt.in...), Register: f.register})
			if got.code != 1 || !strings.Contains(got.stderr, "cloudg serve: "+tt.want) || f.closed != 1 {
				t.Errorf("got %+v, want %s; closed %d times", got, tt.want, f.closed)
			}
		})
	}
}

// TestHTTP_files tells which file of TLS is wrong before anything is opened.
func TestHTTP_files(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"no certificate", []string{"--tls-cert", file, "--tls-key", key}, "--tls-cert and --tls-key: tls: failed to find any PEM data in certificate input"},
		{"no key", []string{"--tls-cert", cert, "--tls-key", cert}, "--tls-cert and --tls-key: tls: "},
		{"missing", []string{"--tls-cert", cert, "--tls-key", dir + "/none"}, "--tls-cert and --tls-key: open " + dir + "/none"},
		{"no authority", []string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", file}, "--tls-client-ca: " + file + " has no certificate in PEM form"},
		{"missing authority", []string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", dir + "/none"}, "--tls-client-ca: open " + dir + "/none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			got := runEnv(t, cli.Env{Args: append([]string{"serve", "--transport", "http"}, tt.in...), Register: f.register})
			if got.code != 1 || !strings.HasPrefix(got.stderr, "cloudg serve: "+tt.want) || f.options.Logger != nil {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// TestHTTP_tokenFile takes a token from a file that others cannot read.
func TestHTTP_tokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startHTTP(t, cli.Env{}, "--listen", "127.0.0.1:0", "--auth-token", "file:"+file)
	if status, text, _ := ask(t, s.url(), "Authorization", "Bearer secret"); status != 200 {
		t.Errorf("got %d %s", status, text)
	}
	if runtime.GOOS == "windows" {
		t.Skip("a mode says nothing here")
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", "serve", "--transport", "http", "--auth-token", "file:"+file)
	if got.code != 2 || !strings.Contains(got.stderr, "has mode 0644") || strings.Contains(got.stderr, "secret") {
		t.Errorf("got %+v", got)
	}
}
