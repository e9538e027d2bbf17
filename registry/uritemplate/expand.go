package uritemplate

// Expand writes the URI in which each variable has the string that value returns for its name. A variable for which
// value returns false is undefined: it is left out together with its mark, as RFC 6570 has it. Values of required
// variables should not be empty, for the URI would not match again.
//
// What the operator does not let through is percent-encoded. Expand sets no bound of its own: the URI grows with the
// values, which are the caller's, by up to three bytes for each of theirs.
func (t *Template) Expand(value func(name string) (string, bool)) string {
	b := make([]byte, 0, 2*len(t.source))
	for _, p := range t.pieces {
		b = append(b, p.literal...)
		b = p.op.appendValues(b, t.vars[p.lo:p.hi], value)
	}
	return string(b)
}

// appendValues appends the defined variables among vars.
func (o operator) appendValues(b []byte, vars []variable, value func(name string) (string, bool)) []byte {
	mark := o.first
	for _, v := range vars {
		s, ok := value(v.name)
		if !ok {
			continue
		}
		b = append(b, mark...)
		mark = o.sep
		if o.named {
			b = append(b, v.name...)
			if s == "" {
				b = append(b, o.empty...)
				continue
			}
			b = append(b, '=')
		}
		b = appendEncoded(b, s, o.reserved)
	}
	return b
}
