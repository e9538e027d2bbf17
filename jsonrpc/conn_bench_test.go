package jsonrpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
)

// benchStream is a stream over channels that copies nothing but what is written.
type benchStream struct {
	in  chan []byte
	out chan int // frames in each write
}

func (s *benchStream) Read(context.Context) ([]byte, error) {
	if f, ok := <-s.in; ok {
		return f, nil
	}
	return nil, io.EOF
}

func (s *benchStream) Write(_ context.Context, frames []byte) error {
	s.out <- bytes.Count(frames, []byte("\n"))
	return nil
}

func (*benchStream) Delimiter() string { return "\n" }
func (s *benchStream) Buffered() bool  { return len(s.in) > 0 }
func (*benchStream) Close() error      { return nil }

// echoer answers with the params.
type echoer struct{ handlerFunc }

func (echoer) Handle(_ context.Context, req *jsonrpc.Request, _ jsonrpc.Peer, dst []byte) ([]byte, error) {
	return append(dst, req.Params.Raw...), nil
}

// BenchmarkRoundTrip is a request and its answer, with so many under way.
func BenchmarkRoundTrip(b *testing.B) {
	for _, inFlight := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d in flight", inFlight), func(b *testing.B) {
			s := &benchStream{in: make(chan []byte, inFlight), out: make(chan int, inFlight)}
			ended := make(chan error)
			go func() { ended <- jsonrpc.NewConn(s, echoer{}, nil).Run(context.Background()) }() // ends with s.in
			frames := make([][]byte, inFlight)
			for i := range frames {
				frames[i] = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"echo","params":{"text":"hello, world"}}`, i)
			}
			b.ReportAllocs()
			free, next := inFlight, 0
			for b.Loop() {
				if free == 0 {
					free += <-s.out
				}
				// Answers come in order as long as the reader runs the requests,
				// and an id is in use until then.
				s.in <- frames[next%inFlight]
				free--
				next++
			}
			for free < inFlight {
				free += <-s.out
			}
			close(s.in)
			if err := <-ended; err != nil {
				b.Error(err)
			}
		})
	}
}
