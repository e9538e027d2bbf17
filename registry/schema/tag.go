package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A tag is what the jsonschema tag of a field says.
type tag struct {
	values map[string]string // keywords with a value, as they are written
	flags  map[string]bool   // those without
	items  *tag              // what is said about the elements
}

// tagKeyword says which of the types a keyword of a tag may be used for.
func tagKeyword(name string) (types typeSet, ok bool) {
	switch name {
	case "title", "description", "default", "example", "header":
		return typeAny, true
	case "enum", "const":
		return typeString | typeInteger | typeNumber | typeBoolean, true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return typeInteger | typeNumber, true
	case "minLength", "maxLength", "pattern", "format":
		return typeString, true
	case "minItems", "maxItems":
		return typeArray, true
	case "minProperties", "maxProperties":
		return typeObject, true
	}
	return 0, false
}

// tagFlag says which of the types a word of a tag may be used for.
func tagFlag(name string) (types typeSet, ok bool) {
	switch name {
	case "required", "optional", "nullable", "deprecated", "readOnly", "writeOnly":
		return typeAny, true
	case "uniqueItems":
		return typeArray, true
	}
	return 0, false
}

// parseTag reads a jsonschema tag. Its parts are separated by commas. A part
// that is neither a known word nor starts like "word=" continues the part
// before it, so that a text needs no escapes for its commas; the first part may
// be a description without its keyword.
func parseTag(text string) (*tag, error) {
	t := &tag{}
	var last *string // where a continuation goes
	var owner *tag
	var key string
	flush := func() {
		if last != nil {
			owner.values[key] = *last
		}
		last = nil
	}
	for i, part := range splitTag(text) {
		word := strings.TrimSpace(part)
		target, name, value, kind := t.part(word)
		switch {
		case kind == partText && last != nil:
			*last += "," + part
			continue
		case kind == partText && i == 0:
			target, name, value, kind = t, "description", word, partValue
		case kind == partText:
			return nil, fmt.Errorf("unknown word %q", clip(word))
		case kind == partUnknown:
			return nil, fmt.Errorf(`unknown keyword %q; write the comma before it as \\, if it is part of a text`, clip(name))
		}
		flush()
		if target.seen(name) {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		if kind == partFlag {
			target.flags[name] = true
			continue
		}
		last, owner, key = &value, target, name
	}
	flush()
	return t, nil
}

// partKind says what a part of a tag is.
type partKind uint8

const (
	partText    partKind = iota // neither of the others
	partValue                   // a known keyword and its value
	partFlag                    // a known word
	partUnknown                 // it looks like a keyword, but there is none of that name
)

// part recognises one part of a tag. The target is the tag itself or that for
// its elements.
func (t *tag) part(word string) (target *tag, name, value string, kind partKind) {
	target = t
	t.make()
	rest, forItems := strings.CutPrefix(word, "items.")
	if forItems {
		if t.items == nil {
			t.items = &tag{}
		}
		return t.items.part(rest)
	}
	name, value, hasValue := strings.Cut(word, "=")
	if !hasValue {
		if _, ok := tagFlag(word); ok {
			return t, word, "", partFlag
		}
		return t, "", "", partText
	}
	if _, ok := tagKeyword(name); ok {
		return t, name, value, partValue
	}
	if isWord(name) {
		return t, name, value, partUnknown
	}
	return t, "", "", partText
}

func (t *tag) make() {
	if t.values == nil {
		t.values, t.flags = map[string]string{}, map[string]bool{}
	}
}

func (t *tag) seen(name string) bool {
	_, ok := t.values[name]
	return ok || t.flags[name]
}

// flag and value can be asked of a tag that is not there.
func (t *tag) flag(name string) bool { return t != nil && t.flags[name] }

func (t *tag) value(name string) (string, bool) {
	if t == nil {
		return "", false
	}
	v, ok := t.values[name]
	return v, ok
}

// forItems is the tag for the elements.
func (t *tag) forItems() *tag {
	if t == nil {
		return nil
	}
	return t.items
}

func isWord(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// splitTag splits at commas that have no backslash before them.
func splitTag(text string) []string {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			b.WriteByte(',')
			i++
		case text[i] == ',':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(parts, b.String())
}

// check refuses what makes no sense for a field of the given types.
func (t *tag) check(types typeSet) error {
	if t == nil {
		return nil
	}
	for name := range t.values {
		if ok, _ := tagKeyword(name); ok&types == 0 {
			return fmt.Errorf("%s does not apply to %s", name, types)
		}
	}
	for name := range t.flags {
		if ok, _ := tagFlag(name); ok&types == 0 {
			return fmt.Errorf("%s does not apply to %s", name, types)
		}
	}
	if t.items != nil && types&typeArray == 0 && types&typeObject == 0 {
		return fmt.Errorf("items does not apply to %s", types)
	}
	if t.flag("required") && t.flag("optional") {
		return errors.New("required and optional exclude each other")
	}
	return nil
}

// literal turns a value of a tag into JSON: for a field that holds text it is
// the text, for others it is JSON already.
func literal(text string, types typeSet) ([]byte, error) {
	if types&typeString != 0 && types&^(typeString|typeNull) == 0 {
		return jsonwire.AppendQuote(nil, text), nil
	}
	text = strings.TrimSpace(text)
	if err := jsonwire.Valid([]byte(text), 0); err != nil {
		return nil, fmt.Errorf("%q is not JSON: %w", clip(text), err)
	}
	return []byte(text), nil
}

// appendKeywords appends the members of a schema object that the tag asks for,
// each after a comma.
func (t *tag) appendKeywords(dst []byte, types typeSet) ([]byte, error) {
	if t == nil {
		return dst, nil
	}
	for _, name := range []string{"title", "description", "pattern", "format"} {
		if v, ok := t.values[name]; ok {
			dst = append(dst, `,"`+name+`":`...)
			dst = jsonwire.AppendQuote(dst, v)
		}
	}
	dst, err := t.appendValues(dst, types)
	if err != nil {
		return dst, err
	}
	for _, name := range []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
	} {
		v, ok := t.values[name]
		if !ok {
			continue
		}
		raw, err := literal(v, typeNumber)
		if err != nil {
			return dst, fmt.Errorf("%s: %w", name, err)
		}
		dst = append(dst, `,"`+name+`":`...)
		dst = append(dst, raw...)
	}
	for _, name := range []string{"uniqueItems", "deprecated", "readOnly", "writeOnly"} {
		if t.flags[name] {
			dst = append(dst, `,"`+name+`":true`...)
		}
	}
	return t.appendHeader(dst), nil
}

// appendHeader appends the annotation that asks clients to send the value as a
// header as well.
func (t *tag) appendHeader(dst []byte) []byte {
	if v, ok := t.values["header"]; ok {
		dst = append(dst, `,"`+headerKeyword+`":`...)
		dst = jsonwire.AppendQuote(dst, v)
	}
	return dst
}

// appendValues appends the keywords that hold values of the field's own type.
func (t *tag) appendValues(dst []byte, types typeSet) ([]byte, error) {
	for _, name := range []string{"enum", "const", "default", "example"} {
		text, ok := t.values[name]
		if !ok {
			continue
		}
		list := []string{text}
		if name == "enum" {
			list = strings.Split(text, "|")
		}
		for i, text := range list {
			raw, err := literal(text, types)
			if err != nil {
				return dst, fmt.Errorf("%s: %w", name, err)
			}
			list[i] = string(raw)
		}
		switch name {
		case "enum":
			if t.flags["nullable"] {
				list = append(list, "null")
			}
			dst = append(dst, `,"enum":[`+strings.Join(list, ",")+`]`...)
		case "example":
			dst = append(dst, `,"examples":[`+list[0]+`]`...)
		default:
			dst = append(dst, `,"`+name+`":`+list[0]...)
		}
	}
	return dst, nil
}

// fieldTag reads the jsonschema tag of a field.
func fieldTag(f reflect.StructField) (*tag, error) {
	text, ok := f.Tag.Lookup("jsonschema")
	if !ok || text == "" {
		return nil, nil
	}
	return parseTag(text)
}
