package jsonrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

func TestConnEnd(t *testing.T) {
	errDisk := errors.New("the disk was removed")
	const grace = 2 * time.Second
	tests := []struct {
		name  string
		o     jsonrpc.Options
		steps []step
	}{
		{"nothing was ever sent", jsonrpc.Options{}, []step{eof(), within(0, over(nil))}},
		{"answers are written though nobody sends more", jsonrpc.Options{}, []step{
			func(s *scenario) { s.stream.push(incoming{frame: []byte(echo("1"))}, end()) },
			within(0, want(done("1"))), within(0, over(nil)),
		}},
		{"requests in flight are finished", jsonrpc.Options{}, []step{
			send(hold("1", "k"), hold("2", "k"), call("3", "hold", `{"sleep":1500}`)), eof(),
			sleep(time.Second), release("k"), wantAll(done("1"), done("2")), want(done("3")), within(0, over(nil)),
		}},
		{"but not for ever", jsonrpc.Options{}, []step{
			send(hold("1", "k"), hold("2", "k")), sleep(5 * ms), eof(), sleep(grace - ms), quiet(0),
			within(ms, wantAll(failure("1", -32603, leaving), failure("2", -32603, leaving))), within(0, over(nil)),
			func(s *scenario) {
				for _, event := range s.handler.noted() {
					if !strings.HasSuffix(event, jsonrpc.ErrShutdown.Error()) {
						s.Errorf("event %q, want the cause %v", event, jsonrpc.ErrShutdown)
					}
				}
			},
		}},
		{"the grace time is an option", jsonrpc.Options{DrainTime: time.Minute}, []step{
			send(call("1", "hold", `{"sleep":59000}`)), eof(), want(done("1")), over(nil),
		}},
		{"there may be none", jsonrpc.Options{DrainTime: -1}, []step{
			send(hold("1", "k"), echo("2")), eof(), within(2*ms, wantAll(done("2"), failure("1", -32603, leaving))),
			within(0, over(nil)), noted("1: the server is shutting down"),
		}},
		{"a handler that does not return is left behind", jsonrpc.Options{}, []step{
			send(call("1", "deaf", `{"key":"k"}`), echo("2")), eof(), want(done("2")),
			within(grace+time.Second+60*ms, over(nil)), logged("did not return", "count=1"), release("k"),
		}},
		{"the peer does not read", jsonrpc.Options{}, []step{
			stall(), send(echo("1")), eof(), within(grace+time.Second+60*ms, over(nil)), logged("does not read"),
		}},
		{"the peer reads late", jsonrpc.Options{}, []step{
			stall(), send(echo("1")), eof(), sleep(grace - ms), resume(), want(done("1")), within(0, over(nil)),
		}},
		{"the program ends", jsonrpc.Options{}, []step{
			send(hold("1", "k")), settle(), shutdown(errEnded), sleep(time.Second),
			send(echo("2"), tell("x", "{}"), hold("3", "k"), hold("4", "k"), echo("1")),
			want(failure("2", -32603, leaving), failure("3", -32603, leaving), failure("4", -32603, leaving), failure("1", -32603, leaving)),
			noted("x {}"), release("k"), want(done("1")), within(0, over(errEnded)),
		}},
		{"requests may be cancelled while it ends", jsonrpc.Options{}, []step{
			send(hold("1", "k")), settle(), shutdown(errEnded), sleep(time.Second), send(cancel("1")),
			within(0, over(errEnded)), noted("cancel 1: true", "1: the peer cancelled the request"),
		}},
		{"the program ends with nothing to do", jsonrpc.Options{}, []step{
			send(echo("1")), want(done("1")), shutdown(errEnded), within(0, over(errEnded)),
		}},
		{"the first reason counts", jsonrpc.Options{}, []step{
			send(call("1", "deaf", `{"key":"k"}`)), eof(), sleep(5 * ms), breakWriting(), release("k"), over(nil),
		}},
		{"the program ends while the grace time runs", jsonrpc.Options{}, []step{
			send(hold("1", "k")), eof(), sleep(5 * ms), quiet(0), shutdown(errEnded),
			within(ms, want(failure("1", -32603, leaving))), within(0, over(nil)),
		}},
		{"reading fails", jsonrpc.Options{}, []step{
			send(hold("1", "k")), settle(), func(s *scenario) { s.stream.push(incoming{err: errDisk}) },
			sleep(time.Second), release("k"), want(done("1")), within(0, over(errDisk)),
		}},
		{"writing fails", jsonrpc.Options{}, []step{
			send(hold("1", "k"), hold("2", "k")), sleep(5 * ms), breakWriting(), send(echo("3")),
			within(0, over(errBroken)), inFlight(0),
			func(s *scenario) {
				for _, event := range s.handler.noted() {
					if !strings.HasSuffix(event, jsonrpc.ErrClosed.Error()+": "+errBroken.Error()) {
						s.Errorf("event %q, want the cause", event)
					}
				}
			},
		}},
		{"writing fails while the peer does not read", jsonrpc.Options{}, []step{
			stall(), send(echo("1")), sleep(time.Second), breakWriting(), within(0, over(errBroken)),
		}},
		{"writing fails while a handler does not return", jsonrpc.Options{}, []step{
			send(call("1", "deaf", `{"key":"k"}`)), sleep(5 * ms), breakWriting(), send(echo("2")),
			within(time.Second+60*ms, over(errBroken)), release("k"),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, tt.o, jsonrpc.Dialect{}, tt.steps...) })
	}
}

func TestConnEndTellsHandlerOnce(t *testing.T) {
	play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, send(hold("1", "k")), eof(), sleep(5*ms), func(s *scenario) {
		s.handler.mu.Lock()
		defer s.handler.mu.Unlock()
		if s.handler.drained != 1 {
			s.Errorf("Drain was called %d times while a request was in flight, want once", s.handler.drained)
		}
	}, release("k"), want(done("1")), over(nil))
}

// closer is a stream whose closing fails.
type closer struct{ *memStream }

func (c closer) Close() error {
	_ = c.memStream.Close()
	return errBroken
}

func TestConnReportsFailureToClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := closer{newMemStream()}
		stream.push(end())
		if err := jsonrpc.NewConn(stream, new(actor), nil).Run(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("Run: %v, want %v", err, errBroken)
		}
	})
}

// Values of the context reach handlers, though its end does not.
func TestConnContextValues(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		stream := newMemStream()
		stream.push(incoming{frame: []byte(echo("1"))}, end())
		go func() { <-stream.out }() // ends with the answer
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		defer stop()
		var got any
		h := handlerFunc(func(ctx context.Context) { got = ctx.Value(key{}) })
		if err := jsonrpc.NewConn(stream, h, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if got != "v" {
			t.Errorf("the value is %v, want v", got)
		}
	})
}

// handlerFunc is a handler that answers {} after looking at the context.
type handlerFunc func(context.Context)

func (f handlerFunc) Handle(ctx context.Context, _ *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	f(ctx)
	return append(dst, `{}`...), nil
}

func (handlerFunc) Notify(context.Context, *jsonrpc.Request, jsonrpc.Peer) {}
func (handlerFunc) Dialect() jsonrpc.Dialect                               { return jsonrpc.Dialect{} }
func (handlerFunc) Drain()                                                 {}

// A program that is the client starts Run in a goroutine and calls at once.
func TestConnBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := newMemStream()
		conn := jsonrpc.NewConn(stream, new(actor), nil)
		impatient, stop := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer stop()
		if _, err := conn.Call(impatient, "m", nil); err == nil || err.Error() != "enough" {
			t.Errorf("Call without Run: %v, want the cause of its context", err)
		}
		if err := conn.Send(impatient, []byte(`{}`)); err == nil || err.Error() != "enough" {
			t.Errorf("Send without Run: %v, want the cause of its context", err)
		}
		called := make(chan error, 1)
		go func() { // its result is taken below
			_, err := conn.Call(t.Context(), "m", nil)
			called <- err
		}()
		synctest.Wait()
		go func() { // ends with the request
			<-stream.out
			stream.push(incoming{frame: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)}, end())
		}()
		if err := conn.Run(t.Context()); err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := <-called; err != nil {
			t.Errorf("Call: %v", err)
		}
	})
}
