package session_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// The trace context of a request reaches the handler and the log line about a
// failure, but not the peer, and the baggage is in no log.
func TestTraceContext(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var seen registry.Trace
	reg := registry.New(nil)
	if err := reg.AddTool(registry.Tool{Name: "fails", InputSchema: []byte(`{"type":"object"}`), Handler: func(_ context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		seen = call.Trace()
		return nil, errors.New("the disk is on fire")
	}}); err != nil {
		t.Fatal(err)
	}
	server, err := session.NewServer(&session.Options{Layer: layer.New(&layer.Options{Registry: reg}), Info: protocol.Implementation{Name: "t", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := new(jsonrpc.Decoder).Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fails","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"traceparent":"` + parent + `","tracestate":"vendor=1","baggage":"user=ada"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	answer, _ := jsonrpc.Answer(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), server.Stateless(policy.Local(), nil), m.(*jsonrpc.Request), nil, nil)
	if seen.Parent != parent || seen.Baggage != "user=ada" {
		t.Errorf("the handler sees %+v", seen)
	}
	if line := log.String(); !strings.Contains(line, "traceparent="+parent) || !strings.Contains(line, `tracestate="vendor=1"`) || strings.Contains(line, "ada") {
		t.Errorf("the log has %q", line)
	}
	if strings.Contains(string(answer), parent) || strings.Contains(string(answer), "fire") {
		t.Errorf("the peer is told %s", answer)
	}
}
