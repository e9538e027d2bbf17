package transport_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/internal/memnet"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// scripted is a [transport.Backend] whose sessions run a function of the test.
type scripted struct {
	version protocol.Version
	handle  func(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer) (string, error)
}

func (b *scripted) Decoder() jsonrpc.Decoder     { return jsonrpc.Decoder{} }
func (b *scripted) Claims(*jsonrpc.Request) bool { return false }
func (b *scripted) Stateless(*policy.Principal, *protocol.Headers) jsonrpc.Handler {
	return (*scriptedSession)(b)
}
func (b *scripted) Open(*policy.Principal) jsonrpc.Handler { return (*scriptedSession)(b) }
func (b *scripted) Assume(*policy.Principal, protocol.Version) jsonrpc.Handler {
	return (*scriptedSession)(b)
}
func (b *scripted) CheckHeaders(*jsonrpc.Request, *protocol.Headers) error { return nil }
func (b *scripted) ClaimedVersion(*jsonrpc.Request) []byte                 { return nil }
func (b *scripted) Drain()                                                 {}

// scriptedSession is its session.
type scriptedSession scripted

func (s *scriptedSession) Handle(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer, dst []byte) ([]byte, error) {
	if req.Method == "initialize" {
		return append(dst, "{}"...), nil
	}
	result, err := s.handle(ctx, req, peer)
	return append(dst, result...), err
}
func (s *scriptedSession) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (s *scriptedSession) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (s *scriptedSession) Drain()                                                 {}
func (s *scriptedSession) Version() protocol.Version                              { return s.version }

// startScripted starts a site with a scripted backend.
func startScripted(t *testing.T, b *scripted) *site {
	t.Helper()
	s := siteWithoutServer(t)
	s.store.Close()
	s.store = session.NewStore(nil)
	var err error
	if s.handler, err = transport.NewHandler(&transport.HTTPOptions{Backend: b, Store: s.store}); err != nil {
		t.Fatal(err)
	}
	s.listener = memnet.Listen(0)
	s.client.Transport.(*http.Transport).DialContext = s.listener.Dial
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { // until stop; the cleanup waits for it
		served <- transport.Serve(ctx, &transport.ServerOptions{Handler: s.handler, Listeners: []net.Listener{s.listener}, Grace: time.Second})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *site) openScripted() header {
	s.t.Helper()
	return header{"Mcp-Session-Id": s.post(initialize("2025-11-25"), nil).header.Get("Mcp-Session-Id")}
}

const work = `{"jsonrpc":"2.0","id":1,"method":"work"}`

func ask(ctx context.Context, _ *jsonrpc.Request, peer jsonrpc.Peer) (string, error) {
	answer, err := peer.Call(ctx, "ask", []byte(`{"q":1}`))
	return string(answer), err
}

// A question to the client goes out on the stream of the call that it serves,
// and is answered by a POST.
func TestCallOfTheClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startScripted(t, &scripted{protocol.V20251125, ask})
		h := s.openScripted()
		st := s.stream(s.request("POST", "/mcp", work, h))
		st.must()
		if e := st.must(); e.data != `{"jsonrpc":"2.0","id":1,"method":"ask","params":{"q":1}}` {
			t.Errorf("%+v", e)
		}
		if a := s.post(`{"jsonrpc":"2.0","id":1,"result":{"yes":true}}`, s.openScripted()); a.status != 202 {
			t.Errorf("in another session: %d", a.status)
		}
		for range 2 { // the second time it answers nothing any more
			if a := s.post(`{"jsonrpc":"2.0","id":1,"result":{"a":2}}`, h); a.status != 202 || a.body != "" {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if e := st.must(); e.data != `{"jsonrpc":"2.0","id":1,"result":{"a":2}}` {
			t.Errorf("%+v", e)
		}
	})
}

// Without a stream of its own a call asks on the standalone stream, and not at
// all if there is none.
func TestCallOfTheClientFromAJSONAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startScripted(t, &scripted{protocol.V20251125, ask})
		h := s.openScripted()
		asJSON := h.with(header{"Accept": "application/json"})
		if a := s.post(work, asJSON); a.status != 200 || !strings.Contains(a.body, `"error"`) {
			t.Errorf("without a stream: %d %s", a.status, a.body)
		}
		st := s.listen(h)
		st.must()
		got := make(chan answer)
		req := s.request("POST", "/mcp", work, asJSON)
		go func() { // its result is taken below
			a, err := s.try(req)
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		e := st.must()
		id := strings.TrimSuffix(strings.TrimPrefix(e.data, `{"jsonrpc":"2.0","id":`), `,"method":"ask","params":{"q":1}}`)
		if _, err := strconv.Atoi(id); err != nil {
			t.Fatalf("%+v", e)
		}
		s.post(`{"jsonrpc":"2.0","id":`+id+`,"error":{"code":7,"message":"no"}}`, h)
		if a := <-got; !strings.Contains(a.body, `"error":{"code":7,"message":"no"}`) {
			t.Errorf("%s", a.body)
		}
	})
}

func TestCallOfTheClientEndsWithTheSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startScripted(t, &scripted{protocol.V20251125, ask})
		h := s.openScripted()
		st := s.stream(s.request("POST", "/mcp", work, h))
		st.must()
		st.must()
		s.do("DELETE", "/mcp", "", h)
		st.rest()
		synctest.Wait()
		if got := s.store.Stats(); got.Sessions != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// polling closes its stream early and goes on.
func polling(ctx context.Context, _ *jsonrpc.Request, peer jsonrpc.Peer) (string, error) {
	peer.(interface{ CloseStream(time.Duration) }).CloseStream(10 * time.Millisecond)
	if err := pause(ctx, time.Second); err != nil {
		return "", err
	}
	if err := peer.Send(ctx, []byte(`{"n":1}`)); err != nil {
		return "", err
	}
	return `{"late":true}`, nil
}

func TestCloseStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startScripted(t, &scripted{protocol.V20251125, polling})
		h := s.openScripted()
		start := time.Now()
		events := s.stream(s.request("POST", "/mcp", work, h)).rest()
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("the stream was closed after %v", took)
		}
		if len(events) != 2 || events[0].id == "" || events[0].data != "" || events[1].retry != "10" || events[1].data != "" {
			t.Fatalf("%+v", events)
		}
		events = s.stream(s.request("GET", "/mcp", "", h.with(header{"Accept": "text/event-stream", "Last-Event-ID": events[1].id}))).rest()
		if len(events) != 2 || events[0].data != `{"n":1}` || events[1].data != `{"jsonrpc":"2.0","id":1,"result":{"late":true}}` {
			t.Errorf("%+v", events)
		}
	})
}

// Where clients do not expect it, the stream stays.
func TestCloseStreamWhereItCannotBe(t *testing.T) {
	tests := []struct {
		name    string
		version protocol.Version
		header  header
	}{
		{"older version", protocol.V20250618, nil},
		{"JSON only", protocol.V20251125, header{"Accept": "application/json"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startScripted(t, &scripted{test.version, polling})
				if a := s.post(work, s.openScripted().with(test.header)); a.status != 200 || !strings.Contains(a.body, `{"late":true}`) {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		})
	}
}

// What is kept for clients that come back is bounded: in events, in bytes, and
// for all sessions together.
func TestReplayBounds(t *testing.T) {
	sendMany := func(n, size int) func(context.Context, *jsonrpc.Request, jsonrpc.Peer) (string, error) {
		return func(ctx context.Context, _ *jsonrpc.Request, peer jsonrpc.Peer) (string, error) {
			frame := []byte(`"` + strings.Repeat("x", size) + `"`)
			for range n {
				if err := peer.Send(ctx, frame); err != nil {
					return "", err
				}
			}
			return `{}`, nil
		}
	}
	tests := []struct {
		name    string
		n, size int
		kept    int // events, the answer included
	}{
		{"events", 1000, 10, 256},
		{"bytes", 100, 100_000, 11},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startScripted(t, &scripted{protocol.V20251125, sendMany(test.n, test.size)})
				h := s.openScripted()
				events := s.stream(s.request("POST", "/mcp", work, h)).rest()
				if len(events) != test.n+2 {
					t.Fatalf("%d events", len(events))
				}
				resume := func(from int) int {
					a := s.do("GET", "/mcp", "", h.with(header{"Accept": "text/event-stream", "Last-Event-ID": events[from].id}))
					if a.status == 400 {
						return -1
					}
					return strings.Count(a.body, "data: ")
				}
				oldest := len(events) - 1 - test.kept
				if got := resume(oldest); got != test.kept {
					t.Errorf("from the oldest event: %d, want %d", got, test.kept)
				}
				if got := resume(oldest - 1); got != -1 {
					t.Errorf("from one that is gone: %d events", got)
				}
			})
		})
	}
	t.Run("streams of a session", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := startScripted(t, &scripted{protocol.V20251125, sendMany(1, 10)})
			h := s.openScripted()
			var ids []string
			for range 40 {
				ids = append(ids, s.stream(s.request("POST", "/mcp", work, h)).rest()[0].id)
			}
			kept := 0
			for _, id := range ids {
				if a := s.do("GET", "/mcp", "", h.with(header{"Accept": "text/event-stream", "Last-Event-ID": id})); a.status == 200 {
					kept++
				}
			}
			if kept != transport.DefaultMaxStreams {
				t.Errorf("%d streams are kept", kept)
			}
		})
	})
}

// A handler that does not know when to stop writes nothing into other answers.
func TestSendAfterTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		late := make(chan jsonrpc.Peer, 2)
		s := startScripted(t, &scripted{protocol.V20251125, func(_ context.Context, _ *jsonrpc.Request, peer jsonrpc.Peer) (string, error) {
			late <- peer
			return "{}", nil
		}})
		h := s.openScripted()
		for range 2 {
			if a := s.post(work, h); a.status != 200 {
				t.Fatal(a)
			}
			if err := (<-late).Send(context.Background(), []byte(`"late"`)); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestPanicIsAnAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startScripted(t, &scripted{protocol.V20251125, func(context.Context, *jsonrpc.Request, jsonrpc.Peer) (string, error) {
			panic(io.ErrUnexpectedEOF)
		}})
		if a := s.post(work, s.openScripted()); a.status != 200 || !strings.Contains(a.body, `"code":-32603`) || strings.Contains(a.body, "EOF") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
