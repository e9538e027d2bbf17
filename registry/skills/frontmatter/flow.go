package frontmatter

import (
	"fmt"
	"strings"
)

// flow reads a collection in brackets, or something in it, and moves behind it.
func (p *parser) flow(parent int) (*node, error) {
	switch p.rest()[0] {
	case '[':
		return p.flowSequence(parent)
	case '{':
		return p.flowMapping(parent)
	case '"', '\'':
		text, err := p.quoted(parent)
		return &node{kind: str, text: text}, err
	}
	text, err := p.flowPlain()
	if err != nil {
		return nil, err
	}
	return p.resolve(text)
}

func (p *parser) flowSequence(parent int) (*node, error) {
	seq := &node{kind: sequence}
	err := p.flowEntries(parent, ']', func() error {
		item, err := p.flow(parent)
		if err != nil {
			return err
		}
		if err := p.flowContent(parent); err != nil {
			return err
		}
		if p.rest()[0] == ':' {
			return p.errorf("a key in [ ]: put the pair in { }")
		}
		seq.items = append(seq.items, item)
		return nil
	})
	return seq, err
}

func (p *parser) flowMapping(parent int) (*node, error) {
	m := &node{kind: mapping}
	seen := make(map[string]int)
	err := p.flowEntries(parent, '}', func() error {
		line := p.row + firstLine
		key, err := p.flowKey(parent)
		if err != nil {
			return err
		}
		if first, twice := seen[key]; twice {
			return &Error{line, fmt.Sprintf("the key %q is there already, on line %d", clip(key), first)}
		}
		seen[key] = line
		value, err := p.flowValue(parent)
		if err != nil {
			return err
		}
		m.members = append(m.members, member{key, line, value})
		return nil
	})
	return m, err
}

// flowEntries reads the entries up to the closing bracket, with the commas
// between them.
func (p *parser) flowEntries(parent int, closing byte, entry func() error) error {
	if err := p.enter(); err != nil {
		return err
	}
	p.col++ // the opening bracket
	for {
		if err := p.flowContent(parent); err != nil {
			return err
		}
		if p.rest()[0] == closing {
			break
		}
		if err := entry(); err != nil {
			return err
		}
		if err := p.flowContent(parent); err != nil {
			return err
		}
		if c := p.rest()[0]; c == closing {
			break
		} else if c != ',' {
			return p.errorf("%q in a collection in brackets: want ',' or %q", c, closing)
		}
		p.col++
	}
	p.col++ // the closing bracket
	p.depth--
	return nil
}

// flowContent moves to the next thing in brackets.
func (p *parser) flowContent(parent int) error {
	row := p.row
	more, err := p.nextContent()
	switch {
	case err != nil:
		return err
	case !more:
		return &Error{row + firstLine, "the bracket is not closed"}
	case p.row != row && p.col <= parent:
		return p.errorf("the bracket before it is not closed, or this line must be indented more")
	}
	return nil
}

// flowKey reads the key of an entry in braces.
func (p *parser) flowKey(parent int) (string, error) {
	switch p.rest()[0] {
	case '[', '{':
		return "", p.errorf("a collection cannot be a key")
	case '"', '\'':
		row := p.row
		key, err := p.quoted(parent)
		if err == nil && p.row != row {
			err = p.errorf("a key must be on one line")
		}
		return key, err
	}
	key, err := p.flowPlain()
	if err == nil && key == "<<" {
		err = p.errorf("merge keys (<<) are not supported")
	}
	return key, err
}

// flowValue reads the value behind a key in braces; there may be none.
func (p *parser) flowValue(parent int) (*node, error) {
	if err := p.flowContent(parent); err != nil {
		return nil, err
	}
	if p.rest()[0] != ':' {
		return null(), nil
	}
	p.col++
	if err := p.flowContent(parent); err != nil {
		return nil, err
	}
	if c := p.rest()[0]; c == ',' || c == '}' {
		return null(), nil
	}
	return p.flow(parent)
}

// flowPlain reads a plain scalar in brackets, which must be on one line.
func (p *parser) flowPlain() (string, error) {
	r := p.rest()
	if err := p.plainStart(r); err != nil {
		return "", err
	}
	if c := r[0]; c == '|' || c == '>' || c == '-' && len(r) > 1 && strings.IndexByte(",[]{}", r[1]) >= 0 {
		return "", p.errorf("a value in brackets cannot begin with %q: quote it", r[0])
	}
	end := flowPlainEnd(r)
	text := strings.TrimRight(r[:end], " \t")
	if text == "" {
		return "", p.errorf("a value is missing before %s", clip(r))
	}
	p.col += end
	if strings.Trim(r[end:], " \t") == "" {
		next := p.row + 1
		for next < len(p.lines) && strings.Trim(p.lines[next], " \t") == "" {
			next++
		}
		if next < len(p.lines) && strings.IndexByte(",]}#:", strings.TrimLeft(p.lines[next], " \t")[0]) < 0 {
			return "", p.errorf("text in brackets goes on on the next line: quote it, or put a comma between")
		}
	}
	return text, nil
}

// flowPlainEnd returns where the plain scalar at the beginning of s ends.
func flowPlainEnd(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte(",[]{}", c) >= 0:
			return i
		case c == ':' && (i+1 == len(s) || isSpace(s[i+1]) || strings.IndexByte(",[]{}", s[i+1]) >= 0):
			return i
		case c == '#' && i > 0 && isSpace(s[i-1]):
			return i
		}
	}
	return len(s)
}
