package uritemplate

import "strings"

// A matcher finds where each variable of a template stands in one URI. It lives on the stack.
//
// Finding is a search with backtracking: each value tries its ends from the farthest to the nearest until the steps
// behind it fit. The search stays short because no end of a value is ever tried twice. The ends that a value tries fall
// from call to call, so the starts of the next value fall as well, and what it has to try for a new start is only what
// lies before the last one: either that is in the same run of its characters, and all ends behind it have failed
// already, or the run is another one, and ends before it. Hence every value tests each place in the URI at most once.
type matcher struct {
	steps  []step
	vars   []variable
	text   string // in normal form
	places [MaxVars]place
}

// A place is where a variable stands in the text, and for a required value how far the search has come.
type place struct {
	start, end int32 // start is -1 for an absent parameter
	// The last start that failed, and the end of the run of the value's characters around it.
	failed, runEnd int32
}

func newMatcher(t *Template, text string) (m matcher) {
	m.steps, m.vars, m.text = t.steps, t.vars, text
	for i := range t.vars {
		m.places[i] = place{start: -1, failed: int32(len(text))}
	}
	return m
}

// from reports whether the text from pos on fits the steps from the i-th on.
func (m *matcher) from(i, pos int) bool {
	for ; i < len(m.steps); i++ {
		switch s := &m.steps[i]; s.kind {
		case stepLiteral:
			if !strings.HasPrefix(m.text[pos:], s.text) {
				return false
			}
			pos += len(s.text)
		case stepParams:
			pos = m.params(s, pos)
		case stepValue:
			return m.value(i, pos)
		}
	}
	return pos == len(m.text)
}

// value reports whether the text from pos on fits the value in the i-th step and the steps behind it.
func (m *matcher) value(i, pos int) bool {
	s := &m.steps[i]
	at := &m.places[s.lo]
	last := int(at.failed)
	at.runEnd = int32(m.run(s.set, pos, last, int(at.runEnd)))
	for end := min(int(at.runEnd), last); end > pos; end-- {
		if !m.splitsTriplet(end) && m.from(i+1, end) {
			at.start, at.end = int32(pos), int32(end)
			return true
		}
	}
	at.failed = int32(pos)
	return false
}

// run returns the end of the characters in set that begin at pos. If they reach known, they end at knownEnd.
func (m *matcher) run(set byteSet, pos, known, knownEnd int) int {
	for ; pos < len(m.text) && set.has(m.text[pos]); pos++ {
		if pos == known {
			return knownEnd
		}
	}
	return pos
}

// splitsTriplet reports whether a percent-encoded byte goes on at pos, which is not 0.
func (m *matcher) splitsTriplet(pos int) bool {
	return m.text[pos-1] == '%' || pos > 1 && m.text[pos-2] == '%'
}

// params notes where the values of optional parameters at pos stand, and returns the position behind them. A parameter
// that is not one of these, or not for the first time, is left to the steps that follow.
func (m *matcher) params(s *step, pos int) int {
	for v := s.lo; v < s.hi; v++ {
		m.places[v].start = -1
	}
	mark := s.op.first
	for strings.HasPrefix(m.text[pos:], mark) {
		end, ok := m.param(s, pos+len(mark))
		if !ok {
			break
		}
		pos = end
		mark = s.op.sep
	}
	return pos
}

// param notes where the value of the parameter at pos stands, and returns the position behind it. It reports false if
// none of the step's parameters that are still absent is there.
func (m *matcher) param(s *step, pos int) (end int, ok bool) {
	chars := s.op.chars()
	end = m.run(chars, pos, -1, 0)
	v := s.lo
	for v < s.hi && m.vars[v].key != m.text[pos:end] {
		v++
	}
	if v == s.hi || m.places[v].start >= 0 {
		return pos, false
	}
	start := end
	switch {
	case strings.HasPrefix(m.text[end:], "="):
		start++
		end = m.run(chars, start, -1, 0)
	case s.op.empty != "":
		return pos, false // the name alone is not how this operator writes an empty value
	}
	m.places[v].start, m.places[v].end = int32(start), int32(end)
	return end, true
}
