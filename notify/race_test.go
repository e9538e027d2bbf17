package notify_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudg.dev/cloudg/notify"
)

// Everything at once, in real time, for the race detector; and three promises
// that hold whatever the order: no overlap, nothing after Close, nothing empty.
func TestHub_concurrentUse(t *testing.T) {
	h := notify.New(&notify.Options{Window: 50 * time.Microsecond, MaxPending: 8})
	stop := make(chan struct{})
	var publishers, owners sync.WaitGroup
	for p := range 2 {
		publishers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				h.Publish(notify.Event{Kind: notify.Kind(1 + i%3)})
				h.Publish(updated(fmt.Sprintf("x://%d/%d", p, i%50)))
				h.Stats()
				runtime.Gosched()
			}
		})
	}
	for range 4 {
		owners.Go(func() {
			for range 25 {
				useOnce(t, h)
			}
		})
	}
	owners.Wait()
	last := subscribe(t, h, notify.Filter{Tools: true}, func([]notify.Event) {})
	if err := h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	close(stop)
	publishers.Wait()
	last.Close()
	if got := h.Stats(); got.Subscribers != 0 || got.URIs != 0 || got.Deliveries == 0 {
		t.Errorf("Stats = %+v, want nothing left after some deliveries", got)
	}
}

// useOnce is the life of one subscriber, which ends after a few deliveries.
func useOnce(t *testing.T, h *notify.Hub) {
	var running, closed atomic.Bool
	var once sync.Once
	enough := make(chan struct{})
	s, err := h.Subscribe(notify.Filter{Tools: true, URIs: []string{"x://0"}}, func(events []notify.Event) {
		if !running.CompareAndSwap(false, true) {
			t.Error("two deliveries overlap")
		}
		if closed.Load() {
			t.Error("delivery after Close")
		}
		if len(events) == 0 {
			t.Error("empty delivery")
		}
		running.Store(false)
		once.Do(func() { close(enough) })
	})
	if err != nil {
		t.Errorf("Subscribe: %v", err)
		return
	}
	if err := s.AddURI("x://1"); err != nil {
		t.Errorf("AddURI: %v", err)
	}
	<-enough
	s.RemoveURI("x://0")
	if err := s.SetFilter(notify.Filter{Prompts: true, URIs: []string{"x://2", "x://3"}}); err != nil {
		t.Errorf("SetFilter: %v", err)
	}
	s.Close()
	closed.Store(true)
}
