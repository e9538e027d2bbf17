package frontmatter

import (
	"strings"
)

// scalar reads a scalar or a collection in brackets.
func (p *parser) scalar(parent int) (*node, error) {
	r := p.rest()
	switch c := r[0]; {
	case c == '|' || c == '>':
		return p.blockScalar(max(parent, 0))
	case c == '"' || c == '\'':
		text, err := p.quoted(parent)
		if err != nil {
			return nil, err
		}
		return &node{kind: str, text: text}, p.endLine("the quoted text")
	case c == '[' || c == '{':
		n, err := p.flow(parent)
		if err != nil {
			return nil, err
		}
		return n, p.endLine("the closing bracket")
	}
	if err := p.plainStart(r); err != nil {
		return nil, err
	}
	return p.plain(parent)
}

// plainStart refuses what cannot begin a plain scalar.
func (p *parser) plainStart(r string) error {
	switch c := r[0]; {
	case c == '&':
		return p.errorf("anchors (&name) are not supported; quote the value if it is text")
	case c == '*':
		return p.errorf("aliases (*name) are not supported; quote the value if it is text")
	case c == '!':
		return p.errorf("tags (!type) are not supported; quote the value if it is text")
	case strings.IndexByte(",]}#@`%", c) >= 0:
		return p.errorf("a value cannot begin with %q: quote it", c)
	case (c == '-' || c == '?' || c == ':') && (len(r) == 1 || isSpace(r[1])):
		return p.errorf("a value cannot begin with %q and a space: quote it", c)
	}
	return nil
}

// plain reads a scalar without quotes. It goes on on the lines below that are to
// the right of the parent, folded.
func (p *parser) plain(parent int) (*node, error) {
	var text strings.Builder
	line, ended, err := p.plainLine()
	if err != nil {
		return nil, err
	}
	text.WriteString(line)
	several := false
	for !ended {
		blank := 0
		for p.row+blank < len(p.lines) && strings.Trim(p.lines[p.row+blank], " \t") == "" {
			blank++
		}
		if p.row+blank >= len(p.lines) || indentOf(p.lines[p.row+blank]) <= parent {
			break
		}
		if strings.HasPrefix(strings.TrimLeft(p.lines[p.row+blank], " \t"), "#") {
			break // a comment ends the scalar
		}
		p.row += blank
		p.skipSpace()
		if line, ended, err = p.plainLine(); err != nil {
			return nil, err
		}
		fold(&text, blank)
		text.WriteString(line)
		several = true
	}
	if several {
		return &node{kind: str, text: text.String()}, nil
	}
	return p.resolve(text.String())
}

// plainLine reads the part of a plain scalar that is on this line, and moves to
// the next. Ended is set when a comment follows.
func (p *parser) plainLine() (text string, ended bool, err error) {
	r := p.rest()
	for i := range len(r) {
		switch {
		case r[i] == ':' && isColon(r[i:]):
			return "", false, p.errorf("a colon in %s: quote the whole value", clip(r))
		case r[i] == '#' && i > 0 && isSpace(r[i-1]):
			r, ended = r[:i], true
		}
		if ended {
			break
		}
	}
	p.row++
	p.col = 0
	return strings.TrimRight(r, " \t"), ended, nil
}

// fold appends the line end between two lines that have so many blank ones
// between them.
func fold(text *strings.Builder, blank int) {
	if blank == 0 {
		text.WriteByte(' ')
		return
	}
	text.WriteString(strings.Repeat("\n", blank))
}

// indentOf returns how many spaces a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
