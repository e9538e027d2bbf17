package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

// fuzzSite is a handler and its store, without a network.
type fuzzSite struct {
	handler *transport.Handler
	store   *session.Store
}

func newFuzzSite(t *testing.T, server *session.Server) *fuzzSite {
	t.Helper()
	s := &fuzzSite{store: session.NewStore(nil)}
	var err error
	if s.handler, err = transport.NewHandler(&transport.HTTPOptions{Backend: server, Store: s.store, LegacySSE: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	return s
}

// do answers a request whose client leaves at once if it would wait for events.
func (s *fuzzSite) do(method, target string, h http.Header, body []byte) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if method == http.MethodGet || bytes.Contains(body, []byte("listen")) {
		cancel()
	}
	path, query, _ := strings.Cut(target, "?")
	r := (&http.Request{
		Method: method, URL: &url.URL{Path: path, RawQuery: query}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Host: "localhost", RemoteAddr: "127.0.0.1:2", Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	if host := h.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// headers reads lines of "Name: value". The ids of sessions stand for $ and the
// name of a version.
func (s *fuzzSite) headers(lines string) http.Header {
	h := make(http.Header)
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if version, ok := strings.CutPrefix(value, "$"); ok {
			value = s.do("POST", "/mcp", http.Header{"Content-Type": {"application/json"}}, []byte(initialize(version))).Header().Get("Mcp-Session-Id")
		}
		h.Add(name, value)
	}
	return h
}

// judge checks that an answer is one that the protocol knows.
func judge(w *httptest.ResponseRecorder) error {
	body := w.Body.Bytes()
	media, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	switch {
	case w.Code >= 500 || w.Code < 200 || w.Code >= 300 && w.Code < 400:
		return errors.New("such a status is never right")
	case w.Code == http.StatusAccepted || w.Code == http.StatusNoContent:
		if len(body) > 0 {
			return errors.New("this status has no body")
		}
	case media == "application/json":
		return judgeFrame(body)
	case media == "text/event-stream":
		return judgeEvents(body)
	case media != "text/plain":
		return fmt.Errorf("the media type %q is not ours", media)
	}
	return nil
}

// judgeFrame checks that a frame is a message, or an array of messages.
func judgeFrame(frame []byte) error {
	d := jsonrpc.Decoder{}
	frames := [][]byte{frame}
	if jsonrpc.IsBatch(frame) {
		var err error
		if frames, err = d.Split(frame, 1<<20); err != nil {
			return err
		}
	}
	for _, f := range frames {
		f = bytes.Replace(f, []byte(`"id":null,`), nil, 1) // an error that answers nothing in particular
		if _, err := d.Decode(f); err != nil {
			return err
		}
	}
	return nil
}

func judgeEvents(body []byte) error {
	for _, e := range readEvents(body) {
		if e.data == "" || e.event == "endpoint" {
			continue
		}
		if err := judgeFrame([]byte(e.data)); err != nil {
			return err
		}
	}
	return nil
}

// readEvents reads events as the HTML standard says, as far as we use that.
func readEvents(body []byte) (all []sse) {
	for block := range strings.SplitSeq(string(body), "\n\n") {
		var e sse
		var data []string
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.event = value
			case "retry":
				e.retry = value
			case "data":
				data = append(data, value)
			}
		}
		if e.data = strings.Join(data, "\n"); data != nil {
			all = append(all, e)
		}
	}
	return all
}

// FuzzHTTP checks that whatever comes in, nothing panics, the status is never a
// failure of ours, and the body is what the protocol knows.
func FuzzHTTP(f *testing.F) {
	hub := notify.New(nil)
	reg := registry.New(&registry.Options{OnChange: session.Announce(hub)})
	echo, err := registry.Typed(registry.Tool{Name: "echo"}, func(ctx context.Context, call *registry.Call, in echoArgs) (string, error) {
		return in.Text, call.Progress(ctx, 1, 0, "")
	})
	if err == nil {
		err = reg.AddTool(echo)
	}
	if err != nil {
		f.Fatal(err)
	}
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&layer.Options{Registry: reg}), Info: protocol.Implementation{Name: "f", Version: "0"}, Hub: hub,
	})
	if err != nil {
		f.Fatal(err)
	}
	json := "Content-Type: application/json\n"
	body, h := modernCall("1", "echo", `{"text":"x"}`)
	lines := json
	for k, v := range h {
		lines += k + ": " + v + "\n"
	}
	f.Add("POST", "/mcp", lines, body)
	f.Add("POST", "/mcp", lines+"Accept: text/event-stream\n", body)
	f.Add("POST", "/mcp/", json, initialize("2025-11-25"))
	for _, version := range protocol.HandshakeVersions() {
		in := json + "Mcp-Session-Id: $" + version + "\n"
		f.Add("POST", "/mcp", in, call("1", "echo", `{"text":"x"}`))
		f.Add("POST", "/mcp", in, "["+call("1", "echo", `{"text":"x"}`)+","+initialized+"]")
		f.Add("POST", "/mcp", in, initialized)
		f.Add("POST", "/mcp", in, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		f.Add("GET", "/mcp", in+"Accept: text/event-stream\nLast-Event-ID: a_1\n", "")
		f.Add("GET", "/mcp", in+"Accept: text/event-stream\n", "")
		f.Add("DELETE", "/mcp", in, "")
	}
	f.Add("GET", "/sse", "Accept: */*\n", "")
	f.Add("POST", "/messages?sessionId=x", json, initialized)
	f.Add("OPTIONS", "/mcp", "Origin: http://localhost\nAccess-Control-Request-Method: POST\n", "")
	f.Add("HEAD", "/healthz", "", "")
	f.Add("\x00", "//", "Host: evil\nOrigin: null\n", "\xff")
	f.Fuzz(func(t *testing.T, method, target, lines, body string) {
		s := newFuzzSite(t, server)
		w := s.do(method, target, s.headers(lines), []byte(body))
		if err := judge(w); err != nil {
			t.Errorf("%v: %d %v\n%s", err, w.Code, w.Header(), w.Body)
		}
	})
}

// plainWriter can neither flush nor have deadlines.
type plainWriter struct{ recorder *httptest.ResponseRecorder }

func (w plainWriter) Header() http.Header         { return w.recorder.Header() }
func (w plainWriter) Write(p []byte) (int, error) { return w.recorder.Write(p) }
func (w plainWriter) WriteHeader(status int)      { w.recorder.WriteHeader(status) }

// A writer of somebody else's, which can do little, gets the whole answer.
func TestPlainWriter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := siteWithoutServer(t)
		body, h := modernCall("1", "steps", `{"n":3}`)
		w := plainWriter{httptest.NewRecorder()}
		s.handler.ServeHTTP(w, s.request("POST", "/mcp", body, h))
		if events := readEvents(w.recorder.Body.Bytes()); w.recorder.Code != 200 || len(events) != 4 || !strings.Contains(events[3].data, "done 3") {
			t.Errorf("%d %+v", w.recorder.Code, events)
		}
	})
}

// FuzzAccept checks the reading of Accept against a plain one, for headers that
// are made of known parts, and that nothing else panics.
func FuzzAccept(f *testing.F) {
	for _, value := range []string{"", "*/*", "application/json", "text/event-stream;q=0", "text/*;q=0.1, */*;q=0", "a/b;q=2", "application/json;q=", ";;,,/"} {
		f.Add(value, "text/html")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		json, events := transport.Accepted([]string{first, second})
		together, alike := transport.Accepted([]string{first + "," + second})
		if json != together || events != alike {
			t.Errorf("two headers say %v %v, one with the same ranges %v %v", json, events, together, alike)
		}
		if j, e := transport.Accepted([]string{first, second, "application/json;q=1"}); !j && !strings.Contains(first+second, ";") || e != events {
			t.Errorf("with JSON in addition: %v %v, without %v %v", j, e, json, events)
		}
	})
}

func FuzzEventID(f *testing.F) {
	f.Add("abc", uint64(0))
	f.Add("a_b-c", uint64(1<<63))
	f.Fuzz(func(t *testing.T, stream string, seq uint64) {
		id := string(transport.AppendEventID(nil, stream, seq))
		gotStream, gotSeq, ok := transport.ParseEventID(id)
		if want := stream != "" && len(id) <= 64; ok != want || ok && (gotStream != stream || gotSeq != seq) {
			t.Errorf("%q: %q %d %v", id, gotStream, gotSeq, ok)
		}
		if gotStream, gotSeq, ok = transport.ParseEventID(stream); ok {
			if again := string(transport.AppendEventID(nil, gotStream, gotSeq)); len(again) > len(stream) {
				t.Errorf("%q was read as %q", stream, again)
			}
		}
	})
}

// FuzzEvents checks that what a stream writes is read as the same events.
func FuzzEvents(f *testing.F) {
	f.Add("", "tok", uint64(7), int64(1500), `{"a":"b: c"}`)
	f.Add("endpoint", "", uint64(0), int64(0), "messages?sessionId=1")
	f.Add("", "tok", uint64(0), int64(10), "")
	f.Fuzz(func(t *testing.T, name, stream string, seq uint64, retry int64, data string) {
		for _, s := range []string{name, stream, data} {
			if strings.ContainsAny(s, "\r\n\x00") || strings.HasPrefix(s, " ") {
				t.Skip("a frame has no line ends, and the rest is ours")
			}
		}
		want := sse{event: name, data: data}
		if stream != "" {
			want.id = fmt.Sprintf("%s_%d", stream, seq)
		}
		if wait := time.Duration(retry%1e6) * time.Millisecond; wait > 0 {
			want.retry = strconv.FormatInt(wait.Milliseconds(), 10)
		}
		b := transport.AppendEvent(nil, name, stream, seq, time.Duration(retry%1e6)*time.Millisecond, []byte(data))
		b = append(b, ": keep-alive\n\n"...)
		b = transport.AppendEvent(b, "", "", 0, 0, []byte("{}"))
		if got := readEvents(b); len(got) != 2 || got[0] != want || got[1] != (sse{data: "{}"}) {
			t.Errorf("%q was read as %+v, want %+v", b, got, want)
		}
	})
}
