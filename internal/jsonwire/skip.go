package jsonwire

import "bytes"

// SkipString counts the bytes of the valid string at the start of b. One that has
// no end goes to that of b.
func SkipString(b []byte) int {
	i := 1
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		end := i + n
		slashes := 0
		for b[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// SkipValue counts the bytes of the valid value at the start of b.
func SkipValue(b []byte) int {
	switch b[0] {
	case '"':
		return SkipString(b)
	case '{', '[':
		return skipContainer(b)
	}
	for i, c := range b {
		switch c {
		case ',', '}', ']', ':', ' ', '\n', '\r', '\t':
			return i
		}
	}
	return len(b)
}

func skipContainer(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += SkipString(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// Object iterates over the members of a valid object.
type Object struct{ rest []byte }

// Members returns an iterator over obj, a valid object without white space
// around it. Anything that is not an object has no members.
func Members(obj []byte) Object {
	if len(obj) == 0 || obj[0] != '{' {
		return Object{}
	}
	rest := obj[1:]
	return Object{rest[SkipSpace(rest):]}
}

// Next returns the next member: its name as it is written, quotes included,
// and its value. It reports false after the last one.
func (o *Object) Next() (name, value []byte, ok bool) {
	b := o.rest
	if len(b) == 0 || b[0] == '}' {
		return nil, nil, false
	}
	i := SkipString(b)
	name = b[:i]
	i += SkipSpace(b[i:]) + 1 // the colon
	i += SkipSpace(b[i:])
	n := SkipValue(b[i:])
	value = b[i : i+n]
	o.rest = next(b[i+n:])
	return name, value, true
}

// Array iterates over the elements of a valid array.
type Array struct{ rest []byte }

// Elements returns an iterator over arr, a valid array without white space
// around it. Anything that is not an array has no elements.
func Elements(arr []byte) Array {
	if len(arr) == 0 || arr[0] != '[' {
		return Array{}
	}
	rest := arr[1:]
	return Array{rest[SkipSpace(rest):]}
}

// Next returns the next element. It reports false after the last one.
func (a *Array) Next() (value []byte, ok bool) {
	b := a.rest
	if len(b) == 0 || b[0] == ']' {
		return nil, false
	}
	n := SkipValue(b)
	value = b[:n]
	a.rest = next(b[n:])
	return value, true
}

// next skips white space, a comma if there is one, and white space again.
func next(b []byte) []byte {
	b = b[SkipSpace(b):]
	if len(b) > 0 && b[0] == ',' {
		b = b[1:]
		b = b[SkipSpace(b):]
	}
	return b
}

// Lookup returns the value of the member called name of a valid object, or nil.
// Of several members with one name it returns the first.
func Lookup(obj []byte, name string) []byte {
	for o := Members(obj); ; {
		k, v, ok := o.Next()
		if !ok {
			return nil
		}
		if EqualString(k, name) {
			return v
		}
	}
}
