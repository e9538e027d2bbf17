package transport_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/session"
)

// held returns the bytes of the heap that are in use.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// goroutines returns how many goroutines the bubble of the caller has, and what
// they are doing. Those of tests that are over may be ending still.
func goroutines() (int, string) {
	buf := make([]byte, 4<<20)
	all := string(buf[:runtime.Stack(buf, true)])
	own, _, _ := strings.Cut(all, "\n") // goroutine 1 [running, synctest bubble 1]:
	bubble := own[strings.Index(own, "synctest bubble"):]
	return strings.Count(all, bubble), all
}

// leaks checks that what f does leaves nothing behind when the given time has
// passed: no goroutine at all, and no memory to speak of.
func (s *site) leaks(f func(), later time.Duration) {
	s.t.Helper()
	s.forgets = true
	settle := func() {
		time.Sleep(later + time.Minute) // short-lived timers
		s.client.CloseIdleConnections()
		synctest.Wait()
	}
	f() // whatever is made once
	settle()
	before, _ := goroutines()
	memory := held()
	f()
	settle()
	if n, all := goroutines(); n != before {
		s.t.Errorf("%d goroutines, before there were %d:\n%s", n, before, all)
	}
	if more := held() - memory; more > max(memory/20, 256<<10) {
		s.t.Errorf("%d bytes more than the %d before", more, memory)
	}
}

func TestA35AbandonedSessions(t *testing.T) {
	n := 10_000
	if testing.Short() || racing {
		n = 500
	}
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{store: session.StoreOptions{MaxSessions: n, MaxPerPrincipal: n, IdleTimeout: time.Hour}})
		synctest.Wait() // those of the server have begun
		idle, _ := goroutines()
		s.leaks(func() {
			for range n {
				s.open("2025-11-25", nil)
			}
			if got := s.store.Stats(); got.Sessions != n {
				t.Errorf("%+v", got)
			}
			s.client.CloseIdleConnections()
			synctest.Wait()
			if now, all := goroutines(); now != idle {
				t.Errorf("%d goroutines with %d sessions, %d without:\n%s", now, n, idle, all)
			}
		}, 2*time.Hour)
		if got := s.store.Stats(); got.Sessions != 0 || got.Ended != uint64(2*n) {
			t.Errorf("%+v", got)
		}
	})
}

// A session costs 2 KB at most.
func TestSessionSize(t *testing.T) {
	const n = 2000
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{store: session.StoreOptions{MaxSessions: 2 * n, MaxPerPrincipal: 2 * n}})
		for range n {
			s.open("2025-11-25", nil)
		}
		before := held()
		for range n {
			s.open("2025-11-25", nil)
		}
		if each := (held() - before) / n; each > 2048 {
			t.Errorf("a session takes %d bytes", each)
		}
	})
}

func TestA36FailedInitialize(t *testing.T) {
	n := 10_000
	if testing.Short() || racing {
		n = 500
	}
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		s.leaks(func() {
			for i := range n {
				a := s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}`, []string{"7", "{}"}[i%2]), nil)
				if a.header.Get("Mcp-Session-Id") != "" || a.status != 400 && a.status != 200 {
					t.Fatalf("%d %v %s", a.status, a.header, a.body)
				}
			}
		}, 0)
		if got := s.store.Stats(); got.Sessions != 0 || got.Ended != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestA37StatelessRequests(t *testing.T) {
	n := 5000
	if testing.Short() || racing {
		n = 500
	}
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body, h := modern("1", "tools/list")
		storm, sh := modernCall("2", "storm", `{"n":3}`)
		s.leaks(func() {
			for range n {
				if a := s.post(body, h); a.status != 200 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				if a := s.post(storm, sh); a.status != 200 {
					t.Fatalf("%d %s", a.status, a.body)
				}
			}
		}, 0)
		if got := s.store.Stats(); got.Sessions != 0 || got.Ended != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// Streams that break off, in both eras, leave nothing behind.
func TestBrokenStreamsLeaveNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		s.leaks(func() {
			for range 100 {
				h := s.open("2025-11-25", nil)
				s.listen(h).close()
				s.stream(s.request(http.MethodPost, "/mcp", call("1", "steps", `{"n":5}`), h)).close()
				body, mh := modernCall("1", "wait", "{}")
				s.stream(s.request(http.MethodPost, "/mcp", body, mh)).close()
			}
		}, 2*time.Hour)
		if got := s.store.Stats(); got.Sessions != 0 {
			t.Errorf("%+v", got)
		}
	})
}
