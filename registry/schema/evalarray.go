package schema

import "slices"

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

// distinct reports whether no two elements are equal. Many of them are sorted
// by a hash, so that only those with the same one need a comparison.
func (e *evaluation) distinct(items []item) bool {
	if len(items) <= fewItems {
		return e.distinctPairs(items)
	}
	for i := range items {
		it := &items[i]
		if !e.spend(2 + (it.end-it.start)>>4) {
			return false
		}
		it.hash = e.schema.hash(e.doc[it.start:it.end])
	}
	slices.SortFunc(items, func(a, b item) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	for i := 0; i < len(items); {
		j := i + 1
		for j < len(items) && items[j].hash == items[i].hash {
			j++
		}
		if !e.distinctPairs(items[i:j]) {
			return false
		}
		i = j
	}
	return true
}

func (e *evaluation) distinctPairs(items []item) bool {
	for i := range items {
		a := e.doc[items[i].start:items[i].end]
		for _, other := range items[:i] {
			b := e.doc[other.start:other.end]
			if !e.spend(1 + min(len(a), len(b))>>5) {
				return false
			}
			if equal(a, b) {
				return false
			}
		}
	}
	return true
}
