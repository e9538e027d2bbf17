package frontmatter

import (
	"slices"
	"strings"
)

// header is what stands on the line of a block scalar.
type header struct {
	folded bool
	indent int  // columns to the right of the parent; 0: that of the first line
	chomp  byte // '-' no line end at the end, '+' all of them, 0 one
}

// blockScalar reads a literal or folded block below this line.
func (p *parser) blockScalar(parent int) (*node, error) {
	h, err := p.blockHeader()
	if err != nil {
		return nil, err
	}
	lines, err := p.blockLines(&h, parent)
	if err != nil {
		return nil, err
	}
	if err := p.blockEnd(lines); err != nil {
		return nil, err
	}
	return &node{kind: str, text: joinBlock(lines, h)}, nil
}

func (p *parser) blockHeader() (header, error) {
	h := header{folded: p.rest()[0] == '>'}
	p.col++
	for r := p.rest(); r != "" && !isSpace(r[0]); r = p.rest() {
		switch c := r[0]; {
		case (c == '-' || c == '+') && h.chomp == 0:
			h.chomp = c
		case '1' <= c && c <= '9' && h.indent == 0:
			h.indent = int(c - '0')
		default:
			return h, p.errorf("%q behind | or >: the text of the block begins on the next line", c)
		}
		p.col++
	}
	return h, p.endLine("the mark of the block")
}

// blockLines returns the lines of a block without their indentation, empty ones
// at the end included.
func (p *parser) blockLines(h *header, parent int) ([]string, error) {
	indent := parent + h.indent
	if h.indent == 0 {
		var err error
		if indent, err = p.blockIndent(parent); err != nil {
			return nil, err
		}
	}
	var lines []string
	for ; p.row < len(p.lines); p.row++ {
		line := p.lines[p.row]
		switch n := indentOf(line); {
		case n == len(line) && n <= indent:
			lines = append(lines, "")
			continue
		case n < indent:
			return lines, nil
		}
		lines = append(lines, line[indent:])
	}
	return lines, nil
}

// blockEnd refuses white space as the last text of a block, since readers of
// YAML do not agree on whether it is text.
func (p *parser) blockEnd(lines []string) error {
	for _, line := range slices.Backward(lines) {
		switch {
		case line == "":
		case strings.Trim(line, " \t") == "":
			return p.behind("the block ends with a line of white space only: remove that")
		default:
			return nil
		}
	}
	return nil
}

// blockIndent returns the indentation of the first line that is not empty.
func (p *parser) blockIndent(parent int) (int, error) {
	most := 0
	for _, line := range p.lines[p.row:] {
		n := indentOf(line)
		if n == len(line) {
			most = max(most, n)
			continue
		}
		if n <= parent {
			break // no text at all
		}
		if most > n {
			return 0, p.errorf("an empty line at the beginning of the block has more spaces than its first line of text")
		}
		return n, nil
	}
	return max(parent+1, most), nil
}

// joinBlock puts the lines of a block together.
func joinBlock(lines []string, h header) string {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	var text strings.Builder
	breaks := 0    // line ends before this line that have not been written
	folds := false // the line before may be folded with this one
	for _, line := range lines[:end] {
		if line == "" {
			breaks++
			continue
		}
		foldable := h.folded && !isSpace(line[0])
		if folds && foldable {
			fold(&text, breaks-1)
		} else {
			text.WriteString(strings.Repeat("\n", breaks))
		}
		text.WriteString(line)
		breaks, folds = 1, foldable
	}
	switch {
	case h.chomp == '+':
		text.WriteString(strings.Repeat("\n", len(lines)-end+breaks))
	case h.chomp == 0:
		text.WriteString(strings.Repeat("\n", breaks))
	}
	return text.String()
}
