package schema

import (
	"bytes"
	"hash/maphash"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A valueSet is what enum or const allow.
type valueSet struct {
	keyword string
	seed    maphash.Seed
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

func newValueSet(values [][]byte, keyword string, seed maphash.Seed) *valueSet {
	s := &valueSet{keyword: keyword, seed: seed, values: values}
	for _, v := range values {
		switch typeOf(v[0]) {
		case typeString:
			s.few = append(s.few, jsonwire.Unquote(v))
		case typeNumber:
			s.numbers = append(s.numbers, newBound(v))
		case typeArray, typeObject:
			s.others = append(s.others, constant{v, hash(seed, v)})
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

// has reports whether a valid JSON value is in the set.
func (s *valueSet) has(v []byte) bool {
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
		return s.hasContainer(v)
	}
	return bytes.IndexByte(s.words, v[0]) >= 0
}

// hasContainer compares hashes first, so that only a value that is most likely
// equal is looked at member by member.
func (s *valueSet) hasContainer(v []byte) bool {
	if s.others == nil {
		return false
	}
	h := hash(s.seed, v)
	for _, c := range s.others {
		if c.hash == h && equal(c.raw, v) {
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
// numbers by value, objects without regard to the order of their members.
func equal(a, b []byte) bool {
	t := typeOf(a[0])
	if t != typeOf(b[0]) {
		return false
	}
	switch t {
	case typeString:
		return jsonwire.EqualStrings(a, b)
	case typeNumber:
		return bytes.Equal(a, b) || parseDecimal(a).compare(parseDecimal(b)) == 0
	case typeArray:
		return equalArrays(a, b)
	case typeObject:
		return equalObjects(a, b)
	}
	return a[0] == b[0] // null, true and false differ in that
}

func equalArrays(a, b []byte) bool {
	for x, y := jsonwire.Elements(a), jsonwire.Elements(b); ; {
		v, ok := x.Next()
		w, ok2 := y.Next()
		if !ok || !ok2 {
			return ok == ok2
		}
		if !equal(v, w) {
			return false
		}
	}
}

// equalObjects looks in both directions, since one of the objects may have a
// name twice.
func equalObjects(a, b []byte) bool {
	return covers(a, b) && covers(b, a)
}

// covers reports whether each member of b is in a. Objects with many members
// are looked up through a map, to stay linear.
func covers(a, b []byte) bool {
	lookup := func(name []byte) []byte { return lookupQuoted(a, name) }
	if countMembers(a, fewMembers+1) > fewMembers {
		index := map[string][]byte{}
		for o := jsonwire.Members(a); ; {
			name, value, ok := o.Next()
			if !ok {
				break
			}
			index[jsonwire.Unquote(name)] = value
		}
		lookup = func(name []byte) []byte { return index[jsonwire.Unquote(name)] }
	}
	for o := jsonwire.Members(b); ; {
		name, value, ok := o.Next()
		if !ok {
			return true
		}
		if w := lookup(name); w == nil || !equal(w, value) {
			return false
		}
	}
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
