package uritemplate

import (
	"strings"
	"unicode/utf8"
)

// normalise returns uri in normal form: percent-encoding with capital digits, and only where it is needed. Characters
// beyond ASCII are encoded. It reports false for what no URI may hold: other characters, a percent sign that starts no
// encoded byte, and broken UTF-8. A URI that is in normal form and has no percent sign is returned as it is.
func normalise(uri string) (string, bool) {
	plain := unreserved().union(reserved())
	i := 0
	for i < len(uri) && plain.has(uri[i]) {
		i++
	}
	if i == len(uri) {
		return uri, true
	}
	b := append(make([]byte, 0, len(uri)), uri[:i]...)
	for i < len(uri) {
		c := uri[i]
		switch {
		case plain.has(c):
			b = append(b, c)
			i++
		case c == '%':
			d, ok := triplet(uri[i:])
			if !ok {
				return "", false
			}
			b = appendByte(b, d, unreserved())
			i += 3
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(uri[i:])
			if r == utf8.RuneError && size == 1 {
				return "", false
			}
			b = appendEncoded(b, uri[i:i+size], false)
			i += size
		default:
			return "", false
		}
	}
	return string(b), true
}

// decode returns the value that text, in normal form, stands for. wasReserved says that a reserved character was
// encoded in it. ok is false for a value that is not UTF-8 or holds a NUL.
func decode(text string) (value string, wasReserved, ok bool) {
	i := strings.IndexByte(text, '%')
	if i < 0 {
		return text, false, true
	}
	var b strings.Builder
	b.Grow(len(text))
	for i >= 0 {
		b.WriteString(text[:i])
		c, ok := triplet(text[i:])
		if !ok || c == 0 {
			return "", false, false
		}
		wasReserved = wasReserved || reserved().has(c)
		b.WriteByte(c)
		text = text[i+3:]
		i = strings.IndexByte(text, '%')
	}
	b.WriteString(text)
	return b.String(), wasReserved, utf8.ValidString(b.String())
}

// appendEncoded appends value with all but unreserved characters percent-encoded. With keepReserved, reserved
// characters and what is already percent-encoded stay as they are.
func appendEncoded(b []byte, value string, keepReserved bool) []byte {
	keep := unreserved()
	if keepReserved {
		keep = keep.union(reserved())
	}
	for i := 0; i < len(value); i++ {
		if keepReserved && value[i] == '%' {
			if _, ok := triplet(value[i:]); ok {
				b = append(b, value[i:i+3]...)
				i += 2
				continue
			}
		}
		b = appendByte(b, value[i], keep)
	}
	return b
}

// appendByte appends c itself if it is in keep, and percent-encoded otherwise.
func appendByte(b []byte, c byte, keep byteSet) []byte {
	if keep.has(c) {
		return append(b, c)
	}
	const hex = "0123456789ABCDEF"
	return append(b, '%', hex[c>>4], hex[c&15])
}

// triplet returns the byte that the percent sign and the two hexadecimal digits at the start of s stand for.
func triplet(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, ok1 := hexDigit(s[1])
	lo, ok2 := hexDigit(s[2])
	return hi<<4 | lo, ok1 && ok2
}

// hasTriplet reports whether a percent-encoded byte is anywhere in s.
func hasTriplet(s string) bool {
	for i := range len(s) {
		if _, ok := triplet(s[i:]); ok {
			return true
		}
	}
	return false
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
