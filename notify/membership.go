package notify

import "fmt"

// This file changes what the index holds. Every function checks the bounds and
// that the very record it was given is still in the index.

// enter puts a new interest into the index.
func (h *Hub) enter(in *interest) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return ErrClosed
	case len(h.index.all) >= h.opts.MaxSubscribers:
		return fmt.Errorf("%w subscribers: at most %d at one time", ErrTooMany, h.opts.MaxSubscribers)
	case h.index.pairs+len(in.uris) > h.opts.MaxTotalURIs:
		return tooManyTotalURIs(h.opts.MaxTotalURIs)
	}
	h.index.add(in)
	return nil
}

// remove takes an interest out of the index and reports whether it was there.
func (h *Hub) remove(in *interest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.index.has(in)
	h.index.remove(in)
	return found
}

// lose is the cleanup of a handle that became unreachable. It runs outside every
// goroutine of the program's own, so it touches nothing but the index and a
// counter. A hub that was closed meanwhile has ended the subscription itself.
func (h *Hub) lose(in *interest) {
	if h.remove(in) {
		h.leaked.Add(1)
	}
}

// replace changes all that an interest asks for.
func (h *Hub) replace(in *interest, lists kindSet, uris map[string]struct{}) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.index.has(in):
		return ErrClosed
	case h.index.pairs-len(in.uris)+len(uris) > h.opts.MaxTotalURIs:
		return tooManyTotalURIs(h.opts.MaxTotalURIs)
	}
	h.index.remove(in)
	in.lists, in.uris = lists, uris
	h.index.add(in)
	return nil
}

// link adds a URI to an interest.
func (h *Hub) link(in *interest, uri string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.index.has(in) {
		return ErrClosed
	}
	if _, known := in.uris[uri]; known {
		return nil
	}
	switch {
	case len(in.uris) >= h.opts.MaxURIs:
		return tooManyURIs(h.opts.MaxURIs)
	case h.index.pairs >= h.opts.MaxTotalURIs:
		return tooManyTotalURIs(h.opts.MaxTotalURIs)
	}
	if in.uris == nil {
		in.uris = make(map[string]struct{})
	}
	in.uris[uri] = struct{}{}
	h.index.link(in, uri)
	return nil
}

// unlink takes a URI out of an interest, if it is there.
func (h *Hub) unlink(in *interest, uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := in.uris[uri]; !known || !h.index.has(in) {
		return
	}
	delete(in.uris, uri)
	h.index.unlink(in, uri)
}

func tooManyURIs(bound int) error {
	return fmt.Errorf("%w resource subscriptions: at most %d for one subscriber", ErrTooMany, bound)
}

func tooManyTotalURIs(bound int) error {
	return fmt.Errorf("%w resource subscriptions: at most %d for all subscribers together", ErrTooMany, bound)
}
