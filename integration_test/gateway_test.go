package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// upstream is a server process that tools of another server call, by way of the
// packages that a program would use for it.
type upstream struct {
	conn *jsonrpc.Conn
	log  *server // for its standard error only
}

// caller is what the upstream finds at our end: a client that is asked nothing.
type caller struct{}

func (caller) Handle(_ context.Context, req *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	return dst, protocol.Errorf(protocol.CodeMethodNotFound, "Method not found: %s", req.Method)
}

func (caller) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (caller) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (caller) Drain()                                                 {}

// startUpstream starts the process and does the handshake with it.
func startUpstream(t *testing.T) *upstream {
	t.Helper()
	cmd := exec.Command(built(t, everything), "-stdio")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{log: &server{t: t, stderr: newTail()}}
	cmd.Stderr = u.log.stderr
	if raceEnabled { // as in startCommandWith
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u.conn = jsonrpc.NewConn(transport.NewLines(stdout, stdin, nil), caller{}, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- u.conn.Run(ctx) }() // until the cleanup, which waits for it
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the connection to the upstream ended: %v", err)
		}
		if err := cmd.Wait(); err != nil { // it ends with its input
			t.Errorf("the upstream ended: %v\n%s", err, u.log.stderr)
		}
	})
	if _, err := u.conn.Call(ctx, protocol.MethodInitialize, []byte(`{"protocolVersion":"`+newest+`","capabilities":{},"clientInfo":{"name":"gateway","version":"0"}}`)); err != nil {
		t.Fatal(err)
	}
	u.notify(ctx, protocol.NotifyInitialized, nil)
	return u
}

func (u *upstream) notify(ctx context.Context, method string, params []byte) {
	if err := u.conn.Send(ctx, jsonrpc.AppendRequest(nil, "", method, params)); err != nil {
		u.log.t.Errorf("%s: %v", method, err)
	}
}

// forward passes a call on to the upstream's tool sleep, and its cancellation
// with it, under the id that the upstream knows.
func (u *upstream) forward(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	_, err := u.conn.Call(ctx, protocol.MethodToolsCall, fmt.Appendf(nil, `{"name":"sleep","arguments":%s}`, call.Arguments))
	var given *jsonrpc.CallError
	if errors.As(err, &given) {
		u.notify(context.WithoutCancel(ctx), protocol.NotifyCancelled, fmt.Appendf(nil, `{"requestId":%s}`, given.ID))
	}
	if err != nil {
		return nil, err
	}
	return registry.TextResult("forwarded"), nil
}

// A22 with a gateway made of a handler: there is no mount yet, but what a mount
// needs of a session and of a connection is here.
func TestA22CancelThroughAGateway(t *testing.T) {
	for _, version := range []string{newest, stateless} {
		t.Run(version, func(t *testing.T) {
			up := startUpstream(t)
			p := newInProcess(t, session.Options{}, registry.Tool{Name: "forward", InputSchema: []byte(`{"type":"object"}`), Handler: up.forward})
			answers := make(chan string, 10)
			c := p.lines(jsonrpc.Options{}, func(line []byte) { answers <- string(line) })
			next := func(id string) {
				t.Helper()
				select {
				case a := <-answers:
					if !strings.Contains(a, `"id":`+id+`,"result":`) {
						t.Fatalf("the answer is %s, want the result of %s", a, id)
					}
				case <-time.After(patience):
					t.Fatalf("no answer to %s; the upstream said\n%s", id, up.log.stderr)
				}
			}
			if version == newest {
				c.send(initialize(version))
				next(`"i"`)
				c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			}
			c.send(inVersion(version, "5", "tools/call", `"name":"forward","arguments":{"ms":1}`))
			next("5") // so the ids of the two sides are not the same
			c.send(inVersion(version, "7", "tools/call", `"name":"forward","arguments":{"ms":600000}`))
			up.log.saidTimes("sleep started", 2)
			cancelled := time.Now()
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
			up.log.saidTimes("sleep cancelled", 1)
			if took := time.Since(cancelled); took > 3*time.Second {
				t.Errorf("the upstream stopped working after %v, want at once", took)
			}
			c.send(inVersion(version, "8", "tools/call", `"name":"forward","arguments":{"ms":1}`))
			next("8") // and nothing for 7 before it
			c.close()
			if len(answers) > 0 {
				t.Errorf("after the last answer came %s", <-answers)
			}
		})
	}
}
