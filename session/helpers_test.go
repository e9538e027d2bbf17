package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/internal/speccheck"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// pipe is a stream in memory. What is sent is read in order; what is written is
// kept, line by line, and judged.
type pipe struct {
	in      chan []byte
	checker *speccheck.Checker

	mu     sync.Mutex // guards the fields below
	lines  []string
	faults []error
}

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	select {
	case frame, ok := <-p.in:
		if !ok {
			return nil, io.EOF
		}
		return frame, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipe) Write(_ context.Context, frames []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range bytes.Lines(frames) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		p.lines = append(p.lines, string(line))
		if err := p.checker.Received(line); err != nil {
			p.faults = append(p.faults, err)
		}
	}
	return nil
}

func (p *pipe) Delimiter() string { return "\n" }

func (p *pipe) Buffered() bool { return len(p.in) > 0 }

func (p *pipe) Close() error { return nil }

// peer is a client of a server in the same process, within a synctest bubble.
type peer struct {
	t     *testing.T
	pipe  *pipe
	hub   *notify.Hub
	reg   *registry.Registry
	seen  int
	over  chan struct{} // closed when the connection is
	close func()        // ends the input, once
}

// specification reads the schemas once.
var specification = sync.OnceValues(func() (*speccheck.Spec, error) { return speccheck.Find("..") })

// spec returns the schemas of the specification. Without them the tests run, but
// what they see is judged by rules only.
func spec(t *testing.T) *speccheck.Spec {
	t.Helper()
	return speccheck.Need(t, specification)
}

// fixture is what a server under test has; the zero value is usable.
type fixture struct {
	options session.Options
	layer   layer.Options
	noHub   bool
	tools   []registry.Tool
}

// connect starts a server and returns its client. Everything ends with the test.
func (f fixture) connect(t *testing.T) *peer {
	t.Helper()
	p := &peer{t: t, pipe: &pipe{in: make(chan []byte, 100), checker: speccheck.NewChecker(spec(t))}, over: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.pipe.in) })
	o := f.options
	ro := new(registry.Options)
	if !f.noHub {
		p.hub = notify.New(nil)
		o.Hub, ro.OnChange = p.hub, session.Announce(p.hub)
	}
	p.reg = registry.New(ro)
	if err := errors.Join(p.reg.AddTool(f.tools...), p.reg.AddResource(watched("test://a"), watched("test://b"), watched("test://c"))); err != nil {
		t.Fatal(err)
	}
	f.layer.Registry = p.reg
	o.Layer, o.Info = layer.New(&f.layer), protocol.Implementation{Name: "s", Version: "1"}
	server, err := session.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the input; finish waits for it
		defer close(p.over)
		if err := server.Serve(context.Background(), p.pipe, policy.Local(), nil); err != nil {
			t.Errorf("serving: %v", err)
		}
	}()
	t.Cleanup(p.finish)
	return p
}

func watched(uri string) registry.Resource {
	return registry.Resource{URI: uri, Name: uri, Handler: func(_ context.Context, c *registry.Call) (*protocol.ReadResourceResult, error) {
		return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: c.URI, Text: "x"}}}, nil
	}}
}

// finish ends the connection and reports what was wrong on it.
func (p *peer) finish() {
	p.close()
	<-p.over
	if p.hub != nil {
		p.hub.Close()
		if n := p.hub.Stats().Subscribers; n != 0 {
			p.t.Errorf("%d subscribers are left", n)
		}
	}
	for _, err := range p.pipe.faults {
		p.t.Errorf("the server sent what it must not: %v", err)
	}
}

// send sends messages and waits until the server has nothing more to do.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		p.pipe.checker.Sent([]byte(line))
		p.pipe.in <- []byte(line)
	}
	settle()
}

// settle lets everything happen that waits for nothing but the engine, which
// looks after slow calls once in a millisecond of the bubble's clock.
func settle() {
	time.Sleep(5 * time.Millisecond)
	synctest.Wait()
}

// take returns what the server wrote since it was last called.
func (p *peer) take() []string {
	p.pipe.mu.Lock()
	defer p.pipe.mu.Unlock()
	lines := p.pipe.lines[p.seen:]
	p.seen = len(p.pipe.lines)
	return lines
}

// ask sends a message and returns the only answer.
func (p *peer) ask(line string) answer {
	p.t.Helper()
	p.take()
	p.send(line)
	lines := p.take()
	if len(lines) != 1 {
		p.t.Fatalf("%s was answered with %d lines: %q", line, len(lines), lines)
	}
	var a answer
	if err := json.Unmarshal([]byte(lines[0]), &a); err != nil {
		p.t.Fatal(err)
	}
	return a
}

// answer is an answer of the server.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// outcome is the code of an error, or "result".
func (a answer) outcome() string {
	if a.Result != nil {
		return "result"
	}
	return fmt.Sprint(a.Error.Code)
}

const (
	meta        = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func initialize(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, version)
}

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func modern(id, method, params string) string {
	return request(id, method, strings.TrimSuffix(meta+","+params, ","))
}

// handshake negotiates a version.
func (p *peer) handshake(version string) {
	p.t.Helper()
	if a := p.ask(initialize(version)); a.Result == nil {
		p.t.Fatalf("the handshake was refused: %d %s", a.Error.Code, a.Error.Message)
	}
	p.send(initialized)
}

// tool returns a tool without arguments.
func tool(name string, h registry.ToolHandler) registry.Tool {
	return registry.Tool{Name: name, InputSchema: []byte(`{"type":"object"}`), Handler: h}
}

var _ jsonrpc.Stream = (*pipe)(nil)
