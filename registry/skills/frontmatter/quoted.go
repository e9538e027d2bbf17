package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quotedEnd returns where the quoted text at the beginning of s ends, or -1 if
// it does not end on this line.
func quotedEnd(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case quote == '"' && s[i] == '\\':
			i++
		case s[i] != quote:
		case quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// lineEnd is how a line of quoted text ends.
type lineEnd uint8

const (
	closed lineEnd = iota // with the closing quote
	folded                // it is folded with the next one
	joined                // a backslash joins it to the next one
)

// quoted reads text in quotes and moves behind it.
func (p *parser) quoted(parent int) (string, error) {
	var text strings.Builder
	start := p.row
	quote := p.rest()[0]
	p.col++
	for {
		end, err := p.quotedLine(&text, quote)
		if err != nil || end == closed {
			return text.String(), err
		}
		blank := 0
		for p.row++; p.row < len(p.lines) && strings.Trim(p.lines[p.row], " \t") == ""; p.row++ {
			blank++
		}
		if p.row >= len(p.lines) {
			return "", &Error{start + firstLine, "the quotes are not closed"}
		}
		if indentOf(p.lines[p.row]) <= parent {
			return "", p.errorf("the quotes that were opened on line %d are not closed, or this line must be indented more", start+firstLine)
		}
		p.col = 0
		p.skipSpace()
		if end == joined {
			text.WriteString(strings.Repeat("\n", blank))
		} else {
			fold(&text, blank)
		}
	}
}

// quotedLine reads up to the closing quote, or to the end of the line without
// the white space there.
func (p *parser) quotedLine(text *strings.Builder, quote byte) (lineEnd, error) {
	var line strings.Builder
	kept := 0 // bytes of line that are not trimmed: they end with an escape
	for r := p.rest(); r != ""; r = p.rest() {
		switch {
		case quote == '\'' && strings.HasPrefix(r, "''"):
			line.WriteByte(quote)
			p.col += 2
		case r[0] == quote:
			p.col++
			text.WriteString(line.String())
			return closed, nil
		case quote == '"' && r == `\`:
			text.WriteString(line.String())
			return joined, nil
		case quote == '"' && r[0] == '\\':
			if err := p.escape(&line); err != nil {
				return closed, err
			}
			kept = line.Len()
		default:
			line.WriteByte(r[0])
			p.col++
		}
	}
	whole := line.String()
	text.WriteString(whole[:kept] + strings.TrimRight(whole[kept:], " \t"))
	return folded, nil
}

// escapes pairs the names of the escapes with what they mean.
const escapes = "0\x00a\x07b\bt\t\t\tn\nv\vf\fr\re\x1b  \"\"//\\\\N\u0085_\u00a0L\u2028P\u2029"

// escape reads an escape in double quotes.
func (p *parser) escape(line *strings.Builder) error {
	name, size := utf8.DecodeRuneInString(p.rest()[1:])
	for pairs := []rune(escapes); len(pairs) > 0; pairs = pairs[2:] {
		if pairs[0] == name {
			line.WriteRune(pairs[1])
			p.col += 1 + size
			return nil
		}
	}
	digits := 0
	switch name {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return p.errorf(`the escape \%c is not known in double quotes: write \\ for a backslash`, name)
	}
	char, ok := p.hex(digits)
	if ok && utf16.IsSurrogate(char) {
		char, ok = p.lowSurrogate(char)
	}
	if !ok || !utf8.ValidRune(char) {
		return p.errorf(`the escape \%c needs %d hexadecimal digits that stand for a character`, name, digits)
	}
	line.WriteRune(char)
	return nil
}

// hex reads an escape of so many hexadecimal digits.
func (p *parser) hex(digits int) (rune, bool) {
	r := p.rest()
	if len(r) < 2+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(r[2:2+digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, false
	}
	p.col += 2 + digits
	return rune(n), true
}

// lowSurrogate reads the escape behind that of the first half of a pair.
func (p *parser) lowSurrogate(high rune) (rune, bool) {
	if !strings.HasPrefix(p.rest(), `\u`) {
		return 0, false
	}
	low, ok := p.hex(4)
	char := utf16.DecodeRune(high, low)
	return char, ok && char != utf8.RuneError
}
