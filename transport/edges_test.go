package transport_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// A question of a call that is over is taken back on the stream of the session:
// nothing more is sent for the call.
func TestQuestionIsTakenBack(t *testing.T) {
	for _, accept := range []string{"application/json, text/event-stream", "application/json"} {
		bubble(t, func(t *testing.T) {
			s := startSite(t, nil)
			typedTool(s, "asks", func(ctx context.Context, c *registry.Call, _ countArgs) (string, error) {
				_, err := c.Elicit(ctx, "k", &registry.Elicitation{Message: "m", Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
				return "", err
			})
			a := s.post(strings.Replace(initialize("2025-11-25"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1), nil)
			h := header{"Mcp-Session-Id": a.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
			s.post(initialized, h)
			own := s.listen(h)
			done := make(chan struct{})
			go func() { // it is waited for
				defer close(done)
				s.post(call("7", "asks", `{}`), h.with(header{"Accept": accept}))
			}()
			synctest.Wait()
			s.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, h)
			time.Sleep(time.Second) // events may be written a little later
			s.do(http.MethodDelete, "/mcp", "", h)
			<-done
			back := ""
			for _, e := range own.rest() {
				if strings.Contains(e.data, "notifications/cancelled") {
					back += e.data
				}
			}
			if strings.Count(back, `"requestId":1,`) != 1 {
				t.Errorf("Accept %s: the question was taken back by %q", accept, back)
			}
		})
	}
}

// What is never answered is not answered in a batch either.
func TestBatchOfBrokenMembers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-03-26", nil)
		for _, batch := range []string{
			`[{"jsonrpc":"2.0","method":"notifications/foo","params":[1]}]`,
			`[{"jsonrpc":"2.0","id":1,"result":5}]`,
			`[{"jsonrpc":"2.0","method":"notifications/foo"},{"jsonrpc":"2.0","id":1,"error":{}}]`,
		} {
			if a := s.post(batch, h); a.status != http.StatusAccepted || a.body != "" {
				t.Errorf("%s: %d %s", batch, a.status, a.body)
			}
		}
		if a := s.post(`[{"jsonrpc":"2.0","id":1,"result":5},{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}]`, h); a.status != 200 || strings.Count(a.body, `"id"`) != 1 || !strings.Contains(a.body, "-32602") {
			t.Errorf("beside a broken request: %d %s", a.status, a.body)
		}
	})
}

// The answers of one batch are bounded together; what is left is refused, not
// lost.
func TestBatchOfLargeAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{window: 1 << 20})
		typedTool(s, "large", func(context.Context, *registry.Call, countArgs) (string, error) {
			return strings.Repeat("x", 3<<20), nil
		})
		h := s.open("2025-03-26", nil)
		batch := "["
		for i := range 20 {
			batch += call(fmt.Sprint(i), "large", `{}`) + ","
		}
		a := s.post(batch+`{"jsonrpc":"2.0","method":"notifications/foo"}]`, h)
		if a.status != 200 || strings.Count(a.body, `"result"`) != 6 || strings.Count(a.body, "send the rest of the batch again") != 14 || len(a.body) > 20<<20 {
			t.Errorf("%d, %d bytes with %d results and %d refusals", a.status, len(a.body), strings.Count(a.body, `"result"`), strings.Count(a.body, "send the rest"))
		}
	})
}

// Methods of tasks are unknown where there are no tasks, whatever headers come
// with them, and a version that nobody knows is refused on a notification too.
func TestStatelessRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x",` + modernMeta + `}}`
		h := header{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/get"}
		for _, h := range []header{h, h.with(header{"Mcp-Name": "x"})} {
			if a := s.post(body, h); a.status != http.StatusNotFound || !strings.Contains(a.body, "-32601") {
				t.Errorf("%v: %d %s", h, a.status, a.body)
			}
		}
		notification := `{"jsonrpc":"2.0","method":"notifications/foo"}`
		if a := s.post(notification, header{"Mcp-Protocol-Version": "1999-01-01"}); a.status != http.StatusBadRequest {
			t.Errorf("a notification of an unknown version: %d %s", a.status, a.body)
		}
		if a := s.post(notification, header{"Mcp-Protocol-Version": "2026-07-28"}); a.status != http.StatusAccepted {
			t.Errorf("a notification of a known version: %d %s", a.status, a.body)
		}
	})
}

// Where pages may read answers, each answer depends on the origin.
func TestEveryAnswerVariesWithTheOrigin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, page(t, ""))
		for _, h := range []header{nil, {"Origin": "https://app.example"}, {"Origin": "http://127.0.0.1:1"}} {
			if a := s.post(initialize("2025-11-25"), h); strings.Join(a.header["Vary"], ",") != "Origin" {
				t.Errorf("%v: %d, Vary: %q", h, a.status, a.header["Vary"])
			}
		}
	})
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		if a := s.post(initialize("2025-11-25"), nil); a.header.Get("Vary") != "" {
			t.Errorf("without CORS: Vary: %q", a.header["Vary"])
		}
	})
}

// A connection that was one too many is closed with its answer, in HTTP/2 too,
// so that the next request comes on one that counts.
func TestSurplusConnectionDoesNotStay(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert"), filepath.Join(folder, "key")
	issue(t, "first", nil).save(t, certFile, keyFile)
	store := session.NewStore(nil)
	defer store.Close()
	l := startServer(t, []string{"127.0.0.1:0"}, transport.ServerOptions{Handler: newHandler(t, transport.HTTPOptions{Store: store}), CertFile: certFile, KeyFile: keyFile, MaxConnections: 1})
	address := l[0].Addr().String()
	first, err := net.Dial("tcp", address) // is neither idle nor served: it holds its place
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	connections := 0
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connections++
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
	defer client.CloseIdleConnections()
	post := func() string {
		req, err := http.NewRequest(http.MethodPost, "https://"+address+"/mcp", strings.NewReader(initialize("2025-11-25")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		return fmt.Sprint(resp.Proto, " ", resp.StatusCode)
	}
	if got := post(); got != "HTTP/2.0 503" {
		t.Fatalf("beyond the limit: %s, want HTTP/2.0 503", got)
	}
	first.Close()
	// The server notices that, and the client that its connection is over, in
	// their own time.
	got := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if got = post(); got == "HTTP/2.0 200" {
			break
		}
	}
	if got != "HTTP/2.0 200" || connections < 2 {
		t.Errorf("when there is room again: %s after %d connections", got, connections)
	}
}
