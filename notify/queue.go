package notify

import (
	"slices"
	"sync"
	"time"
	"weak"
)

// queue is what waits for one subscriber, and the turn-taking of its
// deliveries. It is the body to the [Subscriber]'s handle: a delivery under way
// refers to the queue, so that it does not keep the handle alive.
//
// A queue is idle, armed or running, and goes round in that order; running, it
// goes back to armed when something came in meanwhile. Only an armed queue can
// begin a delivery, which is why deliveries never overlap.
type queue struct {
	deliver func([]Event)
	hub     *Hub
	handle  weak.Pointer[Subscriber]

	delivering sync.WaitGroup // at most one; incremented only when something waits

	mu      sync.Mutex // guards the fields below
	lists   kindSet
	armed   bool
	running bool
	updates *updates    // nil when empty, as it mostly is
	timer   *time.Timer // nil until the first event
}

// updates are resource updates that wait.
type updates struct {
	list []update            // in the order of first publication
	uris map[string]struct{} // those in list, which are all different
}

// keep drops what in does not ask for any more.
func (u *updates) keep(in *interest) {
	u.list = slices.DeleteFunc(u.list, func(w update) bool {
		if in.wants(w) {
			return false
		}
		delete(u.uris, w.uri)
		return true
	})
}

func (u *updates) len() int {
	if u == nil {
		return 0
	}
	return len(u.list)
}

// update is a resource update that waits: the URI to report, and the subscribed
// URI that it was noted for.
type update struct{ uri, covered string }

// addList notes that a list changed.
func (q *queue) addList(k Kind) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lists.has(k) {
		return
	}
	q.lists = q.lists.with(k)
	q.armLocked()
}

// addUpdate notes that the resource uri was updated, which the subscribed URI
// named covered concerns. The latter is noted instead of uri once there is no
// room to be exact; there are few of those, and what in does not ask for any more
// makes room, so the set stays bounded.
func (q *queue) addUpdate(in *interest, uri, covered string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.hasLocked(uri) {
		return
	}
	if q.updates.len() >= q.hub.opts.MaxPending+q.hub.opts.MaxURIs {
		q.updates.keep(in)
	}
	if len(uri) > MaxURIBytes || q.updates.len() >= q.hub.opts.MaxPending {
		if uri = covered; q.hasLocked(uri) {
			return
		}
	}
	if q.updates == nil {
		q.updates = &updates{uris: make(map[string]struct{})}
	}
	q.updates.uris[uri] = struct{}{}
	q.updates.list = append(q.updates.list, update{uri, covered})
	q.armLocked()
}

func (q *queue) hasLocked(uri string) bool {
	if q.updates == nil {
		return false
	}
	_, ok := q.updates.uris[uri]
	return ok
}

// armLocked sees to it that what waits will be delivered. During a delivery
// that is the business of [queue.finish].
func (q *queue) armLocked() {
	if q.armed || q.running {
		return
	}
	q.armed = true
	if q.timer == nil {
		hub, handle := q.hub, q.handle // the timer must not reach the queue, and with it the owner
		q.timer = time.AfterFunc(hub.opts.Window, func() { hub.fire(handle) })
		return
	}
	q.timer.Reset(q.hub.opts.Window)
}

// begin takes everything that waits and that in still asks for. When it returns
// events, a delivery is under way and the caller ends it with finish.
func (q *queue) begin(in *interest) []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = false
	events := q.takeLocked(in)
	if len(events) > 0 {
		q.running = true
		q.delivering.Add(1)
	}
	return events
}

// takeLocked empties the queue.
func (q *queue) takeLocked(in *interest) []Event {
	events := make([]Event, 0, listKinds+q.updates.len())
	for k := ToolsChanged; k.isList(); k++ {
		if q.lists.has(k) && in.lists.has(k) {
			events = append(events, Event{Kind: k})
		}
	}
	if q.updates != nil {
		for _, u := range q.updates.list {
			if in.wants(u) {
				events = append(events, Event{Kind: ResourceUpdated, URI: u.uri})
			}
		}
	}
	q.forgetLocked()
	return events
}

// forgetLocked drops what waits. The map goes too rather than being cleared,
// since a map keeps the size of the largest storm it has seen.
func (q *queue) forgetLocked() {
	q.lists, q.updates = 0, nil
}

// finish ends the delivery that begin started.
func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
	if q.lists != 0 || q.updates != nil {
		q.armLocked()
	}
	q.delivering.Done()
}

// stop empties the queue, so that no delivery begins any more, and reports
// whether one is under way, for which it does not wait. Nothing comes in afterwards, because the caller has
// taken the subscriber out of the index before.
func (q *queue) stop() (running bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgetLocked()
	if q.timer != nil {
		q.timer.Stop()
	}
	return q.running
}
