package notify

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// Errors for callers to test with errors.Is.
var (
	// ErrTooMany is the error at a bound of [Options]; its text names the bound.
	ErrTooMany = errors.New("notify: too many")
	// ErrClosed is the error for a hub or a subscriber that was closed.
	ErrClosed = errors.New("notify: closed")
)

// Stats are a hub's counters since it was made.
type Stats struct {
	Subscribers int    // subscribers now, those included that were dropped and not yet noticed
	URIs        int    // subscribed resources now, counted once per subscriber
	Published   uint64 // events given to Publish
	Deliveries  uint64 // calls of deliver functions
	Delivered   uint64 // events in those calls
	Leaked      uint64 // subscribers that their owner dropped without Close
}

// Hub takes change events and hands them to subscribers. Make one with [New].
// Its methods are safe for concurrent use.
type Hub struct {
	opts   Options
	onLoss func(*interest) // h.lose, made once

	published, calls, delivered, leaked atomic.Uint64

	deliveries sync.WaitGroup // incremented only while not closed, under mu

	mu     sync.RWMutex // guards the fields below and every interest; taken before a queue's
	index  index
	closed bool
}

// New returns a hub. A nil opts stands for the defaults.
func New(opts *Options) *Hub {
	h := &Hub{opts: opts.withDefaults(), index: newIndex()}
	h.onLoss = h.lose
	return h
}

// Subscribe asks for the events that f wants. They come in calls of deliver, as
// the package comment says. The caller keeps the subscriber and closes it; one
// that is dropped gets no more events.
//
// The error is [ErrTooMany] or [ErrURI] when the filter or the number of
// subscribers passes a bound, and [ErrClosed] after [Hub.Close].
func (h *Hub) Subscribe(f Filter, deliver func(events []Event)) (*Subscriber, error) {
	if deliver == nil {
		return nil, errors.New("notify: deliver function is nil")
	}
	uris, err := f.uriSet(h.opts.MaxURIs)
	if err != nil {
		return nil, err
	}
	s := h.newSubscriber(deliver)
	s.interest.lists, s.interest.uris = f.lists(), uris
	if err := h.enter(s.interest); err != nil {
		return nil, err
	}
	s.cleanup = runtime.AddCleanup(s, h.onLoss, s.interest)
	return s, nil
}

// newSubscriber ties handle, record and queue together. The timer's function
// gets the weak pointer: a timer must not keep an owner alive until it fires.
func (h *Hub) newSubscriber(deliver func([]Event)) *Subscriber {
	s := &Subscriber{hub: h}
	handle := weak.Make(s)
	s.interest = &interest{handle: handle}
	s.queue = &queue{deliver: deliver, hub: h, handle: handle}
	return s
}

// Publish notes e for every subscriber that wants it. It neither calls a
// deliver function nor waits for one. An event of no known kind, and an update
// without a URI, concern nobody; after [Hub.Close] there is nobody left.
func (h *Hub) Publish(e Event) {
	h.published.Add(1)
	h.mu.RLock()
	defer h.mu.RUnlock()
	switch {
	case e.Kind.isList():
		h.publishListLocked(e.Kind)
	case e.Kind == ResourceUpdated && e.URI != "":
		h.publishUpdateLocked(e.URI)
	}
}

func (h *Hub) publishListLocked(k Kind) {
	for in := range h.index.all {
		if !in.lists.has(k) {
			continue
		}
		if s := in.handle.Value(); s != nil {
			s.queue.addList(k)
		}
	}
}

func (h *Hub) publishUpdateLocked(uri string) {
	if len(h.index.uris) == 0 {
		return
	}
	for prefix := range covering(uri) {
		w := h.index.uris[prefix]
		if w == nil {
			continue
		}
		for in := range w.by {
			if s := in.handle.Value(); s != nil {
				s.queue.addUpdate(in, uri, w.uri)
			}
		}
	}
}

// Close ends every subscription, drops what waits, and returns when no delivery
// is running; from within a deliver function it does not wait, as with
// [Subscriber.Close]. Closing again is harmless, and waits in the same way. The
// error is always nil.
func (h *Hub) Close() error {
	for _, q := range h.shut() {
		q.stop()
	}
	await(&h.deliveries)
	return nil
}

// shut refuses everything from here on and empties the index. It returns the
// queues that were in use.
func (h *Hub) shut() []*queue {
	h.mu.Lock()
	defer h.mu.Unlock()
	var queues []*queue
	for in := range h.index.all {
		if s := in.handle.Value(); s != nil {
			queues = append(queues, s.queue)
		}
	}
	h.closed = true
	h.index = newIndex()
	return queues
}

// Stats returns the counters as they are now.
func (h *Hub) Stats() Stats {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return Stats{
		Subscribers: len(h.index.all),
		URIs:        h.index.pairs,
		Published:   h.published.Load(),
		Deliveries:  h.calls.Load(),
		Delivered:   h.delivered.Load(),
		Leaked:      h.leaked.Load(),
	}
}

// fire is what a subscriber's timer does: one delivery of what waits. It runs
// in the timer's goroutine, which [Hub.Close] and [Subscriber.Close] wait for.
// From the first call on it holds the queue and no longer the handle.
func (h *Hub) fire(handle weak.Pointer[Subscriber]) {
	s := handle.Value()
	if s == nil {
		return
	}
	q := s.queue
	events := h.begin(q, s.interest)
	if len(events) == 0 {
		return
	}
	defer h.deliveries.Done()
	defer q.finish()
	h.calls.Add(1)
	h.delivered.Add(uint64(len(events)))
	handOver(q.deliver, events)
}

// begin starts a delivery unless there is nothing to deliver or the hub is
// closed. The latter cannot be left to [queue.stop]: when the handle became
// unreachable a moment ago, Close did not find this queue.
func (h *Hub) begin(q *queue, in *interest) []Event {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return nil
	}
	events := q.begin(in)
	if len(events) > 0 {
		h.deliveries.Add(1)
	}
	return events
}
