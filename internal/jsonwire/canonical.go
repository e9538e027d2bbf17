package jsonwire

import (
	"bytes"
	"slices"
)

// AppendCanonical appends a valid document in a form that two documents share if
// they differ only in white space, in the order of members, or in how strings
// are escaped. Numbers keep their spelling.
func AppendCanonical(dst, doc []byte) []byte {
	doc = doc[SkipSpace(doc):]
	switch doc[0] {
	case '{':
		return appendCanonicalObject(dst, doc)
	case '[':
		dst = append(dst, '[')
		a := Elements(doc)
		for i := 0; ; i++ {
			v, ok := a.Next()
			if !ok {
				return append(dst, ']')
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, v)
		}
	case '"':
		return appendCanonicalString(dst, doc[:SkipString(doc)])
	}
	return append(dst, doc[:SkipValue(doc)]...)
}

func appendCanonicalString(dst, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted...)
	}
	return AppendQuote(dst, Unquote(quoted))
}

// canonicalMember is a member of an object, its name in canonical form.
type canonicalMember struct{ name, value []byte }

func appendCanonicalObject(dst, obj []byte) []byte {
	var members []canonicalMember
	for o := Members(obj); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		members = append(members, canonicalMember{appendCanonicalString(nil, name), value})
	}
	slices.SortStableFunc(members, func(a, b canonicalMember) int { return bytes.Compare(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.name...), ':')
		dst = AppendCanonical(dst, m.value)
	}
	return append(dst, '}')
}
