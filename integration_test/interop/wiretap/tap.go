package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"cloudg.dev/cloudg/integration_test/interop/internal/sse"
)

// maxBody bounds what is read of a client's request, in bytes.
const maxBody = 4 << 20

const sessionHeader = "Mcp-Session-Id"

// tap is the proxy between a client and servers that talk over HTTP. Requests go
// to the servers in turn. A message is in the transcript before it is passed on.
type tap struct {
	wire      *transcript
	backends  []string // addresses
	transport http.Transport
	turn      atomic.Uint64
	exchanges sync.WaitGroup
}

// exchange is one HTTP request and its response.
type exchange struct {
	wire   *transcript
	server int    // number of the server that it goes to, from 1
	method string // of HTTP
	rpc    string // method of the message in the body, empty for none
	id     string // raw id of the JSON-RPC request in the body, empty for none
	modern bool

	mu       sync.Mutex
	answered bool
}

func (t *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.exchanges.Add(1)
	defer t.exchanges.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn := int((t.turn.Add(1) - 1) % uint64(len(t.backends)))
	x := &exchange{wire: t.wire, server: turn + 1, method: r.Method}
	x.request(body)
	noted := make(chan struct{})
	unwatch := context.AfterFunc(r.Context(), func() {
		defer close(noted)
		x.gone()
	})
	defer func() {
		if !unwatch() {
			<-noted
		}
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	t.proxy(x, t.backends[turn]).ServeHTTP(w, r)
}

func (t *tap) proxy(x *exchange, address string) *httputil.ReverseProxy {
	target := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		Transport:      &t.transport,
		FlushInterval:  -1,
		ModifyResponse: x.response,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // else the client has gone
				x.fault("the connection broke: %v", err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
}

// add writes an event. The transcript is a file of this machine: when it cannot
// be written, the torn end of it is a finding of its own.
func (x *exchange) add(e event) {
	e.Server = x.server
	_ = x.wire.add(e)
}

func (x *exchange) fault(format string, args ...any) {
	about := fmt.Sprintf("%s %s: ", x.method, cmp.Or(x.rpc, "without a method"))
	x.add(event{From: fromServer, Fault: about + fmt.Sprintf(format, args...)})
}

// gone notes that the client closed the connection of a request that is still open.
func (x *exchange) gone() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.id != "" && !x.answered {
		x.add(event{From: fromClient, Gone: x.id})
	}
}

func (x *exchange) request(body []byte) {
	var message object
	if json.Unmarshal(body, &message) == nil {
		x.rpc, x.id = text(message["method"]), string(message["id"])
		if x.rpc == "" {
			x.id = "" // an answer of the client
		}
		x.modern = member(member(message, "params"), "_meta")[metaVersion] != nil
	}
	if len(body) > 0 {
		x.add(event{From: fromClient, Frame: string(body)})
	}
}

// response judges the head of a response and sees to it that its messages are noted.
func (x *exchange) response(res *http.Response) error {
	session := res.Header.Get(sessionHeader) != ""
	form, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // none is judged like a wrong one
	switch ok := res.StatusCode < 300; {
	case res.StatusCode >= 500:
		x.fault("the status is %s", res.Status)
	case x.modern && session:
		x.fault("a response of the stateless era has %s", sessionHeader)
	case x.rpc == "initialize" && ok && !session:
		x.fault("the response has no %s", sessionHeader)
	case x.method == http.MethodPost && ok && (x.id == "") != (res.StatusCode == http.StatusAccepted):
		x.fault("the status is %s, which is for what has no answer", res.Status)
	case x.id != "" && ok && form != "application/json" && form != "text/event-stream":
		x.fault("the content type is %q", form)
	}
	switch form {
	case "application/json":
		return x.whole(res)
	case "text/event-stream":
		res.Body = &stream{x: x, body: res.Body}
	}
	return nil
}

// whole notes a response that is one message.
func (x *exchange) whole(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if x.method == http.MethodPost {
		x.frame(bytes.TrimSpace(body))
	}
	return nil
}

// frame notes a message of the server.
func (x *exchange) frame(frame []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := event{From: fromServer, Frame: string(frame)}
	if !utf8.Valid(frame) {
		e.Broken = "is not UTF-8"
	}
	if x.answered {
		x.fault("something follows the answer: %.200s", frame)
	}
	var message object
	_ = json.Unmarshal(frame, &message) // the checker judges it
	if x.id != "" && text(message["method"]) == "" && string(message["id"]) == x.id {
		x.answered = true
	}
	x.add(e)
}

// stream is the body of a response that is an event stream.
type stream struct {
	x      *exchange
	body   io.ReadCloser
	events sse.Splitter
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	for _, event := range s.events.Add(p[:n]) {
		s.x.frame(event)
	}
	if err == io.EOF && s.events.Open() {
		s.x.fault("the stream ends within an event")
	}
	return n, err
}

func (s *stream) Close() error { return s.body.Close() }
