package schema

import (
	"strconv"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// appendPointer appends one step to a JSON Pointer.
func appendPointer(dst []byte, step string) []byte {
	dst = append(dst, '/')
	for i := range len(step) {
		switch step[i] {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, step[i])
		}
	}
	return dst
}

// A pointerStep is an object or array that is open where a walk through a
// document has come to, and the child in it that the walk is at.
type pointerStep struct {
	name  []byte // as it is written; nil in an array
	index int
	names bool // the next string is a name
}

// pointerTo returns the JSON Pointer of the value, or of the member with the
// name, that starts at an offset of a valid document. Evaluation notes offsets
// only, so that a value that conforms costs nothing for them. The walk goes
// once over what is before the offset.
func pointerTo(doc []byte, offset int) string {
	var open []pointerStep
	top := &pointerStep{}
	for i := skipSpace(doc, 0); i <= offset; {
		switch c := doc[i]; {
		case c == '"' && top.names:
			n := jsonwire.SkipString(doc[i:])
			top.name, top.names = doc[i:i+n], false
			i += n
			continue
		case i == offset:
		case c == '"':
			i += jsonwire.SkipString(doc[i:])
			continue
		case c == '{', c == '[':
			open = append(open, pointerStep{names: c == '{'})
			top = &open[len(open)-1]
		case c == '}', c == ']':
			open = open[:len(open)-1]
			top = &open[len(open)-1]
		case c == ',':
			top.index++
			top.names = top.name != nil
		}
		i++
	}
	var p []byte
	for _, step := range open {
		if step.name != nil {
			p = appendPointer(p, jsonwire.Unquote(step.name))
		} else {
			p = appendPointer(p, strconv.Itoa(step.index))
		}
	}
	return string(p)
}

// offsetIn is the offset of a part of a document. Both end where the memory of
// the document ends, and the difference tells.
func offsetIn(doc, part []byte) int { return cap(doc) - cap(part) }

// dotted writes a JSON Pointer the way that people and models write a path:
// "filter.tags[2]".
func dotted(pointer string) string {
	var b strings.Builder
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = unescapeStep(step)
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

func unescapeStep(step string) string {
	if !strings.Contains(step, "~") {
		return step
	}
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

func isIndex(step string) bool {
	for _, c := range step {
		if c < '0' || c > '9' {
			return false
		}
	}
	return step != ""
}

// trim removes the white space around a JSON document.
func trim(doc []byte) []byte {
	doc = doc[jsonwire.SkipSpace(doc):]
	for n := len(doc); n > 0; n-- {
		switch doc[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return doc[:n]
		}
	}
	return doc
}

// nesting is the sum of the sizes of all objects and arrays of a valid
// document, which is what it takes to look at each of them by itself.
func nesting(doc []byte) int64 {
	var sum, depth int64
	for i := 0; i < len(doc); i++ {
		sum += depth
		switch doc[i] {
		case '"':
			n := jsonwire.SkipString(doc[i:]) - 1
			sum += int64(n) * depth
			i += n
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return sum
}
