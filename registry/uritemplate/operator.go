package uritemplate

// An operator says how the values of an expression are written; see the table in appendix A of RFC 6570.
type operator struct {
	first    string // before the first value
	sep      string // between values
	named    bool   // name=value instead of value
	empty    string // in place of =value when the value of a named variable is empty
	reserved bool   // reserved characters stay as they are
}

// operatorOf returns the operator that an expression's first character stands for, and false when that character is
// none and begins a variable name instead.
func operatorOf(c byte) (operator, bool) {
	switch c {
	case '+':
		return operator{sep: ",", reserved: true}, true
	case '#':
		return operator{first: "#", sep: ",", reserved: true}, true
	case '.':
		return operator{first: ".", sep: "."}, true
	case '/':
		return operator{first: "/", sep: "/"}, true
	case ';':
		return operator{first: ";", sep: ";", named: true}, true
	case '?':
		return operator{first: "?", sep: "&", named: true, empty: "="}, true
	case '&':
		return operator{first: "&", sep: "&", named: true, empty: "="}, true
	}
	return operator{sep: ","}, false
}

// chars returns the characters that a value is written with. A percent sign is among them as the start of a
// percent-encoded byte.
func (o operator) chars() byteSet {
	set := unreserved().with('%')
	if o.reserved {
		set = set.union(reserved())
	}
	return set
}
