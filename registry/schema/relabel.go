package schema

import (
	"fmt"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Relabel rewrites a schema so that it needs no $schema: as draft 2020-12, with
// which clients that know only one dialect start. A document that is labelled
// as draft 2020-12, or not at all, only loses the label. One of draft-07 is
// translated so that it accepts the same values: tuples become prefixItems,
// dependencies become dependentRequired and dependentSchemas, an $id that is a
// mere fragment becomes $anchor, and what draft-07 ignores goes, such as the
// neighbours of a $ref. The order of what stays is kept.
//
// The error is a [*SchemaError]: for a document that is not valid JSON or has
// another dialect, or for a reference to a place that the translation moved.
func Relabel(doc []byte) ([]byte, error) {
	doc, err := objectRoot(doc)
	if err != nil {
		return nil, err
	}
	label := lookupString(doc, "$schema")
	d := dialect{}
	if label != "" {
		if d, err = newLoader((*Options)(nil).withDefaults()).dialect(label); err != nil {
			return nil, &SchemaError{Keyword: "$schema", Err: err}
		}
	}
	r := relabeler{draft7: d.draft7}
	out := r.schema(nil, doc)
	if !d.draft7 {
		return out, nil
	}
	if _, err := Compile(doc, nil); err != nil {
		return out, nil // it refers to documents that are not known here
	}
	if _, err := Compile(out, nil); err != nil {
		return nil, fmt.Errorf("relabelled as draft 2020-12: %w", err)
	}
	return out, nil
}

// A relabeler rewrites the schemas of one document.
type relabeler struct{ draft7 bool }

// schema appends a schema without its label.
func (r relabeler) schema(dst, raw []byte) []byte {
	if raw[0] != '{' {
		return append(dst, raw...)
	}
	ref := r.draft7 && jsonwire.Lookup(raw, "$ref") != nil
	tuple := false
	if items := jsonwire.Lookup(raw, "items"); items != nil {
		tuple = items[0] == '['
	}
	start := len(dst)
	dst = append(dst, '{')
	for o := jsonwire.Members(raw); ; {
		name, value, ok := o.Next()
		if !ok {
			return closeObject(dst, start)
		}
		keyword := jsonwire.Unquote(name)
		switch {
		case keyword == "$schema":
		case !r.draft7:
			dst = r.keep(dst, name, keyword, value)
		case ref && !besideRef(keyword), laterKeyword(keyword):
		default:
			dst = r.translate(dst, name, keyword, value, tuple)
		}
	}
}

// keep appends a member, after a comma, as it is.
func (r relabeler) keep(dst, name []byte, keyword string, value []byte) []byte {
	dst = append(append(append(dst, ','), name...), ':')
	return rewriteSubschemas(dst, keyword, value, r.schema)
}

// besideRef reports whether a member next to a $ref of draft-07 is of use: as
// an annotation, or because it holds what is referred to.
func besideRef(keyword string) bool {
	switch keyword {
	case "$ref", "definitions", "$defs", "title", "description", "default", "examples", "$comment":
		return true
	}
	return false
}

// laterKeyword reports whether a keyword has a meaning only since draft-07.
func laterKeyword(keyword string) bool {
	switch keyword {
	case "prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties",
		"minContains", "maxContains", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary":
		return true
	}
	return false
}

// translate appends a member of a draft-07 schema, after a comma, in the form
// of draft 2020-12.
func (r relabeler) translate(dst, name []byte, keyword string, value []byte, tuple bool) []byte {
	switch {
	case keyword == "items" && string(value) == "[]":
		return dst
	case keyword == "items" && tuple:
		return rewriteSubschemas(append(dst, `,"prefixItems":`...), keyword, value, r.schema)
	case keyword == "additionalItems" && tuple:
		return rewriteSubschemas(append(dst, `,"items":`...), keyword, value, r.schema)
	case keyword == "additionalItems":
		return dst
	case keyword == "dependencies":
		return r.dependencies(dst, value)
	case keyword == "$id" && value[0] == '"':
		return appendID(dst, jsonwire.Unquote(value))
	}
	return r.keep(dst, name, keyword, value)
}

// appendID appends $id and $anchor for an $id of draft-07.
func appendID(dst []byte, id string) []byte {
	base, anchor, _ := strings.Cut(id, "#")
	if base != "" {
		dst = jsonwire.AppendQuote(append(dst, `,"$id":`...), base)
	}
	if anchor != "" {
		dst = jsonwire.AppendQuote(append(dst, `,"$anchor":`...), anchor)
	}
	return dst
}

// dependencies appends the two keywords that dependencies was split into.
func (r relabeler) dependencies(dst, value []byte) []byte {
	names, schemas := []byte{'{'}, []byte{'{'}
	for o := jsonwire.Members(value); ; {
		name, dependent, ok := o.Next()
		if !ok {
			break
		}
		if dependent[0] == '[' {
			names = append(append(append(append(names, ','), name...), ':'), dependent...)
		} else {
			schemas = r.schema(append(append(append(schemas, ','), name...), ':'), dependent)
		}
	}
	if len(names) > 1 {
		dst = append(append(dst, `,"dependentRequired":`...), closeObject(names, 0)...)
	}
	if len(schemas) > 1 {
		dst = append(append(dst, `,"dependentSchemas":`...), closeObject(schemas, 0)...)
	}
	return dst
}
