package jsonwire

import (
	"bytes"
	"math"
	"strconv"
)

// exactInt bounds the integers that float64 holds exactly.
const exactInt = 1 << 53

// AppendFloat appends f in the shortest form that reads back as f. JSON has no
// infinities and no NaN; they become null.
func AppendFloat(dst []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && -exactInt < n && n < exactInt && (n != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, n, 10) // most numbers; a third of the time
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// AppendValue appends the JSON document doc after checking it, without any
// line end and without white space around it, so that the result can be part
// of a line. Other white space inside is kept. Depth is as for [Valid].
func AppendValue(dst, doc []byte, depth int) ([]byte, error) {
	if err := Valid(doc, depth); err != nil {
		return dst, err
	}
	return AppendLine(dst, doc), nil
}

// AppendLine is [AppendValue] for a document known to be valid.
func AppendLine(dst, doc []byte) []byte {
	doc = doc[SkipSpace(doc):]
	for len(doc) > 0 && SkipSpace(doc[len(doc)-1:]) == 1 {
		doc = doc[:len(doc)-1]
	}
	// A string cannot hold a raw line end, so each one is white space.
	if bytes.IndexByte(doc, '\n') < 0 && bytes.IndexByte(doc, '\r') < 0 {
		return append(dst, doc...)
	}
	return AppendCompact(dst, doc)
}

// AppendCompact appends a valid document without insignificant white space.
func AppendCompact(dst, doc []byte) []byte {
	for i := 0; i < len(doc); {
		switch doc[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			n := SkipString(doc[i:])
			dst = append(dst, doc[i:i+n]...)
			i += n
		default:
			dst = append(dst, doc[i])
			i++
		}
	}
	return dst
}
