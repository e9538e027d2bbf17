package jsonrpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
)

// Tests of Conn are scenarios: lists of steps that read like a script, run with
// a clock of their own, so that every time in them is exact.

// scenario is a connection with its peer.
type scenario struct {
	*testing.T
	stream  *memStream
	conn    *jsonrpc.Conn
	handler *actor
	log     *logBuffer
	stop    context.CancelCauseFunc // ends the context of Run
	frames  chan string             // that the connection has written
	writes  atomic.Int64
	stalls  chan chan struct{}
	resume  chan struct{} // closed when the peer reads again; nil unless it has stopped
	ended   chan error    // what Run returned
	over    bool          // that has been looked at
}

type step func(*scenario)

// play runs steps against a new connection. In the end all goroutines of the
// connection must be gone; synctest sees to that.
func play(t *testing.T, o jsonrpc.Options, dialect jsonrpc.Dialect, steps ...step) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, o, dialect)
		defer s.close()
		for _, step := range steps {
			step(s)
		}
	})
}

func newScenario(t *testing.T, o jsonrpc.Options, dialect jsonrpc.Dialect) *scenario {
	s := &scenario{
		T:       t,
		stream:  newMemStream(),
		handler: &actor{dialect: dialect},
		log:     new(logBuffer),
		frames:  make(chan string, 1<<18),
		stalls:  make(chan chan struct{}),
		ended:   make(chan error, 1),
	}
	o.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	o.Ordered = func(method string) bool { return strings.HasPrefix(method, "ordered") }
	s.conn = jsonrpc.NewConn(s.stream, s.handler, &o)
	ctx, stop := context.WithCancelCause(t.Context())
	s.stop = stop
	go s.collect()                             // ends when the stream is closed
	go func() { s.ended <- s.conn.Run(ctx) }() // ends with the connection
	return s
}

// collect is the peer's reading.
func (s *scenario) collect() {
	for {
		select {
		case w := <-s.stream.out:
			s.writes.Add(1)
			for frame := range bytes.Lines(w) {
				s.frames <- strings.TrimSuffix(string(frame), "\n")
			}
		case resume := <-s.stalls:
			select {
			case <-resume:
			case <-s.stream.closed:
				return
			}
		case <-s.stream.closed:
			return
		}
	}
}

// close ends the scenario: nothing may have been written that was not expected.
func (s *scenario) close() {
	if !s.over {
		s.stream.push(end())
		over(nil)(s)
	}
	synctest.Wait()
	if n := len(s.frames); n > 0 {
		s.Errorf("%d more frames, the first: %s", n, <-s.frames)
	}
	s.stop(nil)
}

// next waits for a frame.
func (s *scenario) next() string {
	s.Helper()
	select {
	case f := <-s.frames:
		return f
	case <-time.After(time.Minute):
		s.Fatal("no frame was written for a minute")
		return ""
	}
}

// send makes frames readable, all at one moment.
func send(frames ...string) step {
	return func(s *scenario) { s.stream.push(texts(frames)...) }
}

// eof is the end of what the peer sends.
func eof() step { return func(s *scenario) { s.stream.push(end()) } }

// cut is a frame that the stream refuses.
func cut(e *jsonrpc.Error) step {
	return func(s *scenario) { s.stream.push(incoming{err: &jsonrpc.FrameError{Err: e}}) }
}

// want waits for frames in this order.
func want(frames ...string) step {
	return func(s *scenario) {
		s.Helper()
		for _, f := range frames {
			if diff := cmp.Diff(f, s.next()); diff != "" {
				s.Fatalf("wrong frame (-want +got):\n%s", diff)
			}
		}
	}
}

// wantAll waits for frames in any order.
func wantAll(frames ...string) step {
	return func(s *scenario) {
		s.Helper()
		var got []string
		for range frames {
			got = append(got, s.next())
		}
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(frames)), got); diff != "" {
			s.Fatalf("wrong frames (-want +got):\n%s", diff)
		}
	}
}

// wantLike waits for a frame with these parts.
func wantLike(parts ...string) step {
	return func(s *scenario) {
		s.Helper()
		f := s.next()
		for _, p := range parts {
			if !strings.Contains(f, p) {
				s.Fatalf("frame %s\nis not like %s", f, p)
			}
		}
	}
}

// within runs a step that must not take longer.
func within(d time.Duration, do step) step {
	return func(s *scenario) {
		s.Helper()
		start := time.Now()
		do(s)
		if took := time.Since(start); took > d {
			s.Errorf("it took %v, want at most %v", took, d)
		}
	}
}

// atLeast runs a step that must not take less.
func atLeast(d time.Duration, do step) step {
	return func(s *scenario) {
		s.Helper()
		start := time.Now()
		do(s)
		if took := time.Since(start); took < d {
			s.Errorf("it took %v, want at least %v", took, d)
		}
	}
}

// quiet checks that nothing is written for as long.
func quiet(d time.Duration) step {
	return func(s *scenario) {
		s.Helper()
		time.Sleep(d)
		synctest.Wait()
		if len(s.frames) > 0 {
			s.Fatalf("unexpected frame %s", <-s.frames)
		}
	}
}

// sleep lets time pass.
func sleep(d time.Duration) step { return func(*scenario) { time.Sleep(d) } }

// settle waits until everybody waits.
func settle() step { return func(*scenario) { synctest.Wait() } }

// release lets calls go on that hold the key.
func release(key string) step { return func(s *scenario) { s.handler.release(key) } }

// stall stops the peer's reading.
func stall() step {
	return func(s *scenario) {
		s.resume = make(chan struct{})
		s.stalls <- s.resume
	}
}

// resume lets the peer read again.
func resume() step {
	return func(s *scenario) {
		close(s.resume)
		s.resume = nil
	}
}

// wrote checks the number of writes since the last look.
func wrote(n int64) step {
	return func(s *scenario) {
		s.Helper()
		synctest.Wait()
		if got := s.writes.Swap(0); got != n {
			s.Errorf("%d writes, want %d", got, n)
		}
	}
}

// noted checks what the handler has recorded since the last look.
func noted(events ...string) step {
	return func(s *scenario) {
		s.Helper()
		synctest.Wait()
		if diff := cmp.Diff(events, s.handler.noted()); diff != "" {
			s.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

// logged checks that the log has a line with these parts.
func logged(parts ...string) step {
	return func(s *scenario) {
		s.Helper()
		synctest.Wait()
		log := s.log.String()
		for _, p := range parts {
			if !strings.Contains(log, p) {
				s.Errorf("the log has no %q:\n%s", p, log)
			}
		}
	}
}

// inFlight checks how many requests are in flight.
func inFlight(n int) step {
	return func(s *scenario) {
		s.Helper()
		synctest.Wait()
		if got := s.conn.InFlight(); got != n {
			s.Errorf("%d requests are in flight, want %d", got, n)
		}
	}
}

// shutdown ends the context of Run.
func shutdown(cause error) step { return func(s *scenario) { s.stop(cause) } }

// breakWriting makes writes fail.
func breakWriting() step { return func(s *scenario) { close(s.stream.broken) } }

// over waits for the connection to end, with this error.
func over(want error) step {
	return func(s *scenario) {
		s.Helper()
		select {
		case err := <-s.ended:
			s.over = true
			if !errors.Is(err, want) {
				s.Errorf("Run: %v, want %v", err, want)
			}
		case <-time.After(time.Hour):
			s.Fatal("Run did not return")
		}
	}
}

// repeat runs steps for each number.
func repeat(n int, do func(i int) step) step {
	return func(s *scenario) {
		s.Helper()
		for i := range n {
			do(i)(s)
		}
	}
}

// The frames of the peer.

func call(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

func tell(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func cancel(id string) string { return tell("cancel", `{"id":`+id+`}`) }

// echo is a request that is answered at once.
func echo(id string) string { return call(id, "echo", `{}`) }

// hold is a request that is answered when key is released.
func hold(id, key string) string { return call(id, "hold", `{"key":"`+key+`"}`) }

// The frames that answer it.

func result(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func done(id string) string { return result(id, `{}`) }

func failure(id string, code int, message string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%d,"message":%q}}`, id, code, message)
}

func note(id string, i int) string { return string(said(id, i, 0)) }

// logBuffer is a log that may be read while it is written.
type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var _ io.Writer = (*logBuffer)(nil)
