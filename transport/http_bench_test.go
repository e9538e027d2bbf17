package transport_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header              { return s.header }
func (s *sink) WriteHeader(status int)           { s.status = status }
func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

// repeated sends the same request again and again.
type repeated struct {
	handler *transport.Handler
	request *http.Request
	body    *bytes.Reader
	w       sink
}

func (r *repeated) do() {
	r.body.Seek(0, io.SeekStart)
	clear(r.w.header)
	r.w.bytes = 0
	r.handler.ServeHTTP(&r.w, r.request)
}

// newRepeated returns a request for a tool that returns its argument.
func newRepeated(tb testing.TB, modern bool, accept string) *repeated {
	tb.Helper()
	reg := registry.New(nil)
	echo, err := registry.Typed(registry.Tool{Name: "echo"}, func(_ context.Context, _ *registry.Call, in echoArgs) (string, error) { return in.Text, nil })
	if err == nil {
		err = reg.AddTool(echo)
	}
	if err != nil {
		tb.Fatal(err)
	}
	server, err := session.NewServer(&session.Options{Layer: layer.New(&layer.Options{Registry: reg}), Info: protocol.Implementation{Name: "b", Version: "0"}})
	if err != nil {
		tb.Fatal(err)
	}
	store := session.NewStore(nil)
	tb.Cleanup(func() { store.Close() })
	r := &repeated{w: sink{header: make(http.Header)}}
	if r.handler, err = transport.NewHandler(&transport.HTTPOptions{Backend: server, Store: store}); err != nil {
		tb.Fatal(err)
	}
	r.aim([]byte(initialize("2025-11-25")), usual)
	r.do()
	h := usual.with(header{"Mcp-Session-Id": r.w.header.Get("Mcp-Session-Id"), "Accept": accept})
	body := call("1", "echo", `{"text":"hello"}`)
	if modern {
		body, h = modernCall("1", "echo", `{"text":"hello"}`)
		h = usual.with(h).with(header{"Accept": accept})
	}
	r.aim([]byte(body), h)
	r.do()
	if r.w.status != http.StatusOK || r.w.bytes == 0 {
		tb.Fatalf("status %d, %d bytes", r.w.status, r.w.bytes)
	}
	return r
}

func (r *repeated) aim(body []byte, h header) {
	r.body = bytes.NewReader(body)
	r.request = &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/mcp"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Host: "localhost", RemoteAddr: "127.0.0.1:2", Body: io.NopCloser(r.body), ContentLength: int64(len(body)),
	}
	for k, v := range h {
		r.request.Header.Set(k, v)
	}
}

// costs are the ways of a small request, and the most that it may allocate.
var costs = []struct {
	name   string
	modern bool
	accept string
	allocs float64
}{
	{"session, JSON", false, "application/json, text/event-stream", 18},
	{"session, events", false, "text/event-stream", 20},
	{"stateless, JSON", true, "application/json, text/event-stream", 24},
}

func BenchmarkHTTP(b *testing.B) {
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			r := newRepeated(b, c.modern, c.accept)
			b.ReportAllocs()
			for b.Loop() {
				r.do()
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	if racing {
		t.Skip("the race detector allocates too")
	}
	for _, c := range costs {
		r := newRepeated(t, c.modern, c.accept)
		if got := testing.AllocsPerRun(1000, r.do); got > c.allocs {
			t.Errorf("%s: %v allocations, want %v at most", c.name, got, c.allocs)
		}
	}
}
