package frontmatter

import (
	"fmt"
	"strings"
)

// parser reads a document line by line. Its position is a byte of a line; a
// collection is recognised by the column of its first entry, which all the
// others share.
type parser struct {
	lines []string
	row   int // index into lines
	col   int // byte of the line; what is before it has been read
	depth int
}

// firstLine is the line of the file that lines[0] is.
const firstLine = 2

func (p *parser) errorf(format string, args ...any) error {
	return &Error{p.row + firstLine, fmt.Sprintf(format, args...)}
}

// document reads the whole block, which must be a mapping.
func (p *parser) document() (*node, error) {
	more, err := p.nextContent()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, &Error{1, "the frontmatter is empty"}
	}
	root, err := p.node(-1)
	if err != nil {
		return nil, err
	}
	if root.kind != mapping {
		return nil, &Error{firstLine, "the frontmatter must be a mapping: lines of the form key: value"}
	}
	if more, err = p.nextContent(); err != nil {
		return nil, err
	}
	if more {
		return nil, p.errorf("this line is indented differently from those before it")
	}
	return root, nil
}

// rest returns what has not been read of the line.
func (p *parser) rest() string {
	if p.row >= len(p.lines) {
		return ""
	}
	return p.lines[p.row][p.col:]
}

// skipSpace moves over white space in the line.
func (p *parser) skipSpace() {
	for r := p.rest(); len(r) > 0 && isSpace(r[0]); r = r[1:] {
		p.col++
	}
}

// nextContent moves to the next thing that is not white space or a comment, on
// this line or a later one, and reports whether there is one.
func (p *parser) nextContent() (bool, error) {
	for p.row < len(p.lines) {
		atStart := p.col == 0
		p.skipSpace()
		r := p.rest()
		if r != "" && !p.comment() {
			if indent := p.lines[p.row][:p.col]; atStart && strings.Contains(indent, "\t") {
				return false, p.errorf("the line is indented with a tab: use spaces")
			}
			return true, nil
		}
		p.row++
		p.col = 0
	}
	return false, nil
}

// comment reports whether a comment begins here: it needs white space before it.
func (p *parser) comment() bool {
	r := p.rest()
	return strings.HasPrefix(r, "#") && (p.col == 0 || isSpace(p.lines[p.row][p.col-1]))
}

// endLine checks that nothing but a comment is left of the line, and moves
// behind it.
func (p *parser) endLine(what string) error {
	p.skipSpace()
	if r := p.rest(); r != "" && !p.comment() {
		return p.errorf("%s is followed by text: %s", what, clip(r))
	}
	p.row++
	p.col = 0
	return nil
}

// enter counts a collection in another one.
func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return p.errorf("more than %d collections in each other", MaxDepth)
	}
	return nil
}

// node reads the value that begins here, in a collection of the given column:
// continued lines are to the right of it.
func (p *parser) node(parent int) (*node, error) {
	if isEntry(p.rest()) {
		return p.sequence(p.col)
	}
	isKey, err := p.atKey()
	if err != nil {
		return nil, err
	}
	if isKey {
		return p.mapping(p.col)
	}
	return p.scalar(parent)
}

// isEntry reports whether s begins with the dash of a sequence.
func isEntry(s string) bool {
	return s == "-" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "-\t")
}

// sequence reads the entries that begin with a dash in the column.
func (p *parser) sequence(col int) (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	seq := &node{kind: sequence}
	for {
		p.col++ // the dash
		item, err := p.value(col, false)
		if err != nil {
			return nil, err
		}
		seq.items = append(seq.items, item)
		more, err := p.nextContent()
		if err != nil {
			return nil, err
		}
		if !more || p.col < col || p.col == col && !isEntry(p.rest()) {
			break
		}
		if p.col > col {
			return nil, p.errorf("this line is indented more than the entries of the list before it")
		}
	}
	p.depth--
	return seq, nil
}

// mapping reads the keys that begin in the column, with their values.
func (p *parser) mapping(col int) (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	m := &node{kind: mapping}
	seen := make(map[string]int)
	for {
		line := p.row + firstLine
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		if first, twice := seen[key]; twice {
			return nil, &Error{line, fmt.Sprintf("the key %q is there already, on line %d", clip(key), first)}
		}
		seen[key] = line
		value, err := p.value(col, true)
		if err != nil {
			return nil, err
		}
		m.members = append(m.members, member{key, line, value})
		more, err := p.nextContent()
		if err != nil {
			return nil, err
		}
		if !more || p.col < col {
			break
		}
		if p.col > col {
			return nil, p.errorf("this line is indented more than the keys before it")
		}
		if isEntry(p.rest()) {
			return nil, p.errorf("an entry of a list among the keys of a mapping")
		}
	}
	p.depth--
	return m, nil
}

// value reads what stands behind a dash or a colon, or on the lines below it. A
// list below a key may be in the column of the key.
func (p *parser) value(col int, behindKey bool) (*node, error) {
	row := p.row
	more, err := p.nextContent()
	if err != nil {
		return nil, err
	}
	switch {
	case !more:
		return null(), nil
	case p.row == row && behindKey:
		if isEntry(p.rest()) {
			return nil, p.errorf("a list begins on a line of its own, below its key")
		}
		return p.scalar(col)
	case p.row == row:
		if strings.Contains(p.lines[row][col+1:p.col], "\t") {
			return nil, p.errorf("a tab behind the dash: use a space")
		}
		return p.node(col)
	case p.col > col:
		return p.node(col)
	case behindKey && p.col == col && isEntry(p.rest()):
		return p.sequence(col)
	}
	return null(), nil
}

// atKey reports whether a key of a mapping begins here.
func (p *parser) atKey() (bool, error) {
	from := p.col
	defer func() { p.col = from }()
	r := p.rest()
	switch {
	case r == "?" || strings.HasPrefix(r, "? "):
		return false, p.errorf("explicit keys (? key) are not supported")
	case r[0] == '"' || r[0] == '\'':
		end := quotedEnd(r)
		if end < 0 {
			return false, nil // a scalar that goes on
		}
		p.col += end
		p.skipSpace()
		return isColon(p.rest()), nil
	case strings.IndexByte("[]{},#|>@`%&*!", r[0]) >= 0:
		return false, nil
	}
	return plainKey(r) >= 0, nil
}

// key reads a key and its colon.
func (p *parser) key() (string, error) {
	if isKey, err := p.atKey(); err != nil || !isKey {
		if err == nil {
			err = p.errorf("this is not of the form key: value: %s", clip(p.rest()))
		}
		return "", err
	}
	r := p.rest()
	if r[0] == '"' || r[0] == '\'' {
		row := p.row
		key, err := p.quoted(p.col)
		if err != nil {
			return "", err
		}
		if p.row != row {
			return "", p.errorf("a key must be on one line")
		}
		p.skipSpace()
		p.col++ // the colon
		return key, nil
	}
	end := plainKey(r)
	p.col += end + 1
	key := strings.TrimRight(r[:end], " \t")
	if key == "<<" {
		return "", p.errorf("merge keys (<<) are not supported")
	}
	return key, nil
}

// plainKey returns where the colon behind a plain key is, or -1.
func plainKey(s string) int {
	for i := range len(s) {
		switch {
		case s[i] == ':' && isColon(s[i:]):
			if i == 0 {
				return -1
			}
			return i
		case s[i] == '#' && i > 0 && isSpace(s[i-1]):
			return -1
		}
	}
	return -1
}

// isColon reports whether s begins with a colon that ends a key.
func isColon(s string) bool {
	return s == ":" || len(s) > 1 && s[0] == ':' && isSpace(s[1])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// clip shortens text for an error.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
