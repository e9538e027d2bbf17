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

// pointerTo returns the JSON Pointer of the value or the member name that
// starts at an offset of a valid document. Evaluation notes offsets only, so
// that a value that conforms costs nothing for them.
func pointerTo(doc []byte, offset int) string {
	var p []byte
	start := jsonwire.SkipSpace(doc)
	for start < offset {
		step, at, ok := childAt(doc, start, offset)
		if !ok {
			break
		}
		p = appendPointer(p, step)
		start = at
	}
	return string(p)
}

// childAt finds the child of the container at start in which an offset lies.
func childAt(doc []byte, start, offset int) (step string, at int, ok bool) {
	rest := doc[start:]
	index := 0
	for o, a := jsonwire.Members(rest), jsonwire.Elements(rest); ; index++ {
		var name, value []byte
		if rest[0] == '{' {
			name, value, ok = o.Next()
		} else {
			value, ok = a.Next()
		}
		if !ok {
			return "", 0, false
		}
		at = offsetIn(doc, value)
		if offset >= at+len(value) {
			continue
		}
		if name != nil {
			return jsonwire.Unquote(name), at, true
		}
		return strconv.Itoa(index), at, true
	}
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
