package transport_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/internal/memnet"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// site is a server in memory and a client of it.
type site struct {
	t        *testing.T
	handler  *transport.Handler
	store    *session.Store
	reg      *registry.Registry
	hub      *notify.Hub
	listener *memnet.Listener
	client   *http.Client

	mu     sync.Mutex // guards the fields below
	causes []string   // why calls of the tool wait ended
	ran    int        // how often the tool side ran
	logged strings.Builder

	forgets bool // what is logged
}

// siteOptions says what is different from the usual.
type siteOptions struct {
	http      transport.HTTPOptions
	store     session.StoreOptions
	stateless bool // no store
	window    int  // bytes that a connection holds
}

// startSite starts a server; the end of the test stops it.
func startSite(t *testing.T, o *siteOptions) *site {
	t.Helper()
	s := newSite(t, o)
	s.serve()
	return s
}

// siteWithoutServer returns a site whose listener the test serves itself.
func siteWithoutServer(t *testing.T) *site {
	t.Helper()
	s := newSite(t, nil)
	t.Cleanup(s.end)
	return s
}

func newSite(t *testing.T, o *siteOptions) *site {
	t.Helper()
	if o == nil {
		o = new(siteOptions)
	}
	s := &site{t: t, hub: notify.New(nil), listener: memnet.Listen(o.window)}
	s.reg = registry.New(&registry.Options{OnChange: session.Announce(s.hub)})
	s.registerTools()
	log := slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: s.reg, Timeout: -1, MaxOutput: -1, Logger: log}),
		Info:  protocol.Implementation{Name: "site", Version: "1"},
		Hub:   s.hub, Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	options := o.http
	options.Backend, options.Logger = server, log
	if !o.stateless {
		s.store = session.NewStore(&o.store)
		options.Store = s.store
	}
	if s.handler, err = transport.NewHandler(&options); err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Transport: &http.Transport{DialContext: s.listener.Dial, MaxIdleConnsPerHost: 100, MaxConnsPerHost: 200, DisableCompression: true}}
	return s
}

// end ends what does not serve.
func (s *site) end() {
	s.client.CloseIdleConnections()
	if s.store != nil {
		s.store.Close()
	}
	s.hub.Close()
}

// serve serves the handler on the listener until the test ends.
func (s *site) serve() {
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { // until stop; the cleanup waits for it
		served <- transport.Serve(ctx, &transport.ServerOptions{Handler: s.handler, Listeners: []net.Listener{s.listener}, Grace: time.Second})
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			s.t.Error(err)
		}
		s.end()
	})
}

// Write takes the log.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgets {
		return len(p), nil
	}
	return s.logged.Write(p)
}

func (s *site) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.String()
}

func (s *site) waitCauses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.causes...)
}

func (s *site) sideRuns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ran
}

type echoArgs struct {
	Text string `json:"text"`
}

type countArgs struct {
	N int `json:"n,omitempty"`
}

func typedTool[In any](s *site, name string, fn func(context.Context, *registry.Call, In) (string, error)) {
	tool, err := registry.Typed(registry.Tool{Name: name, Description: "A fixture."}, fn)
	if err == nil {
		err = s.reg.AddTool(tool)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) registerTools() {
	typedTool(s, "echo", func(_ context.Context, _ *registry.Call, in echoArgs) (string, error) { return in.Text, nil })
	typedTool(s, "steps", func(ctx context.Context, call *registry.Call, in countArgs) (string, error) { // one per second
		for i := range in.N {
			if err := pause(ctx, time.Second); err != nil {
				return "", err
			}
			if err := call.Progress(ctx, float64(i+1), float64(in.N), ""); err != nil {
				return "", err
			}
		}
		return fmt.Sprint("done ", in.N), nil
	})
	typedTool(s, "storm", func(ctx context.Context, call *registry.Call, in countArgs) (string, error) { // at once
		for i := range in.N {
			if err := call.Progress(ctx, float64(i+1), float64(in.N), ""); err != nil {
				return "", err
			}
		}
		return fmt.Sprint("done ", in.N), nil
	})
	typedTool(s, "logs", func(ctx context.Context, call *registry.Call, in countArgs) (string, error) {
		for i := range in.N {
			if err := call.Log(ctx, protocol.LogError, "site", i); err != nil {
				return "", err
			}
		}
		return "logged", nil
	})
	typedTool(s, "wait", func(ctx context.Context, _ *registry.Call, _ countArgs) (string, error) {
		<-ctx.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.causes = append(s.causes, context.Cause(ctx).Error())
		return "", context.Cause(ctx)
	})
	typedTool(s, "side", func(context.Context, *registry.Call, countArgs) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ran++
		return "ran", nil
	})
	region := registry.Tool{
		Name: "region", Description: "A fixture.",
		InputSchema: []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer","x-mcp-header":"Level"}}}`),
		Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult("regional"), nil
		},
	}
	if err := s.reg.AddTool(region); err != nil {
		s.t.Fatal(err)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// header is a header of a request; an empty value leaves it out.
type header map[string]string

// The headers that every proper POST has.
var usual = header{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// request makes a request with the usual headers and those of h.
func (s *site) request(method, target, body string, h header) *http.Request {
	s.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, "http://127.0.0.1:1"+target, r)
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		for k, v := range usual {
			req.Header.Set(k, v)
		}
	}
	for k, v := range h {
		switch {
		case k == "Host":
			req.Host = v
		case v == "":
			delete(req.Header, http.CanonicalHeaderKey(k))
		default:
			req.Header.Set(k, v)
		}
	}
	return req
}

// do sends a request and reads the whole answer.
func (s *site) do(method, target, body string, h header) answer {
	s.t.Helper()
	return s.send(s.request(method, target, body, h))
}

func (s *site) send(req *http.Request) answer {
	s.t.Helper()
	a, err := s.try(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// try is send for goroutines, which must not end the test.
func (s *site) try(req *http.Request) (answer, error) {
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b)}, err
}

func readAnswer(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the body broke off: %v after %q", err, b)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func (s *site) post(body string, h header) answer {
	s.t.Helper()
	return s.do(http.MethodPost, "/mcp", body, h)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
}

// open begins a session and returns the headers of its requests.
func (s *site) open(version string, more header) header {
	s.t.Helper()
	a := s.post(initialize(version), more)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || id == "" {
		s.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	h := header{"Mcp-Session-Id": id, "Mcp-Protocol-Version": version}
	for k, v := range more {
		h[k] = v
	}
	if a := s.post(initialized, h); a.status != http.StatusAccepted || a.body != "" {
		s.t.Fatalf("initialized: %d %q", a.status, a.body)
	}
	return h
}

// call is the body of a call of a tool in a session, with a progress token.
func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,"_meta":{"progressToken":1}}}`
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}`

// modernCall is a call of a tool in the stateless era, and its headers.
func modernCall(id, tool, args string) (string, header) {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,` + modernMeta + `}}`,
		header{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
}

// modern is another request of the stateless era, and its headers.
func modern(id, method string) (string, header) {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + modernMeta + `}}`,
		header{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
}

// with returns the headers with others in addition.
func (h header) with(more header) header {
	all := make(header)
	for k, v := range h {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

// stream is an event stream that is being read.
type stream struct {
	t      *testing.T
	resp   *http.Response
	cancel context.CancelFunc
	lines  *bufio.Reader
}

// sse is one event, or a comment.
type sse struct{ id, event, data, retry, comment string }

// stream sends a request and returns the answer, which must be an event stream.
func (s *site) stream(req *http.Request) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := s.client.Do(req.WithContext(ctx))
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("no event stream: %d %s %s", resp.StatusCode, got, b)
	}
	st := &stream{s.t, resp, cancel, bufio.NewReader(resp.Body)}
	s.t.Cleanup(st.close)
	return st
}

// listen opens the standalone stream of a session.
func (s *site) listen(h header) *stream {
	s.t.Helper()
	return s.stream(s.request(http.MethodGet, "/mcp", "", h.with(header{"Accept": "text/event-stream"})))
}

// close leaves. What was read stays.
func (st *stream) close() {
	if st.lines == nil {
		return
	}
	st.cancel()
	st.resp.Body.Close()
	st.lines, st.resp = nil, nil
}

// next returns the next event or comment, and false at the end.
func (st *stream) next() (e sse, ok bool) {
	for st.lines != nil {
		line, err := st.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if e == (sse{}) {
				continue
			}
			return e, true
		case name == "":
			e.comment = value
		case name == "id":
			e.id = value
		case name == "event":
			e.event = value
		case name == "retry":
			e.retry = value
		case name == "data":
			e.data += value
		}
	}
	return e, false
}

// must returns the next event; the stream must not be at its end.
func (st *stream) must() sse {
	st.t.Helper()
	e, ok := st.next()
	if !ok {
		st.t.Fatal("the stream has ended")
	}
	return e
}

// rest returns the events up to the end, without comments.
func (st *stream) rest() (all []sse) {
	for {
		e, ok := st.next()
		if !ok {
			return all
		}
		if e.comment == "" {
			all = append(all, e)
		}
	}
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
