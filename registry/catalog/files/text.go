package files

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// cutText shortens s to at most n bytes without cutting a rune in two.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// wholeRunes drops the beginning of a rune that b ends with, if any. Bytes that are no UTF-8 at all stay.
func wholeRunes(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		tail := b[len(b)-back:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-back]
			}
			break
		}
	}
	return b
}

// validText makes text of bytes, with U+FFFD for what is no UTF-8.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// binaryProbe is how much of a file decides whether it is text.
const binaryProbe = 8 << 10

// looksBinary reports whether content is no text: text has no NUL near its beginning.
func looksBinary(b []byte) bool {
	return bytes.IndexByte(b[:min(len(b), binaryProbe)], 0) >= 0
}

// stamp writes a time as RFC 3339 in UTC, to the second.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural writes a count with the right word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// runeStart moves back from an index to the beginning of the rune that it is in.
func runeStart(b []byte, i int) int {
	for back := 0; back < utf8.UTFMax && i-back >= 0; back++ {
		if i-back < len(b) && utf8.RuneStart(b[i-back]) {
			return i - back
		}
	}
	return i
}
