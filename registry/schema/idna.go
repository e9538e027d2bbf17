package schema

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// validIDN accepts an internationalized host name as far as the categories and
// scripts of the standard library can tell: the rules of IDNA 2008 (RFC 5892)
// with those for characters that need certain neighbours, and by script the
// rule of RFC 5893 for names with text that runs from right to left.
func validIDN(s []byte) bool {
	if len(s) > maxHost*utf8.UTFMax {
		return false
	}
	size, bidi := -1, false
	var labels [][]rune
	for _, label := range splitLabels([]rune(string(s))) {
		runes, n, ok := readLabel(label)
		if !ok {
			return false
		}
		size += 1 + n
		bidi = bidi || slices.ContainsFunc(runes, rightToLeft)
		labels = append(labels, runes)
	}
	if size > maxHost {
		return false
	}
	return !bidi || !slices.ContainsFunc(labels, func(l []rune) bool { return !validBidi(l) })
}

// splitLabels splits at the full stop and at those that are taken for it.
func splitLabels(s []rune) [][]rune {
	var labels [][]rune
	start := 0
	for i, r := range s {
		if strings.ContainsRune(".\u3002\uff0e\uff61", r) {
			labels = append(labels, s[start:i])
			start = i + 1
		}
	}
	return append(labels, s[start:])
}

// The length of a host name and of a label on the wire.
const (
	maxHost  = 253
	maxLabel = 63
)

// readLabel checks a label, in whichever form it is. It returns its characters
// and the bytes that it takes on the wire.
func readLabel(label []rune) (runes []rune, size int, ok bool) {
	if len(label) > maxLabel {
		return nil, 0, false
	}
	text := []byte(string(label))
	if encoded, ok := cutPrefixFold(text, "xn--"); ok {
		runes, ok := decodeLabel(encoded)
		return runes, len(text), ok
	}
	if !slices.ContainsFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return label, len(text), validHostLabel(text)
	}
	if !validUnicodeLabel(label) {
		return nil, 0, false
	}
	size = len("xn--") + len(encodePunycode(label))
	return label, size, size <= maxLabel
}

func cutPrefixFold(s []byte, prefix string) ([]byte, bool) {
	if len(s) < len(prefix) || !bytes.EqualFold(s[:len(prefix)], []byte(prefix)) {
		return s, false
	}
	return s[len(prefix):], true
}

// decodeLabel decodes a label, without its prefix, that stands for one with
// characters above ASCII, and only in its one proper form.
func decodeLabel(encoded []byte) ([]rune, bool) {
	if len(encoded) > maxLabel {
		return nil, false
	}
	runes, ok := decodePunycode(encoded)
	if !ok || !slices.ContainsFunc(runes, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil, false
	}
	return runes, bytes.EqualFold(encodePunycode(runes), encoded) && validUnicodeLabel(runes)
}

// validUnicodeLabel checks a label with characters above ASCII.
func validUnicodeLabel(l []rune) bool {
	if l[0] == '-' || l[len(l)-1] == '-' || len(l) >= 4 && l[2] == '-' && l[3] == '-' || unicode.IsMark(l[0]) {
		return false
	}
	for i, r := range l {
		if !validIDNRune(r) && !validInContext(l, i) {
			return false
		}
	}
	// The two kinds of Arabic digits do not mix.
	return !slices.ContainsFunc(l, arabicDigit) || !slices.ContainsFunc(l, func(r rune) bool { return '\u06f0' <= r && r <= '\u06f9' })
}

func arabicDigit(r rune) bool { return '\u0660' <= r && r <= '\u0669' }

// validIDNRune reports whether a character may stand anywhere in a label.
func validIDNRune(r rune) bool {
	switch r {
	case '\u0640', '\u07fa', '\u302e', '\u302f', '\u3031', '\u3032', '\u3033', '\u3034', '\u3035', '\u303b':
		return false // letters by their category, but excluded by name
	case '-', '\u06fd', '\u06fe', '\u0f0b', '\u3007':
		return true
	}
	return unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd)
}

// validInContext reports whether a character that needs certain neighbours has
// them.
func validInContext(l []rune, i int) bool {
	var before, after rune
	if i > 0 {
		before = l[i-1]
	}
	if i+1 < len(l) {
		after = l[i+1]
	}
	switch l[i] {
	case '\u00b7':
		return before == 'l' && after == 'l'
	case '\u0375':
		return unicode.Is(unicode.Greek, after)
	case '\u05f3', '\u05f4':
		return unicode.Is(unicode.Hebrew, before)
	case '\u30fb':
		return slices.ContainsFunc(l, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
	case '\u200d':
		return virama(before)
	case '\u200c':
		return virama(before) || unicode.Is(unicode.Arabic, before) && unicode.Is(unicode.Arabic, after)
	}
	return false
}

// virama reports whether a character is one of the signs after which joiners
// are allowed.
func virama(r rune) bool {
	return strings.ContainsRune("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0e3a\u0f84\u1039\u17d2\u1b44\u1baa", r)
}

// rightToLeft reports whether a character runs from right to left, or is a
// digit that only goes with such.
func rightToLeft(r rune) bool {
	return arabicDigit(r) || unicode.IsLetter(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// validBidi checks a label of a name that has text from right to left.
func validBidi(l []rune) bool {
	last := len(l) - 1
	for last > 0 && unicode.IsMark(l[last]) {
		last--
	}
	rtl, ltr, european := false, false, false
	for _, r := range l {
		rtl = rtl || rightToLeft(r)
		ltr = ltr || unicode.IsLetter(r) && !rightToLeft(r)
		european = european || unicode.IsDigit(r) && !arabicDigit(r)
	}
	if !unicode.IsLetter(l[0]) || rtl && ltr || !unicode.IsLetter(l[last]) && !unicode.IsDigit(l[last]) {
		return false
	}
	return !european || !slices.ContainsFunc(l, arabicDigit)
}
