package session_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/session"
	"github.com/google/go-cmp/cmp"
)

// closer notes that it was closed, and how often.
type closer struct {
	mu    sync.Mutex // guards times
	times int
}

func (c *closer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times++
	return nil
}

func (c *closer) closed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times
}

// newStore returns a store that ends with the test.
func newStore(t *testing.T, o session.StoreOptions) *session.Store {
	t.Helper()
	s := session.NewStore(&o)
	t.Cleanup(func() { s.Close() })
	return s
}

// add stores a session and fails the test if that is refused.
func add(t *testing.T, s *session.Store, p *policy.Principal, c *closer) string {
	t.Helper()
	id, err := s.Add(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestStoreKnowsOwners(t *testing.T) {
	s := newStore(t, session.StoreOptions{IdleTimeout: -1})
	alice, bob := policy.NewPrincipal("alice", "admin"), policy.NewPrincipal("bob")
	c := new(closer)
	id := add(t, s, alice, c)
	if got, ok := s.Acquire(id, alice); !ok || got != c {
		t.Error("its owner does not get the session")
	}
	s.Release(id)
	for name, id := range map[string]string{"another principal": id, "an unknown id": "nope", "an empty id": ""} {
		if _, ok := s.Acquire(id, bob); ok {
			t.Errorf("%s gets a session", name)
		}
		if s.Remove(id, bob) {
			t.Errorf("%s ends a session", name)
		}
	}
	if c.closed() != 0 {
		t.Error("somebody else has ended the session")
	}
	if _, ok := s.Acquire(id, policy.NewPrincipal("alice")); ok {
		t.Error("a principal whose roles have changed gets the session with the old ones")
	}
	if got, ok := s.Acquire(id, policy.NewPrincipal("alice", "admin")); !ok || got != c {
		t.Error("its owner does not get the session when it is told anew who that is")
	}
	s.Release(id)
	if !s.Remove(id, alice) || s.Remove(id, alice) || c.closed() != 1 {
		t.Errorf("its owner ends the session once; it was closed %d times", c.closed())
	}
	if _, ok := s.Acquire(id, alice); ok {
		t.Error("a session that has ended is there")
	}
}

func TestStoreIDs(t *testing.T) {
	s := newStore(t, session.StoreOptions{IdleTimeout: -1, MaxPerPrincipal: 1000})
	seen := make(map[string]bool)
	for range 1000 {
		id := add(t, s, policy.Local(), new(closer))
		for i := range len(id) {
			if id[i] < 0x21 || id[i] > 0x7e {
				t.Fatalf("id %q has a character that a header cannot carry", id)
			}
		}
		if len(id) < 20 || seen[id] {
			t.Fatalf("id %q can be guessed", id)
		}
		seen[id] = true
	}
}

func TestStoreBounds(t *testing.T) {
	s := newStore(t, session.StoreOptions{MaxSessions: 4, MaxPerPrincipal: 2, IdleTimeout: -1})
	alice := policy.NewPrincipal("alice")
	first, second, third := new(closer), new(closer), new(closer)
	use := func(id string) {
		if _, ok := s.Acquire(id, alice); !ok {
			t.Fatalf("session %s is gone", id)
		}
	}
	use(add(t, s, alice, first))
	add(t, s, alice, second)
	// The oldest idle one makes room, which is not the one in use.
	use(add(t, s, alice, third))
	if first.closed() != 0 || second.closed() != 1 || third.closed() != 0 {
		t.Errorf("closed %d, %d, %d times; want the second once", first.closed(), second.closed(), third.closed())
	}
	_, err := s.Add(alice, new(closer))
	var limit *policy.LimitError
	if !errors.As(err, &limit) || !limit.Own || limit.RetryAfter <= 0 {
		t.Errorf("with all of her sessions in use: %#v", err)
	}
	for i := range 2 {
		add(t, s, policy.NewPrincipal(fmt.Sprint(i)), new(closer))
	}
	_, err = s.Add(policy.NewPrincipal("one more"), new(closer))
	limit = nil
	if !errors.As(err, &limit) || limit.Own || limit.RetryAfter <= 0 {
		t.Errorf("at the bound of all: %#v", err)
	}
}

func TestStoreEndsIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session.NewStore(&session.StoreOptions{IdleTimeout: time.Minute})
		idle, used := new(closer), new(closer)
		add(t, s, policy.Local(), idle)
		id := add(t, s, policy.Local(), used)
		s.Acquire(id, policy.Local())
		pass := func(d time.Duration) {
			time.Sleep(d) // of the bubble's clock
			synctest.Wait()
		}
		pass(50 * time.Second)
		if idle.closed() != 0 {
			t.Error("the session was ended too early")
		}
		pass(40 * time.Second)
		if idle.closed() != 1 || used.closed() != 0 {
			t.Errorf("closed %d and %d times, want the idle one once", idle.closed(), used.closed())
		}
		pass(time.Hour) // a stream may be open for as long as it likes
		s.Release(id)
		pass(50 * time.Second)
		if used.closed() != 0 {
			t.Error("the time that a session is used counts as idle")
		}
		pass(time.Minute)
		if diff := cmp.Diff(session.StoreStats{Ended: 2}, s.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		s.Close()
	})
}

func TestStoreEndsOldSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session.NewStore(&session.StoreOptions{IdleTimeout: -1, MaxAge: time.Hour})
		defer s.Close()
		used := new(closer)
		id := add(t, s, policy.Local(), used)
		s.Acquire(id, policy.Local())
		time.Sleep(59 * time.Minute) // of the bubble's clock
		synctest.Wait()
		if used.closed() != 0 {
			t.Error("the session was ended too early")
		}
		time.Sleep(17 * time.Minute)
		synctest.Wait()
		if used.closed() != 1 {
			t.Errorf("the session was closed %d times, want once although it is in use", used.closed())
		}
	})
}

func TestStoreCloses(t *testing.T) {
	s := session.NewStore(nil)
	c := new(closer)
	id := add(t, s, policy.Local(), c)
	s.Acquire(id, policy.Local())
	if diff := cmp.Diff(session.StoreStats{Sessions: 1, InUse: 1}, s.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	s.Close()
	s.Close() // again is harmless
	s.Release(id)
	if c.closed() != 1 {
		t.Errorf("the session was closed %d times, want once", c.closed())
	}
	if _, err := s.Add(policy.Local(), new(closer)); err == nil {
		t.Error("a closed store takes sessions")
	}
}

// Whoever only looks does not keep anything alive.
func TestObserversAreWeak(t *testing.T) {
	s := session.NewStore(&session.StoreOptions{IdleTimeout: -1})
	o := s.Observe()
	add(t, s, policy.Local(), new(closer))
	if got, ok := o.Stats(); !ok || got.Sessions != 1 {
		t.Errorf("an observer sees %+v, %v", got, ok)
	}
	s.Close() // until then its own goroutine keeps it
	s = nil
	runtime.GC()
	if _, ok := o.Stats(); ok {
		t.Error("an observer keeps the store alive")
	}
}
