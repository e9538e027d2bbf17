package notify

import (
	"runtime"
	"strings"
)

// Subscriber is an owner's hold on a subscription made by [Hub.Subscribe]. The
// owner keeps it for as long as it wants events and closes it afterwards; the
// hub alone does not keep it alive. Its methods are safe for concurrent use.
type Subscriber struct {
	hub      *Hub
	interest *interest // guarded by hub.mu
	queue    *queue
	cleanup  runtime.Cleanup
}

// SetFilter replaces what the subscriber wants. Events that wait and are not
// wanted any more are not delivered. On an error ([ErrURI], [ErrTooMany],
// [ErrClosed]) the old filter stays in force.
func (s *Subscriber) SetFilter(f Filter) error {
	uris, err := f.uriSet(s.hub.opts.MaxURIs)
	if err != nil {
		return err
	}
	return s.hub.replace(s.interest, f.lists(), uris)
}

// AddURI adds one resource to the filter, as if it had been in [Filter.URIs].
// Adding it again changes nothing. The error is [ErrURI], [ErrTooMany] or
// [ErrClosed].
func (s *Subscriber) AddURI(uri string) error {
	if err := checkURI(uri); err != nil {
		return err
	}
	return s.hub.link(s.interest, strings.Clone(uri))
}

// RemoveURI takes one resource out of the filter. It does nothing when that very
// URI is not in it.
func (s *Subscriber) RemoveURI(uri string) { s.hub.unlink(s.interest, uri) }

// Close ends the subscription and drops what waits for it. When it returns, no
// delivery is running and none will; so a deliver function that can block must
// give up when its peer is gone. Called from within a deliver function, be it
// this subscriber's or another's, it does not wait for deliveries under way.
// That is told by the goroutine: a deliver function must not wait for another
// goroutine that closes.
// Closing again is harmless, and waits in the same way.
func (s *Subscriber) Close() {
	s.cleanup.Stop()
	s.hub.remove(s.interest)
	if s.queue.stop() {
		await(&s.queue.delivering)
	}
	runtime.KeepAlive(s) // the cleanup must not count an orderly end as a leak
}
