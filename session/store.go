package session

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
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
	MaxSessions     int           // 0: DefaultMaxSessions; beyond it nobody gets another one
	MaxPerPrincipal int           // 0: DefaultMaxPerPrincipal; clients without a credential are one principal
	IdleTimeout     time.Duration // without a request in flight or an open stream; 0: DefaultIdleTimeout, negative: never
	MaxAge          time.Duration // after which a session ends even if it is in use; 0: never
}

// Store owns the handshake sessions of clients that come back with an id: it
// alone keeps them alive between two requests. A session ends by Remove, when
// it has been idle for long, when its principal needs room for another one, or
// with the store. All methods may be called by several goroutines.
type Store struct {
	opts StoreOptions
	born time.Time
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
	owner   *policy.Principal
	session io.Closer
	uses    int           // requests in flight and open streams
	begun   time.Duration // after the store
	idle    time.Duration // since when, after the store, if there are no uses
}

// belongs reports whether the session is the principal's. One whose roles have
// changed has to begin anew, since a session keeps those that it began with.
func (e *stored) belongs(p *policy.Principal) bool {
	return e.owner == p || e.owner.ID == p.ID && slices.Equal(e.owner.Roles, p.Roles)
}

// tidier is a session that has something to forget from time to time.
type tidier interface{ Tidy(now time.Time) }

// NewStore returns an empty store. Close ends it.
func NewStore(o *StoreOptions) *Store {
	s := &Store{born: time.Now(), stop: make(chan struct{}), sessions: make(map[string]*stored), perOwner: make(map[string]int)}
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
	s.wg.Go(s.sweep) // until Close, which waits for it
	return s
}

// Add stores a session of the principal and returns its id, which cannot be
// guessed. At the principal's bound its oldest idle session makes room. The
// error is a [*policy.LimitError].
func (s *Store) Add(p *policy.Principal, session io.Closer) (string, error) {
	id := rand.Text()
	now := time.Since(s.born)
	s.mu.Lock()
	var evicted io.Closer
	err := s.roomLocked(p.ID, &evicted)
	if err == nil {
		s.sessions[id] = &stored{owner: p, session: session, begun: now, idle: now}
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
	var since time.Duration
	for id, e := range s.sessions {
		if e.owner.ID == owner && e.uses == 0 && (oldest == "" || e.idle < since) {
			oldest, since = id, e.idle
		}
	}
	return oldest
}

// takeLocked takes a session out of the store.
func (s *Store) takeLocked(id string) io.Closer {
	e := s.sessions[id]
	delete(s.sessions, id)
	if s.perOwner[e.owner.ID]--; s.perOwner[e.owner.ID] == 0 {
		delete(s.perOwner, e.owner.ID)
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
	if e == nil || !e.belongs(p) {
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
		e.idle = time.Since(s.born)
	}
}

// Remove ends the session with the id if it is the principal's.
func (s *Store) Remove(id string, p *policy.Principal) bool {
	s.mu.Lock()
	e := s.sessions[id]
	if e == nil || !e.belongs(p) {
		s.mu.Unlock()
		return false
	}
	session := s.takeLocked(id)
	s.mu.Unlock()
	session.Close()
	return true
}

// sweep ends sessions that have been idle for long, or are too old, and tidies
// up the others.
func (s *Store) sweep() {
	ticker := time.NewTicker(s.interval())
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		expired, others := s.inspect(time.Since(s.born))
		for _, session := range expired {
			session.Close()
		}
		for _, session := range others {
			session.Tidy(time.Now())
		}
	}
}

// interval returns how often the store is swept: often enough that no limit is
// overrun by more than a quarter, or by a second if that is more.
func (s *Store) interval() time.Duration {
	every := time.Minute
	for _, limit := range []time.Duration{s.opts.IdleTimeout, s.opts.MaxAge} {
		if limit > 0 {
			every = min(every, limit/4)
		}
	}
	return max(every, time.Second)
}

// inspect takes the sessions out whose time is over, and returns the others that
// have to tidy up.
func (s *Store) inspect(now time.Duration) (expired []io.Closer, others []tidier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.sessions {
		idle := s.opts.IdleTimeout > 0 && e.uses == 0 && now-e.idle >= s.opts.IdleTimeout
		old := s.opts.MaxAge > 0 && now-e.begun >= s.opts.MaxAge
		if idle || old {
			expired = append(expired, s.takeLocked(id))
		} else if t, ok := e.session.(tidier); ok {
			others = append(others, t)
		}
	}
	return expired, others
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
	Sessions int    // now
	InUse    int    // of those, with a request in flight or an open stream
	Ended    uint64 // since the start
}

// Stats returns what the store holds now.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := StoreStats{Sessions: len(s.sessions), Ended: s.ended}
	for _, e := range s.sessions {
		if e.uses > 0 {
			stats.InUse++
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
