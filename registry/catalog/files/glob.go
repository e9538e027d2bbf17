package files

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const (
	// maxGlobBytes bounds a pattern and maxGlobs how many of them one call takes.
	maxGlobBytes = 1024
	maxGlobs     = 100
)

// glob is a compiled file name pattern. It is translated into RE2, so that matching is linear in the name whatever the
// pattern is.
//
//   - any text within one name        **       any names, also none (between slashes)
//     ?        one character within a name     [a-z]    one character of a set, [!a-z] one outside it
//     {a,b}    one of the alternatives         \        takes the next character as it is
//
// A pattern with a slash is matched against the path relative to where the walk began, one without against the last name.
type glob struct {
	re *regexp.Regexp
	// wholePath tells the two ways of matching apart.
	wholePath bool
	// tree matches a directory all of whose contents the pattern matches; nil unless the pattern ends in "/**".
	tree *regexp.Regexp
	// dotted is set when the pattern spells a name that begins with a dot.
	dotted bool
}

// compileGlob reads a pattern. field names the argument in errors.
func compileGlob(field, pattern string, ignoreCase bool) (*glob, error) {
	text := strings.TrimPrefix(pattern, "./")
	text = strings.TrimSuffix(text, "/")
	switch {
	case text == "":
		return nil, failf(ErrInvalid, "%s is empty; * matches every name", field)
	case len(pattern) > maxGlobBytes:
		return nil, failf(ErrInvalid, "%s has %d bytes, more than the %d that are allowed", field, len(pattern), maxGlobBytes)
	case strings.HasPrefix(text, "/"):
		return nil, failf(ErrInvalid, "%s must be relative to path: %s; leave the leading slash away", field, clip(pattern))
	}
	g := &glob{wholePath: strings.Contains(text, "/")}
	for name := range strings.SplitSeq(text, "/") {
		g.dotted = g.dotted || strings.HasPrefix(name, ".")
	}
	var err error
	if g.re, err = globRegexp(field, text, ignoreCase); err != nil {
		return nil, err
	}
	if above, ok := strings.CutSuffix(text, "/**"); ok && above != "" {
		g.tree, err = globRegexp(field, above, ignoreCase)
	}
	return g, err
}

// match reports whether an entry is meant, given its path relative to the start of the walk.
func (g *glob) match(rel string) bool {
	if g.wholePath {
		return g.re.MatchString(rel)
	}
	return g.re.MatchString(path.Base(rel))
}

// matchTree reports whether the pattern matches whatever a directory can hold.
func (g *glob) matchTree(rel string) bool { return g.tree != nil && g.tree.MatchString(rel) }

func globRegexp(field, pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	t := globTranslator{in: pattern}
	t.out.WriteString(`(?s`)
	if ignoreCase {
		t.out.WriteString(`i`)
	}
	t.out.WriteString(`)\A(?:`)
	for t.pos < len(t.in) {
		if problem := t.step(); problem != "" {
			return nil, failf(ErrInvalid, "%s %s: %s; put a backslash before a character that stands for itself", field, problem, clip(pattern))
		}
	}
	if t.braces > 0 {
		return nil, failf(ErrInvalid, "%s has a { without its }: %s", field, clip(pattern))
	}
	t.out.WriteString(`)\z`)
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, failf(ErrInvalid, "%s is not a valid pattern: %s", field, clip(pattern))
	}
	return re, nil
}

// globTranslator writes the regular expression for a pattern.
type globTranslator struct {
	in     string
	pos    int
	braces int
	out    strings.Builder
}

// step translates the next piece; it returns what is wrong with it, if anything.
func (t *globTranslator) step() (problem string) {
	c := t.in[t.pos]
	t.pos++
	switch c {
	case '*':
		t.stars()
	case '?':
		t.out.WriteString(`[^/]`)
	case '[':
		return t.set()
	case '{':
		t.braces++
		t.out.WriteString(`(?:`)
	case '}':
		if t.braces == 0 {
			return "has a } without its {"
		}
		t.braces--
		t.out.WriteString(`)`)
	case ',':
		if t.braces > 0 {
			t.out.WriteString(`|`)
		} else {
			t.out.WriteString(`,`)
		}
	case '\\':
		if t.pos == len(t.in) {
			return "ends in a backslash"
		}
		t.literal()
	default:
		t.pos--
		t.literal()
	}
	return ""
}

// stars translates a run of stars. Only a run of two or more that fills a name goes across slashes.
func (t *globTranslator) stars() {
	start := t.pos - 1
	for t.pos < len(t.in) && t.in[t.pos] == '*' {
		t.pos++
	}
	begins := start == 0 || strings.IndexByte("/{,", t.in[start-1]) >= 0
	ends := t.pos == len(t.in) || strings.IndexByte("/},", t.in[t.pos]) >= 0
	switch {
	case t.pos-start < 2 || !begins || !ends:
		t.out.WriteString(`[^/]*`)
	case t.pos < len(t.in) && t.in[t.pos] == '/':
		t.pos++
		t.out.WriteString(`(?:[^/]+/)*`)
	default:
		t.out.WriteString(`.*`)
	}
}

// set translates a bracketed set. A set never matches a slash, even when a range spans it.
func (t *globTranslator) set() (problem string) {
	end := t.setEnd()
	if end < 0 {
		return "has a [ without its ]"
	}
	body := []rune(t.in[t.pos:end])
	t.pos = end + 1
	t.out.WriteString(`[`)
	if body[0] == '!' || body[0] == '^' {
		body = body[1:]
		t.out.WriteString(`^/`)
	}
	for len(body) > 0 {
		var low, high rune
		low, body = setMember(body)
		high = low
		if len(body) >= 2 && body[0] == '-' {
			high, body = setMember(body[1:])
		}
		if high < low {
			return "has a range that runs backwards"
		}
		if low == '/' || high == '/' {
			return "has a / in a set"
		}
		t.writeRange(low, high)
	}
	t.out.WriteString(`]`)
	return ""
}

// setMember takes one character of a set, which a backslash may precede.
func setMember(body []rune) (rune, []rune) {
	if body[0] == '\\' && len(body) > 1 {
		body = body[1:]
	}
	return body[0], body[1:]
}

// writeRange writes a range of characters without the slash.
func (t *globTranslator) writeRange(low, high rune) {
	if low < '/' && '/' < high {
		fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, low, '/'-1)
		low = '/' + 1
	}
	fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, low, high)
}

// setEnd finds the bracket that closes a set. One that comes first is a member.
func (t *globTranslator) setEnd() int {
	i := t.pos
	if i < len(t.in) && (t.in[i] == '!' || t.in[i] == '^') {
		i++
	}
	for first := i; i < len(t.in); i++ {
		switch {
		case t.in[i] == '\\':
			i++
		case t.in[i] == ']' && i > first:
			return i
		}
	}
	return -1
}

// literal copies one character that stands for itself, all bytes of it.
func (t *globTranslator) literal() {
	end := t.pos + 1
	for end < len(t.in) && t.in[end]&0xC0 == 0x80 {
		end++
	}
	t.out.WriteString(regexp.QuoteMeta(t.in[t.pos:end]))
	t.pos = end
}

// globs is a list of patterns of which any may match.
type globs []*glob

// compileGlobs reads a list of patterns.
func compileGlobs(field string, patterns []string, ignoreCase bool) (globs, error) {
	if len(patterns) > maxGlobs {
		return nil, failf(ErrInvalid, "%s has %d patterns, more than the %d that are allowed", field, len(patterns), maxGlobs)
	}
	var list globs
	for _, pattern := range patterns {
		g, err := compileGlob(field, pattern, ignoreCase)
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// match reports whether any pattern matches.
func (list globs) match(rel string) bool {
	for _, g := range list {
		if g.match(rel) {
			return true
		}
	}
	return false
}

// excludes reports whether an entry is to be skipped together with what is below it.
func (list globs) excludes(e entry) bool {
	for _, g := range list {
		if g.match(e.rel) || e.info.IsDir() && g.matchTree(e.rel) {
			return true
		}
	}
	return false
}

// dotted reports whether any pattern asks for hidden names.
func (list globs) dotted() bool {
	for _, g := range list {
		if g.dotted {
			return true
		}
	}
	return false
}
