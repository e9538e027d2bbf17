package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// headerKeyword is the annotation that asks a client to send the value of a
// property as an HTTP header as well.
const headerKeyword = "x-mcp-header"

// A Header is a property of an input schema that has the x-mcp-header
// annotation: its value travels as the header Mcp-Param-Name too.
type Header struct {
	// Name is the value of the annotation. Two of one schema differ in more
	// than case.
	Name string
	// Path leads from the arguments to the property.
	Path []string
	// Type is "string", "integer" or "boolean".
	Type string
}

// Headers finds the x-mcp-header annotations of an input schema, a valid JSON
// document, in its order. The error is a [*SchemaError] for the first one that
// breaks a rule of the specification: the name is a token of RFC 9110 and
// unique without regard to case; the property has the type string, integer or
// boolean; and only the keyword properties leads to it from the root. Clients
// drop a tool that breaks one.
func Headers(doc []byte) ([]Header, error) {
	doc, err := objectRoot(doc)
	if err != nil {
		return nil, err
	}
	s := headerScan{doc: doc}
	if err := s.walk(doc, nil, true); err != nil {
		return nil, err
	}
	return s.found, nil
}

// objectRoot checks that a document is valid JSON within the default bounds and
// an object, and returns it without white space around it.
func objectRoot(doc []byte) ([]byte, error) {
	doc, err := readDocument(doc, (*Options)(nil).withDefaults().MaxBytes)
	if err == nil && doc[0] != '{' {
		err = fmt.Errorf("expected an object, found %s", typeOf(doc[0]))
	}
	if err != nil {
		return nil, &SchemaError{Err: err}
	}
	return doc, nil
}

// A headerScan looks for annotations in one document.
type headerScan struct {
	doc   []byte
	found []Header
}

// walk looks at a schema and its subschemas. Reachable says that nothing but
// properties has led here.
func (s *headerScan) walk(raw []byte, path []string, reachable bool) error {
	if raw[0] != '{' {
		return nil
	}
	if value := jsonwire.Lookup(raw, headerKeyword); value != nil {
		if err := s.annotation(raw, value, path, reachable); err != nil {
			return &SchemaError{
				Path:    pointerTo(s.doc, offsetIn(s.doc, raw)),
				Keyword: headerKeyword,
				Err:     err,
			}
		}
	}
	return eachSubschema(raw, func(sub *subschema) error {
		if sub.keyword != "properties" {
			return s.walk(sub.raw, nil, false)
		}
		return s.walk(sub.raw, append(slices.Clip(path), jsonwire.Unquote(sub.name)), reachable)
	})
}

// annotation checks one annotation and keeps it.
func (s *headerScan) annotation(raw, value []byte, path []string, reachable bool) error {
	if !reachable || len(path) == 0 {
		return errors.New("only a property that is reached from the root through properties alone may have it")
	}
	if value[0] != '"' {
		return fmt.Errorf("expected a string, found %s", typeOf(value[0]))
	}
	name := jsonwire.Unquote(value)
	if !isToken(name) {
		return fmt.Errorf("%q is not a header name: want letters, digits and any of !#$%%&'*+-.^_`|~", clip(name))
	}
	for _, other := range s.found {
		if strings.EqualFold(other.Name, name) {
			return fmt.Errorf("%q is there twice, as upper and lower case do not count", name)
		}
	}
	typ := lookupString(raw, "type")
	switch typ {
	case "string", "integer", "boolean":
	default:
		return errors.New("the property must have the type string, integer or boolean")
	}
	s.found = append(s.found, Header{Name: name, Path: path, Type: typ})
	return nil
}

// isToken reports whether s is a token of RFC 9110.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// Value returns the value that the header has to repeat, as raw JSON, from
// valid arguments. It is nil if the property is absent or null, for which no
// header is sent.
func (h *Header) Value(arguments []byte) []byte {
	v := arguments[jsonwire.SkipSpace(arguments):]
	for _, name := range h.Path {
		if v = jsonwire.Lookup(v, name); v == nil {
			return nil
		}
	}
	if len(v) == 0 || v[0] == 'n' {
		return nil
	}
	return v
}

// Matches reports whether the text of a header, decoded from its base64 form if
// it had one, says the same as a value: integers as numbers, so that 42 is
// 42.0, all else exactly. An integer that a client could not hold exactly,
// beyond 2^53-1 either way, matches nothing.
func (h *Header) Matches(text string, value []byte) bool {
	switch typeOf(value[0]) {
	case typeString:
		return jsonwire.EqualString(value, text)
	case typeBoolean:
		return string(value) == text
	case typeNumber:
		if n, err := jsonwire.ConsumeNumber([]byte(text)); err != nil || n != len(text) {
			return false
		}
		d := parseDecimal(value)
		return d.integral() && exactInteger(d) && d.compare(parseDecimal([]byte(text))) == 0
	}
	return false
}

// exactInteger reports whether a number is within ±(2^53-1).
func exactInteger(d decimal) bool {
	n, ok := d.uint64()
	return ok && n < 1<<53
}
