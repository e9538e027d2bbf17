package session_test

import (
	"context"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// callServer is a server with the tools echo and add, as the bench has them.
func callServer(b testing.TB) *session.Server {
	b.Helper()
	type in struct {
		Text string `json:"text"`
	}
	type sum struct {
		Sum float64 `json:"sum"`
	}
	type add struct{ A, B float64 }
	reg := registry.New(nil)
	echo, err := registry.Typed(registry.Tool{Name: "echo"}, func(_ context.Context, call *registry.Call, v in) (*protocol.CallToolResult, error) {
		return registry.TextResult(v.Text), nil
	})
	if err != nil {
		b.Fatal(err)
	}
	adder, err := registry.Typed(registry.Tool{Name: "add"}, func(_ context.Context, _ *registry.Call, v add) (sum, error) {
		return sum{v.A + v.B}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := reg.AddTool(echo, adder); err != nil {
		b.Fatal(err)
	}
	server, err := session.NewServer(&session.Options{Layer: layer.New(&layer.Options{Registry: reg}), Info: protocol.Implementation{Name: "b", Version: "1"}})
	if err != nil {
		b.Fatal(err)
	}
	return server
}

// frames are what is measured. Allocs is how often one may allocate, from its
// frame to its response.
func frames() []struct {
	name, frame string
	allocs      float64
} {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	return []struct {
		name, frame string
		allocs      float64
	}{
		{"echo", `{"jsonrpc":"2.0","id":987654321,"method":"tools/call","params":{"name":"echo","arguments":{"text":"echo 0000000000 of the benchmark"}}}`, 9},
		{"add", `{"jsonrpc":"2.0","id":987654321,"method":"tools/call","params":{"name":"add","arguments":{"A":987654321,"B":1}}}`, 7},
		{"echo stateless", `{"jsonrpc":"2.0","id":987654321,"method":"tools/call","params":{"name":"echo","arguments":{"text":"echo 0000000000 of the benchmark"},` + meta + `}}`, 10},
		{"tools/list", `{"jsonrpc":"2.0","id":987654321,"method":"tools/list","params":{}}`, 4},
	}
}

// serveOnce returns a function that does all for one frame.
func serveOnce(b testing.TB, server *session.Server, frame []byte) func() {
	decoder := server.Decoder()
	handler := server.Assume(policy.Local(), protocol.V20251125)
	var buf []byte
	return func() {
		m, err := decoder.Decode(frame)
		if err != nil {
			b.Fatal(err)
		}
		var ctx jsonrpc.CallContext
		ctx.Derive(context.Background())
		if buf, err = handler.Handle(&ctx, m.(*jsonrpc.Request), nil, buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallTool measures a call from its frame to its response, without a
// transport: the part of the cost that is ours.
func BenchmarkCallTool(b *testing.B) {
	server := callServer(b)
	for _, bb := range frames() {
		b.Run(bb.name, func(b *testing.B) {
			do := serveOnce(b, server, []byte(bb.frame))
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// Each allocation of a small call costs it about a fortieth of its time.
func TestCallAllocates(t *testing.T) {
	server := callServer(t)
	for _, tt := range frames() {
		if n := testing.AllocsPerRun(200, serveOnce(t, server, []byte(tt.frame))); n > tt.allocs {
			t.Errorf("%s allocates %v times, want at most %v", tt.name, n, tt.allocs)
		}
	}
}
