package session

import (
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"time"
	"weak"

	"cloudg.dev/cloudg/policy"
)

// The defaults of [StoreOptions].
const (
	DefaultMaxSessions     = 1000
	DefaultMaxPerPrincipal = 100
	DefaultIdleTimeout     = time.Hour
)

// StoreOptions configures a [Store]. The zero value is usable.
type StoreOptions struct {
	MaxSessions     int           // 0: DefaultMaxSessions
	MaxPerPrincipal int           // 0: DefaultMaxPerPrincipal
	IdleTimeout     time.Duration // without a request in flight or an open stream; 0: DefaultIdleTimeout, negative: never
}

// Store owns the handshake sessions of clients that come back with an id: it
// alone keeps them alive between two requests. A session ends by Remove, when
// it has been idle for long, when its principal needs room for another one, or
// with the store.
type Store struct {
	opts StoreOptions
	stop chan struct{}
	wg   sync.WaitGroup // the sweeper

	mu       sync.Mutex // guards the fields below
	sessions map[string]*stored
	perOwner map[string]int
	closed   bool
	ended    uint64
}

// stored is a session in the store.
type stored struct {
	owner   string // the id of the principal
	session io.Closer
	uses    int // requests in flight and open streams
	idle    time.Time
}

// NewStore returns an empty store. Close ends it.
func NewStore(o *StoreOptions) *Store {
	s := &Store{stop: make(chan struct{}), sessions: make(map[string]*stored), perOwner: make(map[string]int)}
	if o != nil {
		s.opts = *o
	}
	if s.opts.MaxSessions <= 0 {
		s.opts.MaxSessions = DefaultMaxSessions
	}
	if s.opts.MaxPerPrincipal <= 0 {
		s.opts.MaxPerPrincipal = DefaultMaxPerPrincipal
	}
	if s.opts.IdleTimeout == 0 {
		s.opts.IdleTimeout = DefaultIdleTimeout
	}
	if s.opts.IdleTimeout > 0 {
		s.wg.Go(s.sweep)
	}
	return s
}

// Add stores a session of the principal and returns its id, which cannot be
// guessed. At the principal's bound its oldest idle session makes room. The
// error is a [*policy.LimitError].
func (s *Store) Add(p *policy.Principal, session io.Closer) (string, error) {
	id := rand.Text()
	s.mu.Lock()
	var evicted io.Closer
	err := s.roomLocked(p.ID, &evicted)
	if err == nil {
		s.sessions[id] = &stored{owner: p.ID, session: session, idle: time.Now()}
		s.perOwner[p.ID]++
	}
	s.mu.Unlock()
	if evicted != nil {
		evicted.Close()
	}
	if err != nil {
		return "", err
	}
	return id, nil
}

// roomLocked makes room for one more session of the owner.
func (s *Store) roomLocked(owner string, evicted *io.Closer) error {
	switch {
	case s.closed:
		return full("the server is shutting down", false)
	case s.perOwner[owner] >= s.opts.MaxPerPrincipal:
		id := s.oldestIdleLocked(owner)
		if id == "" {
			return full(fmt.Sprintf("%d sessions of this principal are in use, which is the limit", s.opts.MaxPerPrincipal), true)
		}
		*evicted = s.takeLocked(id)
	case len(s.sessions) >= s.opts.MaxSessions:
		return full(fmt.Sprintf("%d sessions are open, which is the limit", s.opts.MaxSessions), false)
	}
	return nil
}

// retryAfter is when a client may try again that was refused a session.
const retryAfter = 10 * time.Second

func full(reason string, own bool) error {
	return &policy.LimitError{Reason: reason, RetryAfter: retryAfter, Own: own}
}

func (s *Store) oldestIdleLocked(owner string) (oldest string) {
	var since time.Time
	for id, e := range s.sessions {
		if e.owner == owner && e.uses == 0 && (oldest == "" || e.idle.Before(since)) {
			oldest, since = id, e.idle
		}
	}
	return oldest
}

// takeLocked takes a session out of the store.
func (s *Store) takeLocked(id string) io.Closer {
	e := s.sessions[id]
	delete(s.sessions, id)
	if s.perOwner[e.owner]--; s.perOwner[e.owner] == 0 {
		delete(s.perOwner, e.owner)
	}
	s.ended++
	return e.session
}

// Acquire returns the session with the id, in use until Release. A session of
// another principal is as unknown as one that never was.
func (s *Store) Acquire(id string, p *policy.Principal) (io.Closer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.sessions[id]
	if e == nil || e.owner != p.ID {
		return nil, false
	}
	e.uses++
	return e.session, true
}

// Release ends a use that Acquire began.
func (s *Store) Release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.sessions[id]; e != nil {
		e.uses--
		e.idle = time.Now()
	}
}

// Remove ends the session with the id if it is the principal's.
func (s *Store) Remove(id string, p *policy.Principal) bool {
	s.mu.Lock()
	e := s.sessions[id]
	if e == nil || e.owner != p.ID {
		s.mu.Unlock()
		return false
	}
	session := s.takeLocked(id)
	s.mu.Unlock()
	session.Close()
	return true
}

// sweep ends sessions that have been idle for long.
func (s *Store) sweep() {
	every := min(max(s.opts.IdleTimeout/4, time.Second), time.Minute)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		for _, session := range s.expired(time.Now()) {
			session.Close()
		}
	}
}

// expired takes the sessions out that have been idle for long.
func (s *Store) expired(now time.Time) (list []io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.sessions {
		if e.uses == 0 && now.Sub(e.idle) >= s.opts.IdleTimeout {
			list = append(list, s.takeLocked(id))
		}
	}
	return list
}

// Close ends all sessions, and the store.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.stop)
	list := make([]io.Closer, 0, len(s.sessions))
	for id := range s.sessions {
		list = append(list, s.takeLocked(id))
	}
	s.mu.Unlock()
	for _, session := range list {
		session.Close()
	}
	s.wg.Wait()
	return nil
}

// StoreStats says what a store holds.
type StoreStats struct {
	Sessions, Streaming int
	Ended               uint64
}

// Stats returns what the store holds now.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := StoreStats{Sessions: len(s.sessions), Ended: s.ended}
	for _, e := range s.sessions {
		if e.uses > 0 {
			stats.Streaming++
		}
	}
	return stats
}

// Observer looks at a store without keeping it, or anything in it, alive.
type Observer struct{ store weak.Pointer[Store] }

// Observe returns an observer of the store, for metrics and listings.
func (s *Store) Observe() Observer { return Observer{weak.Make(s)} }

// Stats returns what the store holds, and false once it is gone.
func (o Observer) Stats() (StoreStats, bool) {
	s := o.store.Value()
	if s == nil {
		return StoreStats{}, false
	}
	return s.Stats(), true
}
