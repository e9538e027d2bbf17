package integration_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudg.dev/cloudg/internal/memnet"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// inProcess is a server in the process of the test, so that its inside can be
// looked at. Both transports serve it.
type inProcess struct {
	t       *testing.T
	server  *session.Server
	running atomic.Int64 // handlers
	left    sync.WaitGroup
}

// newInProcess returns a server with the tools of the soak tests and others.
func newInProcess(t *testing.T, o session.Options, tools ...registry.Tool) *inProcess {
	t.Helper()
	p := &inProcess{t: t}
	reg := registry.New(nil)
	if err := reg.AddTool(append(tools, p.tool("linger", p.linger), p.tool("chatter", p.chatter), p.tool("hold", hold), p.tool("ask", askName))...); err != nil {
		t.Fatal(err)
	}
	o.Layer = layer.New(&layer.Options{Registry: reg, Timeout: -1})
	o.Info = protocol.Implementation{Name: "in process", Version: "1"}
	var err error
	if p.server, err = session.NewServer(&o); err != nil {
		t.Fatal(err)
	}
	return p
}

// tool returns a tool whose running handlers are counted.
func (p *inProcess) tool(name string, h registry.ToolHandler) registry.Tool {
	return registry.Tool{Name: name, InputSchema: []byte(`{"type":"object"}`), Handler: func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		p.running.Add(1)
		defer p.running.Add(-1)
		return h(ctx, call)
	}}
}

// linger works for as many microseconds as it is told, or until it is cancelled.
func (p *inProcess) linger(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	var in struct{ US int }
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return nil, err
	}
	if err := call.Progress(ctx, 1, 0, ""); err != nil {
		return nil, err
	}
	timer := time.NewTimer(time.Duration(in.US) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return registry.TextResult("done"), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// chatter reports progress, and leaves a goroutine behind that goes on doing so.
func (p *inProcess) chatter(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	const before, after = 5, 50
	var n atomic.Int64
	report := func() error { return call.Progress(context.WithoutCancel(ctx), float64(n.Add(1)), 0, "") }
	returns := make(chan struct{})
	p.left.Go(func() { // the test waits for it
		for more := 0; more < after; {
			select {
			case <-returns:
				more++
			default:
			}
			if report() != nil {
				return
			}
			runtime.Gosched()
		}
	})
	defer close(returns)
	for range before {
		if err := report(); err != nil {
			return nil, err
		}
	}
	return registry.TextResult("done"), nil
}

// hold works until it is cancelled, and says why.
func hold(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	if err := call.Progress(ctx, 1, 0, ""); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// askName asks for a name.
func askName(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	res, err := call.Elicit(ctx, "name", &registry.Elicitation{Message: "Who?", Form: &registry.Form{Fields: []registry.Field{{Name: "name", Required: true}}}})
	if err != nil {
		return nil, err
	}
	return registry.TextResult(res.Action + " " + res.Text("name")), nil
}

// lineClient is a client on a pair of pipes.
type lineClient struct {
	t    *testing.T
	conn *jsonrpc.Conn
	pipe net.Conn
	read func(line []byte) // called for each line, by one goroutine
	done chan struct{}     // closed when all has ended

	mu sync.Mutex // held while writing
}

// lines serves a client over a line transport. Read is called for each line that
// the server writes.
func (p *inProcess) lines(o jsonrpc.Options, read func([]byte)) *lineClient {
	near, far := memnet.Pipe(1 << 20)
	o.Decoder, o.Ordered = p.server.Decoder(), p.server.Ordered
	c := &lineClient{t: p.t, pipe: near, read: read, done: make(chan struct{})}
	c.conn = jsonrpc.NewConn(transport.NewLines(far, far, nil), p.server.NewSession(policy.Local()), &o)
	var both sync.WaitGroup
	both.Go(func() { // until the client closes its end
		if err := c.conn.Run(context.Background()); err != nil {
			p.t.Errorf("serving: %v", err)
		}
	})
	both.Go(func() { // until the server closes its end
		r := bufio.NewReaderSize(near, 64<<10)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			c.read(line)
		}
	})
	go func() { // ends with both
		both.Wait()
		close(c.done)
	}()
	return c
}

// send sends a message.
func (c *lineClient) send(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.pipe.Write([]byte(line + "\n")); err != nil {
		c.t.Errorf("writing: %v", err)
	}
}

// close ends the connection and waits until nothing of it runs any more.
func (c *lineClient) close() {
	if half, ok := c.pipe.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	} else {
		_ = c.pipe.Close()
	}
	<-c.done
	_ = c.pipe.Close()
}

// site is an HTTP server in memory.
type site struct {
	*inProcess
	store  *session.Store
	client *http.Client
	stop   func() // stops the server and waits for it; once
}

// site serves over HTTP until the test ends, or until stop.
func (p *inProcess) site(o transport.HTTPOptions) *site {
	p.t.Helper()
	s := &site{inProcess: p, store: session.NewStore(nil)}
	o.Backend, o.Store = p.server, s.store
	handler, err := transport.NewHandler(&o)
	if err != nil {
		p.t.Fatal(err)
	}
	listener := memnet.Listen(16 << 10)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { // until stop, which waits for it
		served <- transport.Serve(ctx, &transport.ServerOptions{Handler: handler, Listeners: []net.Listener{listener}, MaxConnections: 4096, Grace: 5 * time.Second})
	}()
	s.client = &http.Client{Transport: &http.Transport{DialContext: listener.Dial, MaxIdleConnsPerHost: 4096, DisableCompression: true}}
	s.stop = sync.OnceFunc(func() {
		s.client.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			p.t.Error(err)
		}
		s.store.Close()
	})
	p.t.Cleanup(s.stop)
	return s
}

// post posts a message. Headers of the stateless era are added as the message
// needs them; session is the id of one, or empty.
func (s *site) post(ctx context.Context, sessionID, message string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:1/mcp", strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	var m struct {
		Method string
		Params struct {
			Name string
			Meta map[string]json.RawMessage `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		return nil, err
	}
	switch {
	case m.Params.Meta["io.modelcontextprotocol/protocolVersion"] != nil:
		req.Header.Set("Mcp-Protocol-Version", stateless)
		req.Header.Set("Mcp-Method", m.Method)
		if m.Params.Name != "" {
			req.Header.Set("Mcp-Name", m.Params.Name)
		}
	case sessionID != "":
		req.Header.Set("Mcp-Protocol-Version", newest)
	}
	if sessionID != "" {
		req.Header.Set("Mcp-Session-Id", sessionID)
	}
	return s.client.Do(req)
}

// deliver posts a message that is not answered but with a status.
func (s *site) deliver(sessionID, message string) int {
	resp, err := s.post(context.Background(), sessionID, message)
	if err != nil {
		s.t.Errorf("posting: %v", err)
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the status is all that counts
	return resp.StatusCode
}

// open begins a session and returns its id.
func (s *site) open(capabilities string) string {
	s.t.Helper()
	resp, err := s.post(context.Background(), "", strings.Replace(initialize(newest), `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	id := resp.Header.Get("Mcp-Session-Id")
	if id == "" {
		s.t.Fatalf("no session: %s", resp.Status)
	}
	if status := s.deliver(id, initialized); status != http.StatusAccepted {
		s.t.Fatalf("notifications/initialized: status %d", status)
	}
	return id
}

// messages calls f for each message in an answer, JSON or a stream, until there
// are no more or f reports false.
func messages(resp *http.Response, f func(raw []byte) bool) error {
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		raw, err := io.ReadAll(resp.Body)
		if err == nil && len(raw) > 0 {
			f(raw)
		}
		return err
	}
	r := bufio.NewReaderSize(resp.Body, 4096)
	for {
		line, err := r.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && !f(bytes.TrimSpace(data)) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eventually waits until a condition holds that nothing announces.
func eventually(t *testing.T, what string, holds func() bool) bool {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Errorf("in %v it did not come to be that %s", patience, what)
			return false
		}
	}
	return true
}

// goroutinesBack waits until no more goroutines run than before.
func goroutinesBack(t *testing.T, before int) {
	t.Helper()
	if !eventually(t, fmt.Sprintf("only %d goroutines run", before), func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		t.Logf("%d goroutines run:\n%.20000s", runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	}
}
