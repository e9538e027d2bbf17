package schema

import (
	"bytes"
	"unicode/utf8"
)

// validURI accepts a URI or a reference to one, by the grammar of RFC 3986; as
// an IRI, characters above ASCII are allowed as in RFC 3987.
func validURI(s []byte, iri, absolute bool) bool {
	rest := s
	scheme := bytes.IndexAny(s, ":/?#")
	hasScheme := scheme > 0 && s[scheme] == ':' && validScheme(s[:scheme])
	switch {
	case hasScheme:
		rest = s[scheme+1:]
	case absolute, scheme >= 0 && s[scheme] == ':':
		return false // a first segment with a colon would read as a scheme
	}
	rest, fragment, _ := bytes.Cut(rest, []byte("#"))
	rest, query, _ := bytes.Cut(rest, []byte("?"))
	if !validChars(fragment, "/?:@", iri) || !validChars(query, "/?:@", iri) {
		return false
	}
	if authority, ok := bytes.CutPrefix(rest, []byte("//")); ok {
		path := bytes.IndexByte(authority, '/')
		if path < 0 {
			path = len(authority)
		}
		return validAuthority(authority[:path], iri) && validChars(authority[path:], "/:@", iri)
	}
	return validChars(rest, "/:@", iri)
}

func validScheme(s []byte) bool {
	for i, c := range s {
		if isDigit(c) || c == '+' || c == '-' || c == '.' {
			if i == 0 {
				return false
			}
			continue
		}
		if !isAlphanumeric(c) {
			return false
		}
	}
	return true
}

// validAuthority accepts user, host and port.
func validAuthority(s []byte, iri bool) bool {
	if user, host, ok := bytes.Cut(s, []byte("@")); ok {
		if !validChars(user, ":", iri) {
			return false
		}
		s = host
	}
	if len(s) > 0 && s[0] == '[' {
		end := bytes.IndexByte(s, ']')
		if end < 0 || !validIPLiteral(s[1:end]) {
			return false
		}
		return validPort(s[end+1:])
	}
	host := s
	if colon := bytes.IndexByte(s, ':'); colon >= 0 {
		if !validPort(s[colon:]) {
			return false
		}
		host = s[:colon]
	}
	return validChars(host, "", iri)
}

// validPort accepts nothing, or a colon and digits.
func validPort(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	return s[0] == ':' && number(s[1:], len(s)-1) >= 0
}

// validIPLiteral accepts what stands in brackets: an IPv6 address, or the form
// that is kept for later versions.
func validIPLiteral(s []byte) bool {
	if len(s) == 0 || s[0]|0x20 != 'v' {
		return validIPv6(s)
	}
	version, address, ok := bytes.Cut(s[1:], []byte("."))
	if !ok || len(version) == 0 || len(address) == 0 {
		return false
	}
	for _, c := range version {
		if !isHex(c) {
			return false
		}
	}
	return bytes.IndexByte(address, '%') < 0 && validChars(address, ":", false)
}

// validChars accepts the characters that may stand in every part, and some
// more.
func validChars(s []byte, more string, iri bool) bool {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
			i += 3
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(s[i:])
			if !iri || !iriRune(r) {
				return false
			}
			i += n
			continue
		case isAlphanumeric(c) || bytes.IndexByte([]byte("-._~!$&'()*+,;="), c) >= 0 || bytes.IndexByte([]byte(more), c) >= 0:
		default:
			return false
		}
		i++
	}
	return true
}

// iriRune reports whether a character above ASCII may stand in an IRI. Private
// characters count as well, which only a query may have.
func iriRune(r rune) bool {
	switch {
	case r < 0xa0, r >= 0xfdd0 && r <= 0xfdef, r >= 0xfff0 && r <= 0xffff:
		return false
	}
	return r&0xfffe != 0xfffe
}

// validURITemplate accepts a template of RFC 6570.
func validURITemplate(s []byte) bool {
	for len(s) > 0 {
		open := bytes.IndexByte(s, '{')
		if open < 0 {
			return validTemplateText(s)
		}
		end := bytes.IndexByte(s, '}')
		if end < open || !validTemplateText(s[:open]) || !validExpression(s[open+1:end]) {
			return false
		}
		s = s[end+1:]
	}
	return true
}

func validTemplateText(s []byte) bool {
	for i, c := range s {
		switch {
		case c <= ' ' || c == 0x7f || bytes.IndexByte([]byte("\"<>\\^`{|}"), c) >= 0:
			return false
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return false
		}
	}
	return true
}

// validExpression accepts what stands between braces: an operator, then
// variables with their modifiers.
func validExpression(s []byte) bool {
	if len(s) > 0 && bytes.IndexByte([]byte("+#./;?&=,!@|"), s[0]) >= 0 {
		s = s[1:]
	}
	for variable := range bytes.SplitSeq(s, []byte(",")) {
		if name, count, ok := bytes.Cut(variable, []byte(":")); ok {
			n := number(count, len(count))
			if len(count) == 0 || len(count) > 4 || n < 1 || count[0] == '0' {
				return false
			}
			variable = name
		}
		variable = bytes.TrimSuffix(variable, []byte("*"))
		if !validVariable(variable) {
			return false
		}
	}
	return true
}

func validVariable(s []byte) bool {
	word := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
			i += 2
			word = true
		case c == '.':
			if !word {
				return false
			}
			word = false
		case isAlphanumeric(c) || c == '_':
			word = true
		default:
			return false
		}
	}
	return word
}
