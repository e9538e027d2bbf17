package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// nobody is a peer that takes what is sent and cannot be asked.
type nobody struct{}

func (nobody) Send(context.Context, []byte) error { return nil }

func (nobody) Call(context.Context, string, []byte) ([]byte, error) {
	return nil, errors.New("there is nobody")
}

func (nobody) Cancel(jsonrpc.ID, error) bool { return false }

// newServer returns a server with the tools and a resource.
func newServer(t *testing.T, tools ...registry.Tool) *session.Server {
	t.Helper()
	reg := registry.New(nil)
	if err := errors.Join(reg.AddTool(tools...), reg.AddResource(watched("test://a"))); err != nil {
		t.Fatal(err)
	}
	s, err := session.NewServer(&session.Options{Layer: layer.New(&layer.Options{Registry: reg}), Info: protocol.Implementation{Name: "s", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serveAlone serves one request of the stateless era that came with headers.
func serveAlone(t *testing.T, s *session.Server, h *protocol.Headers, line string) answer {
	t.Helper()
	return serveFor(t.Context(), t, s, policy.Local(), h, line)
}

// serveFor is serveAlone for a principal, until ctx ends.
func serveFor(ctx context.Context, t *testing.T, s *session.Server, p *policy.Principal, h *protocol.Headers, line string) answer {
	t.Helper()
	d := s.Decoder()
	m, err := d.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := jsonrpc.Answer(ctx, slog.New(slog.DiscardHandler), s.Stateless(p, h), m.(*jsonrpc.Request), nobody{}, nil)
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return a
}

func TestHeadersMustMatchTheBody(t *testing.T) {
	s := newServer(t,
		tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult("x"), nil
		}),
		registry.Tool{Name: "p", InputSchema: []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
			Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
				return registry.TextResult("x"), nil
			}})
	version := []string{"2026-07-28"}
	tests := []struct {
		name string
		h    *protocol.Headers
		in   string
		want string
	}{
		{"none are needed", nil, modern("1", "tools/list", ""), "result"},
		{"all there are", &protocol.Headers{Version: version, Method: []string{"tools/list"}}, modern("1", "tools/list", ""), "result"},
		{"no version", &protocol.Headers{Method: []string{"tools/list"}}, modern("1", "tools/list", ""), "-32020"},
		{"another version", &protocol.Headers{Version: []string{"2025-11-25"}, Method: []string{"tools/list"}}, modern("1", "tools/list", ""), "-32020"},
		{"no method", &protocol.Headers{Version: version}, modern("1", "tools/list", ""), "-32020"},
		{"another method", &protocol.Headers{Version: version, Method: []string{"tools/call"}}, modern("1", "tools/list", ""), "-32020"},
		{"a method twice", &protocol.Headers{Version: version, Method: []string{"tools/list", "tools/list"}}, modern("1", "tools/list", ""), "-32020"},
		{"a name", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{" t\t"}}, modern("1", "tools/call", `"name":"t"`), "result"},
		{"a name in base64", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"=?base64?dA==?="}}, modern("1", "tools/call", `"name":"t"`), "result"},
		{"a name in broken base64", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"=?base64?dA?="}}, modern("1", "tools/call", `"name":"t"`), "-32020"},
		{"a name in another case", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"T"}}, modern("1", "tools/call", `"name":"t"`), "-32020"},
		{"a name with raw bytes", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"é"}}, modern("1", "tools/call", `"name":"é"`), "-32020"},
		{"no name", &protocol.Headers{Version: version, Method: []string{"tools/call"}}, modern("1", "tools/call", `"name":"t"`), "-32020"},
		{"a URI", &protocol.Headers{Version: version, Method: []string{"resources/read"}, Name: []string{"test://a"}}, modern("1", "resources/read", `"uri":"test://a"`), "result"},
		{"the metadata comes first", &protocol.Headers{}, request("1", "tools/list", ""), "-32602"},
		{"then the headers, then the version", &protocol.Headers{}, strings.Replace(modern("1", "tools/list", ""), "2026-07-28", "2031-01-01", 1), "-32020"},
		{"then the version, then the method", &protocol.Headers{Version: []string{"2031-01-01"}, Method: []string{"no/such"}}, strings.Replace(modern("1", "no/such", ""), "2026-07-28", "2031-01-01", 1), "-32022"},
		{"a parameter", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"p"}, Param: param("eu")}, modern("1", "tools/call", `"name":"p","arguments":{"region":"eu"}`), "result"},
		{"another parameter", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"p"}, Param: param("us")}, modern("1", "tools/call", `"name":"p","arguments":{"region":"eu"}`), "-32020"},
		{"a missing parameter", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"p"}, Param: param()}, modern("1", "tools/call", `"name":"p","arguments":{"region":"eu"}`), "-32020"},
		{"a parameter for an absent argument", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"p"}, Param: param("eu")}, modern("1", "tools/call", `"name":"p","arguments":null`), "-32020"},
		{"neither", &protocol.Headers{Version: version, Method: []string{"tools/call"}, Name: []string{"p"}, Param: param()}, modern("1", "tools/call", `"name":"p"`), "result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if a := serveAlone(t, s, tt.h, tt.in); a.outcome() != tt.want {
				t.Errorf("%s %s, want %s", a.outcome(), a.Error.Message, tt.want)
			}
		})
	}
}

// param returns the values of every parameter header.
func param(values ...string) func(string) []string {
	return func(string) []string { return values }
}

func TestClaims(t *testing.T) {
	s := newServer(t)
	for in, want := range map[string]bool{
		modern("1", "tools/list", ""):                                                             true,
		request("1", "server/discover", ""):                                                       true,
		request("1", "tools/list", ""):                                                            false,
		request("1", "initialize", ""):                                                            false,
		request("1", "tools/list", `"_meta":{"progressToken":1}`):                                 false,
		request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/clientInfo":{}}`):           true,
		request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":null}`):    true,
		request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/clientCapabilities":true}`): true,
	} {
		d := s.Decoder()
		m, err := d.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Claims(m.(*jsonrpc.Request)); got != want {
			t.Errorf("%s claims the stateless era: %v, want %v", in, got, want)
		}
	}
}

// A listen that came by itself ends, with its result, when the server drains.
func TestStatelessListenEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		ended := make(chan answer, 1)
		go func() { ended <- serveAlone(t, s, nil, modern("7", "subscriptions/listen", `"notifications":{}`)) }()
		synctest.Wait()
		select {
		case a := <-ended:
			t.Fatalf("the listen ended at once: %+v", a)
		default:
		}
		s.Drain()
		s.Drain() // again is harmless
		if a := <-ended; !strings.Contains(string(a.Result), `"io.modelcontextprotocol/subscriptionId":7`) {
			t.Errorf("the listen ended with %s", a.Result)
		}
	})
}

// A session that is assumed is past its handshake.
func TestAssumedSession(t *testing.T) {
	s := newServer(t)
	d := s.Decoder()
	m, err := d.Decode([]byte(request("1", "tools/list", "")))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		h    jsonrpc.Handler
		want string
	}{
		"assumed": {s.Assume(policy.Local(), protocol.V20250618), "result"},
		"new":     {s.Open(policy.Local()), "-32600"},
	} {
		var a answer
		raw, _ := jsonrpc.Answer(t.Context(), slog.New(slog.DiscardHandler), tt.h, m.(*jsonrpc.Request), nobody{}, nil)
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		if a.outcome() != tt.want {
			t.Errorf("%s: %s, want %s", name, a.outcome(), tt.want)
		}
	}
}
