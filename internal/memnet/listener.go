package memnet

import (
	"context"
	"net"
	"sync"
)

// Listener accepts the connections that [Listener.Dial] makes. Its methods may
// be called by several goroutines.
type Listener struct {
	window int
	queue  chan net.Conn
	done   chan struct{}
	close  func()
}

// Listen returns a listener whose connections hold up to window bytes in each
// direction before a write waits; 0 means 64 KiB.
func Listen(window int) *Listener {
	if window <= 0 {
		window = 64 << 10
	}
	done := make(chan struct{})
	return &Listener{window: window, queue: make(chan net.Conn), done: done, close: sync.OnceFunc(func() { close(done) })}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. Connections that were accepted stay open.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return addr{} }

// Dial connects and waits until the other side has accepted. Network and
// address are ignored, so that it can be the DialContext of an HTTP client.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := Pipe(l.window)
	select {
	case l.queue <- far:
		return near, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// addr looks like a loopback address, which is what servers know.
type addr struct{}

func (addr) Network() string { return "tcp" }
func (addr) String() string  { return "127.0.0.1:1" }
