package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modernRequest asks for something in the stateless era.
const modernRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`

// transcribe returns the events of a transcript without their times.
func transcribe(t *testing.T, r io.Reader) []event {
	t.Helper()
	events, err := decodeEvents(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		events[i].Milliseconds = 0
	}
	return events
}

// respond returns a handler that always sends the same.
func respond(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // what is missing is missed in the test
	}
}

func TestTap(t *testing.T) {
	const (
		oneAnswer = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`
		notice    = `{"jsonrpc":"2.0","method":"notifications/progress"}`
	)
	json, events := map[string]string{"Content-Type": "application/json"}, map[string]string{"Content-Type": "text/event-stream"}
	withSession := func(header map[string]string) map[string]string {
		return map[string]string{"Content-Type": header["Content-Type"], "Mcp-Session-Id": "s"}
	}
	fault := func(text string) event { return event{From: fromServer, Fault: text} }
	tests := []struct {
		name    string
		request string
		server  http.HandlerFunc
		want    []event // after the request
	}{
		{"JSON", modernRequest, respond(200, json, oneAnswer+"\n"), []event{server(oneAnswer)}},
		{"events", modernRequest, respond(200, events, "data: "+notice+"\n\ndata: "+oneAnswer+"\n\n"), []event{server(notice), server(oneAnswer)}},
		{"error", modernRequest, respond(404, json, oneAnswer), []event{server(oneAnswer)}},
		{"notification", notice, respond(202, nil, ""), nil},
		{"handshake", initialize, respond(200, withSession(json), `{"jsonrpc":"2.0","id":0,"result":{}}`), []event{server(`{"jsonrpc":"2.0","id":0,"result":{}}`)}},
		{"handshake without session", initialize, respond(200, json, `{"jsonrpc":"2.0","id":0,"result":{}}`), []event{fault("POST initialize: the response has no Mcp-Session-Id"), server(`{"jsonrpc":"2.0","id":0,"result":{}}`)}},
		{"session in the stateless era", modernRequest, respond(200, withSession(json), oneAnswer), []event{fault("POST tools/list: a response of the stateless era has Mcp-Session-Id"), server(oneAnswer)}},
		{"server error", modernRequest, respond(500, nil, ""), []event{fault("POST tools/list: the status is 500 Internal Server Error")}},
		{"request only accepted", modernRequest, respond(202, nil, ""), []event{fault("POST tools/list: the status is 202 Accepted, which is for what has no answer")}},
		{"notification answered", notice, respond(200, json, oneAnswer), []event{fault("POST notifications/progress: the status is 200 OK, which is for what has no answer"), server(oneAnswer)}},
		{"other type", modernRequest, respond(200, map[string]string{"Content-Type": "text/plain"}, oneAnswer), []event{fault(`POST tools/list: the content type is "text/plain"`)}},
		{"more after the answer", modernRequest, respond(200, events, "data: "+oneAnswer+"\n\ndata: "+notice+"\n\n"), []event{server(oneAnswer), fault("POST tools/list: something follows the answer: " + notice), server(notice)}},
		{"broken off", modernRequest, respond(200, events, "data: "+oneAnswer+"\n\ndata: {"), []event{server(oneAnswer), fault("POST tools/list: the stream ends within an event")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var written bytes.Buffer
			backend := httptest.NewServer(test.server)
			defer backend.Close()
			tap := &tap{wire: newTranscript(&written), backends: []string{backend.Listener.Addr().String()}}
			defer tap.transport.CloseIdleConnections()

			direct, through := httptest.NewRecorder(), httptest.NewRecorder()
			test.server(direct, nil)
			tap.ServeHTTP(through, httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(test.request)))
			if diff := cmp.Diff(direct.Body.String(), through.Body.String()); diff != "" {
				t.Errorf("passed on (-want +got):\n%s", diff)
			}
			want := []event{behind(1, client(test.request))}
			for _, e := range test.want {
				want = append(want, behind(1, e))
			}
			if diff := cmp.Diff(want, transcribe(t, &written)); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

// Servers behind one address take turns.
func TestTapTakesTurns(t *testing.T) {
	var written bytes.Buffer
	tap := &tap{wire: newTranscript(&written)}
	defer tap.transport.CloseIdleConnections()
	for range 2 {
		backend := httptest.NewServer(respond(http.StatusAccepted, nil, ""))
		defer backend.Close()
		tap.backends = append(tap.backends, backend.Listener.Addr().String())
	}
	var want []event
	for i := range 4 {
		tap.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(cancel)))
		want = append(want, behind(i%2+1, client(cancel)))
	}
	if diff := cmp.Diff(want, transcribe(t, &written)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// A client that closes its connection before the answer is in the transcript, and
// the server sees it too.
func TestTapNotesThatTheClientHasGone(t *testing.T) {
	reached, gone := make(chan struct{}), make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then a closed connection is noticed
		close(reached)
		<-r.Context().Done()
		close(gone)
	}))
	defer backend.Close()
	var written bytes.Buffer
	tap := &tap{wire: newTranscript(&written), backends: []string{backend.Listener.Addr().String()}}
	front := httptest.NewServer(tap)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-reached
		leave()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, front.URL, strings.NewReader(modernRequest))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		t.Errorf("the answer to a request whose client has gone is %s", res.Status)
	}
	<-gone
	front.Close()
	tap.exchanges.Wait()
	want := []event{behind(1, client(modernRequest)), behind(1, event{From: fromClient, Gone: "1"})}
	if diff := cmp.Diff(want, transcribe(t, &written)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}
