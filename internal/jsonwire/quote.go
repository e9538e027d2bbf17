package jsonwire

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendQuote appends s as a JSON string. Only what JSON demands is escaped;
// bytes that are not UTF-8 become U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainRunString(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"')
		}
		if c := s[0]; c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		n = wideRun(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s != "" && s[0] >= utf8.RuneSelf {
			dst = append(dst, "\ufffd"...)
			s = s[1:]
		}
	}
}

// AppendQuoteBytes is [AppendQuote] for bytes.
func AppendQuoteBytes(dst, s []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plainRun(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			return append(dst, '"')
		}
		if c := s[0]; c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		n = wideRun(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) > 0 && s[0] >= utf8.RuneSelf {
			dst = append(dst, "\ufffd"...)
			s = s[1:]
		}
	}
}

// plainRunString is plainRun for strings.
func plainRunString(s string) int {
	i := 0
	for len(s)-i >= 8 {
		c := s[i : i+8]
		w := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		if m := special(w); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(s) && s[i] >= 0x20 && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// appendEscape appends an ASCII character that a string may not hold as it is.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendUnquote appends the text that a valid JSON string stands for. Lone
// surrogates become U+FFFD.
func AppendUnquote(dst, quoted []byte) []byte {
	s := quoted[1 : len(quoted)-1]
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
		switch c := s[1]; c {
		case 'u':
			r, n := unquoteRune(s)
			dst = utf8.AppendRune(dst, r)
			s = s[n:]
		default:
			dst = append(dst, unescape(c))
			s = s[2:]
		}
	}
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unquoteRune decodes the \u escape at the start of s, together with a second
// one if the two are a surrogate pair.
func unquoteRune(s []byte) (rune, int) {
	r := hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if p := utf16.DecodeRune(r, hex4(s[8:])); p != utf8.RuneError {
			return p, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s []byte) rune {
	return hexDigit(s[0])<<12 | hexDigit(s[1])<<8 | hexDigit(s[2])<<4 | hexDigit(s[3])
}

// Unquote returns the text that a valid JSON string stands for.
func Unquote(quoted []byte) string {
	if s := quoted[1 : len(quoted)-1]; bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	return string(AppendUnquote(make([]byte, 0, len(quoted)-2), quoted))
}

// EqualString reports whether a valid JSON string stands for exactly s. It
// allocates only for a string that is written with escapes.
func EqualString(quoted []byte, s string) bool {
	inner := quoted[1 : len(quoted)-1]
	if len(inner) == len(s) { // an escape is longer than what it stands for
		return string(inner) == s && strings.IndexByte(s, '\\') < 0
	}
	return len(inner) > len(s) && bytes.IndexByte(inner, '\\') >= 0 && Unquote(quoted) == s
}

// EqualStrings reports whether two valid JSON strings stand for the same text.
func EqualStrings(a, b []byte) bool {
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		return bytes.Equal(a, b)
	}
	return Unquote(a) == Unquote(b)
}
