package schema

import "math/bits"

// array applies the keywords for arrays, in one pass over the elements.
func (e *evaluation) array(n *node, pos int, m marks) (end int, ok bool) {
	a := n.array
	ok = true
	count, found := 0, 0
	bottom := 0
	if a.unique {
		bottom = len(e.memory().items)
	}
	i := e.space(pos + 1)
	for e.doc[i] != ']' {
		start := i
		var good bool
		i, good = e.element(a, count, start, m)
		if !good {
			if ok = false; e.over() {
				return i, false
			}
		}
		if a.contains != nil && e.try(a.contains, start, noMarks) {
			e.mark(m, count)
			found++
		}
		if a.unique {
			e.items = append(e.items, item{start: start, end: i})
		}
		if e.exhausted {
			return i, false
		}
		count++
		i = e.space(i)
		if e.doc[i] == ',' {
			i = e.space(i + 1)
		}
	}
	if a.unique {
		if !e.distinct(e.items[bottom:]) {
			ok = false
			if e.fault(n, pos, "uniqueItems") {
				return i, false
			}
		}
		e.items = e.items[:bottom]
	}
	if !e.counts(n, pos, count, found) {
		ok = false
	}
	return i + 1, ok
}

// element applies what the schema says about one element.
func (e *evaluation) element(a *arrayRules, index, pos int, m marks) (end int, ok bool) {
	switch {
	case index < len(a.prefix):
		e.mark(m, index)
		return e.value(a.prefix[index], pos, noMarks)
	case a.items != nil:
		e.mark(m, index)
		return e.value(a.items, pos, noMarks)
	}
	return e.skip(pos), true
}

// counts checks the keywords for the number of elements.
func (e *evaluation) counts(n *node, pos, count, found int) bool {
	a := n.array
	ok := true
	check := func(good bool, keyword string) {
		if !good && (ok || !e.over()) {
			ok = false
			e.fault(n, pos, keyword)
		}
	}
	check(count >= a.minItems, "minItems")
	check(a.maxItems < 0 || count <= a.maxItems, "maxItems")
	if a.contains != nil {
		check(found >= a.minContains, "contains")
		check(a.maxContains < 0 || found <= a.maxContains, "maxContains")
	}
	return ok
}

// An item is an element of an array whose elements have to differ.
type item struct {
	hash       uint64
	start, end int
}

// fewItems is how many elements are compared pair by pair.
const fewItems = 8

// distinct reports whether no two elements are equal. Many of them go through a
// table of hashes, so that only those with the same one need a comparison.
func (e *evaluation) distinct(items []item) bool {
	if len(items) <= fewItems {
		return e.distinctPairs(items)
	}
	size := 1 << bits.Len(uint(2*len(items)))
	table := e.push(size)
	defer e.pop(table)
	for i := range items {
		a := e.doc[items[i].start:items[i].end]
		if !e.spend(2 + len(a)>>3) {
			return false
		}
		items[i].hash = e.schema.hasher.value(a)
		slot := table.off + int(items[i].hash&uint64(size-1))
		for e.words[slot] != 0 { // an index, counted from one
			other := items[e.words[slot]-1]
			if other.hash == items[i].hash && !e.differ(a, e.doc[other.start:other.end]) || !e.spend(1) {
				return false
			}
			if slot++; slot == table.off+size {
				slot = table.off
			}
		}
		e.words[slot] = uint64(i) + 1
	}
	return true
}

func (e *evaluation) distinctPairs(items []item) bool {
	for i := range items {
		a := e.doc[items[i].start:items[i].end]
		for _, other := range items[:i] {
			if !e.differ(a, e.doc[other.start:other.end]) {
				return false
			}
		}
	}
	return true
}

// differ reports whether two values are not equal.
func (e *evaluation) differ(a, b []byte) bool {
	return !equal(a, b, &e.budget) && e.spend(0)
}
