package schema

import "cloudg.dev/cloudg/internal/jsonwire"

// A subschema is a schema inside another, and where it was found there.
type subschema struct {
	keyword string // the keyword that holds it
	name    []byte // the member name as it is written, if the keyword holds an object
	raw     []byte
}

// shape says what kind of subschemas a keyword holds.
type shape uint8

const (
	holdsData     shape = iota // none
	holdsSchema                // one
	holdsList                  // an array of them
	holdsMap                   // an object of them
	holdsEither                // one, or an array of them
	holdsMapOrSet              // an object of them or of arrays of names
)

// shapeOf says where the subschemas of a keyword are. The keywords of both
// dialects share no name with two meanings but items.
func shapeOf(keyword string) shape {
	switch keyword {
	case "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema", "additionalItems":
		return holdsSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return holdsList
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return holdsMap
	case "items":
		return holdsEither
	case "dependencies":
		return holdsMapOrSet
	}
	return holdsData
}

// eachSubschema calls fn for the direct subschemas of a valid JSON object, in
// the order of the document. It returns the first error of fn.
func eachSubschema(obj []byte, fn func(s *subschema) error) error {
	for o := jsonwire.Members(obj); ; {
		name, value, ok := o.Next()
		if !ok {
			return nil
		}
		keyword := jsonwire.Unquote(name)
		if err := eachIn(keyword, value, fn); err != nil {
			return err
		}
	}
}

// eachIn calls fn for the subschemas of one keyword.
func eachIn(keyword string, value []byte, fn func(s *subschema) error) error {
	s := &subschema{keyword: keyword, raw: value}
	switch sh := shapeOf(keyword); {
	case sh == holdsSchema || sh == holdsEither && value[0] != '[':
		return fn(s)
	case sh == holdsList || sh == holdsEither:
		for a := jsonwire.Elements(value); ; {
			raw, ok := a.Next()
			if !ok {
				return nil
			}
			s.raw = raw
			if err := fn(s); err != nil {
				return err
			}
		}
	case sh == holdsMap || sh == holdsMapOrSet:
		for o := jsonwire.Members(value); ; {
			name, raw, ok := o.Next()
			if !ok {
				return nil
			}
			if sh == holdsMapOrSet && raw[0] == '[' {
				continue
			}
			s.name, s.raw = name, raw
			if err := fn(s); err != nil {
				return err
			}
		}
	}
	return nil
}
