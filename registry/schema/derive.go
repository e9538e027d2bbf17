package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A deriver makes plans for types, and the schema that says the same as they.
type deriver struct {
	root      reflect.Type
	structs   map[reflect.Type]*structPlan
	open      []reflect.Type        // the structs that are being looked at
	recursive map[reflect.Type]bool // those that contain themselves
	named     []*structPlan         // those that get a place in $defs
}

func newDeriver(t reflect.Type) *deriver {
	return &deriver{root: t, structs: map[reflect.Type]*structPlan{}, recursive: map[reflect.Type]bool{}}
}

// plan makes the plan for a type in a place that a tag describes.
func (d *deriver) plan(t reflect.Type, tg *tag) (*plan, error) {
	k, ok := kindOf(t)
	if !ok {
		return nil, fmt.Errorf("the type %s has no JSON form", t)
	}
	p := &plan{kind: k, typ: t, types: k.types(), maxCount: -1}
	// What may be anything may be null as well.
	p.nullable = tg.flag("nullable") || p.types == typeAny && k != kindPointer
	var err error
	switch k {
	case kindPointer:
		p.elem, err = d.plan(t.Elem(), tg)
		if err == nil {
			p.types = p.elem.types
		}
		return p, err
	case kindSlice, kindArray:
		p.elem, err = d.plan(t.Elem(), tg.forItems())
	case kindMap:
		if err = checkKey(t.Key()); err == nil {
			p.elem, err = d.plan(t.Elem(), tg.forItems())
		}
	case kindStruct:
		p.fields, err = d.structPlan(t)
	}
	if err != nil {
		return nil, err
	}
	if p.elem != nil {
		p.size = 1 + int(t.Elem().Size()>>6)
	}
	return p, tg.check(p.types)
}

// checkKey refuses the types of map keys that are not read and written here.
func checkKey(t reflect.Type) error {
	if ownText(t) {
		return nil
	}
	switch k, _ := kindOf(t); k {
	case kindString, kindInt, kindUint:
		return nil
	}
	return fmt.Errorf("a map with keys of type %s has no JSON form: want a string, an integer or an encoding.TextMarshaler", t)
}

// structPlan makes the plan for a struct type, once.
func (d *deriver) structPlan(t reflect.Type) (*structPlan, error) {
	if s, ok := d.structs[t]; ok {
		if slices.Contains(d.open, t) {
			d.recursive[t] = true
		}
		return s, nil
	}
	s := &structPlan{typ: t, closed: true}
	d.structs[t] = s
	d.open = append(d.open, t)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	fields, err := jsonFields(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	s.required = newBitset(len(fields))
	for i, f := range fields {
		p, err := d.fieldPlan(f)
		if err != nil {
			return nil, fmt.Errorf("%s, field %s: %w", t, f.Name, err)
		}
		if !p.optional {
			s.required.add(i)
		}
		s.fields = append(s.fields, p)
	}
	if len(s.fields) > fewMembers {
		s.byName = map[string]int{}
		for i, f := range s.fields {
			s.byName[f.name] = i
		}
	}
	return s, nil
}

func (d *deriver) fieldPlan(f goField) (fieldPlan, error) {
	tg, err := fieldTag(f.StructField)
	if err != nil {
		return fieldPlan{}, fmt.Errorf("jsonschema tag: %w", err)
	}
	p, err := d.plan(f.Type, tg)
	if err != nil {
		return fieldPlan{}, err
	}
	fp := fieldPlan{name: f.name, plan: p, tag: tg, index: f.path[0]}
	fp.quoted = string(jsonwire.AppendQuote(nil, f.name))
	if len(f.path) > 1 {
		fp.path = f.path
	}
	text, hasDefault := tg.value("default")
	fp.optional = p.kind == kindPointer || f.omitEmpty || f.omitZero || hasDefault || tg.flag("optional")
	if tg.flag("required") {
		fp.optional = false
	}
	if hasDefault {
		if fp.fallback, err = literal(text, p.types); err != nil {
			return fp, fmt.Errorf("jsonschema tag: default: %w", err)
		}
	}
	fp.omit = omission(f, p)
	return fp, nil
}

// omission is the rule by which a field is left out when a struct is written.
func omission(f goField, p *plan) func(reflect.Value) bool {
	zero := reflect.Value.IsZero
	if f.Type.Implements(reflect.TypeFor[isZeroer]()) {
		zero = func(v reflect.Value) bool { return v.Interface().(isZeroer).IsZero() }
	}
	switch {
	case f.omitEmpty && f.omitZero:
		return func(v reflect.Value) bool { return isEmpty(v) || zero(v) }
	case f.omitEmpty:
		return isEmpty
	case f.omitZero:
		return zero
	case p.kind == kindPointer && !p.nullable:
		// The schema does not allow null, so a pointer to nothing is nothing.
		return reflect.Value.IsNil
	}
	return nil
}

// isZeroer is what encoding/json asks for omitzero.
type isZeroer interface{ IsZero() bool }

// isEmpty is what encoding/json means by omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// schema writes the schema of the root, with the structs that contain
// themselves in $defs.
func (d *deriver) schema(p *plan) ([]byte, error) {
	dst, err := d.appendMembers([]byte{'{'}, p, nil, true)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(d.named); i++ { // it grows on the way
		s := d.named[i]
		if i == 0 {
			dst = append(dst, `,"$defs":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = jsonwire.AppendQuote(dst, s.def)
		dst = append(dst, `:{"type":"object",`...)
		if dst, err = d.appendStruct(dst, s); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	if d.named != nil {
		dst = append(dst, '}')
	}
	return closeObject(dst, 0), nil
}

// closeObject ends the object that starts at an offset. All its members were
// written with a comma before them, of which the first is one too many.
func closeObject(dst []byte, start int) []byte {
	if len(dst) > start+1 {
		dst = slices.Delete(dst, start+1, start+2)
	}
	return append(dst, '}')
}

// appendObject appends the schema for a plan.
func (d *deriver) appendObject(dst []byte, p *plan, tg *tag) ([]byte, error) {
	start := len(dst)
	dst, err := d.appendMembers(append(dst, '{'), p, tg, false)
	if err != nil {
		return nil, err
	}
	return closeObject(dst, start), nil
}

// appendMembers appends the members of a schema, each after a comma.
func (d *deriver) appendMembers(dst []byte, p *plan, tg *tag, root bool) ([]byte, error) {
	if p.kind == kindPointer {
		inner := *p.elem
		inner.nullable = p.nullable
		return d.appendMembers(dst, &inner, tg, root)
	}
	if p.kind == kindStruct && d.recursive[p.typ] && !root {
		return d.appendRef(dst, p, tg)
	}
	if p.types != typeAny {
		dst = append(dst, `,"type":`...)
		dst = appendType(dst, p.types, p.nullable)
	}
	dst = appendImplied(dst, p, tg)
	dst, err := tg.appendKeywords(dst, p.types)
	if err != nil {
		return nil, fmt.Errorf("jsonschema tag: %w", err)
	}
	switch p.kind {
	case kindSlice, kindArray, kindMap:
		name := `,"items":`
		if p.kind == kindMap {
			name = `,"properties":{},"additionalProperties":`
		}
		dst, err = d.appendObject(append(dst, name...), p.elem, tg.forItems())
	case kindStruct:
		dst, err = d.appendStruct(append(dst, ','), p.fields)
	}
	return dst, err
}

func appendType(dst []byte, types typeSet, nullable bool) []byte {
	name := `"` + types.String() + `"`
	if nullable {
		return append(dst, `[`+name+`,"null"]`...)
	}
	return append(dst, name...)
}

// appendRef appends a reference to a struct that contains itself.
func (d *deriver) appendRef(dst []byte, p *plan, tg *tag) ([]byte, error) {
	ref := "#"
	if p.typ != d.root {
		if p.fields.def == "" {
			p.fields.def = d.defName(p.typ)
			d.named = append(d.named, p.fields)
		}
		ref = "#/$defs/" + p.fields.def
	}
	if p.nullable {
		dst = append(dst, `,"anyOf":[{"$ref":`...)
		dst = jsonwire.AppendQuote(dst, ref)
		dst = append(dst, `},{"type":"null"}]`...)
	} else {
		dst = append(dst, `,"$ref":`...)
		dst = jsonwire.AppendQuote(dst, ref)
	}
	return tg.appendKeywords(dst, typeObject)
}

// defName is the name of a type in $defs, without what a generic or local type
// has beyond letters and digits.
func (d *deriver) defName(t reflect.Type) string {
	base := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, t.Name())
	if base == "" {
		base = "Struct"
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(d.named, func(s *structPlan) bool { return s.def == name })
	}
	name := base
	for i := 2; taken(name); i++ {
		name = base + strconv.Itoa(i)
	}
	return name
}

// appendImplied appends what the Go type itself demands.
func appendImplied(dst []byte, p *plan, tg *tag) []byte {
	switch p.kind {
	case kindTime:
		if _, ok := tg.value("format"); !ok {
			dst = append(dst, `,"format":"date-time"`...)
		}
	case kindBytes:
		dst = append(dst, `,"contentEncoding":"base64"`...)
	case kindArray:
		dst = appendCount(dst, "minItems", p.typ.Len(), tg)
		dst = appendCount(dst, "maxItems", p.typ.Len(), tg)
	case kindInt:
		if bits := p.typ.Bits(); bits < 64 {
			dst = appendLimit(dst, "minimum", strconv.FormatInt(-1<<(bits-1), 10), tg)
			dst = appendLimit(dst, "maximum", strconv.FormatInt(1<<(bits-1)-1, 10), tg)
		}
	case kindUint:
		dst = appendLimit(dst, "minimum", "0", tg)
		if bits := p.typ.Bits(); bits < 64 {
			dst = appendLimit(dst, "maximum", strconv.FormatUint(math.MaxUint64>>(64-bits), 10), tg)
		}
	}
	return dst
}

// appendLimit appends a limit unless the tag has its own.
func appendLimit(dst []byte, name, value string, tg *tag) []byte {
	if _, ok := tg.value(name); ok {
		return dst
	}
	return append(dst, `,"`+name+`":`+value...)
}

func appendCount(dst []byte, name string, n int, tg *tag) []byte {
	return appendLimit(dst, name, strconv.Itoa(n), tg)
}

// appendStruct appends the members of the schema of a struct, without the
// braces around them.
func (d *deriver) appendStruct(dst []byte, s *structPlan) ([]byte, error) {
	dst = append(dst, `"properties":{`...)
	var required []string
	for i := range s.fields {
		f := &s.fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, f.quoted...)
		dst = append(dst, ':')
		var err error
		if dst, err = d.appendObject(dst, f.plan, f.tag); err != nil {
			return nil, fmt.Errorf("%s, property %q: %w", s.typ, f.name, err)
		}
		if !f.optional {
			required = append(required, f.quoted)
		}
	}
	dst = append(dst, '}')
	if required != nil {
		dst = append(dst, `,"required":[`+strings.Join(required, ",")+`]`...)
	}
	return append(dst, `,"additionalProperties":false`...), nil
}
