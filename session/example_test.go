package session_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// One connection speaks both eras: a session that began with a handshake, and a
// request that says by itself which version it speaks.
func ExampleServer_Serve() {
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: registry.New(nil)}),
		Info:  protocol.Implementation{Name: "example", Version: "1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
`)
	var answers bytes.Buffer
	if err := server.Serve(context.Background(), transport.NewLines(client, &answers, nil), policy.Local(), nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(answers.String())
	// Unordered output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"example","version":"1"}}}
	// {"jsonrpc":"2.0","id":2,"result":{}}
	// {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","tools":[],"ttlMs":60000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1"}}}}
}
