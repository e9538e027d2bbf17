package schema

import (
	"hash/maphash"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// hash gives equal values the same number.
func hash(seed maphash.Seed, v []byte) uint64 {
	switch typeOf(v[0]) {
	case typeString:
		return hashString(seed, v)
	case typeNumber:
		return hashNumber(v)
	case typeArray:
		h := uint64(1)
		for a := jsonwire.Elements(v); ; {
			elem, ok := a.Next()
			if !ok {
				return h
			}
			h = h*0x9e3779b97f4a7c15 + hash(seed, elem)
		}
	case typeObject:
		// Members count in any order, so their hashes are summed up.
		h := uint64(2)
		for o := jsonwire.Members(v); ; {
			name, value, ok := o.Next()
			if !ok {
				return h
			}
			h += (hashString(seed, name) ^ 0x5bd1e995) * (hash(seed, value) | 1)
		}
	}
	return uint64(v[0])
}

func hashString(seed maphash.Seed, quoted []byte) uint64 {
	for _, c := range quoted {
		if c == '\\' {
			return maphash.Bytes(seed, jsonwire.AppendUnquote(nil, quoted))
		}
	}
	return maphash.Bytes(seed, quoted[1:len(quoted)-1])
}

func hashNumber(raw []byte) uint64 {
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
