package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// slowStream is a stream that only writes, as slowly as somebody takes it.
type slowStream struct {
	Stream
	writes chan string
	err    error
}

func (s *slowStream) Write(_ context.Context, frames []byte) error {
	s.writes <- string(frames)
	return s.err
}

func (*slowStream) Delimiter() string { return "|" }

// stopped returns an outbox whose stream is writing "a" and waits.
func stopped(ctx context.Context) (*outbox, *slowStream) {
	s := &slowStream{writes: make(chan string)}
	o := &outbox{stream: s, onFail: func(error) {}}
	_ = o.add(ctx, []byte("a"))
	go o.flush(ctx) // ends with the stream
	synctest.Wait()
	return o, s
}

// take returns n writes.
func (s *slowStream) take(n int) (writes []string) {
	for range n {
		writes = append(writes, <-s.writes)
	}
	return writes
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, name string, f func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestOutbox(t *testing.T) {
	full := strings.Repeat("f", softQueue)
	large := strings.Repeat("l", directFrame)
	send := func(frame string) func() []byte { return func() []byte { return []byte(frame) } }

	bubble(t, "what comes during a write is one write", func(t *testing.T) {
		o, s := stopped(t.Context())
		for _, f := range []string{"b", "c", "d"} {
			if err := o.add(t.Context(), []byte(f)); err != nil {
				t.Fatal(err)
			}
			o.flush(t.Context()) // somebody writes, so it does not wait
		}
		if diff := cmp.Diff([]string{"a|", "b|c|d|"}, s.take(2)); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
	bubble(t, "a large answer goes alone", func(t *testing.T) {
		s := &slowStream{writes: make(chan string)}
		o := &outbox{stream: s}
		go o.answer(t.Context(), t.Context(), never, send(large))
		synctest.Wait()
		if err := o.add(t.Context(), []byte("b")); err != nil {
			t.Fatal(err)
		}
		o.flush(t.Context())
		if diff := cmp.Diff([]string{large + "|", "b|"}, s.take(2)); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
	bubble(t, "but not past what waits", func(t *testing.T) {
		o, s := stopped(t.Context())
		_ = o.add(t.Context(), []byte("b"))
		o.answer(t.Context(), t.Context(), never, send(large))
		if diff := cmp.Diff([]string{"a|", "b|" + large + "|"}, s.take(2)); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
	bubble(t, "adding waits for room", func(t *testing.T) {
		o, s := stopped(t.Context())
		_ = o.add(t.Context(), []byte(full))
		added := make(chan error, 2)
		go func() { added <- o.add(t.Context(), []byte("c")) }()
		go func() { o.answer(t.Context(), t.Context(), never, send("d")); added <- nil }()
		synctest.Wait()
		if len(added) > 0 {
			t.Fatal("there was room in a full queue")
		}
		s.take(1) // now the queue is being written
		for range 2 {
			if err := <-added; err != nil {
				t.Error(err)
			}
		}
		got := s.take(2)
		if got[0] != full+"|" || got[1] != "c|d|" && got[1] != "d|c|" {
			t.Errorf("%d bytes were written, then %q; want what was full, then both", len(got[0]), got[1])
		}
	})
	bubble(t, "but not longer than its context", func(t *testing.T) {
		o, s := stopped(t.Context())
		_ = o.add(t.Context(), []byte(full))
		ctx, cancel := context.WithCancelCause(t.Context())
		added := make(chan error, 1)
		go func() { added <- o.add(ctx, []byte("c")) }()
		synctest.Wait()
		cancel(ErrCancelled)
		if err := <-added; !errors.Is(err, ErrCancelled) {
			t.Errorf("add: %v, want %v", err, ErrCancelled)
		}
		s.take(2)
	})
	bubble(t, "nothing is added under a context that has ended", func(t *testing.T) {
		o := &outbox{stream: &slowStream{}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(ErrCancelled)
		if err := o.add(ctx, []byte("c")); !errors.Is(err, ErrCancelled) || o.dirty() {
			t.Errorf("add: %v, frames wait: %v; want %v, and nothing", err, o.dirty(), ErrCancelled)
		}
	})
	bubble(t, "the reader has more room", func(t *testing.T) {
		o, s := stopped(t.Context())
		_ = o.add(t.Context(), []byte(full))
		o.answerAsReader(t.Context(), send("r"))
		if diff := cmp.Diff([]string{"a|", full + "|r|"}, s.take(2)); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
	bubble(t, "nothing is sent for nil", func(t *testing.T) {
		o := &outbox{stream: &slowStream{}}
		o.answer(t.Context(), t.Context(), never, func() []byte { return nil })
		o.answerAsReader(t.Context(), func() []byte { return nil })
		if o.dirty() {
			t.Errorf("queued %q", o.queue)
		}
	})
	bubble(t, "a failure is told once and ends all", func(t *testing.T) {
		o, s := stopped(t.Context())
		s.err = errors.New("broken")
		told := 0
		o.onFail = func(error) { told++ }
		_ = o.add(t.Context(), []byte(full))
		added := make(chan error, 1)
		go func() { added <- o.add(t.Context(), []byte("c")) }()
		synctest.Wait()
		settled := o.settled()
		s.take(1)
		if err := <-added; !errors.Is(err, s.err) {
			t.Errorf("a waiting add: %v, want %v", err, s.err)
		}
		if err := o.add(t.Context(), []byte("d")); !errors.Is(err, s.err) {
			t.Errorf("add: %v, want %v", err, s.err)
		}
		o.flush(t.Context())
		o.answer(t.Context(), t.Context(), never, send(large))
		<-settled
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
	bubble(t, "settled waits for all that waits", func(t *testing.T) {
		o, s := stopped(t.Context())
		_ = o.add(t.Context(), []byte("b"))
		settled := o.settled()
		s.take(1)
		synctest.Wait()
		select {
		case <-settled:
			t.Error("settled while b is being written")
		default:
		}
		s.take(1)
		<-settled
		<-o.settled()
	})
	bubble(t, "closing is not a failure", func(t *testing.T) {
		o, s := stopped(t.Context())
		o.onFail = func(err error) { t.Errorf("failed: %v", err) }
		s.err = errors.New("closed")
		o.close(ErrClosed)
		<-o.settled()
		s.take(1)
		synctest.Wait()
		if err := o.add(t.Context(), []byte("c")); !errors.Is(err, ErrClosed) {
			t.Errorf("add: %v, want %v", err, ErrClosed)
		}
	})
}

// The buffers of the queue are used again, unless one has grown too large.
func TestOutboxKeepsBuffers(t *testing.T) {
	o := &outbox{stream: discard{}}
	add := func(n int) {
		if err := o.add(t.Context(), bytes.Repeat([]byte("x"), n)); err != nil {
			t.Fatal(err)
		}
		o.flush(t.Context())
	}
	add(1000)
	if n := testing.AllocsPerRun(100, func() {
		_ = o.add(t.Context(), []byte("frame"))
		o.flush(t.Context())
	}); n > 0 {
		t.Errorf("%v allocations for a frame", n)
	}
	add(2 * keepBuffer)
	add(1)
	if kept := cap(o.queue) + cap(o.spare); kept > 2*keepBuffer {
		t.Errorf("%d bytes are kept", kept)
	}
}

// discard is a stream that writes to nowhere.
type discard struct{ Stream }

func (discard) Write(context.Context, []byte) error { return nil }
func (discard) Delimiter() string                   { return "|" }

func never() bool { return false }
