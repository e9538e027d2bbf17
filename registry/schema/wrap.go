package schema

import (
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Wrap makes an output schema fit for versions before 2026-07-28, in which
// structured content is an object. If the root says "type":"object" and nothing
// else, the schema is returned as it is, and wrapped is false. Otherwise the
// schema becomes that of an object whose required property "result" is what it
// was, and every value has to be wrapped by [AppendWrapped]; what the schema
// refers to still means the same.
//
// The error is a [*SchemaError] for a document that is not valid JSON.
func Wrap(doc []byte) (out []byte, wrapped bool, err error) {
	if doc, err = readDocument(doc, (*Options)(nil).withDefaults().MaxBytes); err != nil {
		return nil, false, &SchemaError{Err: err}
	}
	if lookupString(doc, "type") == "object" {
		return doc, false, nil
	}
	out = append(out, '{')
	// What identifies the document stays at its root, and so do definitions,
	// to which most references lead.
	inner := []byte{'{'}
	for o := jsonwire.Members(doc); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		dst := &inner
		if hoisted(jsonwire.Unquote(name)) {
			dst = &out
		}
		if len(*dst) > 1 {
			*dst = append(*dst, ',')
		}
		*dst = append(append(*dst, name...), ':')
		*dst = moveKeyword(*dst, jsonwire.Unquote(name), value)
	}
	inner = append(inner, '}')
	if doc[0] != '{' {
		inner = doc // true or false
	}
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(out, `"type":"object","properties":{"result":`...)
	out = append(out, inner...)
	return append(out, `},"required":["result"]}`...), true, nil
}

// AppendWrapped appends {"result":value}.
func AppendWrapped(dst, value []byte) []byte {
	dst = append(dst, `{"result":`...)
	dst = append(dst, value...)
	return append(dst, '}')
}

// hoisted reports whether a keyword stays at the root of a wrapped document.
func hoisted(keyword string) bool {
	switch keyword {
	case "$schema", "$id", "$defs", "definitions", "$vocabulary":
		return true
	}
	return false
}

// moveKeyword appends the value of a keyword, with its references moved along
// with what they refer to.
func moveKeyword(dst []byte, keyword string, value []byte) []byte {
	if keyword == "$ref" || keyword == "$dynamicRef" {
		return moveReference(dst, value)
	}
	return rewriteSubschemas(dst, keyword, value, moveSchema)
}

// moveSchema appends a subschema with its references moved. Those of a resource
// of its own stay.
func moveSchema(dst, raw []byte) []byte {
	if raw[0] != '{' || jsonwire.Lookup(raw, "$id") != nil {
		return append(dst, raw...)
	}
	return rewriteObject(dst, raw, moveKeyword)
}

func moveReference(dst, value []byte) []byte {
	ref := ""
	if value[0] == '"' {
		ref = jsonwire.Unquote(value)
	}
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return append(dst, value...)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if pointer != "" && hoisted(unescapeStep(first)) {
		return append(dst, value...)
	}
	return jsonwire.AppendQuote(dst, "#/properties/result"+pointer)
}

// rewriteObject appends a schema object with the value of each keyword written
// by fn.
func rewriteObject(dst, raw []byte, fn func(dst []byte, keyword string, value []byte) []byte) []byte {
	dst = append(dst, '{')
	first := true
	for o := jsonwire.Members(raw); ; {
		name, value, ok := o.Next()
		if !ok {
			return append(dst, '}')
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, name...), ':')
		dst = fn(dst, jsonwire.Unquote(name), value)
	}
}

// rewriteSubschemas appends the value of a keyword with each subschema in it
// written by fn.
func rewriteSubschemas(dst []byte, keyword string, value []byte, fn func(dst, raw []byte) []byte) []byte {
	last := 0
	// The walk never fails.
	_ = eachIn(keyword, value, func(s *subschema) error {
		at := offsetIn(value, s.raw)
		dst = append(dst, value[last:at]...)
		dst = fn(dst, s.raw)
		last = at + len(s.raw)
		return nil
	})
	return append(dst, value[last:]...)
}
