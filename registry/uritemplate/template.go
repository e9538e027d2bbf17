package uritemplate

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds on what is parsed and matched.
const (
	// MaxTemplate is the greatest length of a template in bytes.
	MaxTemplate = 4 << 10
	// MaxVars is the greatest number of variables, and so of expressions, in a template.
	MaxVars = 32
	// MaxURI is the greatest length in bytes of a URI in normal form; a longer one never matches.
	MaxURI = 8 << 10
)

// A Template is a parsed URI template. It never changes, so any number of goroutines may use it at once. [Parse] makes
// one; the zero value is the empty template, which matches the empty URI only.
type Template struct {
	source string
	vars   []variable
	pieces []piece // as written, for Expand
	steps  []step  // as read, for Match

	literals int // bytes of literal text in steps
	reserved int // variables that may hold reserved characters
}

// A Var is one variable of a template with the value it has in a URI, percent-decoded.
type Var struct {
	Name  string
	Value string
}

// A variable keeps its name as written, for callers, and in normal form, as it is compared with a URI's parameters.
type variable struct {
	name     string
	key      string
	reserved bool // its value may hold reserved characters
}

// A piece is literal text or an expression over vars[lo:hi].
type piece struct {
	offset, end int // its place in the template
	literal     string
	op          operator
	lo, hi      int
}

// String returns the template as it was given to [Parse].
func (t *Template) String() string { return t.source }

// Vars returns the names of the variables in the order of their appearance, each once. The slice is the caller's.
func (t *Template) Vars() []string {
	names := make([]string, len(t.vars))
	for i, v := range t.vars {
		names[i] = v.name
	}
	return names
}

// Compare orders templates for routing, the most specific first: the one with more bytes of literal text, then the one
// with fewer variables, then the one with fewer variables that may hold reserved characters, then by text. It is 0
// only for templates with the same text.
func Compare(a, b *Template) int {
	return cmp.Or(
		cmp.Compare(b.literals, a.literals),
		cmp.Compare(len(a.vars), len(b.vars)),
		cmp.Compare(a.reserved, b.reserved),
		strings.Compare(a.source, b.source),
	)
}

// hasKey reports whether a variable is called key in normal form.
func hasKey(vars []variable, key string) bool {
	return slices.ContainsFunc(vars, func(v variable) bool { return v.key == key })
}
