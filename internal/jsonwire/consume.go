package jsonwire

import (
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
)

// DefaultDepth is the nesting that [Valid] and the packages above allow when
// they are given no bound of their own. It is far above what messages need and
// keeps the scanner's own recursion small.
const DefaultDepth = 512

// Valid checks that doc is one JSON value with nothing but white space around
// it, nested at most depth deep (0 means [DefaultDepth]). The error is a
// [*SyntaxError].
func Valid(doc []byte, depth int) error {
	if depth <= 0 {
		depth = DefaultDepth
	}
	i := SkipSpace(doc)
	n, err := ConsumeValue(doc[i:], depth)
	i += n
	if err != nil {
		return &SyntaxError{Offset: i, Err: err}
	}
	if i += SkipSpace(doc[i:]); i < len(doc) {
		return &SyntaxError{Offset: i, Err: ErrTrailing}
	}
	return nil
}

// SkipSpace counts the white space at the start of b. Mostly there is none, so
// that case is kept small enough to be inlined.
func SkipSpace(b []byte) int {
	if len(b) == 0 || b[0] > ' ' {
		return 0
	}
	return spaceRun(b)
}

func spaceRun(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return i
		}
	}
	return len(b)
}

// ConsumeValue scans the value at the start of b, which must not begin with
// white space. It may contain at most depth levels of objects and arrays.
func ConsumeValue(b []byte, depth int) (int, error) {
	if len(b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	switch c := b[0]; {
	case c == '"':
		n, _, err := ConsumeString(b)
		return n, err
	case c == '{':
		return consumeObject(b, depth)
	case c == '[':
		return consumeArray(b, depth)
	case c == '-' || '0' <= c && c <= '9':
		return ConsumeNumber(b)
	case c == 't':
		return consumeLiteral(b, "true")
	case c == 'f':
		return consumeLiteral(b, "false")
	case c == 'n':
		return consumeLiteral(b, "null")
	}
	return 0, ErrValue
}

func consumeLiteral(b []byte, lit string) (int, error) {
	for i := range len(lit) {
		if i == len(b) {
			return i, io.ErrUnexpectedEOF
		}
		if b[i] != lit[i] {
			return i, ErrLiteral
		}
	}
	return len(lit), nil
}

func consumeObject(b []byte, depth int) (int, error) {
	if depth <= 0 {
		return 0, ErrDepth
	}
	i := 1
	i += SkipSpace(b[i:])
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		n, _, _, err := ConsumeMemberName(b[i:])
		i += n
		if err != nil {
			return i, err
		}
		n, err = ConsumeValue(b[i:], depth-1)
		i += n
		if err != nil {
			return i, err
		}
		n, end, err := ConsumeNext(b[i:], '}')
		i += n
		if err != nil || end {
			return i, err
		}
	}
}

func consumeArray(b []byte, depth int) (int, error) {
	if depth <= 0 {
		return 0, ErrDepth
	}
	i := 1
	i += SkipSpace(b[i:])
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		n, err := ConsumeValue(b[i:], depth-1)
		i += n
		if err != nil {
			return i, err
		}
		n, end, err := ConsumeNext(b[i:], ']')
		i += n
		if err != nil || end {
			return i, err
		}
	}
}

// ConsumeMemberName scans a member name, the colon behind it and the white
// space around the colon. The name itself is b[:name], quotes included, and
// escaped reports whether it is spelled with an escape.
func ConsumeMemberName(b []byte) (n, name int, escaped bool, err error) {
	if len(b) > 0 && b[0] != '"' {
		return 0, 0, false, ErrName
	}
	name, escaped, err = ConsumeString(b)
	if err != nil {
		return name, name, escaped, err
	}
	n = name + SkipSpace(b[name:])
	if n == len(b) {
		return n, name, escaped, io.ErrUnexpectedEOF
	}
	if b[n] != ':' {
		return n, name, escaped, ErrColon
	}
	n++
	return n + SkipSpace(b[n:]), name, escaped, nil
}

// ConsumeNext scans what follows an element of a container that closes with
// the given byte: white space, then either a comma and more white space, or
// the end of the container. After a comma the next element must follow.
func ConsumeNext(b []byte, closing byte) (n int, end bool, err error) {
	i := SkipSpace(b)
	if i == len(b) {
		return i, false, io.ErrUnexpectedEOF
	}
	switch b[i] {
	case ',':
		i++
		return i + SkipSpace(b[i:]), false, nil
	case closing:
		return i + 1, true, nil
	}
	return i, false, ErrComma
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, in the high bit of each byte of w, the bytes that end a run
// of plain string content: quotes, backslashes, control characters and bytes
// above ASCII. Only the lowest mark is exact, since a borrow may set marks
// above a true one. A subtraction from a byte above ASCII may mark it too, which
// is right anyway.
func special(w uint64) uint64 {
	quote := (w ^ ones*'"') - ones
	slash := (w ^ ones*'\\') - ones
	control := w - ones*0x20
	return (quote | slash | control | w) & highs
}

// plainRun counts the bytes at the start of b that stand for themselves in a
// JSON string: ASCII without quotes, backslashes and control characters.
func plainRun(b []byte) int {
	i := 0
	for len(b)-i >= 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= 0x20 && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// ConsumeString scans the string at the start of b, quotes included. Escaped
// reports whether it contains an escape, so that a caller can take the bytes
// between the quotes as they are when it does not.
func ConsumeString(b []byte) (n int, escaped bool, err error) {
	if len(b) == 0 {
		return 0, false, io.ErrUnexpectedEOF
	}
	if b[0] != '"' {
		return 0, false, ErrString
	}
	i := 1
	for {
		i += plainRun(b[i:])
		if i == len(b) {
			return i, escaped, io.ErrUnexpectedEOF
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			n, err := consumeEscape(b[i:])
			i += n
			if err != nil {
				return i, escaped, err
			}
		case c < 0x20:
			return i, escaped, ErrControl
		default:
			n, err := consumeRunes(b[i:])
			i += n
			if err != nil {
				return i, escaped, err
			}
		}
	}
}

// consumeRunes scans the run of characters above ASCII at the start of b.
func consumeRunes(b []byte) (int, error) {
	n := wideRun(b)
	switch {
	case n == len(b) || b[n] < utf8.RuneSelf:
		return n, nil
	case !utf8.FullRune(b[n:]):
		return n, io.ErrUnexpectedEOF
	}
	return n, ErrUTF8
}

// wideRun counts the bytes at the start of s that are well-formed characters
// above ASCII.
func wideRun[T string | []byte](s T) int {
	i := 0
	for i < len(s) && s[i] >= utf8.RuneSelf {
		n := wideLen(s[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// wideLen returns the length of the character above ASCII at the start of s, or
// 0 if there is no well-formed one. Overlong forms, surrogates and what is above
// U+10FFFF are not well-formed (table 3-7 of the Unicode standard). Nothing is
// decoded, which makes it cheaper than [utf8.DecodeRune].
func wideLen[T string | []byte](s T) int {
	n, low, high := 0, byte(0x80), byte(0xbf) // bounds of the second byte
	switch c := s[0]; {
	case c < 0xc2:
		return 0
	case c < 0xe0:
		n = 2
	case c < 0xf0:
		n = 3
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case c < 0xf5:
		n = 4
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	default:
		return 0
	}
	if len(s) < n || s[1] < low || s[1] > high {
		return 0
	}
	for i := 2; i < n; i++ {
		if s[i]&0xc0 != 0x80 {
			return 0
		}
	}
	return n
}

// consumeEscape scans the escape at the start of b, which is a backslash.
func consumeEscape(b []byte) (int, error) {
	if len(b) < 2 {
		return len(b), io.ErrUnexpectedEOF
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for i := 2; i < 6; i++ {
			if i == len(b) {
				return i, io.ErrUnexpectedEOF
			}
			if hexDigit(b[i]) < 0 {
				return i, ErrEscape
			}
		}
		return 6, nil
	}
	return 1, ErrEscape
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return rune(c - 'A' + 10)
	}
	return -1
}

// ConsumeNumber scans the number at the start of b. A number at the very end
// of b is complete if it could end there.
func ConsumeNumber(b []byte) (int, error) {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i == len(b):
		return i, io.ErrUnexpectedEOF
	case b[i] == '0':
		i++
	case '1' <= b[i] && b[i] <= '9':
		i += digits(b[i:])
	default:
		return i, ErrNumber
	}
	if i < len(b) && b[i] == '.' {
		n, err := someDigits(b[i+1:])
		i += 1 + n
		if err != nil {
			return i, err
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n, err := someDigits(b[i:])
		i += n
		if err != nil {
			return i, err
		}
	}
	return i, nil
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

func someDigits(b []byte) (int, error) {
	n := digits(b)
	switch {
	case n > 0:
		return n, nil
	case len(b) == 0:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, ErrNumber
}
