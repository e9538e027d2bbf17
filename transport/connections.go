package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// spare is how many connections beyond the limit are accepted to be told so.
const spare = 64

// connections bounds the connections of a server. At the limit the one that has
// been idle for longest makes room, so that clients which keep connections open
// for later do not keep others out. If none is idle, the next ones are answered
// with 503, and those beyond are closed at once.
type connections struct {
	limit int

	mu   sync.Mutex // guards the fields below
	open int
	idle connection // the ends of a ring of those that are idle, for longest first
}

func newConnections(limit int) *connections {
	a := &connections{limit: limit}
	a.idle.next, a.idle.previous = &a.idle, &a.idle
	return a
}

// connection is a connection that counts.
type connection struct {
	net.Conn
	all     *connections
	surplus bool // it came when the limit was reached

	next, previous *connection // in the ring of the idle ones; guarded by all.mu; nil while it is in use

	once sync.Once
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.once.Do(func() {
		c.all.mu.Lock()
		defer c.all.mu.Unlock()
		c.all.open--
		c.all.useLocked(c)
	})
	return c.Conn.Close()
}

// CloseWrite lets net/http end a connection in a way that the client gets to
// read the last answer.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// useLocked takes a connection out of the idle ones.
func (a *connections) useLocked(c *connection) {
	if c.next != nil {
		c.next.previous, c.previous.next = c.previous, c.next
		c.next, c.previous = nil, nil
	}
}

// restLocked adds a connection to the idle ones.
func (a *connections) restLocked(c *connection) {
	c.next, c.previous = &a.idle, a.idle.previous
	c.next.previous, c.previous.next = c, c
}

// admit counts a new connection. It returns nil if that was one too many, and
// has closed it.
func (a *connections) admit(conn net.Conn) *connection {
	a.mu.Lock()
	var victim *connection
	if a.open >= a.limit {
		if oldest := a.idle.next; oldest != &a.idle {
			victim = oldest
			a.useLocked(victim)
		}
	}
	a.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open >= a.limit+spare {
		_ = conn.Close()
		return nil
	}
	a.open++
	return &connection{Conn: conn, all: a, surplus: a.open > a.limit}
}

// note follows the state of a connection; it is a hook of [http.Server].
func (a *connections) note(conn net.Conn, state http.ConnState) {
	c := counted(conn)
	if c == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.useLocked(c)
	if state == http.StateIdle {
		a.restLocked(c)
	}
}

// counted returns the connection that counts behind what net/http has.
func counted(conn net.Conn) *connection {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

// limited is a listener whose connections count.
type limited struct {
	net.Listener
	all *connections
}

// Accept implements [net.Listener].
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.all.admit(conn); c != nil {
			return c, nil
		}
	}
}

// surplusKey is the key for whether the connection of a request is one too many.
type surplusKey struct{}

// mark is a hook of [http.Server].
func (a *connections) mark(ctx context.Context, conn net.Conn) context.Context {
	if c := counted(conn); c != nil && c.surplus {
		return context.WithValue(ctx, surplusKey{}, true)
	}
	return ctx
}

// isSurplus reports whether the connection of a request is one too many.
func isSurplus(r *http.Request) bool { return r.Context().Value(surplusKey{}) != nil }
