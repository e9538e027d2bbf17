package schema

// inner applies the subschemas that look at the same value.
func (e *evaluation) inner(n *node, pos int, m marks) bool {
	a := n.inner
	ok := true
	if a.ref != nil {
		if _, good := e.value(a.ref, pos, m); !good {
			if ok = false; e.over() {
				return false
			}
		}
	}
	if a.dynamic != nil {
		if _, good := e.value(e.dynamicTarget(a.dynamic), pos, m); !good {
			if ok = false; e.over() {
				return false
			}
		}
	}
	for _, sub := range a.allOf {
		if _, good := e.value(sub, pos, m); !good {
			if ok = false; e.over() {
				return false
			}
		}
	}
	if a.anyOf != nil && !e.anyOf(n, pos, m) {
		if ok = false; e.over() {
			return false
		}
	}
	if a.oneOf != nil && !e.oneOf(n, pos, m) {
		if ok = false; e.over() {
			return false
		}
	}
	if a.not != nil && !e.not(n, pos) {
		if ok = false; e.over() {
			return false
		}
	}
	if a.condition != nil && !e.conditional(a, pos, m) {
		ok = false
	}
	return ok
}

// try applies a node only for its verdict. What it marks counts if it conforms.
func (e *evaluation) try(n *node, pos int, m marks) bool {
	r := e.report
	e.report = nil
	own := e.fork(m)
	_, ok := e.value(n, pos, own)
	e.join(m, own, ok)
	e.report = r
	return ok
}

func (e *evaluation) anyOf(n *node, pos int, m marks) bool {
	ok := false
	for _, sub := range n.inner.anyOf {
		if e.try(sub, pos, m) {
			// The others count only for what they mark.
			if ok = true; m.off < 0 {
				return true
			}
		}
		if e.exhausted {
			return false
		}
	}
	if !ok {
		e.noneOf(n, n.inner.anyOf, pos, "anyOf")
	}
	return ok
}

func (e *evaluation) oneOf(n *node, pos int, m marks) bool {
	matched := 0
	for _, sub := range n.inner.oneOf {
		if e.try(sub, pos, m) {
			matched++
		}
		if e.exhausted {
			return false
		}
		if matched > 1 {
			e.fault(n, pos, "oneOf")
			return false
		}
	}
	if matched == 0 {
		e.noneOf(n, n.inner.oneOf, pos, "oneOf")
	}
	return matched == 1
}

func (e *evaluation) not(n *node, pos int) bool {
	if e.try(n.inner.not, pos, noMarks) {
		e.fault(n, pos, "not")
		return false
	}
	return !e.exhausted
}

func (e *evaluation) conditional(a *applicators, pos int, m marks) bool {
	branch := a.otherwise
	if e.try(a.condition, pos, m) {
		branch = a.then
	}
	if e.exhausted {
		return false
	}
	if branch == nil {
		return true
	}
	_, ok := e.value(branch, pos, m)
	return ok
}

// noneOf reports that none of the alternatives fits. If one of them came
// further than the rest, its faults are what a reader needs.
func (e *evaluation) noneOf(n *node, subs []*node, pos int, keyword string) {
	if e.over() {
		return
	}
	best, furthest, tie := -1, pos, false
	outer := e.furthest
	for i, sub := range subs {
		e.furthest = pos
		e.try(sub, pos, noMarks)
		switch {
		case e.furthest > furthest:
			best, furthest, tie = i, e.furthest, false
		case e.furthest == furthest:
			tie = true
		}
	}
	e.furthest = max(outer, furthest)
	if e.exhausted {
		return
	}
	if best < 0 || tie {
		best = e.onlyOfType(subs, pos)
	}
	if best < 0 {
		e.report.add(n, pos, keyword)
		return
	}
	e.value(subs[best], pos, noMarks)
}

// onlyOfType returns the index of the alternative that is alone in allowing the
// type of the value at pos, or -1.
func (e *evaluation) onlyOfType(subs []*node, pos int) int {
	found, left := -1, maxTyped
	for i, sub := range subs {
		t := allowedTypesIn(sub, &left)
		if t&typeInteger != 0 {
			t |= typeNumber
		}
		if t&typeOf(e.doc[pos]) == 0 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// dynamicTarget finds what a dynamic reference means here: the anchor in the
// outermost resource that has one of the name.
func (e *evaluation) dynamicTarget(d *dynamicRef) *node {
	for _, r := range e.memory().scope {
		if n := r.nodes[d.name]; n != nil {
			return n
		}
	}
	return d.first
}
