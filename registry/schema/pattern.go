package schema

import (
	"fmt"
	"regexp"
)

type pattern struct {
	source string
	re     *regexp.Regexp
}

func compilePattern(source string) (*pattern, error) {
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", clip(source), err)
	}
	return &pattern{source: source, re: re}, nil
}

func (p *pattern) cost(n int) int { return n }

func (p *pattern) match(text []byte) bool { return p.re.Match(text) }
