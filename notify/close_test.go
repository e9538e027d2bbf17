package notify_test

import (
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/notify"
	"github.com/google/go-cmp/cmp"
)

var tools = notify.Event{Kind: notify.ToolsChanged}

func TestClose_dropsWhatWaits(t *testing.T) {
	tests := []struct {
		name  string
		close func(h *notify.Hub, s *notify.Subscriber)
	}{
		{"subscriber", func(_ *notify.Hub, s *notify.Subscriber) { s.Close() }},
		{"subscriber twice", func(_ *notify.Hub, s *notify.Subscriber) { s.Close(); s.Close() }},
		{"hub", func(h *notify.Hub, _ *notify.Subscriber) { h.Close() }},
		{"hub twice", func(h *notify.Hub, _ *notify.Subscriber) { h.Close(); h.Close() }},
		{"hub, then subscriber", func(h *notify.Hub, s *notify.Subscriber) { h.Close(); s.Close() }},
		{"subscriber, then hub", func(h *notify.Hub, s *notify.Subscriber) { s.Close(); h.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				var got recorder
				s := subscribe(t, h, notify.Filter{Tools: true}, got.deliver)
				h.Publish(tools)
				tt.close(h, s)
				h.Publish(tools)
				settle()
				if batches := got.take(); batches != nil {
					t.Errorf("delivered %v after Close", batches)
				}
				if got := h.Stats(); got.Subscribers != 0 || got.Leaked != 0 {
					t.Errorf("Stats = %+v, want no subscriber and no leak", got)
				}
			})
		})
	}
}

func TestClose_waitsForTheDeliveryUnderWay(t *testing.T) {
	tests := []struct {
		name  string
		close func(h *notify.Hub, s *notify.Subscriber)
	}{
		{"subscriber", func(_ *notify.Hub, s *notify.Subscriber) { s.Close() }},
		{"hub", func(h *notify.Hub, _ *notify.Subscriber) { h.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				release := make(chan struct{})
				var got recorder
				s := subscribe(t, h, notify.Filter{Tools: true}, func(events []notify.Event) {
					<-release
					got.deliver(events)
				})
				h.Publish(tools)
				settle()
				h.Publish(tools) // waits for the delivery under way, and is dropped

				closed := make(chan struct{})
				for range 2 { // the second Close waits too
					go func() {
						tt.close(h, s)
						closed <- struct{}{}
					}()
				}
				synctest.Wait()
				select {
				case <-closed:
					t.Error("Close returned during a delivery")
				default:
				}
				close(release)
				<-closed
				<-closed
				settle()
				if diff := cmp.Diff([][]notify.Event{{tools}}, got.take()); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A deliver function that finds its peer gone closes, at whatever depth of
// calls, and must not wait for itself.
func TestClose_fromWithinDeliver(t *testing.T) {
	tests := []struct {
		name  string
		close func(h *notify.Hub, s *notify.Subscriber)
	}{
		{"subscriber", func(_ *notify.Hub, s *notify.Subscriber) { s.Close() }},
		{"hub", func(h *notify.Hub, _ *notify.Subscriber) { h.Close() }},
		{"deep in the stack", func(_ *notify.Hub, s *notify.Subscriber) { deep(1000, s.Close) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, nil)
				var got recorder
				var s *notify.Subscriber
				s = subscribe(t, h, notify.Filter{Tools: true}, func(events []notify.Event) {
					got.deliver(events)
					h.Publish(tools)
					tt.close(h, s)
				})
				h.Publish(tools)
				settle()
				settle()
				if diff := cmp.Diff([][]notify.Event{{tools}}, got.take()); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// deep calls f at the bottom of n frames.
func deep(n int, f func()) {
	if n > 0 {
		deep(n-1, f)
		return
	}
	f()
}

// Two deliveries under way that close each other's subscriber must not wait for
// one another.
func TestClose_fromWithinEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		both := make(chan struct{})
		var subs [2]*notify.Subscriber
		for i := range subs {
			subs[i] = subscribe(t, h, notify.Filter{Tools: true}, func([]notify.Event) {
				<-both
				subs[1-i].Close()
			})
		}
		h.Publish(tools)
		settle()
		close(both)
		synctest.Wait()
		if got := h.Stats(); got.Deliveries != 2 || got.Subscribers != 0 {
			t.Errorf("Stats = %+v, want two deliveries and no subscriber", got)
		}
	})
}

// Everything a deliver function may want to call.
func TestDeliver_mayUseTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, nil)
		var got recorder
		var s *notify.Subscriber
		s = subscribe(t, h, notify.Filter{Tools: true}, func(events []notify.Event) {
			got.deliver(events)
			if events[0] != tools {
				return
			}
			if err := s.AddURI("a"); err != nil {
				t.Error(err)
			}
			h.Publish(updated("a"))
			subscribe(t, h, notify.Filter{}, func([]notify.Event) {}).Close()
			h.Stats()
		})
		h.Publish(tools)
		settle()
		settle()
		if diff := cmp.Diff([][]notify.Event{{tools}, {updated("a")}}, got.take()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}
