package schema

import "cloudg.dev/cloudg/internal/jsonwire"

// marks are the members or elements of one value that have been evaluated: a
// set on the stack of the scratch memory. They are kept only while a keyword
// wants to know what is left over.
type marks struct{ off, words int }

// noMarks stands for nobody wanting to know.
var noMarks = marks{off: -1}

// mark notes that the member or element with an index has been evaluated.
func (e *evaluation) mark(m marks, index int) {
	if m.off >= 0 {
		e.words[m.off+index>>6] |= 1 << (index & 63)
	}
}

func (e *evaluation) marked(m marks, index int) bool {
	return e.words[m.off+index>>6]&(1<<(index&63)) != 0
}

// push makes an empty set for a number of members or elements.
func (e *evaluation) push(words int) marks {
	s := e.memory()
	off := len(s.words)
	for range words {
		s.words = append(s.words, 0)
	}
	e.spend(words >> 2)
	return marks{off: off, words: words}
}

// pop frees a set, which must be the last one made.
func (e *evaluation) pop(m marks) { e.words = e.words[:m.off] }

// fork makes a set for an alternative that may come to nothing.
func (e *evaluation) fork(m marks) marks {
	if m.off < 0 {
		return m
	}
	return e.push(m.words)
}

// join ends an alternative. If it conforms, what it marked counts.
func (e *evaluation) join(m, own marks, ok bool) {
	if m.off < 0 {
		return
	}
	if ok {
		for i := range m.words {
			e.words[m.off+i] |= e.words[own.off+i]
		}
	}
	e.pop(own)
}

// scoped applies a node that belongs to the dynamic scope or has an
// unevaluated keyword.
func (e *evaluation) scoped(n *node, pos int, m marks) (end int, ok bool) {
	e.depth++
	defer func() { e.depth-- }()
	if n.scope != nil {
		s := e.memory()
		if len(s.scope) == 0 || s.scope[len(s.scope)-1] != n.scope {
			s.scope = append(s.scope, n.scope)
			defer func() { s.scope = s.scope[:len(s.scope)-1] }()
		}
	}
	c := e.doc[pos]
	if n.unseen == nil || !(c == '{' && n.unseen.properties != nil || c == '[' && n.unseen.items != nil) {
		return e.plain(n, pos, m)
	}
	own := e.push((e.countChildren(pos) + 63) / 64)
	end, ok = e.plain(n, pos, own)
	if !ok && e.over() {
		e.pop(own)
		return end, false
	}
	// What is left over of a value that does not conform says little.
	if ok {
		ok = e.leftOver(n, pos, own)
	}
	if m.off >= 0 {
		for i := range own.words {
			e.words[m.off+i] = ^uint64(0) // nothing is left over now
		}
	}
	e.pop(own)
	return end, ok
}

// countChildren counts the members or elements of the container at pos.
func (e *evaluation) countChildren(pos int) int {
	n, open := 0, e.doc[pos]
	i := e.space(pos + 1)
	for ; e.doc[i] != '}' && e.doc[i] != ']'; n++ {
		if open == '{' {
			i += jsonwire.SkipString(e.doc[i:])
			i = e.space(e.space(i) + 1)
		}
		i = e.space(e.skip(i))
		if e.doc[i] == ',' {
			i = e.space(i + 1)
		}
	}
	e.spend(n >> 2)
	return n
}

// leftOver applies an unevaluated keyword to what has no mark.
func (e *evaluation) leftOver(n *node, pos int, m marks) bool {
	sub, keyword := n.unseen.items, "unevaluatedItems"
	if e.doc[pos] == '{' {
		sub, keyword = n.unseen.properties, "unevaluatedProperties"
	}
	ok := true
	i := e.space(pos + 1)
	for index := 0; e.doc[i] != '}' && e.doc[i] != ']'; index++ {
		start := i
		if e.doc[pos] == '{' {
			i += jsonwire.SkipString(e.doc[i:])
			i = e.space(e.space(i) + 1)
		}
		var end int
		good := true
		switch {
		case e.marked(m, index):
			end = e.skip(i)
		case sub.never:
			good = false
			if e.fault(n, start, keyword) {
				return false
			}
			end = e.skip(i)
		default:
			end, good = e.value(sub, i, noMarks)
		}
		if !good {
			if ok = false; e.over() {
				return false
			}
		}
		i = e.space(end)
		if e.doc[i] == ',' {
			i = e.space(i + 1)
		}
	}
	return ok
}
