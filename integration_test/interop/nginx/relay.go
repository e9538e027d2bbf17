package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// relay passes bytes on between nginx and the server, whatever the version of
// HTTP, and notes when each progress notification leaves the server.
type relay struct {
	listener net.Listener
	server   string // address
	work     sync.WaitGroup

	mu     sync.Mutex
	times  []time.Time
	conns  map[net.Conn]struct{}
	closed bool
}

func newRelay(server string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, server: server, conns: make(map[net.Conn]struct{})}
	r.work.Go(r.accept)
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

// close ends all connections and waits for what works on them.
func (r *relay) close() {
	_ = r.listener.Close() // a listener has nothing left to write
	r.mu.Lock()
	r.closed = true
	for c := range r.conns {
		_ = c.Close() // whoever uses it sees the error
	}
	r.mu.Unlock()
	r.work.Wait()
}

func (r *relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = nil
}

func (r *relay) sent() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		far, err := net.Dial("tcp", r.server)
		if err != nil {
			_ = near.Close() // nginx reports it
			continue
		}
		if !r.adopt(near, far) {
			return
		}
		r.work.Go(func() { r.pass(far, near) })
		r.work.Go(func() { r.pass(near, io.TeeReader(far, &stamps{relay: r})) })
	}
}

// adopt makes the connections end with the relay.
func (r *relay) adopt(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.conns[c] = struct{}{}
		if r.closed {
			_ = c.Close() // not used yet
		}
	}
	return !r.closed
}

// pass copies until one side ends, and then ends the other.
func (r *relay) pass(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // what is missing is missed at the other end
	_ = to.(*net.TCPConn).CloseWrite()
}

// stamps notes when the notifications in a stream that it is given in pieces pass.
type stamps struct {
	relay *relay
	line  []byte // of which the end has not come yet
}

// Write implements io.Writer.
func (s *stamps) Write(p []byte) (int, error) {
	now := time.Now()
	s.line = append(s.line, p...)
	for {
		line, rest, whole := bytes.Cut(s.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		s.line = rest
		if isProgress(line) {
			s.relay.mu.Lock()
			s.relay.times = append(s.relay.times, now)
			s.relay.mu.Unlock()
		}
	}
}
