package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// A pattern is a compiled regular expression. The frequent simple ones do
// without an engine.
type pattern struct {
	source string
	size   int // of the program, in instructions, as it counts for the bounds
	active int // how many of them can be at work at once

	re     *regexp.Regexp // nil if one of the following is enough
	prefix []byte         // of "^abc": what the text starts with
	exact  bool           // of "^abc$": and that is all of it
	class  *classRun      // of "^[a-z]+$"
}

// A classRun is a text of ASCII characters from one set.
type classRun struct {
	set      [2]uint64
	min, max int // max is -1 if there is none
}

// The bounds of one pattern: the bytes that it is written with, and the
// instructions that it compiles to.
const (
	maxPatternBytes = 8 << 10
	maxPatternSize  = 20_000
)

// errPatternSize is the fault of a pattern that passes the bounds.
var errPatternSize = errors.New("the pattern is too large")

// compilePattern compiles an expression of ECMA-262.
func compilePattern(source string) (*pattern, error) {
	fail := func(err error) (*pattern, error) {
		return nil, fmt.Errorf("pattern %q: %w", clip(source), err)
	}
	if len(source) > maxPatternBytes {
		return fail(errPatternSize)
	}
	text, err := translate(source)
	if err != nil {
		return fail(err)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var se *syntax.Error
		if errors.As(err, &se) {
			return fail(fmt.Errorf("%s: %q", se.Code, clip(se.Expr)))
		}
		return fail(err)
	}
	p := &pattern{source: source, size: programSize(tree)}
	if p.size > maxPatternSize {
		return fail(errPatternSize)
	}
	if p.simplify(tree) {
		return p, nil
	}
	if p.re, err = regexp.Compile(text); err != nil {
		return fail(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return fail(err)
	}
	p.active = activity(prog)
	return p, nil
}

// programSize estimates the instructions for a tree, without making them.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/16
	if re.Op == syntax.OpLiteral {
		size = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxPatternSize+1)
}

// simplify recognises the forms that need no engine.
func (p *pattern) simplify(re *syntax.Regexp) bool {
	if re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText {
		return false
	}
	sub := re.Sub[1:]
	closed := sub[len(sub)-1].Op == syntax.OpEndText
	if closed {
		sub = sub[:len(sub)-1]
	}
	if len(sub) != 1 {
		return false
	}
	if sub[0].Op == syntax.OpLiteral && sub[0].Flags&syntax.FoldCase == 0 {
		p.prefix, p.exact = []byte(string(sub[0].Rune)), closed
		return true
	}
	p.class = newClassRun(sub[0])
	if !closed {
		p.class = nil
	}
	return p.class != nil
}

// newClassRun recognises a repeated class of ASCII characters.
func newClassRun(re *syntax.Regexp) *classRun {
	c := &classRun{min: 1, max: 1}
	switch re.Op {
	case syntax.OpStar:
		c.min, c.max = 0, -1
	case syntax.OpPlus:
		c.max = -1
	case syntax.OpQuest:
		c.min = 0
	case syntax.OpRepeat:
		c.min, c.max = re.Min, re.Max
	}
	if re.Op != syntax.OpCharClass {
		if len(re.Sub) != 1 {
			return nil
		}
		re = re.Sub[0]
	}
	if re.Op != syntax.OpCharClass {
		return nil
	}
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i+1] > 127 {
			return nil
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			c.set[r>>6] |= 1 << (r & 63)
		}
	}
	return c
}

func (c *classRun) match(text []byte) bool {
	if len(text) < c.min || c.max >= 0 && len(text) > c.max {
		return false
	}
	for _, b := range text {
		if b > 127 || c.set[b>>6]&(1<<(b&63)) == 0 {
			return false
		}
	}
	return true
}

// cost is what matching a text of n bytes takes from the budget.
func (p *pattern) cost(n int) int {
	if p.re == nil {
		return n >> 5
	}
	return 4 + n*p.active>>1
}

// match reports whether the pattern is somewhere in the text.
func (p *pattern) match(text []byte) bool {
	switch {
	case p.class != nil:
		return p.class.match(text)
	case p.re != nil:
		return p.re.Match(text)
	case p.exact:
		return bytes.Equal(text, p.prefix)
	}
	return bytes.HasPrefix(text, p.prefix)
}
