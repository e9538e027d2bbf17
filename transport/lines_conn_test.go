package transport_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/transport"
)

// ponger answers every request with {}.
type ponger struct{}

func (ponger) Handle(_ context.Context, _ *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	return append(dst, `{}`...), nil
}

func (ponger) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (ponger) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (ponger) Drain()                                                 {}

// A connection over lines survives whatever stands on them, and answers the last
// one though it has no end.
func TestLinesServe(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	const pong = `{"jsonrpc":"2.0","id":1,"result":{}}`
	input := []struct{ line, want string }{
		{"\ufeff" + ping + "\r\n", pong},
		{"\n \r\n" + ping + "\n", pong},
		{"nonsense\n", `"code":-32700`},
		{strings.Repeat("[", 100_000) + "\n", `"code":-32700`},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 4<<20) + `","method":"ping"}` + "\n", `"code":-32600`},
		{strings.Repeat("x", 17<<20) + "\n", `"code":-32600`},
		{"\xff\xfe\n", `"code":-32700`},
		{ping, pong},
	}
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		go func() { // ends with the input
			for _, in := range input {
				_, _ = io.WriteString(inW, in.line)
			}
			inW.Close()
		}()
		ended := make(chan error, 1)
		go func() { // ends with the input
			ended <- jsonrpc.NewConn(transport.NewLines(inR, outW, nil), ponger{}, nil).Run(t.Context())
		}()
		answers := bufio.NewScanner(outR)
		for _, in := range input {
			if !answers.Scan() {
				t.Fatalf("no answer to %.50q", in.line)
			}
			if !strings.Contains(answers.Text(), in.want) {
				t.Errorf("%.50q was answered with %s, want %s", in.line, answers.Text(), in.want)
			}
		}
		if answers.Scan() {
			t.Errorf("an answer too many: %s", answers.Text())
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}
