package files

import (
	"bytes"
	"math"
	"regexp"
	re2 "regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPatternBytes bounds the pattern of a search. RE2 keeps the time linear; how large the factor is depends on the pattern,
// in which counts multiply.
const maxPatternBytes = 1024

// maxLineSteps bounds the work of a regular expression on one line, which nothing can interrupt: bytes by instructions.
const maxLineSteps = 64 << 20

// stepsPerCheck is after how much work the context of a search is looked at.
const stepsPerCheck = 1 << 20

// matcher finds a pattern in lines. It is for one goroutine.
type matcher struct {
	// find gives where the pattern begins, -1 if it is not there.
	find func(line []byte) int
	// steps is what a byte costs at most; longest is how much of a line is looked at.
	steps, longest int
}

// newMatcher prepares a search. Plain text, which most patterns are, is found without the regular expression: that is several
// times faster.
func newMatcher(in SearchTextIn) (*matcher, error) {
	if in.Pattern == "" || len(in.Pattern) > maxPatternBytes {
		return nil, failf(ErrInvalid, "pattern must have from 1 to %d bytes, not %d", maxPatternBytes, len(in.Pattern))
	}
	if strings.Contains(in.Pattern, "\n") {
		return nil, failf(ErrInvalid, "pattern contains a line end, but each line is searched alone; search for one of the lines and set before or after")
	}
	quoted := regexp.QuoteMeta(in.Pattern)
	plain := in.Literal || quoted == in.Pattern
	if plain && !in.IgnoreCase {
		text := []byte(in.Pattern)
		return &matcher{func(line []byte) int { return bytes.Index(line, text) }, 1, math.MaxInt}, nil
	}
	expr := in.Pattern
	if in.Literal {
		expr = quoted
	}
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, failf(ErrInvalid, "pattern is not valid RE2: %v; set literal to true to search for the text as it is", err)
	}
	m := &matcher{steps: programSize(expr)}
	m.longest = maxLineSteps / m.steps
	m.find = func(line []byte) int {
		if at := re.FindIndex(line); at != nil {
			return at[0]
		}
		return -1
	}
	if plain && isASCII(in.Pattern) {
		m.find = foldedASCII(strings.ToLower(in.Pattern), m.find)
	}
	return m, nil
}

// programSize gives the instructions of a regular expression, each of which may have to look at each byte.
func programSize(expr string) int {
	tree, err := re2.Parse(expr, re2.Perl)
	if err != nil {
		return 1 // it has been compiled already
	}
	prog, err := re2.Compile(tree.Simplify())
	if err != nil {
		return 1
	}
	return len(prog.Inst)
}

// foldedASCII finds lower-case ASCII text in lines of any case. Lines with other characters are left to the regular
// expression, since a few of those fold to ASCII letters.
func foldedASCII(text string, otherwise func(line []byte) int) func(line []byte) int {
	wanted := []byte(text)
	var lower []byte
	return func(line []byte) int {
		lower = lower[:0]
		for _, c := range line {
			switch {
			case c >= utf8.RuneSelf:
				return otherwise(line)
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			}
			lower = append(lower, c)
		}
		return bytes.Index(lower, wanted)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
