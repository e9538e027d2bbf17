package jsonrpc_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
)

// knownMethods is what a server gives its decoder.
var knownMethods = map[string]string{"tools/call": "tools/call", "ping": "ping"}

// Frames as clients send them: a call of the handshake era, the same with the
// _meta of the stateless era, and one with a long text.
const (
	smallCall = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}`
	metaCall  = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
)

func bigCall() string {
	text := strings.Repeat("func main() {\n\tprintln(\"hello\")\n}\n", 1<<20/36)
	return `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":` +
		string(jsonwire.AppendQuote(nil, text)) + `}}}`
}

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct{ name, frame string }{
		{"small", smallCall},
		{"with _meta", metaCall},
		{"1 MiB", bigCall()},
	} {
		b.Run(bb.name, func(b *testing.B) {
			d := jsonrpc.Decoder{Methods: knownMethods}
			frame := []byte(bb.frame)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
