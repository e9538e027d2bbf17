package schema

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A binding reads a document into Go values along a plan, and checks on the way
// what the plan's schema demands. Like those of an evaluation, its methods take
// the offset of a value and return the offset behind it and whether it fits;
// the first fault ends everything.
type binding struct {
	evaluation
	pos    int    // where the fault is
	reason string // what it is, if the schema could not tell
}

// refuse notes a fault that the schema does not know of.
func (b *binding) refuse(pos int, reason string) (int, bool) {
	b.pos, b.reason = pos, reason
	return pos, false
}

// mismatch notes that a value does not have the type that the plan wants. The
// schema of a derived plan says the same, but an explicit one may not.
func (b *binding) mismatch(p *plan, pos int) (int, bool) {
	want := p.types
	if p.nullable {
		want |= typeNull
	}
	return b.refuse(pos, expectedType(want, b.doc[pos:]))
}

// value reads the value at pos into v, which is addressable.
func (b *binding) value(p *plan, pos int, v reflect.Value) (end int, ok bool) {
	if b.budget--; b.budget < 0 {
		b.exhausted = true
		return pos, false
	}
	c := b.doc[pos]
	if c == 'n' && p.nullable && p.kind != kindAny && p.kind != kindRaw {
		v.SetZero()
		return pos + len("null"), true
	}
	switch p.kind {
	case kindString:
		if c != '"' {
			return b.mismatch(p, pos)
		}
		end = pos + jsonwire.SkipString(b.doc[pos:])
		v.SetString(unquoteString(b.doc[pos:end]))
		return b.leaf(p, pos, end)
	case kindInt:
		return b.integer(p, pos, v)
	case kindUint:
		return b.unsigned(p, pos, v)
	case kindFloat:
		return b.float(p, pos, v)
	case kindBool:
		if c != 't' && c != 'f' {
			return b.mismatch(p, pos)
		}
		v.SetBool(c == 't')
		return b.leaf(p, pos, b.skip(pos))
	case kindStruct:
		return b.structure(p, pos, v)
	case kindSlice, kindArray:
		return b.array(p, pos, v)
	case kindMap:
		return b.mapping(p, pos, v)
	case kindPointer:
		return b.pointer(p, pos, v)
	}
	return b.special(p, pos, v)
}

// leaf checks what the schema demands of a scalar beyond its type.
func (b *binding) leaf(p *plan, pos, end int) (int, bool) {
	n := p.check
	if n == nil {
		return end, true
	}
	if n.text != nil && !b.text(n, pos, end) || n.number != nil && !b.number(n, pos, end) {
		return pos, false
	}
	return end, n.values == nil || b.allowed(n.values, pos, end)
}

func (b *binding) pointer(p *plan, pos int, v reflect.Value) (int, bool) {
	if v.IsNil() {
		v.Set(reflect.New(p.typ.Elem()))
	}
	return b.value(p.elem, pos, v.Elem())
}

// integer reads an integer, in whatever way it is written.
func (b *binding) integer(p *plan, pos int, v reflect.Value) (int, bool) {
	if typeOf(b.doc[pos]) != typeNumber {
		return b.mismatch(p, pos)
	}
	end := b.skip(pos)
	raw := b.doc[pos:end]
	n, ok := parseInt(raw)
	if !ok {
		d := parseDecimal(raw)
		if !d.integral() {
			return b.mismatch(p, pos)
		}
		if n, ok = d.int64(); !ok {
			return b.refuse(pos, rangeText(p.typ))
		}
	}
	if v.OverflowInt(n) {
		return b.refuse(pos, rangeText(p.typ))
	}
	v.SetInt(n)
	return b.leaf(p, pos, end)
}

func (b *binding) unsigned(p *plan, pos int, v reflect.Value) (int, bool) {
	if typeOf(b.doc[pos]) != typeNumber {
		return b.mismatch(p, pos)
	}
	end := b.skip(pos)
	d := parseDecimal(b.doc[pos:end])
	if !d.integral() {
		return b.mismatch(p, pos)
	}
	n, ok := d.uint64()
	if !ok || d.neg || v.OverflowUint(n) {
		return b.refuse(pos, rangeText(p.typ))
	}
	v.SetUint(n)
	return b.leaf(p, pos, end)
}

// rangeText says which integers a Go type can hold, without naming it.
func rangeText(t reflect.Type) string {
	bits := t.Bits()
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr {
		return fmt.Sprintf("must be an integer from 0 to %d", uint64(math.MaxUint64)>>(64-bits))
	}
	return fmt.Sprintf("must be an integer from %d to %d", int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits))
}

func (b *binding) float(p *plan, pos int, v reflect.Value) (int, bool) {
	if typeOf(b.doc[pos]) != typeNumber {
		return b.mismatch(p, pos)
	}
	end := b.skip(pos)
	raw := b.doc[pos:end]
	if n, ok := parseInt(raw); ok && -1<<53 <= n && n <= 1<<53 && (n != 0 || raw[0] != '-') {
		v.SetFloat(float64(n))
		return b.leaf(p, pos, end)
	}
	f, err := strconv.ParseFloat(string(raw), p.typ.Bits())
	if err != nil {
		return b.refuse(pos, "is too large a number")
	}
	v.SetFloat(f)
	return b.leaf(p, pos, end)
}

// special reads the types that are not read by their kind.
func (b *binding) special(p *plan, pos int, v reflect.Value) (int, bool) {
	isText := b.doc[pos] == '"'
	if p.types == typeString && !isText || p.kind == kindNumber && typeOf(b.doc[pos]) != typeNumber {
		return b.mismatch(p, pos)
	}
	if p.kind == kindAny {
		return b.anything(pos, v)
	}
	end := b.skip(pos)
	raw := b.doc[pos:end]
	switch p.kind {
	case kindNumber:
		v.SetString(string(raw))
	case kindRaw:
		v.SetBytes(bytes.Clone(raw))
	case kindBytes:
		data, err := base64.StdEncoding.AppendDecode(nil, b.unquote(raw))
		if err != nil {
			return b.refuse(pos, "must be base64")
		}
		v.SetBytes(data)
	case kindTime, kindText:
		u, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
		if ok && u.UnmarshalText(b.unquote(raw)) == nil {
			break
		}
		if p.kind == kindTime {
			return b.refuse(pos, "must be a date and time such as 2006-01-02T15:04:05Z")
		}
		return b.refuse(pos, "is not in the form that is wanted here")
	default:
		// A type that can only be written is not left to encoding/json, which
		// would take names in any case.
		u, ok := v.Addr().Interface().(json.Unmarshaler)
		if !ok || u.UnmarshalJSON(raw) != nil {
			return b.refuse(pos, "is not in the form that is wanted here")
		}
	}
	return b.leaf(p, pos, end)
}

// anything reads a value into a field of type any.
func (b *binding) anything(pos int, v reflect.Value) (int, bool) {
	value, end, ok := b.any(pos)
	if v.SetZero(); ok && value != nil {
		v.Set(reflect.ValueOf(value))
	}
	return end, ok
}

// any makes the Go value for a field of type any. Numbers become json.Number,
// which keeps each digit.
func (b *binding) any(pos int) (value any, end int, ok bool) {
	if !b.spend(2) {
		return nil, pos, false
	}
	switch b.doc[pos] {
	case '{':
		return b.anyObject(pos)
	case '[':
		list := []any{}
		i := b.space(pos + 1)
		for b.doc[i] != ']' {
			var elem any
			if elem, i, ok = b.any(i); !ok {
				return nil, i, false
			}
			list = append(list, elem)
			i = b.nextMember(i)
		}
		return list, i + 1, true
	}
	end = b.skip(pos)
	raw := b.doc[pos:end]
	switch raw[0] {
	case '"':
		return unquoteString(raw), end, true
	case 't', 'f':
		return raw[0] == 't', end, true
	case 'n':
		return nil, end, true
	}
	return json.Number(raw), end, true
}

func (b *binding) anyObject(pos int) (value any, end int, ok bool) {
	m := map[string]any{}
	i := b.space(pos + 1)
	for b.doc[i] != '}' {
		start := i
		i += jsonwire.SkipString(b.doc[i:])
		name := unquoteString(b.doc[start:i])
		if _, ok := m[name]; ok {
			end, ok := b.refuse(start, "duplicate")
			return nil, end, ok
		}
		i = b.space(b.space(i) + 1)
		if m[name], i, ok = b.any(i); !ok {
			return nil, i, false
		}
		i = b.nextMember(i)
	}
	return m, i + 1, true
}

// unquoteString is [jsonwire.Unquote] with one copy, also where there are
// escapes.
func unquoteString(quoted []byte) string {
	s := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return string(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	var piece [16]byte
	for i >= 0 {
		b.Write(s[:i])
		n := escapeLength(s[i:])
		b.Write(unescape(piece[:0], s[i:i+n]))
		s = s[i+n:]
		i = bytes.IndexByte(s, '\\')
	}
	b.Write(s)
	return b.String()
}

// unescape appends what an escape, or a pair of them, stands for.
func unescape(dst, escape []byte) []byte {
	var quoted [16]byte
	q := append(quoted[:0], '"')
	q = append(q, escape...)
	q = append(q, '"')
	return jsonwire.AppendUnquote(dst, q)
}

// structure reads an object into a struct, in one pass over the members.
func (b *binding) structure(p *plan, pos int, v reflect.Value) (int, bool) {
	if b.doc[pos] != '{' {
		return b.mismatch(p, pos)
	}
	s := p.fields
	var stack [seenMembers]uint64
	seen := bitset(stack[:])
	if len(s.fields) > 64*seenMembers {
		seen = newBitset(len(s.fields))
	}
	next := 0
	i := b.space(pos + 1)
	for b.doc[i] != '}' {
		name := i
		index, nameEnd := b.field(s, i, next)
		i = b.space(b.space(nameEnd) + 1) // behind the colon
		if index < 0 {
			if s.closed {
				return b.refuse(name, "unknown")
			}
			i = b.nextMember(b.skip(i))
			continue
		}
		next = index + 1
		f := &s.fields[index]
		if seen.has(index) {
			return b.refuse(name, "duplicate")
		}
		seen.add(index)
		if b.doc[i] == 'n' && f.optional && !f.plan.nullable {
			if !b.fill(f, v) {
				return i, false
			}
			i = b.nextMember(i + len("null"))
			continue
		}
		var ok bool
		if i, ok = b.value(f.plan, i, f.in(v)); !ok {
			return i, false
		}
		i = b.nextMember(i)
	}
	if s.closed && !seen.contains(s.required) {
		return b.refuse(pos, "incomplete")
	}
	if s.defaults && !b.defaults(s, v, seen) {
		return i, false
	}
	return i + 1, true
}

// nextMember returns the offset of the next member or of the closing brace.
func (b *binding) nextMember(pos int) int {
	pos = b.space(pos)
	if b.doc[pos] == ',' {
		pos = b.space(pos + 1)
	}
	return pos
}

// field finds the field whose name is at pos, as evaluation.member does.
func (b *binding) field(s *structPlan, pos, next int) (index, end int) {
	if next < len(s.fields) {
		q := s.fields[next].quoted
		if end := pos + len(q); end <= len(b.doc) && string(b.doc[pos:end]) == q {
			return next, end
		}
	}
	end = pos + jsonwire.SkipString(b.doc[pos:])
	return s.index(b.unquote(b.doc[pos:end])), end
}

// in returns the field in a struct, making the embedded structs on the way.
func (f *fieldPlan) in(v reflect.Value) reflect.Value {
	if f.path == nil {
		return v.Field(f.index)
	}
	for i, index := range f.path {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(index)
	}
	return v
}

// defaults fills in the fields that were left out.
func (b *binding) defaults(s *structPlan, v reflect.Value, seen bitset) bool {
	for i := range s.fields {
		if !seen.has(i) && !b.fill(&s.fields[i], v) {
			return false
		}
	}
	return true
}

// fill gives a field its default, if it has one.
func (b *binding) fill(f *fieldPlan, v reflect.Value) bool {
	if f.fallback == nil {
		return true
	}
	if f.preset.IsValid() {
		f.in(v).Set(f.preset)
		return true
	}
	inner := binding{evaluation: evaluation{schema: b.schema, doc: f.fallback, nullAbsent: true, budget: b.budget}}
	_, ok := inner.value(f.plan, 0, f.in(v))
	b.budget = inner.budget
	inner.release()
	return ok
}

// array reads an array into a slice or an array.
func (b *binding) array(p *plan, pos int, v reflect.Value) (int, bool) {
	if b.doc[pos] != '[' {
		return b.mismatch(p, pos)
	}
	if p.whole != nil {
		if end, ok := b.evaluation.value(p.whole, pos, noMarks); !ok {
			return end, false
		}
	}
	fixed := p.kind == kindArray
	count := 0
	i := b.space(pos + 1)
	for b.doc[i] != ']' {
		if !b.spend(p.size) || fixed && count == v.Len() {
			return b.refuse(pos, "has too many elements")
		}
		if !fixed {
			grow(v, count)
		}
		var ok bool
		if i, ok = b.value(p.elem, i, v.Index(count)); !ok {
			return i, false
		}
		count++
		i = b.nextMember(i)
	}
	if fixed && count < v.Len() {
		return b.refuse(pos, "has too few elements")
	}
	if !fixed {
		if v.IsNil() {
			v.Set(reflect.MakeSlice(p.typ, 0, 0))
		}
		v.SetLen(count)
	}
	return b.counted(p, pos, i+1, count)
}

// grow makes room for the element with an index behind those that are there.
func grow(v reflect.Value, index int) {
	if index == v.Cap() {
		v.Grow(max(4, index))
	}
	v.SetLen(index + 1)
}

func (b *binding) counted(p *plan, pos, end, count int) (int, bool) {
	if count < p.minCount || p.maxCount >= 0 && count > p.maxCount {
		return b.refuse(pos, "has too few or too many elements")
	}
	return end, true
}

// mapping reads an object into a map.
func (b *binding) mapping(p *plan, pos int, v reflect.Value) (int, bool) {
	if b.doc[pos] != '{' {
		return b.mismatch(p, pos)
	}
	m := reflect.MakeMap(p.typ)
	key := reflect.New(p.typ.Key()).Elem()
	elem := reflect.New(p.typ.Elem()).Elem()
	count := 0
	i := b.space(pos + 1)
	for b.doc[i] != '}' {
		name := i
		i += jsonwire.SkipString(b.doc[i:])
		if !b.spend(p.size) || !setKey(key, b.doc[name:i]) {
			return b.refuse(name, "has a name that is not in the form that is wanted here")
		}
		if m.MapIndex(key).IsValid() {
			return b.refuse(name, "duplicate")
		}
		i = b.space(b.space(i) + 1)
		elem.SetZero()
		var ok bool
		if i, ok = b.value(p.elem, i, elem); !ok {
			return i, false
		}
		m.SetMapIndex(key, elem)
		count++
		i = b.nextMember(i)
	}
	v.Set(m)
	return b.counted(p, pos, i+1, count)
}

// setKey reads the key of a map from a member name.
func setKey(key reflect.Value, quoted []byte) bool {
	name := unquoteString(quoted)
	if u, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
		key.SetZero()
		return u.UnmarshalText([]byte(name)) == nil
	}
	switch {
	case key.Kind() == reflect.String:
		key.SetString(name)
	case key.CanInt():
		n, err := strconv.ParseInt(name, 10, key.Type().Bits())
		if err != nil {
			return false
		}
		key.SetInt(n)
	case key.CanUint():
		n, err := strconv.ParseUint(name, 10, key.Type().Bits())
		if err != nil {
			return false
		}
		key.SetUint(n)
	}
	return true
}
