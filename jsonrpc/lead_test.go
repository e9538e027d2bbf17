package jsonrpc

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Exactly one of end and take succeeds, whatever the two goroutines do.
func TestLeadIsHeldByOne(t *testing.T) {
	l := lead{wake: make(chan struct{}, 1)}
	for range 20000 {
		run := l.begin()
		var taken bool
		var wg sync.WaitGroup
		wg.Go(func() { taken = l.take(run) })
		ended := l.end(run)
		wg.Wait()
		if taken == ended {
			t.Fatalf("the run has ended: %v, the lead was taken: %v", ended, taken)
		}
	}
}

func TestLeadStates(t *testing.T) {
	l := lead{wake: make(chan struct{}, 1)}
	first := l.begin()
	if !l.busy() {
		t.Error("not busy during a run")
	}
	if !l.take(first) || l.take(first) || l.end(first) {
		t.Error("the lead can be taken once, and then not be kept")
	}
	if l.busy() {
		t.Error("busy though the lead was taken")
	}
	second := l.begin()
	if l.take(first) || l.end(first) {
		t.Error("a run has an effect on the next one")
	}
	if !l.end(second) || l.take(second) {
		t.Error("a run that has ended can be taken")
	}
}

func TestLeadPenalty(t *testing.T) {
	var l lead
	handedOff := func() (n int) {
		for !l.mayRun() {
			n++
		}
		return n
	}
	var got []int
	for range 9 {
		l.slow()
		got = append(got, handedOff())
	}
	if want := []int{8, 16, 32, 64, 128, 256, 512, 1024, 2048}; !slices.Equal(want, got) {
		t.Errorf("requests that go to workers after a slow one: %v, want %v", got, want)
	}
	if got := handedOff(); got != 0 {
		t.Errorf("%d more go to workers", got)
	}
}

// watched is a lead with a watcher.
type watched struct {
	lead
	ticks, takeOvers atomic.Int64
	stop             chan struct{}
	done             sync.WaitGroup
}

func watchLead() *watched {
	w := &watched{lead: lead{wake: make(chan struct{}, 1)}, stop: make(chan struct{})}
	w.done.Go(func() {
		w.watch(w.stop, func() { w.ticks.Add(1) }, func(run uint64) {
			if w.take(run) {
				w.takeOvers.Add(1)
			}
		})
	})
	return w
}

func (w *watched) close() {
	close(w.stop)
	w.done.Wait()
}

func TestWatcher(t *testing.T) {
	tests := []struct {
		name          string
		before        time.Duration // without a run
		run           time.Duration
		atLeast, most int64 // times that the lead is taken
	}{
		{"a quick run is left alone", 0, 900 * time.Microsecond, 0, 0},
		{"a slow run loses the lead", 0, 2 * time.Millisecond, 1, 1},
		{"once", 0, time.Second, 1, 1},
		{"also at an odd moment", 500 * time.Microsecond, 2 * time.Millisecond, 1, 1},
		{"a quick one behind a pause", time.Minute, 900 * time.Microsecond, 0, 0},
		{"a slow one behind a pause", time.Minute, 2 * time.Millisecond, 1, 1},
		{"when the watcher is about to sleep", watchIdle*watchTick - 1, 2 * time.Millisecond, 1, 1},
		{"when it has just begun to", watchIdle * watchTick, 2 * time.Millisecond, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchLead()
				defer w.close()
				time.Sleep(tt.before)
				run := w.begin()
				time.Sleep(tt.run)
				synctest.Wait()
				w.end(run)
				if n := w.takeOvers.Load(); n < tt.atLeast || n > tt.most {
					t.Errorf("the lead was taken %d times, want %d to %d", n, tt.atLeast, tt.most)
				}
			})
		})
	}
}

func TestWatcherSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchLead()
		defer w.close()
		w.end(w.begin())
		time.Sleep(time.Hour)
		if n := w.ticks.Load(); n > 2*watchIdle {
			t.Errorf("%d ticks in an hour without a run", n)
		}
		before := w.ticks.Load()
		w.stir()
		time.Sleep(watchTick)
		synctest.Wait()
		if w.ticks.Load() == before {
			t.Error("no tick after something was queued")
		}
	})
}

// A run that begins while the watcher falls asleep is never overlooked: the
// watcher sees it, or is woken by it.
func TestWatcherFallsAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lead{wake: make(chan struct{}, 1)}
		last := l.state.Load()
		l.begin()
		if !l.sleep(nil, last) || l.asleep.Load() || len(l.wake) > 0 {
			t.Error("the watcher must not sleep during a run that it has not seen")
		}
		slept := make(chan bool, 1)
		last = l.state.Load()
		go func() { slept <- l.sleep(nil, last) }() // ends with the next run
		synctest.Wait()
		if !l.asleep.Load() || len(slept) > 0 {
			t.Error("the watcher does not sleep though nothing begins")
		}
		l.begin()
		if !<-slept || l.asleep.Load() || len(l.wake) > 0 {
			t.Error("a run must wake the watcher")
		}
		stop := make(chan struct{})
		close(stop)
		if l.sleep(stop, l.state.Load()) {
			t.Error("the watcher must end when it is stopped")
		}
	})
}

// Who stirs does not ask afterwards whether it has the lead still, so nobody can
// take it then: there would be two who read.
func TestLeadIsKeptByStirring(t *testing.T) {
	l := lead{wake: make(chan struct{}, 1)}
	var done, taken atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			if l.take(l.state.Load()) {
				taken.Store(true)
			}
		}
	})
	before := l.state.Load()
	for range 500_000 {
		l.stir()
	}
	done.Store(true)
	wg.Wait()
	if taken.Load() {
		t.Error("the lead was taken")
	}
	if l.state.Load() == before || l.busy() {
		t.Error("stirring leaves no trace, or a run")
	}
}
