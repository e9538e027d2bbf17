package cli

import (
	"maps"
	"path"
	"slices"
	"strings"

	"cloudg.dev/cloudg/policy"
)

// filter decides what is offered, and remembers what it was asked about, so
// that a pattern which concerns nothing can be refused.
type filter struct {
	includeCategories, excludeCategories []string
	includeTools, excludeTools           []string

	categories map[string]bool
	tools      []string
}

// accept reports whether a primitive is offered. Exclusion wins; a tool is
// included by its category or by its name, anything else by its category.
func (f *filter) accept(s *policy.Subject) bool {
	f.note(s)
	isTool := s.Kind == policy.Tool
	if slices.Contains(f.excludeCategories, s.Category) || isTool && matchesAny(f.excludeTools, s.Name) {
		return false
	}
	if isTool && matchesAny(f.includeTools, s.Name) || slices.Contains(f.includeCategories, s.Category) {
		return true
	}
	return len(f.includeCategories) == 0 && !(isTool && len(f.includeTools) > 0)
}

func (f *filter) note(s *policy.Subject) {
	if f.categories == nil {
		f.categories = make(map[string]bool)
	}
	if s.Category != "" {
		f.categories[s.Category] = true
	}
	if s.Kind == policy.Tool {
		f.tools = append(f.tools, s.Name)
	}
}

// matchesAny reports whether a name matches one of the patterns, whose
// characters were checked: [path.Match] finds nothing special in them but * and
// ?, and no fault.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// check refuses categories and patterns that concern nothing: a misspelt one
// would hide or show something else than its author thinks.
func (f *filter) check() error {
	for _, o := range []struct {
		option string
		list   []string
	}{{"--include-category", f.includeCategories}, {"--exclude-category", f.excludeCategories}} {
		for _, c := range o.list {
			if !f.categories[c] {
				known := slices.Sorted(maps.Keys(f.categories))
				return usagef("%s: there is no category %q%s: want one of %s", o.option, c, didYouMean(c, known), strings.Join(known, ", "))
			}
		}
	}
	for _, o := range []struct {
		option string
		list   []string
	}{{"--include-tool", f.includeTools}, {"--exclude-tool", f.excludeTools}} {
		for _, p := range o.list {
			if !slices.ContainsFunc(f.tools, func(name string) bool { return matchesAny([]string{p}, name) }) {
				return usagef("%s: %q matches no tool%s: the tools are %s (file tools need --root, those that write --allow-write as well)", o.option, p, didYouMean(p, f.tools), strings.Join(f.tools, ", "))
			}
		}
	}
	return nil
}
