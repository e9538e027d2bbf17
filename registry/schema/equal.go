package schema

import (
	"bytes"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A valueSet is what enum or const allow.
type valueSet struct {
	keyword string
	hasher  *hasher
	values  [][]byte
	few     []string            // the strings among them
	many    map[string]struct{} // the same, if there are more than a few
	numbers []*bound
	words   []byte // the first bytes of null, true and false
	others  []constant
}

// A constant is an array or object to compare with.
type constant struct {
	raw  []byte
	hash uint64
}

func newValueSet(values [][]byte, keyword string, h *hasher) *valueSet {
	s := &valueSet{keyword: keyword, hasher: h, values: values}
	for _, v := range values {
		switch typeOf(v[0]) {
		case typeString:
			s.few = append(s.few, jsonwire.Unquote(v))
		case typeNumber:
			s.numbers = append(s.numbers, newBound(v))
		case typeArray, typeObject:
			s.others = append(s.others, constant{v, h.value(v)})
		default:
			s.words = append(s.words, v[0])
		}
	}
	if len(s.few) > fewMembers {
		s.many = make(map[string]struct{}, len(s.few))
		for _, text := range s.few {
			s.many[text] = struct{}{}
		}
	}
	return s
}

// has reports whether a valid JSON value is in the set. Comparing arrays and
// objects goes off the budget.
func (s *valueSet) has(v []byte, budget *int) bool {
	switch typeOf(v[0]) {
	case typeString:
		return s.hasString(v)
	case typeNumber:
		for _, b := range s.numbers {
			if b.compare(v) == 0 {
				return true
			}
		}
		return false
	case typeArray, typeObject:
		return s.hasContainer(v, budget)
	}
	return bytes.IndexByte(s.words, v[0]) >= 0
}

// hasContainer compares hashes first, so that only a value that is most likely
// equal is looked at member by member.
func (s *valueSet) hasContainer(v []byte, budget *int) bool {
	if s.others == nil {
		return false
	}
	h := s.hasher.value(v)
	for _, c := range s.others {
		if c.hash == h && equal(c.raw, v, budget) {
			return true
		}
	}
	return false
}

// cost is what has takes from the budget for a value of n bytes.
func (s *valueSet) cost(n int) int {
	return (len(s.numbers)+len(s.others))>>1 + n>>5
}

func (s *valueSet) hasString(quoted []byte) bool {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = jsonwire.AppendUnquote(nil, quoted)
	}
	if s.many != nil {
		_, ok := s.many[string(text)]
		return ok
	}
	for _, want := range s.few {
		if want == string(text) {
			return true
		}
	}
	return false
}

// equal reports whether two valid JSON values are the same to JSON Schema:
// numbers by value, objects without regard to the order of their members. What
// it takes goes off the budget; when that is spent, the answer is false.
func equal(a, b []byte, budget *int) bool {
	t := typeOf(a[0])
	if t != typeOf(b[0]) {
		return false
	}
	if *budget -= 1 + (len(a)+len(b))>>4; *budget < 0 {
		return false
	}
	switch t {
	case typeString:
		return jsonwire.EqualStrings(a, b)
	case typeNumber:
		return bytes.Equal(a, b) || parseDecimal(a).compare(parseDecimal(b)) == 0
	case typeArray:
		return equalArrays(a, b, budget)
	case typeObject:
		return equalObjects(a, b, budget)
	}
	return a[0] == b[0] // null, true and false differ in that
}

func equalArrays(a, b []byte, budget *int) bool {
	for x, y := jsonwire.Elements(a), jsonwire.Elements(b); ; {
		v, ok := x.Next()
		w, ok2 := y.Next()
		if !ok || !ok2 {
			return ok == ok2
		}
		if !equal(v, w, budget) {
			return false
		}
	}
}

// equalObjects compares the members of b with those of a, and then looks only
// for names of a that b lacks.
func equalObjects(a, b []byte, budget *int) bool {
	*budget -= (len(a) + len(b)) >> 3 // names are looked for more than once
	x, y := membersOf(a), membersOf(b)
	for o := jsonwire.Members(b); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		if w := x.lookup(name); w == nil || !equal(w, value, budget) {
			return false
		}
	}
	for o := jsonwire.Members(a); ; {
		name, _, ok := o.Next()
		if !ok {
			return true
		}
		if y.lookup(name) == nil {
			return false
		}
	}
}

// objectIndex finds the members of an object: by a map if there are many.
type objectIndex struct {
	obj  []byte
	many map[string][]byte
}

func membersOf(obj []byte) objectIndex {
	x := objectIndex{obj: obj}
	if countMembers(obj, fewMembers+1) <= fewMembers {
		return x
	}
	x.many = map[string][]byte{}
	for o := jsonwire.Members(obj); ; {
		name, value, ok := o.Next()
		if !ok {
			return x
		}
		x.many[jsonwire.Unquote(name)] = value
	}
}

// lookup returns the member with a name, as it is written, or nil.
func (x objectIndex) lookup(name []byte) []byte {
	if x.many != nil {
		return x.many[jsonwire.Unquote(name)]
	}
	return lookupQuoted(x.obj, name)
}

// countMembers counts the members of an object, up to a bound.
func countMembers(obj []byte, most int) int {
	n := 0
	for o := jsonwire.Members(obj); n < most; n++ {
		if _, _, ok := o.Next(); !ok {
			break
		}
	}
	return n
}

// lookupQuoted is [jsonwire.Lookup] for a name in its JSON form.
func lookupQuoted(obj, name []byte) []byte {
	for o := jsonwire.Members(obj); ; {
		k, v, ok := o.Next()
		if !ok {
			return nil
		}
		if jsonwire.EqualStrings(k, name) {
			return v
		}
	}
}
