package schema

import (
	"errors"
	"fmt"
	"reflect"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// CodecOptions say how a codec checks what it decodes. Nil and the zero value
// are the defaults. Options.NullAsAbsent is always on for Decode, and decides
// only about the schema that [Codec.Compiled] returns.
type CodecOptions struct {
	Options
}

// A Codec joins a Go type and a schema: it checks JSON and decodes it into a
// value in one pass, and encodes values. It is immutable and may be used by any
// number of goroutines.
type Codec[T any] struct {
	schema *Schema
	plan   *plan
	// derived says that the plan checks all that the schema demands, so that
	// one pass is enough.
	derived bool
}

// NewCodec derives the schema from T.
//
// The names, the order and the presence of members follow the json tags, as
// they do for encoding/json, embedded structs included. A field is optional if
// it is a pointer, or has omitempty, omitzero or a default; all others are
// required. Objects are closed: additionalProperties is false. A struct that
// contains itself is referred to through $defs. A []byte is base64, a time.Time
// is a date-time, an encoding.TextMarshaler is a string. An interface, a
// json.RawMessage and a json.Marshaler may be anything; a number in an any is
// decoded as a json.Number.
//
// A jsonschema tag adds keywords, separated by commas:
//
//	title, description, pattern, format                       as text
//	default, const, example, enum with | between the values   text for strings, JSON otherwise
//	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
//	minLength, maxLength, minItems, maxItems, minProperties, maxProperties
//	header                                                    the x-mcp-header annotation
//	required, optional, nullable, uniqueItems, deprecated, readOnly, writeOnly
//	items.minimum and so on                                   the same for elements
//
// The keyword description may be left out at the start. A part that is neither
// a keyword nor looks like one continues the text before it:
//
//	City string `json:"city" jsonschema:"name of the city, in English,minLength=1"`
func NewCodec[T any](o *CodecOptions) (*Codec[T], error) {
	t := reflect.TypeFor[T]()
	d := newDeriver(t)
	p, err := d.plan(t, nil)
	if err != nil {
		return nil, err
	}
	doc, err := d.schema(p)
	if err != nil {
		return nil, err
	}
	s, err := Compile(doc, o.options())
	if err != nil {
		return nil, err
	}
	c := &Codec[T]{schema: s, plan: p, derived: true}
	attach(p, s.root)
	return c, c.setDefaults(d)
}

// NewCodecFor uses a schema that is given, whose bytes are kept as they are. A
// member that the schema allows and T does not have is checked and left out; a
// field of T that the schema does not allow is an error. The defaults are those
// of the schema.
func NewCodecFor[T any](schema []byte, o *CodecOptions) (*Codec[T], error) {
	s, err := Compile(schema, o.options())
	if err != nil {
		return nil, err
	}
	t := reflect.TypeFor[T]()
	d := newDeriver(t)
	p, err := d.plan(t, nil)
	if err != nil {
		return nil, err
	}
	c := &Codec[T]{schema: s, plan: p}
	if err := adopt(p, s.root, ""); err != nil {
		return nil, err
	}
	for _, sp := range d.structs {
		sp.closed = false
	}
	return c, c.setDefaults(d)
}

func (o *CodecOptions) options() *Options {
	if o == nil {
		return nil
	}
	return &o.Options
}

// Schema returns the schema as it is listed. It must not be modified.
func (c *Codec[T]) Schema() []byte { return c.schema.Raw() }

// Compiled returns the compiled schema.
func (c *Codec[T]) Compiled() *Schema { return c.schema }

// Decode checks raw, which must be valid JSON as for [Schema.Validate], and
// decodes it into v, which it overwrites as a whole. The error is a
// [*ValidationError].
//
// Names match exactly, and one that is not declared, or there twice, is
// refused. Null for an optional member that does not allow it counts as absent.
// Defaults are filled in. Integers keep each digit; one that the field cannot
// hold is refused. On an error v is in no particular state.
func (c *Codec[T]) Decode(raw []byte, v *T) error {
	raw = trim(raw)
	if len(raw) == 0 {
		return c.schema.Validate(raw)
	}
	var zero T
	*v = zero
	if !c.derived {
		if err := c.check(raw); err != nil {
			return err
		}
	}
	b := binding{evaluation: evaluation{schema: c.schema, doc: raw, nullAbsent: true, budget: c.schema.limits.budget(raw)}}
	_, ok := b.value(c.plan, 0, reflect.ValueOf(v).Elem())
	b.release()
	if ok {
		return nil
	}
	return c.explain(&b)
}

// check evaluates an explicit schema.
func (c *Codec[T]) check(raw []byte) error {
	e := evaluation{schema: c.schema, doc: raw, nullAbsent: true, budget: c.schema.limits.budget(raw)}
	_, ok := e.value(c.schema.root, 0, noMarks)
	e.release()
	if ok {
		return nil
	}
	return c.schema.explain(raw, true, e.exhausted)
}

// explain says why a value was refused: what the schema has against it, or else
// why the Go type cannot take it.
func (c *Codec[T]) explain(b *binding) error {
	if err := c.schema.explain(b.doc, true, b.exhausted); len(err.Violations) > 0 {
		return err
	}
	r := report{doc: b.doc, noun: c.schema.noun, max: 1}
	r.refused(b.pos, b.reason)
	return r.result(false)
}

// Append appends the JSON for v. Members come in the order of the fields,
// members of maps in that of their names. Nothing is escaped that JSON does not
// ask for. A nil slice is [] and a nil map {}; a nil pointer is left out of a
// struct, or null where the schema allows it. The error says which value has no
// JSON form.
func (c *Codec[T]) Append(dst []byte, v *T) ([]byte, error) {
	return appendPlan(dst, c.plan, reflect.ValueOf(v).Elem(), jsonwire.DefaultDepth)
}

// attach gives a derived plan the nodes that were compiled from it.
func attach(p *plan, n *node) {
	if n.link != nil {
		n = n.link
	}
	switch p.kind {
	case kindPointer:
		attach(p.elem, n)
	case kindStruct:
		attachFields(p.fields, structNode(n))
	case kindSlice, kindArray, kindMap:
		attachContainer(p, n)
	default:
		if n.text != nil || n.number != nil || n.values != nil {
			p.check = n
		}
	}
}

// structNode looks through the alternative of null that a reference may have.
func structNode(n *node) *node {
	if n.object == nil && n.inner != nil && n.inner.anyOf != nil {
		n = n.inner.anyOf[0]
		if n.link != nil {
			n = n.link
		}
	}
	return n
}

func attachFields(s *structPlan, n *node) {
	if s.node != nil {
		return
	}
	s.node = n
	for i := range s.fields {
		f := &s.fields[i]
		attach(f.plan, n.object.members[n.object.index([]byte(f.name))].node)
	}
}

func attachContainer(p *plan, n *node) {
	if a := n.array; a != nil {
		p.minCount, p.maxCount = a.minItems, a.maxItems
		if a.unique {
			p.whole = n
		}
		attach(p.elem, a.items)
	}
	if o := n.object; o != nil {
		p.minCount, p.maxCount = o.minProperties, o.maxProperties
		attach(p.elem, o.additional)
	}
}

// adopt takes from an explicit schema what the plan needs to know: which
// members may be left out, which may be null, and the defaults.
func adopt(p *plan, n *node, path string) error {
	if n.link != nil {
		n = n.link
	}
	p.nullable = allowedTypes(n)&typeNull != 0
	switch p.kind {
	case kindPointer:
		return adopt(p.elem, n, path)
	case kindSlice, kindArray:
		if n.array != nil && n.array.items != nil {
			return adopt(p.elem, n.array.items, path+"/*")
		}
	case kindStruct:
		if n.object != nil && p.fields.node == nil {
			p.fields.node = n
			return adoptFields(p.fields, n, path)
		}
	}
	return nil
}

func adoptFields(s *structPlan, n *node, path string) error {
	o := n.object
	for i := range s.fields {
		f := &s.fields[i]
		at := string(appendPointer([]byte(path), f.name))
		f.optional, f.fallback = true, nil
		index := o.index([]byte(f.name))
		if index < 0 || o.members[index].node == nil {
			if o.additional != nil && o.additional.never {
				return fmt.Errorf("the schema does not allow the member %q, which the type %s has", at, s.typ)
			}
			continue
		}
		sub := o.members[index].node
		f.fallback = jsonwire.Lookup(sub.raw, "default")
		if err := adopt(f.plan, sub, at); err != nil {
			return err
		}
	}
	return nil
}

// setDefaults decodes the defaults once, to see that they conform and to keep
// those that can be copied.
func (c *Codec[T]) setDefaults(d *deriver) error {
	var faults []error
	for _, s := range d.structs {
		for i := range s.fields {
			f := &s.fields[i]
			if f.fallback == nil {
				continue
			}
			s.defaults = true
			v := reflect.New(f.plan.typ).Elem()
			b := binding{evaluation: evaluation{schema: c.schema, doc: f.fallback, nullAbsent: true, budget: c.schema.limits.budget(f.fallback)}}
			_, ok := b.value(f.plan, 0, v)
			b.release()
			if !ok {
				faults = append(faults, fmt.Errorf("%s: the default of %q does not conform: %s", s.typ, f.name, b.why()))
				continue
			}
			if f.plan.scalar() {
				f.preset = v
			}
		}
	}
	return errors.Join(faults...)
}

// why says what a binding refused, for errors at construction.
func (b *binding) why() string {
	if b.reason == "" {
		return "it breaks a keyword of its own schema"
	}
	return b.reason
}

// scalar reports whether a value can be copied without sharing memory.
func (p *plan) scalar() bool {
	switch p.kind {
	case kindBool, kindInt, kindUint, kindFloat, kindString, kindNumber, kindTime:
		return true
	}
	return false
}
