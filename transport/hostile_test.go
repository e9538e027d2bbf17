package transport_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/transport"
)

// raw connects without an HTTP client.
func (s *site) raw() net.Conn {
	s.t.Helper()
	c, err := s.listener.Dial(s.t.Context(), "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

const rawHead = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"

// ended reads what a connection still has and returns the status line, and when
// it ended.
func ended(t *testing.T, c net.Conn) (statusLine string, after time.Duration) {
	t.Helper()
	start := time.Now()
	b, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("reading: %v", err)
	}
	statusLine, _, _ = strings.Cut(string(b), "\r\n")
	return statusLine, time.Since(start)
}

func TestSlowHeaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		c := s.raw()
		gone := make(chan struct{})
		go func() { // until the server closes the connection
			defer close(gone)
			for _, b := range []byte("POST /mcp HTTP/1.1\r\n" + rawHead + strings.Repeat("X: y\r\n", 100)) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		if _, after := ended(t, c); after < transport.DefaultReadHeaderTimeout || after > 2*transport.DefaultReadHeaderTimeout {
			t.Errorf("closed after %v", after)
		}
		<-gone
	})
}

func TestSlowBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		c := s.raw()
		io.WriteString(c, "POST /mcp HTTP/1.1\r\n"+rawHead+"Content-Length: 1000\r\n\r\n{")
		line, after := ended(t, c)
		if !strings.Contains(line, " 408 ") || after < transport.DefaultBodyTimeout || after > transport.DefaultBodyTimeout+5*time.Second {
			t.Errorf("%q after %v", line, after)
		}
	})
}

// A body that is refused without having been read does not hold the connection.
func TestBodyThatNeverComes(t *testing.T) {
	tests := []struct{ name, head, want string }{
		{"no token", "POST /mcp HTTP/1.1\r\n" + rawHead + "Content-Length: 1000\r\n\r\n", " 401 "},
		{"no token, chunked", "POST /mcp HTTP/1.1\r\n" + rawHead + "Transfer-Encoding: chunked\r\n\r\n", " 401 "},
		{"foreign host", "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000\r\n\r\n", " 421 "},
		{"unknown path", "POST /x HTTP/1.1\r\n" + rawHead + "Content-Length: 1000\r\n\r\n", " 404 "},
		{"DELETE", "DELETE /mcp HTTP/1.1\r\n" + rawHead + "Content-Length: 1000\r\n\r\n", " 400 "},
		{"PUT to health", "PUT /healthz HTTP/1.1\r\n" + rawHead + "Content-Length: 1000\r\n\r\n", " 400 "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one")}})
				c := s.raw()
				io.WriteString(c, test.head)
				if line, after := ended(t, c); !strings.Contains(line, test.want) || after > 10*time.Second {
					t.Errorf("%q after %v", line, after)
				}
			})
		})
	}
}

// zeros is a body of so many zeros.
type zeros struct{ left atomic.Int64 }

func (e *zeros) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left.Load())
	if n == 0 {
		return 0, io.EOF
	}
	clear(p)
	e.left.Add(-n)
	return int(n), nil
}

func TestA104BodyLimitFirst(t *testing.T) {
	for _, announced := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			s := startSite(t, nil)
			body := new(zeros)
			body.left.Store(1 << 30)
			req := s.request("POST", "/mcp", "", nil)
			req.Body = io.NopCloser(body)
			req.ContentLength = -1
			if announced {
				req.ContentLength = 1 << 30
			}
			resp, err := s.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if a := readAnswer(t, resp); a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, `"code":-32600`) || !resp.Close {
				t.Errorf("%d %s", a.status, a.body)
			}
			if sent := 1<<30 - body.left.Load(); sent > 8<<20 {
				t.Errorf("%d bytes were taken", sent)
			}
			if a := s.post(strings.Repeat("[", 100_000), nil); a.status != 400 {
				t.Errorf("deep: %d %s", a.status, a.body)
			}
			c := s.raw()
			io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: "+strings.Repeat("x", 80<<10))
			if line, _ := ended(t, c); !strings.Contains(line, " 431 ") {
				t.Errorf("long headers: %q", line)
			}
		})
	}
}

// A deadline of one answer does not end the next one on the connection.
func TestConnectionLivesBetweenRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		c := s.raw()
		r := bufio.NewReader(c)
		for _, body := range []string{call("1", "echo", `{"text":"x"}`), initialized, "{", call("1", "storm", `{"n":2}`), initialized} {
			req := s.request("POST", "/mcp", body, h)
			if err := req.Write(c); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(r, req)
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			readAnswer(t, resp)
			time.Sleep(transport.DefaultWriteTimeout + 10*time.Second)
		}
	})
}

// 600 clients that keep their connections open do not keep others out.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		for range 600 {
			c := s.raw()
			io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v, %v", resp, err)
			}
			resp.Body.Close()
			synctest.Wait()
		}
		if a := s.post(initialize("2025-11-25"), nil); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// Of 600 clients that hold a stream, those beyond the limit are told so, and all
// is well when some have left.
func TestConnectionLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		s.client.Transport.(*http.Transport).MaxConnsPerHost = 0
		h := s.open("2025-11-25", nil)
		s.client.CloseIdleConnections()
		synctest.Wait()
		held, told, closed := 0, 0, 0
		var streams []io.Closer
		for range 600 {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			body, mh := modernCall("1", "steps", `{"n":100000}`)
			resp, err := s.client.Do(s.request("POST", "/mcp", body, mh).WithContext(ctx))
			switch {
			case err != nil:
				closed++
				continue
			case resp.StatusCode == 200:
				held++
				streams = append(streams, closer(func() error { cancel(); return resp.Body.Close() }))
				continue
			case resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "" && resp.Close:
				told++
			default:
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
			resp.Body.Close()
		}
		if held != transport.DefaultMaxConnections || told != 600-held || closed != 0 {
			t.Errorf("held %d, told %d, closed %d", held, told, closed)
		}
		if a := s.do("GET", "/healthz", "", nil); a.status != 200 {
			t.Errorf("the probe: %d", a.status)
		}
		for _, st := range streams {
			st.Close()
		}
		time.Sleep(time.Second)
		if a := s.post(call("1", "echo", `{"text":"x"}`), h); a.status != 200 {
			t.Errorf("afterwards: %d %s", a.status, a.body)
		}
	})
}

type closer func() error

func (c closer) Close() error { return c() }

// A client that does not even read refusals cannot hold a connection for ever.
func TestReaderOfNoRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{window: 4 << 10})
		c := s.raw()
		c.SetWriteDeadline(time.Now().Add(time.Hour))
		start := time.Now()
		for {
			if _, err := io.WriteString(c, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("the connection was not closed within an hour")
				}
				break
			}
		}
		if took := time.Since(start); took > time.Minute+transport.DefaultWriteTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

// A client with a slow line gets its answer, in either form; one that does not
// read is left.
func TestSlowLine(t *testing.T) {
	text := strings.Repeat("x", 3<<20)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		t.Run(accept, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startSite(t, &siteOptions{window: 40 << 10})
				body, h := modernCall("1", "echo", `{"text":"`+text+`"}`)
				req := s.request("POST", "/mcp", body, h.with(header{"Accept": accept}))
				start := time.Now()
				resp, err := s.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				var got int
				for buf := make([]byte, 40<<10); err == nil; time.Sleep(time.Second) {
					var n int
					n, err = io.ReadFull(resp.Body, buf)
					got += n
				}
				if err != io.ErrUnexpectedEOF && err != io.EOF || got < len(text) || time.Since(start) < 2*transport.DefaultWriteTimeout {
					t.Errorf("%d bytes in %v, then %v", got, time.Since(start), err)
				}
				resp, err = s.client.Do(s.request("POST", "/mcp", body, h.with(header{"Accept": accept})))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * transport.DefaultWriteTimeout)
				if b, err := io.ReadAll(resp.Body); err == nil || len(b) > len(text)/2 {
					t.Errorf("%d bytes were left for a client that did not read, then %v", len(b), err)
				}
				resp.Body.Close()
			})
		})
	}
}
