package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// greetings returns a server with one tool.
func greetings() (*session.Server, error) {
	type arguments struct {
		Name string `json:"name" jsonschema:"whom to greet"`
	}
	greet, err := registry.Typed(registry.Tool{Name: "greet"}, func(_ context.Context, _ *registry.Call, in arguments) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	if err != nil {
		return nil, err
	}
	reg := registry.New(nil)
	if err := reg.AddTool(greet); err != nil {
		return nil, err
	}
	return session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: reg}),
		Info:  protocol.Implementation{Name: "example", Version: "1"},
	})
}

// greetAnn is a request of the stateless era, which needs nothing before it.
const greetAnn = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ann"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// A server over stdio reads from standard input and writes to standard output;
// any other reader and writer will do.
func ExampleLines() {
	server, err := greetings()
	if err != nil {
		fmt.Println(err)
		return
	}
	input, output := strings.NewReader(greetAnn+"\n"), new(bytes.Buffer)
	if err := server.Serve(context.Background(), transport.NewLines(input, output, nil), policy.Local(), nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(output)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Ann!"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1"}}}}
}

// The handler goes into any HTTP server. [Serve] is one that has the limits
// which only a server can have.
func ExampleHandler() {
	backend, err := greetings()
	if err != nil {
		fmt.Println(err)
		return
	}
	store := session.NewStore(nil)
	defer store.Close()
	handler, err := transport.NewHandler(&transport.HTTPOptions{Backend: backend, Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	req, err := http.NewRequest(http.MethodPost, server.URL+transport.DefaultPath, strings.NewReader(greetAnn))
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, value := range map[string]string{
		"Content-Type":         "application/json",
		"Accept":               "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method":           "tools/call",
		"Mcp-Name":             "greet",
	} {
		req.Header.Set(name, value)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n%s\n", res.Status, body)
	// Output:
	// 200 OK
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Ann!"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1"}}}}
}
