package schema

import (
	"hash/maphash"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// hash gives equal values the same number.
func (s *Schema) hash(v []byte) uint64 {
	switch typeOf(v[0]) {
	case typeString:
		return s.hashString(v)
	case typeNumber:
		return s.hashNumber(v)
	case typeArray:
		h := uint64(1)
		for a := jsonwire.Elements(v); ; {
			elem, ok := a.Next()
			if !ok {
				return h
			}
			h = h*0x9e3779b97f4a7c15 + s.hash(elem)
		}
	case typeObject:
		// Members count in any order, so their hashes are summed up.
		h := uint64(2)
		for o := jsonwire.Members(v); ; {
			name, value, ok := o.Next()
			if !ok {
				return h
			}
			h += (s.hashString(name) ^ 0x5bd1e995) * (s.hash(value) | 1)
		}
	}
	return uint64(v[0])
}

func (s *Schema) hashString(quoted []byte) uint64 {
	for _, c := range quoted {
		if c == '\\' {
			return maphash.Bytes(s.seed, jsonwire.AppendUnquote(nil, quoted))
		}
	}
	return maphash.Bytes(s.seed, quoted[1:len(quoted)-1])
}

func (s *Schema) hashNumber(raw []byte) uint64 {
	d := parseDecimal(raw)
	h := uint64(d.mag)
	if d.neg {
		h = ^h
	}
	for _, c := range d.sig {
		if c != '.' {
			h = h*31 + uint64(c)
		}
	}
	return h * 0x9e3779b97f4a7c15
}
