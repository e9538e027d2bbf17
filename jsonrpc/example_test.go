package jsonrpc_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/transport"
)

// greeter serves the method "greet".
type greeter struct{}

func (greeter) Handle(_ context.Context, req *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	if req.Method != "greet" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "unknown method: want greet")
	}
	name := req.Params.Get("name")
	if name == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params.name is missing")
	}
	dst = append(dst, `{"hello":`...)
	dst = append(dst, name...)
	return append(dst, '}'), nil
}

func (greeter) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (greeter) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (greeter) Drain()                                                 {}

// Every request is answered under its id as it was spelled, a frame that is none
// too, and the connection goes on.
func ExampleConn() {
	peer := strings.NewReader(`{"jsonrpc":"2.0","id":"\u0061","method":"greet","params":{"name":"Ann"}}
{"jsonrpc":"2.0","id":12345678901234567890,"method":"greet","params":{}}
{"jsonrpc":"2.0","id":3,"method":
{"jsonrpc":"2.0","id":4,"method":"leave"}
`)
	var answers bytes.Buffer
	conn := jsonrpc.NewConn(transport.NewLines(peer, &answers, nil), greeter{}, nil)
	if err := conn.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(answers.String())
	// Unordered output:
	// {"jsonrpc":"2.0","id":"\u0061","result":{"hello":"Ann"}}
	// {"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":-32602,"message":"params.name is missing"}}
	// {"jsonrpc":"2.0","id":3,"error":{"code":-32700,"message":"parse error: the input ends inside a value at byte 33"}}
	// {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method: want greet"}}
}
