package schema

import (
	"errors"
	"fmt"
	"slices"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// member returns the index of a name among those that the schema mentions,
// adding it if it is new.
func (b *builder) member(name string) (int, error) {
	o := b.object()
	if i := o.index([]byte(name)); i >= 0 {
		return i, nil
	}
	if err := b.count(1); err != nil {
		return 0, err
	}
	o.members = append(o.members, member{name: name, quoted: string(jsonwire.AppendQuote(nil, name))})
	last := len(o.members) - 1
	switch {
	case o.byName != nil:
		o.byName[name] = last
	case len(o.members) > fewMembers:
		o.byName = make(map[string]int)
		for i, m := range o.members {
			o.byName[m.name] = i
		}
	}
	return last, nil
}

// properties compiles the keyword of that name.
func (b *builder) properties(value []byte) error {
	if value[0] != '{' {
		return b.expected("properties", value, "an object")
	}
	b.object()
	for o := jsonwire.Members(value); ; {
		quoted, raw, ok := o.Next()
		if !ok {
			return nil
		}
		name := jsonwire.Unquote(quoted)
		i, err := b.member(name)
		if err != nil {
			return b.fail("properties", err)
		}
		if b.node.object.members[i].node != nil {
			return b.fail("properties", fmt.Errorf("%q is there twice", clip(name)))
		}
		n, err := b.sub(raw)
		if err != nil {
			return err
		}
		b.node.object.members[i].node = n
	}
}

func (b *builder) patternProperties(value []byte) error {
	if value[0] != '{' {
		return b.expected("patternProperties", value, "an object")
	}
	for o := jsonwire.Members(value); ; {
		quoted, raw, ok := o.Next()
		if !ok {
			return nil
		}
		p, err := b.regexp("patternProperties", quoted)
		if err != nil {
			return err
		}
		n, err := b.sub(raw)
		if err != nil {
			return err
		}
		b.object().patterns = append(b.object().patterns, patternMember{p, n})
	}
}

// dependencies compiles dependentRequired, dependentSchemas and the keyword
// that was both before.
func (b *builder) dependencies(keyword string, value []byte) error {
	if value[0] != '{' {
		return b.expected(keyword, value, "an object")
	}
	for o := jsonwire.Members(value); ; {
		quoted, raw, ok := o.Next()
		if !ok {
			return nil
		}
		i, err := b.member(jsonwire.Unquote(quoted))
		if err != nil {
			return b.fail(keyword, err)
		}
		d := dependency{member: i}
		if raw[0] == '[' && keyword != "dependentSchemas" {
			d.required, err = b.names(keyword, raw)
		} else if keyword == "dependentRequired" {
			return b.expected(keyword, raw, "an array of names")
		} else {
			d.node, err = b.sub(raw)
		}
		if err != nil {
			return err
		}
		b.object().dependencies = append(b.object().dependencies, d)
	}
}

// names reads an array of names, as the indices of the members.
func (b *builder) names(keyword string, value []byte) ([]int, error) {
	if value[0] != '[' {
		return nil, b.expected(keyword, value, "an array of names")
	}
	var indices []int
	for a := jsonwire.Elements(value); ; {
		raw, ok := a.Next()
		if !ok {
			break
		}
		if raw[0] != '"' {
			return nil, b.expected(keyword, raw, "a name")
		}
		i, err := b.member(jsonwire.Unquote(raw))
		if err != nil {
			return nil, b.fail(keyword, err)
		}
		if err := b.count(1); err != nil {
			return nil, b.fail(keyword, err)
		}
		indices = append(indices, i)
	}
	sorted := slices.Sorted(slices.Values(indices))
	for i := range sorted {
		if i > 0 && sorted[i] == sorted[i-1] {
			return nil, b.fail(keyword, fmt.Errorf("%q is listed twice", clip(b.node.object.members[sorted[i]].name)))
		}
	}
	return indices, nil
}

func (b *builder) finishRequired() (err error) {
	if b.required == nil {
		return nil
	}
	indices, err := b.names("required", b.required)
	if err != nil || indices == nil {
		return err
	}
	set := newBitset(len(b.node.object.members))
	for _, i := range indices {
		set.add(i)
	}
	b.object().required = set
	return nil
}

// finishMembers drops object rules that say nothing.
func (b *builder) finishMembers() {
	o := b.node.object
	if o != nil && len(o.members) == 0 && o.patterns == nil && o.additional == nil && o.names == nil &&
		o.minProperties == 0 && o.maxProperties < 0 {
		b.node.object = nil
	}
}

// validationKeyword compiles the keywords that look at the value alone.
func (b *builder) validationKeyword(keyword string, value []byte) (known bool, err error) {
	switch keyword {
	case "type":
		b.node.types, err = b.types(value)
	case "enum":
		err = b.enum(value)
	case "const":
		b.node.values = b.both(b.node.values, b.valueSet([][]byte{value}, "const"))
	case "required":
		b.required = value
	case "dependentRequired":
		if b.resource.dialect.draft7 {
			return false, nil
		}
		err = b.dependencies(keyword, value)
	case "minContains", "maxContains":
		if b.resource.dialect.draft7 {
			return false, nil
		}
		if keyword == "minContains" {
			b.minContains = value
		} else {
			b.maxContains = value
		}
	case "minProperties":
		b.object().minProperties, err = b.length(keyword, value)
	case "maxProperties":
		b.object().maxProperties, err = b.length(keyword, value)
	case "minItems":
		b.array().minItems, err = b.length(keyword, value)
	case "maxItems":
		b.array().maxItems, err = b.length(keyword, value)
	case "uniqueItems":
		b.array().unique, err = b.boolean(keyword, value)
	case "minLength":
		b.text().minLength, err = b.length(keyword, value)
	case "maxLength":
		b.text().maxLength, err = b.length(keyword, value)
	case "pattern":
		err = b.pattern(value)
	default:
		return b.numberKeyword(keyword, value)
	}
	return true, err
}

func (b *builder) numberKeyword(keyword string, value []byte) (known bool, err error) {
	var slot **bound
	switch keyword {
	case "minimum":
		slot = &b.number().minimum
	case "maximum":
		slot = &b.number().maximum
	case "exclusiveMinimum":
		slot = &b.number().exclusiveMinimum
	case "exclusiveMaximum":
		slot = &b.number().exclusiveMaximum
	case "multipleOf":
		slot = &b.number().multipleOf
	default:
		return false, nil
	}
	if typeOf(value[0]) != typeNumber {
		return true, b.expected(keyword, value, "a number")
	}
	*slot = newBound(value)
	if keyword == "multipleOf" && (*slot).dec.sign() <= 0 {
		return true, b.fail(keyword, errors.New("expected a number greater than 0"))
	}
	return true, nil
}

// length reads a keyword whose value is a count.
func (b *builder) length(keyword string, value []byte) (int, error) {
	if typeOf(value[0]) != typeNumber {
		return 0, b.expected(keyword, value, "a number")
	}
	n, ok := parseCount(value)
	if !ok {
		return 0, b.fail(keyword, errors.New("expected an integer that is not negative"))
	}
	return n, nil
}

func (b *builder) boolean(keyword string, value []byte) (bool, error) {
	if typeOf(value[0]) != typeBoolean {
		return false, b.expected(keyword, value, "a boolean")
	}
	return value[0] == 't', nil
}

// types reads type: one name or several.
func (b *builder) types(value []byte) (typeSet, error) {
	if value[0] == '"' {
		return b.typeName(value)
	}
	if value[0] != '[' {
		return 0, b.expected("type", value, "a string or an array of strings")
	}
	var set typeSet
	for a := jsonwire.Elements(value); ; {
		raw, ok := a.Next()
		if !ok {
			break
		}
		if raw[0] != '"' {
			return 0, b.expected("type", raw, "a string")
		}
		t, err := b.typeName(raw)
		if err != nil {
			return 0, err
		}
		if set&t != 0 {
			return 0, b.fail("type", fmt.Errorf("%q is listed twice", jsonwire.Unquote(raw)))
		}
		set |= t
	}
	if set == 0 {
		return 0, b.fail("type", errors.New("expected at least one type, found an empty array"))
	}
	return set, nil
}

func (b *builder) typeName(quoted []byte) (typeSet, error) {
	name := jsonwire.Unquote(quoted)
	t, ok := typeNamed(name)
	if !ok {
		return 0, b.fail("type", fmt.Errorf("unknown type %q: want %s", clip(name), enumerate(typeNames(), "or")))
	}
	return t, nil
}

func (b *builder) pattern(value []byte) error {
	if value[0] != '"' {
		return b.expected("pattern", value, "a string")
	}
	p, err := b.regexp("pattern", value)
	if err != nil {
		return err
	}
	b.text().pattern = p
	return nil
}

// regexp compiles a pattern, which counts by its size.
func (b *builder) regexp(keyword string, quoted []byte) (*pattern, error) {
	p, err := compilePattern(jsonwire.Unquote(quoted))
	if err == nil {
		err = b.count(p.size / 4)
	}
	if err != nil {
		return nil, b.fail(keyword, err)
	}
	return p, nil
}

func (b *builder) format(value []byte) error {
	if value[0] != '"' {
		return b.expected("format", value, "a string")
	}
	if f := formatNamed(jsonwire.Unquote(value)); f != nil {
		b.text().format = f
	}
	return nil
}

func (b *builder) enum(value []byte) error {
	if value[0] != '[' {
		return b.expected("enum", value, "an array")
	}
	var list [][]byte
	for a := jsonwire.Elements(value); ; {
		raw, ok := a.Next()
		if !ok {
			break
		}
		if err := b.count(1); err != nil {
			return b.fail("enum", err)
		}
		list = append(list, raw)
	}
	b.node.values = b.both(b.node.values, b.valueSet(list, "enum"))
	return nil
}

func (b *builder) valueSet(list [][]byte, keyword string) *valueSet {
	return newValueSet(list, keyword, b.hasher)
}

// both joins const and enum of one schema, by keeping the values that are in
// both.
func (b *builder) both(x, y *valueSet) *valueSet {
	if x == nil {
		return y
	}
	var list [][]byte
	budget := 16 * len(b.raw) // enough for what is part of the schema
	for _, v := range x.values {
		if y.has(v, &budget) {
			list = append(list, v)
		}
	}
	return b.valueSet(list, "const")
}
