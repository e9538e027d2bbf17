package notify

import "weak"

// interest is the hub's own record of a subscriber. It refers to the handle
// weakly and to the queue not at all: the queue holds the owner's function,
// which usually reaches the owner and through it the handle, so a strong
// reference from here would keep all of them alive.
type interest struct {
	handle weak.Pointer[Subscriber]
	lists  kindSet
	uris   map[string]struct{} // nil until there is one
}

// covers reports whether one of the subscribed URIs covers uri.
func (in *interest) covers(uri string) bool {
	for prefix := range covering(uri) {
		if _, ok := in.uris[prefix]; ok {
			return true
		}
	}
	return false
}

// wants reports whether in still asks for u. Usually what u was noted for is
// still subscribed to, and the ancestors need no look.
func (in *interest) wants(u update) bool {
	if _, ok := in.uris[u.covered]; ok {
		return true
	}
	return in.covers(u.uri)
}

// interests is a set of them.
type interests map[*interest]struct{}

// watch is a subscribed URI and who subscribed to it.
type watch struct {
	uri string // the index's own copy, so that keeping it pins nothing else
	by  interests
}

// index finds the interests that the update of a resource concerns without
// looking at the others. Lists change seldom and concern most of all, so that
// there is no index by list: in each of the sessions it would be memory for
// nothing. It is not safe for concurrent use; [Hub] guards it.
type index struct {
	all   interests
	uris  map[string]*watch
	pairs int // subscribed URIs, counted once per subscriber
}

func newIndex() index {
	return index{all: make(interests), uris: make(map[string]*watch)}
}

// has reports whether in is this very record in the index.
func (x *index) has(in *interest) bool {
	_, ok := x.all[in]
	return ok
}

// add enters in with everything it asks for.
func (x *index) add(in *interest) {
	x.all[in] = struct{}{}
	for uri := range in.uris {
		x.link(in, uri)
	}
}

// remove takes in out, if it is there.
func (x *index) remove(in *interest) {
	if !x.has(in) {
		return
	}
	delete(x.all, in)
	for uri := range in.uris {
		x.unlink(in, uri)
	}
}

// link enters in under a URI that it did not have.
func (x *index) link(in *interest, uri string) {
	w := x.uris[uri]
	if w == nil {
		w = &watch{uri: uri, by: make(interests)}
		x.uris[uri] = w
	}
	w.by[in] = struct{}{}
	x.pairs++
}

// unlink is the opposite of link.
func (x *index) unlink(in *interest, uri string) {
	w := x.uris[uri]
	delete(w.by, in)
	if len(w.by) == 0 {
		delete(x.uris, uri)
	}
	x.pairs--
}
