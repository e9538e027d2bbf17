package schema

import (
	"bytes"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// An evaluation applies the nodes of a schema to the values of one document.
//
// Every method that looks at a value takes the offset of its first byte and
// returns the offset behind it and whether the value conforms. Without a
// report the first fault ends everything, and the offset is of no use then.
// With a report evaluation goes on after a fault, to find more of them.
type evaluation struct {
	schema *Schema
	doc    []byte
	report *report // nil while only the verdict matters

	nullAbsent bool
	exhausted  bool // the budget is spent or the nesting too deep
	budget     int
	depth      int
	furthest   int // the offset of the last fault, to tell which alternative came closest

	*scratch
}

// scratch is memory that evaluation needs for some keywords. It is taken from
// a pool when it is needed first.
type scratch struct {
	text  []byte      // the last string that had to be unescaped
	words []uint64    // a stack of sets, and a table of hashes
	scope []*resource // the resources that evaluation is in, outermost first
	items []item      // a stack of elements
}

// maxScratch is the size, in bytes, above which memory is not kept.
const maxScratch = 4 << 20

// size is the memory that the larger parts take, in bytes.
func (s *scratch) size() int {
	const word, element = 8, 24
	return cap(s.text) + word*cap(s.words) + element*cap(s.items)
}

// memory returns the scratch memory.
func (e *evaluation) memory() *scratch {
	if e.scratch == nil {
		if s, ok := e.schema.pool.Get().(*scratch); ok {
			e.scratch = s
		} else {
			e.scratch = &scratch{}
		}
	}
	return e.scratch
}

// release gives the scratch memory back.
func (e *evaluation) release() {
	s := e.scratch
	e.scratch = nil
	if s == nil || s.size() > maxScratch {
		return
	}
	s.words, s.scope, s.items = s.words[:0], s.scope[:0], s.items[:0]
	e.schema.pool.Put(s)
}

// spend takes steps from the budget and reports whether it lasted.
func (e *evaluation) spend(steps int) bool {
	if e.budget -= steps; e.budget < 0 {
		e.exhausted = true
	}
	return !e.exhausted
}

// over reports whether evaluation has to end at a fault.
func (e *evaluation) over() bool { return e.report == nil || e.exhausted || e.report.truncated }

// fault notes that the value at an offset breaks a keyword. It reports whether
// evaluation has to end.
func (e *evaluation) fault(n *node, pos int, keyword string) bool {
	e.furthest = max(e.furthest, pos)
	if e.over() {
		return true
	}
	e.report.add(n, pos, keyword)
	return false
}

// value applies a node to the value at pos. Marks, if there are any, take what
// the node evaluates.
func (e *evaluation) value(n *node, pos int, m marks) (end int, ok bool) {
	if n.link != nil {
		n = n.link
	}
	e.budget--
	if e.budget < 0 || e.depth >= e.schema.limits.depth {
		e.exhausted = true
		return pos, false
	}
	if n.scope != nil || n.unseen != nil {
		return e.scoped(n, pos, m)
	}
	e.depth++
	end, ok = e.plain(n, pos, m)
	e.depth--
	return end, ok
}

// plain applies a node without regard to scope and unevaluated keywords.
func (e *evaluation) plain(n *node, pos int, m marks) (end int, ok bool) {
	if n.never {
		if e.fault(n, pos, "false") {
			return pos, false
		}
		return e.skip(pos), false
	}
	t := typeOf(e.doc[pos])
	if n.types != 0 && n.types&t == 0 && !(t == typeNumber && n.types&typeInteger != 0 && e.integral(pos)) {
		if e.fault(n, pos, "type") {
			return pos, false
		}
		return e.skip(pos), false
	}
	end, ok = e.ofType(n, t, pos, m)
	if !ok && e.over() {
		return end, false
	}
	if n.values != nil && !e.allowed(n.values, pos, end) {
		if e.fault(n, pos, n.values.keyword) {
			return end, false
		}
		ok = false
	}
	if n.inner != nil && !e.inner(n, pos, m) {
		ok = false
	}
	return end, ok
}

// ofType applies the keywords that are for values of one type.
func (e *evaluation) ofType(n *node, t typeSet, pos int, m marks) (end int, ok bool) {
	switch {
	case t == typeString:
		end = pos + jsonwire.SkipString(e.doc[pos:])
		return end, n.text == nil || e.text(n, pos, end)
	case t == typeObject && n.object != nil:
		return e.object(n, pos, m)
	case t == typeArray && n.array != nil:
		return e.array(n, pos, m)
	}
	end = e.skip(pos)
	if t == typeNumber && n.number != nil {
		return end, e.number(n, pos, end)
	}
	return end, true
}

// allowed checks const and enum.
func (e *evaluation) allowed(s *valueSet, pos, end int) bool {
	return e.spend(s.cost(end-pos)) && s.has(e.doc[pos:end], &e.budget) && e.spend(0)
}

// skip returns the offset behind the value at pos and accounts for its length.
func (e *evaluation) skip(pos int) int {
	n := jsonwire.SkipValue(e.doc[pos:])
	e.budget -= n >> 4
	return pos + n
}

// space returns the offset of the next byte that is not white space.
func (e *evaluation) space(pos int) int { return skipSpace(e.doc, pos) }

func (e *evaluation) integral(pos int) bool {
	raw := e.doc[pos:e.skip(pos)]
	if _, ok := parseInt(raw); ok {
		return true
	}
	return parseDecimal(raw).integral()
}

// number checks the keywords for numbers.
func (e *evaluation) number(n *node, pos, end int) bool {
	raw, r := e.doc[pos:end], n.number
	ok := true
	check := func(good bool, keyword string) bool {
		if !good {
			ok = false
			return !e.fault(n, pos, keyword)
		}
		return true
	}
	if r.minimum != nil && !check(r.minimum.compare(raw) >= 0, "minimum") ||
		r.maximum != nil && !check(r.maximum.compare(raw) <= 0, "maximum") ||
		r.exclusiveMinimum != nil && !check(r.exclusiveMinimum.compare(raw) > 0, "exclusiveMinimum") ||
		r.exclusiveMaximum != nil && !check(r.exclusiveMaximum.compare(raw) < 0, "exclusiveMaximum") {
		return false
	}
	if r.multipleOf != nil {
		e.spend(len(raw) >> 3)
		check(r.multipleOf.divides(raw), "multipleOf")
	}
	return ok
}

// text checks the keywords for strings.
func (e *evaluation) text(n *node, pos, end int) bool {
	r := n.text
	quoted := e.doc[pos:end]
	ok := true
	if r.minLength > 0 && !atLeast(quoted, r.minLength) {
		if ok = false; e.fault(n, pos, "minLength") {
			return false
		}
	}
	if r.maxLength >= 0 && !atMost(quoted, r.maxLength) {
		if ok = false; e.fault(n, pos, "maxLength") {
			return false
		}
	}
	if r.pattern == nil && r.format == nil {
		return ok
	}
	text := e.unquote(quoted)
	if r.pattern != nil && !e.matches(r.pattern, text) {
		if ok = false; e.fault(n, pos, "pattern") {
			return false
		}
	}
	if r.format != nil && !r.format.valid(text) {
		if ok = false; e.fault(n, pos, "format") {
			return false
		}
	}
	return ok
}

// matches applies a pattern to text, for which the budget pays.
func (e *evaluation) matches(p *pattern, text []byte) bool {
	return e.spend(p.cost(len(text))) && p.match(text)
}

// unquote returns the text of a valid JSON string. It stays good until the next
// call.
func (e *evaluation) unquote(quoted []byte) []byte {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	s := e.memory()
	s.text = jsonwire.AppendUnquote(s.text[:0], quoted)
	return s.text
}

// atLeast reports whether a JSON string has n characters or more.
func atLeast(quoted []byte, n int) bool {
	size := len(quoted) - 2
	if size < n {
		return false
	}
	// A character takes twelve bytes at the most, as two escapes.
	return size/12 >= n || length(quoted) >= n
}

// atMost reports whether a JSON string has no more than n characters.
func atMost(quoted []byte, n int) bool {
	return len(quoted)-2 <= n || length(quoted) <= n
}

// length counts the characters of a JSON string.
func length(quoted []byte) int {
	s := quoted[1 : len(quoted)-1]
	n := 0
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return n + utf8.RuneCount(s)
		}
		n += utf8.RuneCount(s[:i]) + 1
		s = s[i+escapeLength(s[i:]):]
	}
}

// escapeLength is the length of the escape, or pair of escapes, at the start of
// a part of a valid JSON string.
func escapeLength(s []byte) int {
	if s[1] != 'u' {
		return 2
	}
	if len(s) >= 12 && isSurrogate(s[2:], '8', 'b') && s[6] == '\\' && s[7] == 'u' && isSurrogate(s[8:], 'c', 'f') {
		return 12
	}
	return 6
}

// isSurrogate reports whether four hexadecimal digits are a surrogate whose
// second digit is between two, in lower case.
func isSurrogate(hex []byte, lo, hi byte) bool {
	second := hex[1] | 0x20
	if hex[1] <= '9' {
		second = hex[1]
	}
	return hex[0]|0x20 == 'd' && lo <= second && second <= hi
}
