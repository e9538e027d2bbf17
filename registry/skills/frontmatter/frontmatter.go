package frontmatter

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The bounds of a block.
const (
	MaxBytes = 64 << 10 // between the two marks
	MaxDepth = 32       // of collections in each other
)

// mark is the line before and behind the block.
const mark = "---"

// Frontmatter is the block of one file.
type Frontmatter struct {
	// JSON is the block as an object on one line, its members in the order of
	// the file.
	JSON []byte

	lines map[string]int
}

// Line returns the line of the file, from 1, on which a key of the outermost
// mapping stands, or 1 if there is no such key.
func (f *Frontmatter) Line(key string) int {
	if n, ok := f.lines[key]; ok {
		return n
	}
	return 1
}

// An Error says on which line of the file, from 1, what is wrong.
type Error struct {
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Parse reads the block of a file, which must begin with it. All errors are an
// [*Error].
func Parse(file []byte) (*Frontmatter, error) {
	lines, err := block(file)
	if err != nil {
		return nil, err
	}
	p := &parser{lines: lines}
	root, err := p.document()
	if err != nil {
		return nil, err
	}
	f := &Frontmatter{JSON: root.appendJSON(nil), lines: make(map[string]int)}
	for _, m := range root.members {
		f.lines[m.key] = m.line
	}
	return f, nil
}

// block returns the lines between the marks.
func block(file []byte) ([]string, error) {
	if bytes.HasPrefix(file, []byte("\ufeff")) {
		return nil, &Error{1, "the file begins with a byte order mark: save it without one"}
	}
	first, rest, _ := bytes.Cut(file, []byte("\n"))
	if string(trimEnd(first)) != mark {
		return nil, &Error{1, "the file must begin with a line --- and the frontmatter behind it"}
	}
	var lines []string
	for size := 0; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if string(trimEnd(line)) == mark {
			return lines, nil
		}
		if size += len(line) + 1; size > MaxBytes {
			return nil, &Error{len(lines) + 2, fmt.Sprintf("the frontmatter has more than %d bytes", MaxBytes)}
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if err := printable(line, len(lines)+2); err != nil {
			return nil, err
		}
		lines = append(lines, string(line))
	}
	return nil, &Error{1, "the frontmatter has no end: a line --- is missing"}
}

// trimEnd removes white space from the end of a line.
func trimEnd(line []byte) []byte { return bytes.TrimRight(line, " \t\r") }

// printable refuses what YAML does not allow in a file.
func printable(line []byte, number int) error {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &Error{number, fmt.Sprintf("byte %d is not UTF-8", i+1)}
		case r < ' ' && r != '\t', r >= 0x7f && r < 0xa0 && r != 0x85, r == '\ufffe', r == '\uffff', r == '\ufeff':
			return &Error{number, fmt.Sprintf("byte %d begins the control character %U: write it as an escape in double quotes", i+1, r)}
		}
		i += size
	}
	return nil
}
