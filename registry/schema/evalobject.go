package schema

import "cloudg.dev/cloudg/internal/jsonwire"

// seenMembers is the size, in words, of a set of members that needs no memory
// beside the stack.
const seenMembers = 4

// An objectPass is one pass over the members of an object.
type objectPass struct {
	n      *node
	pos    int // of the object
	marks  marks
	seen   bitset // the members that were there
	gone   bitset // those of them that count as absent; nil where that makes no difference
	count  int    // of all members
	absent int    // of those that count as absent
}

// object applies the keywords for objects, in one pass over the members.
func (e *evaluation) object(n *node, pos int, m marks) (end int, ok bool) {
	o := n.object
	var stack [seenMembers]uint64
	p := objectPass{n: n, pos: pos, marks: m, seen: stack[:]}
	words := (len(o.members) + 63) / 64
	if words > seenMembers {
		set := e.push(words)
		defer e.pop(set)
		p.seen = bitset(e.words[set.off : set.off+words])
	}
	if e.nullAbsent && o.dependencies != nil {
		set := e.push(words)
		defer e.pop(set)
		p.gone = bitset(e.words[set.off : set.off+words])
	}
	end, ok = e.members(&p)
	if !ok && e.over() {
		return end, false
	}
	if !e.objectTotals(&p, end) {
		ok = false
	}
	return end, ok
}

// members goes through the members.
func (e *evaluation) members(p *objectPass) (end int, ok bool) {
	o := p.n.object
	ok = true
	next := 0
	i := e.space(p.pos + 1)
	for e.doc[i] != '}' {
		name := i
		index, nameEnd := e.member(o, i, next)
		i = e.space(e.space(nameEnd) + 1) // behind the colon
		e.budget--
		if index >= 0 {
			next = index + 1
			if p.seen.has(index) {
				if ok = false; e.fault(p.n, name, "duplicate") {
					return i, false
				}
			}
			p.seen.add(index)
		}
		var good bool
		if e.isAbsent(o, index, i) {
			e.skipAbsent(p, index)
			i, good = i+len("null"), true
		} else {
			i, good = e.memberValue(p, index, name, nameEnd, i)
		}
		if !good {
			if ok = false; e.over() {
				return i, false
			}
		}
		p.count++
		i = e.space(i)
		if e.doc[i] == ',' {
			i = e.space(i + 1)
		}
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

// isAbsent reports whether a value is a null that stands for nothing.
func (e *evaluation) isAbsent(o *objectRules, index, pos int) bool {
	return e.nullAbsent && e.doc[pos] == 'n' && index >= 0 && o.members[index].node != nil && !o.required.has(index)
}

func (e *evaluation) skipAbsent(p *objectPass, index int) {
	e.mark(p.marks, p.count)
	p.absent++
	if p.gone != nil {
		p.gone.add(index)
	}
}

// memberValue applies what the schema says about one member. Name and nameEnd
// are the offsets of its name, pos is that of its value.
func (e *evaluation) memberValue(p *objectPass, index, name, nameEnd, pos int) (end int, ok bool) {
	o := p.n.object
	ok = true
	end = -1 // until something has been applied to the value
	apply := func(n *node, pos int) bool {
		var good bool
		if end, good = e.value(n, pos, noMarks); !good {
			ok = false
		}
		return good || !e.over()
	}
	if o.names != nil {
		if _, good := e.value(o.names, name, noMarks); !good {
			if ok = false; e.over() {
				return pos, false
			}
		}
	}
	if index >= 0 && o.members[index].node != nil && !apply(o.members[index].node, pos) {
		return end, false
	}
	for i := range o.patterns {
		if !e.matches(o.patterns[i].pattern, e.unquote(e.doc[name:nameEnd])) {
			if e.exhausted {
				return pos, false
			}
			continue
		}
		if !apply(o.patterns[i].node, pos) {
			return end, false
		}
	}
	switch {
	case end >= 0:
	case o.additional == nil:
		return e.skip(pos), ok
	case o.additional.never:
		if e.fault(p.n, name, "additionalProperties") {
			return pos, false
		}
		return e.skip(pos), false
	default:
		if !apply(o.additional, pos) {
			return end, false
		}
	}
	e.mark(p.marks, p.count)
	return end, ok
}

// objectTotals checks what can be told when all members are known. End is the
// offset behind the object.
func (e *evaluation) objectTotals(p *objectPass, end int) bool {
	o := p.n.object
	ok := true
	if !p.seen.contains(o.required) {
		e.furthest = max(e.furthest, end) // what is missing shows at the end only
		if ok = false; e.missingAll(p) {
			return false
		}
	}
	count := p.count - p.absent
	if count < o.minProperties {
		if ok = false; e.fault(p.n, p.pos, "minProperties") {
			return false
		}
	}
	if o.maxProperties >= 0 && count > o.maxProperties {
		if ok = false; e.fault(p.n, p.pos, "maxProperties") {
			return false
		}
	}
	if o.dependencies != nil && !e.dependencies(p) {
		ok = false
	}
	return ok
}

// missing notes a member that is not there. It reports whether evaluation has
// to end.
func (e *evaluation) missing(p *objectPass, index int, keyword string) bool {
	if e.over() {
		return true
	}
	e.report.addMissing(p.n, p.pos, &p.n.object.members[index], keyword)
	return e.over()
}

// missingAll notes the required members that are not there. It reports whether
// evaluation has to end.
func (e *evaluation) missingAll(p *objectPass) bool {
	for i := range p.n.object.members {
		if p.n.object.required.has(i) && !p.seen.has(i) && e.missing(p, i, "required") {
			return true
		}
	}
	return false
}

// dependencies applies what the presence of a member demands.
func (e *evaluation) dependencies(p *objectPass) bool {
	ok := true
	there := func(index int) bool { return p.seen.has(index) && !p.gone.has(index) }
	for i := range p.n.object.dependencies {
		d := &p.n.object.dependencies[i]
		if e.budget--; !there(d.member) {
			continue
		}
		for _, index := range d.required {
			if there(index) {
				continue
			}
			if ok = false; e.missing(p, index, "dependentRequired") {
				return false
			}
		}
		if d.node == nil {
			continue
		}
		if _, good := e.value(d.node, p.pos, p.marks); !good {
			if ok = false; e.over() {
				return false
			}
		}
	}
	return ok
}
