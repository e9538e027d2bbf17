package schema

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// errDepth is the fault of a Go value that contains itself, or nearly so.
var errDepth = errors.New("the value is nested too deep")

// errNumber is the fault of a number that JSON does not have.
var errNumber = errors.New("a number is infinite or not a number")

// appendPlan appends the JSON for v, nested at most depth deep.
func appendPlan(dst []byte, p *plan, v reflect.Value, depth int) ([]byte, error) {
	if depth == 0 {
		return dst, errDepth
	}
	switch p.kind {
	case kindString:
		return jsonwire.AppendQuote(dst, v.String()), nil
	case kindInt:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case kindUint:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case kindFloat:
		return appendFloat(dst, v.Float(), p.typ.Bits())
	case kindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case kindStruct:
		return appendFields(dst, p.fields, v, depth)
	case kindSlice, kindArray:
		return appendElements(dst, p, v, depth)
	case kindMap:
		return appendMap(dst, p, v, depth)
	case kindPointer:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return appendPlan(dst, p.elem, v.Elem(), depth-1)
	case kindBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
		return append(dst, '"'), nil
	case kindAny:
		return appendAny(dst, v.Interface(), depth)
	}
	return appendSpecial(dst, p, v)
}

// appendFloat appends a number in the shortest form that reads back the same.
func appendFloat(dst []byte, f float64, bits int) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return dst, errNumber
	}
	if bits == 32 {
		if a := math.Abs(f); a != 0 && (float32(a) < 1e-6 || float32(a) >= 1e21) {
			return strconv.AppendFloat(dst, f, 'e', -1, 32), nil
		}
		return strconv.AppendFloat(dst, f, 'f', -1, 32), nil
	}
	return jsonwire.AppendFloat(dst, f), nil
}

func appendFields(dst []byte, s *structPlan, v reflect.Value, depth int) ([]byte, error) {
	first := true
	open := byte('{')
	for i := range s.fields {
		f := &s.fields[i]
		fv, ok := f.out(v)
		if !ok || f.omit != nil && f.omit(fv) {
			continue
		}
		if first {
			dst = append(dst, open)
			first = false
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, f.quoted...)
		dst = append(dst, ':')
		var err error
		if dst, err = appendPlan(dst, f.plan, fv, depth-1); err != nil {
			return dst, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if first {
		dst = append(dst, open)
	}
	return append(dst, '}'), nil
}

// out returns the field of a struct. It is not there if an embedded pointer on
// the way is nil.
func (f *fieldPlan) out(v reflect.Value) (reflect.Value, bool) {
	if f.path == nil {
		return v.Field(f.index), true
	}
	for i, index := range f.path {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(index)
	}
	return v, true
}

// appendElements appends a slice or an array. A slice that is nil is as empty
// as one that is not.
func appendElements(dst []byte, p *plan, v reflect.Value, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendPlan(dst, p.elem, v.Index(i), depth-1); err != nil {
			return dst, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// appendMap appends a map in the order of its names, so that equal values give
// equal bytes.
func appendMap(dst []byte, p *plan, v reflect.Value, depth int) ([]byte, error) {
	type entry struct {
		name  string
		value reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		name, err := keyName(it.Key())
		if err != nil {
			return dst, err
		}
		entries = append(entries, entry{name, it.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonwire.AppendQuote(dst, e.name)
		dst = append(dst, ':')
		var err error
		if dst, err = appendPlan(dst, p.elem, e.value, depth-1); err != nil {
			return dst, fmt.Errorf("%s: %w", clip(e.name), err)
		}
	}
	return append(dst, '}'), nil
}

// keyName is the name of a member for a key of a map.
func keyName(key reflect.Value) (string, error) {
	if key.Kind() == reflect.String {
		return key.String(), nil
	}
	if m, ok := key.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	if key.CanInt() {
		return strconv.FormatInt(key.Int(), 10), nil
	}
	return strconv.FormatUint(key.Uint(), 10), nil
}

// appendSpecial appends the types that bring their own form.
func appendSpecial(dst []byte, p *plan, v reflect.Value) ([]byte, error) {
	switch p.kind {
	case kindRaw:
		if v.Len() == 0 {
			return append(dst, "null"...), nil
		}
		return jsonwire.AppendValue(dst, v.Bytes(), 0)
	case kindNumber:
		return appendNumber(dst, v.String())
	case kindTime:
		return appendTime(dst, v.Interface().(time.Time))
	}
	if !v.CanAddr() { // the element of a map, whose methods may need its address
		own := reflect.New(p.typ).Elem()
		own.Set(v)
		v = own
	}
	if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok && p.kind == kindText {
		text, err := m.MarshalText()
		if err != nil {
			return dst, err
		}
		return jsonwire.AppendQuoteBytes(dst, text), nil
	}
	return appendMarshal(dst, v.Addr().Interface())
}

// appendNumber appends a json.Number, of which the zero value is 0 as it is to
// encoding/json.
func appendNumber(dst []byte, s string) ([]byte, error) {
	if s == "" {
		return append(dst, '0'), nil
	}
	if n, err := jsonwire.ConsumeNumber([]byte(s)); err != nil || n != len(s) {
		return dst, errors.New("a json.Number is not a number")
	}
	return append(dst, s...), nil
}

func appendTime(dst []byte, t time.Time) ([]byte, error) {
	out, err := t.AppendText(append(dst, '"'))
	if err != nil {
		return dst, err
	}
	return append(out, '"'), nil
}

// appendAny appends a value whose type is not known before.
func appendAny(dst []byte, v any, depth int) ([]byte, error) {
	if depth == 0 {
		return dst, errDepth
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return jsonwire.AppendQuote(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case float64:
		return appendFloat(dst, v, 64)
	case json.Number:
		return appendNumber(dst, string(v))
	case []any:
		return appendAnys(dst, v, depth)
	case map[string]any:
		return appendAnyMap(dst, v, depth)
	}
	return appendMarshal(dst, v)
}

func appendAnys(dst []byte, list []any, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendAny(dst, v, depth-1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendAnyMap(dst []byte, m map[string]any, depth int) ([]byte, error) {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuote(dst, name), ':')
		var err error
		if dst, err = appendAny(dst, m[name], depth-1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendMarshal appends what encoding/json makes of a value.
func appendMarshal(dst []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return jsonwire.AppendValue(dst, buf.Bytes(), 0)
}
