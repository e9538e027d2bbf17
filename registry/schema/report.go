package schema

import (
	"fmt"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A report collects violations, as many as are wanted.
type report struct {
	doc        []byte
	noun       string
	max        int
	violations []Violation
	truncated  bool
}

// result makes the error, adding to it that the bounds were passed.
func (r *report) result(exhausted bool) *ValidationError {
	if exhausted {
		r.violations = append(r.violations, Violation{Keyword: "limit", Message: ErrLimit.Error()})
	}
	return &ValidationError{Violations: r.violations, Truncated: r.truncated, noun: r.noun, limited: exhausted}
}

// add notes that the value or name at an offset breaks a keyword of a node.
func (r *report) add(n *node, pos int, keyword string) {
	switch keyword {
	case "additionalProperties", "unevaluatedProperties":
		r.addUnknown(n, pos, keyword)
	case "duplicate":
		path, name := r.parent(pos)
		r.put(path, keyword, fmt.Sprintf("%s %q is there twice", r.call(path), clip(name)))
	default:
		path := r.path(pos)
		r.put(path, keyword, r.subject(path)+describe(n, r.doc[pos:], keyword))
	}
}

// maxPath bounds the path of a violation, in bytes.
const maxPath = 1024

// path is the JSON Pointer of the value at an offset.
func (r *report) path(pos int) string { return shorten(pointerTo(r.doc, pos)) }

// shorten cuts a pointer that is too long to that of a value around the one
// that it leads to.
func shorten(path string) string {
	if len(path) <= maxPath {
		return path
	}
	return path[:max(0, strings.LastIndexByte(path[:maxPath], '/'))]
}

// subject starts the message about the whole value, which no path names.
func (r *report) subject(path string) string {
	if path == "" {
		return r.noun + "s: "
	}
	return ""
}

// call is the word for a member of the object at a path.
func (r *report) call(path string) string {
	if path == "" {
		return r.noun
	}
	return "property"
}

// parent returns the path of the object that holds the name at an offset, and
// the name.
func (r *report) parent(pos int) (path, name string) {
	path = pointerTo(r.doc, pos)
	path = shorten(path[:strings.LastIndexByte(path, '/')])
	return path, jsonwire.Unquote(r.doc[pos : pos+jsonwire.SkipString(r.doc[pos:])])
}

// addUnknown notes a member that the schema does not allow, with the name that
// may have been meant.
func (r *report) addUnknown(n *node, pos int, keyword string) {
	path, name := r.parent(pos)
	text := fmt.Sprintf("unknown %s %q", r.call(path), clip(name))
	if best := nearest(name, declared(n)); best != "" {
		text += fmt.Sprintf("; did you mean %q?", best)
	}
	r.put(path, keyword, text)
}

// addMissing notes a member that has to be there and is not.
func (r *report) addMissing(n *node, pos int, m *member, keyword string) {
	path := r.path(pos)
	text := fmt.Sprintf("missing required %s %q", r.call(path), clip(m.name))
	if m.node != nil {
		if t := allowedTypes(m.node); t != typeAny {
			text += fmt.Sprintf(" (%s)", t)
		}
	}
	r.put(path, keyword, text)
}

// put appends a violation, unless it is there already or there are enough.
func (r *report) put(path, keyword, message string) {
	v := Violation{Path: path, Message: message, Keyword: keyword}
	for _, old := range r.violations {
		if old == v {
			return
		}
	}
	if len(r.violations) >= r.max {
		r.truncated = true
		return
	}
	r.violations = append(r.violations, v)
}

// declared lists the names that an object schema declares.
func declared(n *node) []string {
	var names []string
	if n.object != nil {
		for _, m := range n.object.members {
			if m.node != nil && !m.node.never && len(names) < maxNearest {
				names = append(names, m.name)
			}
		}
	}
	return names
}

// describe says how the value at the start of doc breaks a keyword.
func describe(n *node, doc []byte, keyword string) string {
	switch keyword {
	case "false":
		return "is not allowed here"
	case "type":
		return expectedType(n.types, doc)
	case "enum", "const":
		return describeValues(n.values, doc)
	case "not":
		return "has a form that is not allowed"
	case "oneOf":
		if t := allowedTypes(n); t&typeOf(doc[0]) == 0 {
			return expectedType(t, doc)
		}
		return fmt.Sprintf("must match exactly one of %d alternatives", len(n.inner.oneOf))
	case "anyOf":
		if t := allowedTypes(n); t&typeOf(doc[0]) == 0 {
			return expectedType(t, doc)
		}
		return fmt.Sprintf("must match at least one of %d alternatives", len(n.inner.anyOf))
	}
	if n.number != nil && typeOf(doc[0]) == typeNumber {
		return describeNumber(n.number, keyword)
	}
	return describeSize(n, keyword)
}

// expectedType says which types are allowed and which one was found.
func expectedType(want typeSet, doc []byte) string {
	found := typeOf(doc[0])
	name := found.String()
	if found == typeNumber && want&typeInteger != 0 {
		name = "a number with a fraction"
	}
	return fmt.Sprintf("expected %s, found %s", want, name)
}

// maxListed is how many values of an enum a message lists.
const maxListed = 20

// describeValues lists the values that are allowed.
func describeValues(s *valueSet, doc []byte) string {
	var list []string
	for _, v := range s.values {
		if len(list) == maxListed {
			break
		}
		list = append(list, clip(string(v)))
	}
	text := "expected " + enumerate(list, "or")
	if len(list) > 1 {
		text = "expected one of " + strings.Join(list, ", ")
	}
	if more := len(s.values) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if found := typeOf(doc[0]); len(s.values) > 0 && typesOf(s)&found == 0 {
		return text + ", found " + found.String()
	}
	if doc[0] == '"' {
		if best := nearest(jsonwire.Unquote(doc[:jsonwire.SkipString(doc)]), s.few); best != "" {
			text += fmt.Sprintf("; did you mean %q?", best)
		}
	}
	return text
}

func describeNumber(r *numberRules, keyword string) string {
	switch keyword {
	case "minimum":
		return "must be at least " + clip(string(r.minimum.raw))
	case "maximum":
		return "must be at most " + clip(string(r.maximum.raw))
	case "exclusiveMinimum":
		return "must be greater than " + clip(string(r.exclusiveMinimum.raw))
	case "exclusiveMaximum":
		return "must be less than " + clip(string(r.exclusiveMaximum.raw))
	}
	return "must be a multiple of " + clip(string(r.multipleOf.raw))
}

func describeSize(n *node, keyword string) string {
	switch keyword {
	case "minLength":
		return "must have at least " + quantity(n.text.minLength, "character")
	case "maxLength":
		return "must have at most " + quantity(n.text.maxLength, "character")
	case "pattern":
		return fmt.Sprintf("must match the pattern %q", clip(n.text.pattern.source))
	case "format":
		return "must be " + n.text.format.describe
	case "minItems":
		return "must have at least " + quantity(n.array.minItems, "element")
	case "maxItems":
		return "must have at most " + quantity(n.array.maxItems, "element")
	case "uniqueItems":
		return "must not have two equal elements"
	case "contains":
		return "must have at least " + quantity(n.array.minContains, "element") + " of the required form"
	case "maxContains":
		return "must have at most " + quantity(n.array.maxContains, "element") + " of the given form"
	case "minProperties":
		return "must have at least " + quantity(n.object.minProperties, "member")
	case "maxProperties":
		return "must have at most " + quantity(n.object.maxProperties, "member")
	}
	return "must have no further elements" // unevaluatedItems
}

func quantity(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// maxTyped bounds the nodes that are looked at to tell which types are allowed.
const maxTyped = 1000

// allowedTypes is what a node says about the type of a value, itself or by
// what it refers to.
func allowedTypes(n *node) typeSet {
	left := maxTyped
	return allowedTypesIn(n, &left)
}

// allowedTypesIn looks at no more than the given number of nodes.
func allowedTypesIn(n *node, left *int) typeSet {
	*left--
	switch {
	case *left < 0:
		return typeAny
	case n.never:
		return 0
	case n.types != 0:
		return n.types
	case n.values != nil:
		return typesOf(n.values)
	case n.inner == nil:
		return typeAny
	}
	t := typeSet(typeAny)
	if n.inner.ref != nil {
		t &= allowedTypesIn(n.inner.ref, left)
	}
	for _, sub := range n.inner.allOf {
		t &= allowedTypesIn(sub, left)
	}
	for _, subs := range [][]*node{n.inner.anyOf, n.inner.oneOf} {
		if subs == nil {
			continue
		}
		var union typeSet
		for _, sub := range subs {
			if union |= allowedTypesIn(sub, left); union == typeAny {
				break
			}
		}
		t &= union
	}
	return t
}

// typesOf lists the types of the values of a set.
func typesOf(s *valueSet) typeSet {
	var t typeSet
	for _, v := range s.values {
		if t |= typeOf(v[0]); t == typeAny&^typeInteger {
			break
		}
	}
	return t
}

// refused notes that a Go type cannot take the value, or name, at an offset.
func (r *report) refused(pos int, reason string) {
	switch reason {
	case "duplicate":
		r.add(nil, pos, "duplicate")
	default:
		path := r.path(pos)
		r.put(path, "type", r.subject(path)+reason)
	}
}
