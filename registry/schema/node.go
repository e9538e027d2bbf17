package schema

import "strings"

// typeSet is a set of the types of JSON Schema. The empty set stands for a
// schema without type, which allows all.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject

	typeAny = typeNull | typeBoolean | typeInteger | typeNumber | typeString | typeArray | typeObject
)

// typeNames are the names of the types in the order of their bits.
func typeNames() []string {
	return []string{"null", "boolean", "integer", "number", "string", "array", "object"}
}

func typeNamed(name string) (typeSet, bool) {
	for i, n := range typeNames() {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// String lists the types as a sentence would: "string or null".
func (t typeSet) String() string {
	var names []string
	for i, n := range typeNames() {
		if t&(1<<i) != 0 && n != "null" {
			names = append(names, n)
		}
	}
	if t&typeNull != 0 {
		names = append(names, "null")
	}
	return enumerate(names, "or")
}

// enumerate writes a list of words: "a, b or c".
func enumerate(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// typeOf is the type of the JSON value that starts with c. A number is always
// typeNumber here.
func typeOf(c byte) typeSet {
	switch c {
	case '"':
		return typeString
	case '{':
		return typeObject
	case '[':
		return typeArray
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeNumber
}

// A node is one compiled schema object. What a schema does not say is nil, so
// that evaluation passes over it in one comparison.
type node struct {
	raw []byte // the schema as it is written

	link   *node // of a schema that is nothing but a reference: where it ends
	never  bool  // the schema false
	types  typeSet
	values *valueSet
	number *numberRules
	text   *textRules
	array  *arrayRules
	object *objectRules
	inner  *applicators
	unseen *unevaluated
	scope  *resource // set only where dynamic references can tell
	visit  visit     // while the compiler looks for loops
}

// visit says how far the search for loops is with a node.
type visit uint8

const (
	_ visit = iota // not yet
	visiting
	visited
)

// numberRules are the keywords for numbers.
type numberRules struct {
	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf *bound
}

// textRules are the keywords for strings.
type textRules struct {
	minLength, maxLength int // maxLength is -1 if there is none
	pattern              *pattern
	format               *format
}

// arrayRules are the keywords for arrays.
type arrayRules struct {
	prefix             []*node
	items              *node
	minItems, maxItems int // maxItems is -1 if there is none
	unique             bool

	contains                 *node
	minContains, maxContains int // maxContains is -1 if there is none
}

// applicators are the subschemas that apply to the value itself.
type applicators struct {
	ref                 *node
	dynamic             *dynamicRef
	allOf, anyOf, oneOf []*node
	not                 *node
	condition           *node
	then, otherwise     *node
}

// A dynamicRef is a $dynamicRef whose first target carries the matching
// $dynamicAnchor.
type dynamicRef struct {
	name  string
	first *node
}

// unevaluated are the keywords that look at what the others left over.
type unevaluated struct{ properties, items *node }

// A member is a name that an object schema mentions.
type member struct {
	name   string
	quoted string // the name in its plain JSON form
	node   *node  // what properties says, or nil
}

// objectRules are the keywords for objects. All names that they mention are in
// members, and sets of names are sets of indices there.
type objectRules struct {
	members    []member
	byName     map[string]int // nil when there are few
	required   bitset
	patterns   []patternMember
	additional *node
	names      *node

	minProperties, maxProperties int // maxProperties is -1 if there is none
	dependencies                 []dependency
}

type patternMember struct {
	pattern *pattern
	node    *node
}

// A dependency is what follows from the presence of a member: other members,
// or a schema for the whole object.
type dependency struct {
	member   int
	required []int
	node     *node
}

// fewMembers is how many names are searched one by one.
const fewMembers = 8

// index returns the index of a member, or -1.
func (o *objectRules) index(name []byte) int {
	if o.byName != nil {
		if i, ok := o.byName[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if o.members[i].name == string(name) {
			return i
		}
	}
	return -1
}

// bitset is a set of small numbers. What lies beyond its end is not in it.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i int) bool { return i>>6 < len(s) && s[i>>6]&(1<<(i&63)) != 0 }
func (s bitset) add(i int)      { s[i>>6] |= 1 << (i & 63) }

// contains reports whether all of t is in s.
func (s bitset) contains(t bitset) bool {
	for i, w := range t {
		if w&^s[i] != 0 {
			return false
		}
	}
	return true
}
