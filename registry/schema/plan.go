package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"
)

// kind says how a Go type is read and written.
type kind uint8

const (
	kindBool   kind = iota
	kindInt         // int, int8 … int64
	kindUint        // uint, uint8 … uintptr
	kindFloat       // float32, float64
	kindString      // string kinds
	kindBytes       // []byte, as base64
	kindTime        // time.Time, as RFC 3339
	kindNumber      // json.Number
	kindRaw         // json.RawMessage
	kindAny         // any
	kindText        // encoding.TextUnmarshaler
	kindJSON        // json.Unmarshaler, or whatever encoding/json makes of it
	kindPointer
	kindSlice
	kindArray
	kindMap
	kindStruct
)

// A plan says how values of one Go type in one place are read and written. It
// is made once; then no type is looked at again.
type plan struct {
	kind     kind
	typ      reflect.Type
	nullable bool // null is a value of its own here
	types    typeSet
	elem     *plan // of a pointer, slice, array or map
	size     int   // of an element, in steps of the budget
	fields   *structPlan

	check              *node // what a scalar has to keep to beyond its type
	whole              *node // what has to be evaluated for the whole container
	minCount, maxCount int   // of elements or members; maxCount is -1 if there is none
}

// A structPlan is the plan for a struct type. Places with the same type share
// it.
type structPlan struct {
	typ      reflect.Type
	fields   []fieldPlan
	byName   map[string]int // nil when there are few
	required bitset
	closed   bool   // other names are refused
	defaults bool   // at least one field has a default
	def      string // the name in $defs, of a type that contains itself
	node     *node  // what was compiled from the schema of the type
}

// A fieldPlan is the plan for a field.
type fieldPlan struct {
	name     string
	quoted   string // the name in its plain JSON form
	index    int    // in the struct itself
	path     []int  // through embedded structs, or nil
	plan     *plan
	optional bool
	fallback []byte        // the default, in JSON
	preset   reflect.Value // the default of a scalar, ready to be set
	omit     func(reflect.Value) bool
	tag      *tag
}

// index returns the index of a field, or -1.
func (s *structPlan) index(name []byte) int {
	if s.byName != nil {
		if i, ok := s.byName[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range s.fields {
		if s.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func timeType() reflect.Type   { return reflect.TypeFor[time.Time]() }
func rawType() reflect.Type    { return reflect.TypeFor[json.RawMessage]() }
func numberType() reflect.Type { return reflect.TypeFor[json.Number]() }

// special reports whether a type is not read by its kind.
func special(t reflect.Type) bool {
	switch t {
	case timeType(), rawType(), numberType():
		return true
	}
	return ownJSON(t) || ownText(t)
}

// ownJSON reports whether a type brings its own JSON form.
func ownJSON(t reflect.Type) bool {
	return implements(t, reflect.TypeFor[json.Unmarshaler]()) || implements(t, reflect.TypeFor[json.Marshaler]())
}

// ownText reports whether a type brings its own form as text.
func ownText(t reflect.Type) bool {
	return implements(t, reflect.TypeFor[encoding.TextUnmarshaler]()) || implements(t, reflect.TypeFor[encoding.TextMarshaler]())
}

func implements(t, iface reflect.Type) bool {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return false
	}
	return reflect.PointerTo(t).Implements(iface)
}

// kindOf says how a type is read and written. It is false for one that JSON
// cannot hold.
func kindOf(t reflect.Type) (kind, bool) {
	switch t {
	case timeType():
		return kindTime, true
	case rawType():
		return kindRaw, true
	case numberType():
		return kindNumber, true
	}
	if ownJSON(t) {
		return kindJSON, true
	}
	if ownText(t) {
		return kindText, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return kindBool, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return kindUint, true
	case reflect.Float32, reflect.Float64:
		return kindFloat, true
	case reflect.String:
		return kindString, true
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !special(t.Elem()) {
			return kindBytes, true
		}
		return kindSlice, true
	case reflect.Array:
		return kindArray, true
	case reflect.Map:
		return kindMap, true
	case reflect.Pointer:
		return kindPointer, true
	case reflect.Struct:
		return kindStruct, true
	case reflect.Interface:
		return kindAny, t.NumMethod() == 0
	}
	return 0, false
}

// types are the JSON types of a kind. Those of a pointer are those of what it
// points to.
func (k kind) types() typeSet {
	switch k {
	case kindBool:
		return typeBoolean
	case kindInt, kindUint:
		return typeInteger
	case kindFloat, kindNumber:
		return typeNumber
	case kindString, kindBytes, kindTime, kindText:
		return typeString
	case kindSlice, kindArray:
		return typeArray
	case kindMap, kindStruct:
		return typeObject
	}
	return typeAny
}
