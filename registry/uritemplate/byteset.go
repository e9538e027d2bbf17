package uritemplate

// A byteSet is a set of ASCII characters, one bit each.
type byteSet struct{ lo, hi uint64 }

// The character classes of RFC 3986, section 2, as bits.
const (
	letters = 1<<26 - 1
	digits  = (1<<10 - 1) << '0'

	unreservedLo = digits | 1<<'-' | 1<<'.'
	unreservedHi = letters<<('A'-64) | letters<<('a'-64) | 1<<('_'-64) | 1<<('~'-64)

	reservedLo = 1<<':' | 1<<'/' | 1<<'?' | 1<<'#' | 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' |
		1<<'(' | 1<<')' | 1<<'*' | 1<<'+' | 1<<',' | 1<<';' | 1<<'='
	reservedHi = 1<<('['-64) | 1<<(']'-64) | 1<<('@'-64)
)

func unreserved() byteSet { return byteSet{unreservedLo, unreservedHi} }

func reserved() byteSet { return byteSet{reservedLo, reservedHi} }

// has reports whether c is in the set.
func (s byteSet) has(c byte) bool {
	switch {
	case c < 64:
		return s.lo>>c&1 != 0
	case c < 128:
		return s.hi>>(c-64)&1 != 0
	}
	return false
}

// with returns the set and the ASCII character c.
func (s byteSet) with(c byte) byteSet {
	if c < 64 {
		s.lo |= 1 << c
	} else {
		s.hi |= 1 << (c - 64)
	}
	return s
}

// without returns the set less the ASCII character c.
func (s byteSet) without(c byte) byteSet {
	if c < 64 {
		s.lo &^= 1 << c
	} else {
		s.hi &^= 1 << (c - 64)
	}
	return s
}

// union returns the characters of both sets.
func (s byteSet) union(o byteSet) byteSet { return byteSet{s.lo | o.lo, s.hi | o.hi} }
