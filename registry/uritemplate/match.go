package uritemplate

import "slices"

// Match reports whether uri is of the template's form. If so it appends the variables that have a value in it to dst,
// in the order of the template; if not it returns dst. Values share the memory of uri where nothing had to be decoded.
//
// The time is bounded by the length of the URI times that of the template.
func (t *Template) Match(uri string, dst []Var) ([]Var, bool) {
	if len(uri) > 3*MaxURI { // the normal form may be shorter, down to a third
		return dst, false
	}
	text, ok := normalise(uri)
	if !ok || len(text) > MaxURI {
		return dst, false
	}
	vars, wasReserved, ok := t.read(text, dst)
	if !ok || wasReserved && !t.writesBack(vars[len(dst):]) {
		return dst, false
	}
	return vars, true
}

// writesBack reports whether the URI written from vars has these vars again. Only an encoded reserved character in a
// reserved value can make a difference: it is written plainly, and may then be taken for something else.
func (t *Template) writesBack(vars []Var) bool {
	uri := t.Expand(func(name string) (string, bool) {
		i := slices.IndexFunc(vars, func(v Var) bool { return v.Name == name })
		if i < 0 {
			return "", false
		}
		return vars[i].Value, true
	})
	text, ok := normalise(uri)
	if !ok {
		return false
	}
	again, _, ok := t.read(text, nil)
	return ok && slices.Equal(again, vars)
}

// read matches text, a URI in normal form, and appends the variables to dst. wasReserved says that a reserved value had
// an encoded reserved character.
func (t *Template) read(text string, dst []Var) (vars []Var, wasReserved, ok bool) {
	m := newMatcher(t, text)
	if !m.from(0, 0) {
		return dst, false, false
	}
	vars = dst
	for i, v := range t.vars {
		at := m.places[i]
		if at.start < 0 {
			continue
		}
		value, encoded, ok := decode(text[at.start:at.end])
		if !ok || v.reserved && hasTriplet(value) { // Expand would take the triplet for something encoded
			return dst, false, false
		}
		wasReserved = wasReserved || v.reserved && encoded
		vars = append(vars, Var{v.name, value})
	}
	return vars, wasReserved, true
}
