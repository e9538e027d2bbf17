package schema

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Flatten rewrites an input schema that has allOf, anyOf, oneOf or $ref at its
// root, for which clients are known to drop a tool, as one object with all the
// properties. It is for the list that clients see: the result says less than
// the original, against which arguments are still to be checked. A property
// that several alternatives declare may be what any of them says; one is
// required if all alternatives require it. The object is closed if all
// alternatives are. Other keywords of the alternatives are left out. A schema
// without such a root is returned as it is.
//
// The error is a [*SchemaError] for a document that is not a valid JSON object,
// or whose root leads to itself or out of the document.
func Flatten(doc []byte) ([]byte, error) {
	doc, err := objectRoot(doc)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "$ref"}, func(k string) bool { return jsonwire.Lookup(doc, k) != nil }) {
		return doc, nil
	}
	f := flattener{doc: doc, left: maxFlat, loader: newLoader(Options{})}
	o, err := f.object(doc, 0)
	if err != nil {
		return nil, &SchemaError{Err: err}
	}
	out := f.assemble(o)
	if _, err := Compile(doc, nil); err != nil {
		return out, nil // it refers to documents that are not known here
	}
	if _, err := Compile(out, nil); err != nil {
		return nil, fmt.Errorf("flattened: %w", err)
	}
	return out, nil
}

// The bounds of flattening: how deep alternatives may nest, and how many
// schemas and properties may be looked at.
const (
	maxFlatDepth = 32
	maxFlat      = 5_000
)

var (
	errFlatDepth = errors.New("the root leads to itself, or its alternatives are nested too deep")
	errFlatSize  = errors.New("the root has too many alternatives")
)

// A flattener collects the properties of one document.
type flattener struct {
	*loader // for following references
	doc     []byte
	left    int // of maxFlat
}

// A flatObject is what a schema says about an object, as far as one flat schema
// can say it.
type flatObject struct {
	names    []string            // of the properties, in order
	schemas  map[string][][]byte // what is said about each; several are alternatives
	required []string
	closed   bool
}

func (o *flatObject) add(name string, schemas ...[]byte) {
	if _, ok := o.schemas[name]; !ok {
		o.names = append(o.names, name)
	}
	for _, s := range schemas {
		if !slices.ContainsFunc(o.schemas[name], func(old []byte) bool { return bytes.Equal(old, s) }) {
			o.schemas[name] = append(o.schemas[name], s)
		}
	}
}

// object collects what a schema says, with what its alternatives say.
func (f *flattener) object(raw []byte, depth int) (*flatObject, error) {
	if depth > maxFlatDepth {
		return nil, errFlatDepth
	}
	o, err := f.own(raw)
	if err != nil || raw[0] != '{' {
		return o, err
	}
	if ref := lookupString(raw, "$ref"); ref != "" {
		target, err := f.resolve(ref)
		if err != nil {
			return nil, err
		}
		other, err := f.object(target, depth+1)
		if err != nil {
			return nil, err
		}
		o = both(o, other)
	}
	for a := jsonwire.Elements(jsonwire.Lookup(raw, "allOf")); ; {
		sub, ok := a.Next()
		if !ok {
			break
		}
		other, err := f.object(sub, depth+1)
		if err != nil {
			return nil, err
		}
		o = both(o, other)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		other, err := f.alternatives(jsonwire.Lookup(raw, keyword), depth)
		if err != nil {
			return nil, err
		}
		if other != nil {
			o = both(o, other)
		}
	}
	return o, nil
}

// own collects what a schema says itself.
func (f *flattener) own(raw []byte) (*flatObject, error) {
	o := &flatObject{schemas: map[string][][]byte{}}
	for m := jsonwire.Members(jsonwire.Lookup(raw, "properties")); ; {
		name, sub, ok := m.Next()
		if !ok {
			break
		}
		if f.left--; f.left < 0 {
			return nil, errFlatSize
		}
		o.add(jsonwire.Unquote(name), sub)
	}
	for a := jsonwire.Elements(jsonwire.Lookup(raw, "required")); ; {
		name, ok := a.Next()
		if !ok {
			break
		}
		if name[0] == '"' {
			o.required = append(o.required, jsonwire.Unquote(name))
		}
	}
	o.closed = string(jsonwire.Lookup(raw, "additionalProperties")) == "false" && jsonwire.Lookup(raw, "patternProperties") == nil
	if f.left--; f.left < 0 {
		return nil, errFlatSize
	}
	return o, nil
}

// resolve finds a schema in the document.
func (f *flattener) resolve(ref string) ([]byte, error) {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || !strings.HasPrefix(ref, "#/") {
		return nil, fmt.Errorf("the root leads to %q, which is not a JSON Pointer into the document", clip(ref))
	}
	raw := f.doc
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if raw = f.child(raw, unescapeStep(step)); raw == nil {
			return nil, fmt.Errorf("the root leads to %q, which is not there", clip(ref))
		}
	}
	return raw, nil
}

// both joins two schemas that an object has to keep to.
func both(a, b *flatObject) *flatObject {
	o := &flatObject{schemas: map[string][][]byte{}, closed: a.closed || b.closed}
	for _, side := range []struct{ own, other *flatObject }{{a, b}, {b, a}} {
		for _, name := range side.own.names {
			if _, ok := side.other.schemas[name]; ok || !side.other.closed {
				o.add(name, side.own.schemas[name]...)
			}
		}
	}
	for _, name := range slices.Concat(a.required, b.required) {
		if !slices.Contains(o.required, name) {
			o.required = append(o.required, name)
		}
	}
	return o
}

// alternatives joins the schemas of an array of which an object has to keep to
// one. It is nil if there are none that an object could keep to.
func (f *flattener) alternatives(list []byte, depth int) (*flatObject, error) {
	var o *flatObject
	for a := jsonwire.Elements(list); ; {
		sub, ok := a.Next()
		if !ok {
			return o, nil
		}
		if t := jsonwire.Lookup(sub, "type"); t != nil && t[0] == '"' && !jsonwire.EqualString(t, "object") {
			continue
		}
		other, err := f.object(sub, depth+1)
		if err != nil {
			return nil, err
		}
		if o == nil {
			o = other
			continue
		}
		for _, name := range other.names {
			o.add(name, other.schemas[name]...)
		}
		o.required = slices.DeleteFunc(o.required, func(name string) bool { return !slices.Contains(other.required, name) })
		o.closed = o.closed && other.closed
	}
}

// assemble writes the flat schema, keeping what else is at the root.
func (f *flattener) assemble(o *flatObject) []byte {
	dst := []byte(`{"type":"object"`)
	for m := jsonwire.Members(f.doc); ; {
		name, value, ok := m.Next()
		if !ok {
			break
		}
		switch jsonwire.Unquote(name) {
		case "type", "allOf", "anyOf", "oneOf", "$ref", "properties", "required":
			continue
		case "additionalProperties":
			if o.closed {
				continue
			}
		}
		dst = append(append(append(append(dst, ','), name...), ':'), value...)
	}
	dst = append(dst, `,"properties":{`...)
	for i, name := range o.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuote(dst, name), ':')
		dst = appendAlternatives(dst, o.schemas[name])
	}
	dst = append(dst, '}')
	if len(o.required) > 0 {
		dst = append(dst, `,"required":[`...)
		for i, name := range o.required {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonwire.AppendQuote(dst, name)
		}
		dst = append(dst, ']')
	}
	if o.closed {
		dst = append(dst, `,"additionalProperties":false`...)
	}
	return append(dst, '}')
}

// appendAlternatives appends a schema for a property that may be what any of
// several says. Where each says which strings it may be, as for a field that
// tells alternatives apart, the result is one list of them.
func appendAlternatives(dst []byte, schemas [][]byte) []byte {
	if len(schemas) == 1 {
		return append(dst, schemas[0]...)
	}
	if values := stringValues(schemas); values != nil {
		dst = append(dst, `{"type":"string","enum":[`...)
		dst = append(dst, bytes.Join(values, []byte{','})...)
		return append(dst, "]}"...)
	}
	dst = append(dst, `{"anyOf":[`...)
	dst = append(dst, bytes.Join(schemas, []byte{','})...)
	return append(dst, "]}"...)
}

// stringValues lists the strings that schemas allow, if each says so by const
// or enum.
func stringValues(schemas [][]byte) [][]byte {
	var values [][]byte
	add := func(v []byte) bool {
		if v[0] != '"' {
			return false
		}
		if !slices.ContainsFunc(values, func(old []byte) bool { return jsonwire.EqualStrings(old, v) }) {
			values = append(values, v)
		}
		return true
	}
	for _, s := range schemas {
		if v := jsonwire.Lookup(s, "const"); v != nil {
			if !add(v) {
				return nil
			}
			continue
		}
		enum := jsonwire.Lookup(s, "enum")
		if len(enum) < 3 {
			return nil
		}
		for a := jsonwire.Elements(enum); ; {
			v, ok := a.Next()
			if !ok {
				break
			}
			if !add(v) {
				return nil
			}
		}
	}
	return values
}
