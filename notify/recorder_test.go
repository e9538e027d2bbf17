package notify_test

import (
	"sync"
	"testing"

	"cloudg.dev/cloudg/notify"
)

// recorder keeps the deliveries of one subscriber.
type recorder struct {
	mu      sync.Mutex
	batches [][]notify.Event
}

func (r *recorder) deliver(events []notify.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, events)
}

// take returns the deliveries since the last call.
func (r *recorder) take() [][]notify.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	batches := r.batches
	r.batches = nil
	return batches
}

func newHub(t testing.TB, opts *notify.Options) *notify.Hub {
	t.Helper()
	h := notify.New(opts)
	t.Cleanup(func() { h.Close() })
	return h
}

func subscribe(t testing.TB, h *notify.Hub, f notify.Filter, deliver func([]notify.Event)) *notify.Subscriber {
	t.Helper()
	s, err := h.Subscribe(f, deliver)
	if err != nil {
		t.Fatalf("Subscribe(%+v): %v", f, err)
	}
	t.Cleanup(s.Close)
	return s
}

func updated(uri string) notify.Event {
	return notify.Event{Kind: notify.ResourceUpdated, URI: uri}
}
