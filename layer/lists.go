package layer

import (
	"crypto/sha256"
	"slices"
	"sync"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// maxListings bounds the lists that are kept.
const maxListings = 256

// lists keeps lists as bytes, for the latest snapshot of the registry.
type lists struct {
	mu    sync.RWMutex // guards the fields below
	snap  *registry.Snapshot
	byKey map[listKey]*listing
}

type listKey struct {
	kind    policy.Kind
	class   string // who sees it
	version protocol.Version
}

// pageOverhead is about what stands around a page in its response.
const pageOverhead = 512

// listing is a rendered list: entries separated by commas, and where each one
// ends.
type listing struct {
	body   []byte
	ends   []int
	digest [sha256.Size]byte
}

// AppendList appends the members of a list result for the kind: the array, and
// nextCursor unless this is the last page. Cursor is what the client sent;
// hasCursor tells an empty one from none.
func (l *Layer) AppendList(dst []byte, kind policy.Kind, r *Request, cursor string, hasCursor bool) ([]byte, error) {
	class := ""
	if l.access != nil {
		class = l.access.Class(r.Principal)
	}
	list := l.listing(listKey{kind, class, r.Version}, r)
	from, to := 0, len(list.ends)
	if hasCursor {
		n, err := l.cursors.Open(bound(kind, r, list), cursor)
		if err != nil || n <= 0 || n >= len(list.ends) {
			return dst, invalidParams("%v", registry.ErrCursor)
		}
		from = n
	}
	if l.pageSize > 0 {
		to = min(to, from+l.pageSize)
	}
	dst = append(dst, '"')
	dst = append(dst, listMember(kind)...)
	dst = append(dst, `":[`...)
	page := list.slice(from, to)
	dst = append(slices.Grow(dst, len(page)+pageOverhead), page...)
	dst = append(dst, ']')
	if to < len(list.ends) {
		dst = append(dst, `,"nextCursor":`...)
		dst = jsonwire.AppendQuote(dst, l.cursors.Seal(bound(kind, r, list), to))
	}
	return dst, nil
}

// bound says what a cursor for the list is bound to.
func bound(kind policy.Kind, r *Request, list *listing) *registry.List {
	return &registry.List{Kind: kind.String(), Scope: r.Principal.ID, Digest: list.digest}
}

// listMember returns the name of the array in the result.
func listMember(kind policy.Kind) string {
	switch kind {
	case policy.Tool:
		return "tools"
	case policy.Resource:
		return "resources"
	case policy.ResourceTemplate:
		return "resourceTemplates"
	}
	return "prompts"
}

// slice returns the entries from up to to.
func (list *listing) slice(from, to int) []byte {
	if from == to {
		return nil
	}
	start := 0
	if from > 0 {
		start = list.ends[from-1] + 1 // the comma
	}
	return list.body[start:list.ends[to-1]]
}

func (l *Layer) listing(key listKey, r *Request) *listing {
	snap := l.reg.Snapshot()
	c := &l.lists
	c.mu.RLock()
	if c.snap == snap {
		if list := c.byKey[key]; list != nil {
			c.mu.RUnlock()
			return list
		}
	}
	c.mu.RUnlock()
	list := l.render(snap, key, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snap != snap || len(c.byKey) >= maxListings {
		c.snap, c.byKey = snap, make(map[listKey]*listing)
	}
	c.byKey[key] = list
	return list
}

func (l *Layer) render(snap *registry.Snapshot, key listKey, r *Request) *listing {
	list := new(listing)
	switch key.kind {
	case policy.Tool:
		for _, e := range snap.Tools {
			l.renderEntry(list, &e.Subject, e, key.version, r)
		}
	case policy.Resource:
		for _, e := range snap.Resources {
			l.renderEntry(list, &e.Subject, e, key.version, r)
		}
	case policy.ResourceTemplate:
		for _, e := range snap.Templates {
			l.renderEntry(list, &e.Subject, e, key.version, r)
		}
	case policy.Prompt:
		for _, e := range snap.Prompts {
			l.renderEntry(list, &e.Subject, e, key.version, r)
		}
	}
	list.digest = sha256.Sum256(list.body)
	return list
}

type definition interface {
	AppendDefinition(dst []byte, v protocol.Version) []byte
}

func (l *Layer) renderEntry(list *listing, s *policy.Subject, e definition, v protocol.Version, r *Request) {
	if !l.visible(r, s) {
		return
	}
	if len(list.ends) > 0 {
		list.body = append(list.body, ',')
	}
	list.body = e.AppendDefinition(list.body, v)
	list.ends = append(list.ends, len(list.body))
}
