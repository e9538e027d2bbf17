package jsonrpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"cloudg.dev/cloudg/jsonrpc"
)

var (
	errStreamClosed = errors.New("the stream was closed")
	errBroken       = errors.New("broken pipe")
)

// memStream is a stream in memory whose blocking is durable for synctest. Frames
// go in one burst at a time; every write comes out as it was made, when somebody
// takes it.
type memStream struct {
	mu    sync.Mutex // guards the fields below
	queue []incoming
	ready chan struct{} // has room for one

	out    chan []byte
	closed chan struct{}
	broken chan struct{} // closed when writing fails from now on
}

type incoming struct {
	frame []byte
	err   error
}

func newMemStream() *memStream {
	return &memStream{
		ready:  make(chan struct{}, 1),
		out:    make(chan []byte),
		closed: make(chan struct{}),
		broken: make(chan struct{}),
	}
}

// push makes all of these readable at one moment.
func (s *memStream) push(in ...incoming) {
	s.mu.Lock()
	s.queue = append(s.queue, in...)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *memStream) pop() (incoming, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return incoming{}, false
	}
	in := s.queue[0]
	var frameError *jsonrpc.FrameError
	if in.err == nil || errors.As(in.err, &frameError) {
		s.queue = s.queue[1:] // other errors are for ever
	}
	return in, true
}

// unread returns the number of frames that wait.
func (s *memStream) unread() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

func (s *memStream) Read(ctx context.Context) ([]byte, error) {
	for ctx.Err() == nil {
		if in, ok := s.pop(); ok {
			return in.frame, in.err
		}
		select {
		case <-s.ready:
		case <-s.closed:
			return nil, errStreamClosed
		case <-ctx.Done():
		}
	}
	return nil, context.Cause(ctx)
}

func (s *memStream) Write(ctx context.Context, frames []byte) error {
	select {
	case <-s.broken:
		return errBroken
	default:
	}
	w := bytes.Clone(frames)
	select {
	case s.out <- w:
	case <-s.broken:
		return errBroken
	case <-s.closed:
		return errStreamClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for i := range frames {
		frames[i] = '#' // whoever kept them will notice
	}
	return nil
}

func (s *memStream) Delimiter() string { return "\n" }

func (s *memStream) Buffered() bool { return s.unread() > 0 }

func (s *memStream) Close() error {
	close(s.closed)
	return nil
}

func texts(frames []string) []incoming {
	in := make([]incoming, len(frames))
	for i, f := range frames {
		in[i].frame = []byte(f)
	}
	return in
}

func end() incoming { return incoming{err: io.EOF} }
