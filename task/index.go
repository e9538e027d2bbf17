package task

import (
	"fmt"
	"time"
)

// index knows the records of a store without their details, and upholds its
// bounds. Its owner guards it.
type index struct {
	opts    Options
	entries map[string]entry
	owners  map[string]int // records by owner
	bytes   int64
}

// entry is what the index knows of a record.
type entry struct {
	owner   string
	expires time.Time
	size    int64
}

func newIndex(o Options) index {
	return index{opts: o, entries: make(map[string]entry), owners: make(map[string]int)}
}

// fits reports why a record of the given size cannot be taken in, in place of
// the one with its id.
func (x *index) fits(r *Record, size int64) error {
	old, replaces := x.entries[r.ID]
	switch {
	case x.bytes-old.size+size > x.opts.MaxBytes:
		return fmt.Errorf("%w: the records would have more than %d bytes together", ErrFull, x.opts.MaxBytes)
	case replaces:
		return nil
	case len(x.entries) >= x.opts.MaxRecords:
		return fmt.Errorf("%w: %d tasks are kept", ErrFull, len(x.entries))
	case x.owners[r.Owner] >= x.opts.MaxPerOwner:
		return fmt.Errorf("%w: %d tasks of this principal are kept", ErrFull, x.owners[r.Owner])
	}
	return nil
}

// set takes a record in, whether it fits or not, and returns what was there.
func (x *index) set(r *Record, size int64) (old entry, replaced bool) {
	old, replaced = x.entries[r.ID]
	x.drop(r.ID)
	x.entries[r.ID] = entry{r.Owner, r.Expires(), size}
	x.owners[r.Owner]++
	x.bytes += size
	return old, replaced
}

// restore undoes set.
func (x *index) restore(id string, old entry, replaced bool) {
	x.drop(id)
	if replaced {
		x.entries[id] = old
		x.owners[old.owner]++
		x.bytes += old.size
	}
}

// drop forgets a record.
func (x *index) drop(id string) {
	e, ok := x.entries[id]
	if !ok {
		return
	}
	delete(x.entries, id)
	if x.owners[e.owner]--; x.owners[e.owner] == 0 {
		delete(x.owners, e.owner)
	}
	x.bytes -= e.size
}

// live reports whether there is a record whose time is not over.
func (x *index) live(id string, now time.Time) bool {
	e, ok := x.entries[id]
	return ok && now.Before(e.expires)
}

// expired returns the records whose time is over, and when that of the next one
// will be.
func (x *index) expired(now time.Time) (ids []string, next time.Time) {
	for id, e := range x.entries {
		switch {
		case !now.Before(e.expires):
			ids = append(ids, id)
		case next.IsZero() || e.expires.Before(next):
			next = e.expires
		}
	}
	return ids, next
}
