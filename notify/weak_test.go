package notify_test

import (
	"runtime"
	"testing"
	"time"

	"cloudg.dev/cloudg/notify"
)

// These tests need the collector, whose cleanups run outside synctest's bubbles;
// so they use real time, in which their windows never end.

// owner is what a session is to the hub: it holds the handle, and its method is
// the deliver function, so handle and function reach each other.
type owner struct {
	sub *notify.Subscriber
	got int
}

func (o *owner) deliver(events []notify.Event) { o.got += len(events) }

// drop subscribes n owners, publishes so that each has a timer armed, and
// forgets them.
//
//go:noinline
func drop(t *testing.T, h *notify.Hub, n int) {
	for range n {
		o := &owner{}
		s, err := h.Subscribe(notify.Filter{Tools: true, URIs: []string{"a", "b"}}, o.deliver)
		if err != nil {
			t.Fatal(err)
		}
		o.sub = s
	}
	h.Publish(tools)
	h.Publish(updated("a/1"))
}

// collect runs the collector until the hub has counted want leaks.
func collect(t *testing.T, h *notify.Hub, want uint64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); h.Stats().Leaked < want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("Stats = %+v, want %d leaked", h.Stats(), want)
		}
		runtime.GC()
	}
}

func TestHub_droppedSubscribersAreCollected(t *testing.T) {
	const dropped = 1000
	h := newHub(t, &notify.Options{Window: time.Hour})
	kept := &owner{}
	kept.sub = subscribe(t, h, notify.Filter{Tools: true, URIs: []string{"a"}}, kept.deliver)
	drop(t, h, dropped)
	collect(t, h, dropped)
	if got := h.Stats(); got.Subscribers != 1 || got.URIs != 1 || got.Leaked != dropped {
		t.Errorf("Stats = %+v, want only the kept subscriber and %d leaked", got, dropped)
	}
	runtime.KeepAlive(kept)
}

func TestHub_closedSubscribersAreNoLeak(t *testing.T) {
	h := newHub(t, &notify.Options{Window: time.Hour})
	closeMany := func() {
		for range 100 {
			o := &owner{}
			s, err := h.Subscribe(notify.Filter{Tools: true}, o.deliver)
			if err != nil {
				t.Fatal(err)
			}
			o.sub = s
			h.Publish(tools)
			s.Close()
		}
	}
	closeMany()
	drop(t, h, 1) // the control: what is collected after it was all looked at
	collect(t, h, 1)
	if got := h.Stats(); got.Leaked != 1 || got.Subscribers != 0 {
		t.Errorf("Stats = %+v, want the control as the only leak", got)
	}
}

// A delivery under way refers to the body, not to the handle: it does not hide
// that the owner is gone, and Hub.Close still waits for it.
func TestHub_deliveryDoesNotKeepTheHandle(t *testing.T) {
	h := notify.New(&notify.Options{Window: time.Nanosecond})
	started, release := make(chan struct{}), make(chan struct{})
	subscribeAndForget := func() {
		s, err := h.Subscribe(notify.Filter{Tools: true}, func([]notify.Event) {
			close(started)
			<-release
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Publish(tools)
		<-started
		runtime.KeepAlive(s)
	}
	subscribeAndForget()
	collect(t, h, 1)

	closed := make(chan struct{})
	go func() {
		h.Close()
		close(closed)
	}()
	// The hub refuses subscribers as soon as Close has begun.
	for {
		if _, err := h.Subscribe(notify.Filter{}, func([]notify.Event) {}); err != nil {
			break
		}
		runtime.Gosched()
	}
	select {
	case <-closed:
		t.Error("Close returned during the delivery of a dropped subscriber")
	default:
	}
	close(release)
	<-closed
}
