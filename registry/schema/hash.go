package schema

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A hasher gives equal values the same number, and others most likely a
// different one: which ones collide depends on a random seed.
type hasher struct {
	seed maphash.Seed
	a, b uint64 // random as well
}

func newHasher() hasher {
	// The numbers come from seeds of their own, since with that of the texts they
	// would be the hash of some text, which would then count for nothing.
	return hasher{
		seed: maphash.MakeSeed(),
		a:    maphash.String(maphash.MakeSeed(), ""),
		b:    maphash.String(maphash.MakeSeed(), ""),
	}
}

// mix joins two numbers in their order.
func (h *hasher) mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x^h.a, y^h.b)
	return hi ^ lo
}

// value hashes a valid JSON value, in one pass.
func (h *hasher) value(v []byte) uint64 {
	sum, _ := h.at(v, 0)
	return sum
}

// at hashes the value at an offset and returns the offset behind it.
func (h *hasher) at(doc []byte, pos int) (sum uint64, end int) {
	switch doc[pos] {
	case '{', '[':
		return h.container(doc, pos)
	case '"':
		end = pos + jsonwire.SkipString(doc[pos:])
		return h.text(doc[pos:end]), end
	}
	end = pos + jsonwire.SkipValue(doc[pos:])
	if typeOf(doc[pos]) == typeNumber {
		return h.number(doc[pos:end]), end
	}
	return h.mix(h.a, uint64(doc[pos])), end
}

func (h *hasher) container(doc []byte, pos int) (sum uint64, end int) {
	object := doc[pos] == '{'
	sum = uint64(doc[pos])
	i := skipSpace(doc, pos+1)
	for doc[i] != '}' && doc[i] != ']' {
		var name, value uint64
		if object {
			n := jsonwire.SkipString(doc[i:])
			name = h.text(doc[i : i+n])
			i = skipSpace(doc, skipSpace(doc, i+n)+1)
		}
		value, i = h.at(doc, i)
		if object {
			// Members count in any order, so what they give is summed up.
			sum += h.mix(name, value)
		} else {
			sum = h.mix(sum, value)
		}
		i = skipSpace(doc, i)
		if doc[i] == ',' {
			i = skipSpace(doc, i+1)
		}
	}
	return h.mix(sum, uint64(doc[pos])), i + 1
}

// skipSpace returns the offset of the next byte that is not white space.
func skipSpace(doc []byte, pos int) int {
	for pos < len(doc) && doc[pos] <= ' ' {
		pos++
	}
	return pos
}

func (h *hasher) text(quoted []byte) uint64 {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return maphash.Bytes(h.seed, jsonwire.AppendUnquote(nil, quoted))
	}
	return maphash.Bytes(h.seed, quoted[1:len(quoted)-1])
}

// number hashes the digits and the place of a number, however it is written.
func (h *hasher) number(raw []byte) uint64 {
	d := parseDecimal(raw)
	sum := h.mix(uint64(d.mag), uint64(d.sign()))
	for _, c := range d.sig {
		if c != '.' {
			sum = h.mix(sum, uint64(c))
		}
	}
	return sum
}
