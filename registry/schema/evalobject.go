package schema

import "cloudg.dev/cloudg/internal/jsonwire"

// seenMembers is the size of the set of members that needs no memory beside the
// stack.
const seenMembers = 4

// object applies the keywords for objects, in one pass over the members.
func (e *evaluation) object(n *node, pos int, m marks) (end int, ok bool) {
	o := n.object
	var stack [seenMembers]uint64
	seen := bitset(stack[:])
	if len(o.members) > 64*seenMembers {
		set := e.push((len(o.members) + 63) / 64)
		defer e.pop(set)
		seen = bitset(e.words[set.off:])
	}
	ok = true
	count, next := 0, 0
	i := e.space(pos + 1)
	for e.doc[i] != '}' {
		name := i
		index, nameEnd := e.member(o, i, next)
		i = e.space(e.space(nameEnd) + 1) // behind the colon
		if index >= 0 {
			next = index + 1
			if seen.has(index) {
				ok = false
				if e.fault(n, name, "duplicate") {
					return i, false
				}
			}
			seen.add(index)
		}
		e.budget--
		var good bool
		i, good = e.memberValue(n, index, name, nameEnd, i, seen, m, count)
		if !good {
			if ok = false; e.over() {
				return i, false
			}
		}
		count++
		i = e.space(i)
		if e.doc[i] == ',' {
			i = e.space(i + 1)
		}
	}
	if !seen.contains(o.required) {
		e.furthest = max(e.furthest, i) // what is missing shows at the end only
		if ok = false; e.missingAll(n, pos, seen) {
			return i, false
		}
	}
	if count < o.minProperties {
		if ok = false; e.fault(n, pos, "minProperties") {
			return i, false
		}
	}
	if o.maxProperties >= 0 && count > o.maxProperties {
		if ok = false; e.fault(n, pos, "maxProperties") {
			return i, false
		}
	}
	if o.dependencies != nil && !e.dependencies(n, pos, seen, m) {
		ok = false
	}
	return i + 1, ok
}

// member finds the member whose name is at pos. Most callers keep to the order
// of the schema, so the next one is tried first: its name then needs no scan.
func (e *evaluation) member(o *objectRules, pos, next int) (index, end int) {
	if next < len(o.members) {
		q := o.members[next].quoted
		if end := pos + len(q); end <= len(e.doc) && string(e.doc[pos:end]) == q {
			return next, end
		}
	}
	end = pos + jsonwire.SkipString(e.doc[pos:])
	if len(o.members) == 0 {
		return -1, end
	}
	return o.index(e.unquote(e.doc[pos:end])), end
}

// memberValue applies what the schema says about one member. Name and nameEnd
// are the offsets of its name, pos is that of its value.
func (e *evaluation) memberValue(n *node, index, name, nameEnd, pos int, seen bitset, m marks, count int) (end int, ok bool) {
	o := n.object
	ok = true
	end = -1
	if o.names != nil {
		if _, good := e.value(o.names, name, noMarks); !good {
			if ok = false; e.over() {
				return pos, false
			}
		}
	}
	var sub *node
	if index >= 0 {
		sub = o.members[index].node
	}
	if sub != nil {
		if e.nullAbsent && e.doc[pos] == 'n' && (o.required == nil || !o.required.has(index)) {
			seen[index>>6] &^= 1 << (index & 63)
			e.mark(m, count)
			return pos + len("null"), ok
		}
		var good bool
		if end, good = e.value(sub, pos, noMarks); !good {
			if ok = false; e.over() {
				return end, false
			}
		}
	}
	if o.patterns != nil {
		var good bool
		if end, good = e.patternValue(o, name, nameEnd, pos, end); !good {
			if ok = false; e.over() {
				return end, false
			}
		}
	}
	if end < 0 && o.additional != nil {
		if o.additional.never {
			if e.fault(n, name, "additionalProperties") {
				return pos, false
			}
			return e.skip(pos), false
		}
		var good bool
		if end, good = e.value(o.additional, pos, noMarks); !good {
			if ok = false; e.over() {
				return end, false
			}
		}
	}
	if end < 0 {
		return e.skip(pos), ok
	}
	e.mark(m, count)
	return end, ok
}

// patternValue applies the patternProperties whose pattern fits the name. End
// is what is known already, and -1 if nothing has evaluated the value yet.
func (e *evaluation) patternValue(o *objectRules, name, nameEnd, pos, end int) (int, bool) {
	ok := true
	for i := range o.patterns {
		p := &o.patterns[i]
		if !e.matches(p.pattern, e.unquote(e.doc[name:nameEnd])) {
			if e.exhausted {
				return pos, false
			}
			continue
		}
		var good bool
		if end, good = e.value(p.node, pos, noMarks); !good {
			if ok = false; e.over() {
				return end, false
			}
		}
	}
	return end, ok
}

// missing notes a member that is not there. It reports whether evaluation has
// to end.
func (e *evaluation) missing(n *node, pos, index int, keyword string) bool {
	if e.over() {
		return true
	}
	e.report.addMissing(n, pos, &n.object.members[index], keyword)
	return e.over()
}

// missingAll notes the required members that are not there. It reports whether
// evaluation has to end.
func (e *evaluation) missingAll(n *node, pos int, seen bitset) bool {
	for i := range n.object.members {
		if n.object.required.has(i) && !seen.has(i) && e.missing(n, pos, i, "required") {
			return true
		}
	}
	return false
}

// dependencies applies what the presence of a member demands.
func (e *evaluation) dependencies(n *node, pos int, seen bitset, m marks) bool {
	ok := true
	for i := range n.object.dependencies {
		d := &n.object.dependencies[i]
		if e.budget--; !seen.has(d.member) {
			continue
		}
		for _, index := range d.required {
			if seen.has(index) {
				continue
			}
			if ok = false; e.missing(n, pos, index, "dependentRequired") {
				return false
			}
		}
		if d.node == nil {
			continue
		}
		if _, good := e.value(d.node, pos, m); !good {
			if ok = false; e.over() {
				return false
			}
		}
	}
	return ok
}
