package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A goField is a field of a struct that JSON shows, under the name that it has
// there.
type goField struct {
	reflect.StructField
	name      string
	path      []int // through embedded structs
	tagged    bool  // the name comes from a tag
	omitEmpty bool
	omitZero  bool
}

// jsonFields lists the fields of a struct as encoding/json sees them: those of
// embedded structs belong to it, and of several with one name the one that is
// embedded least deep counts, or the only one there with a tag. If that leaves
// more than one, none counts.
func jsonFields(t reflect.Type) ([]goField, error) {
	var all []goField
	if err := collectFields(t, nil, map[reflect.Type]bool{}, &all); err != nil {
		return nil, err
	}
	byName := map[string][]goField{}
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	var list []goField
	for _, f := range all {
		if best := dominant(byName[f.name]); best != nil && slices.Equal(best.path, f.path) {
			list = append(list, f)
		}
	}
	return list, nil
}

// dominant picks the field that counts among those with one name.
func dominant(fields []goField) *goField {
	best := slices.MinFunc(fields, func(a, b goField) int {
		if d := len(a.path) - len(b.path); d != 0 {
			return d
		}
		switch {
		case a.tagged && !b.tagged:
			return -1
		case b.tagged && !a.tagged:
			return 1
		}
		return 0
	})
	for _, f := range fields {
		if len(f.path) == len(best.path) && f.tagged == best.tagged && !slices.Equal(f.path, best.path) {
			return nil
		}
	}
	return &best
}

// collectFields appends the fields of a struct and of the structs embedded in
// it. Open holds the embedded types on the way, so that recursion ends.
func collectFields(t reflect.Type, path []int, open map[reflect.Type]bool, all *[]goField) error {
	if open[t] {
		return nil
	}
	open[t] = true
	defer delete(open, t)
	for i := range t.NumField() {
		sf := t.Field(i)
		own := append(slices.Clone(path), i)
		f, embedded, err := readField(sf, own)
		if err != nil {
			return fmt.Errorf("field %s: %w", sf.Name, err)
		}
		if embedded != nil {
			if err := collectFields(embedded, own, open, all); err != nil {
				return err
			}
			continue
		}
		if f != nil {
			*all = append(*all, *f)
		}
	}
	return nil
}

// readField reads the json tag of a field. It returns nothing for one that
// JSON does not show, and the struct for one that is embedded.
func readField(sf reflect.StructField, path []int) (f *goField, embedded reflect.Type, err error) {
	text := sf.Tag.Get("json")
	if text == "-" {
		return nil, nil, nil
	}
	name, options, _ := strings.Cut(text, ",")
	if sf.Anonymous && name == "" {
		t := sf.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			if !sf.IsExported() && t.Kind() == reflect.Struct {
				return nil, nil, fmt.Errorf("a pointer to an unexported struct cannot be embedded, since it cannot be set")
			}
		}
		if t.Kind() == reflect.Struct && !special(t) {
			return nil, t, nil
		}
	}
	if !sf.IsExported() {
		return nil, nil, nil
	}
	f = &goField{StructField: sf, name: name, path: path, tagged: name != ""}
	if name == "" {
		f.name = sf.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		default:
			return nil, nil, fmt.Errorf("unsupported option %q in the json tag: want omitempty or omitzero", option)
		}
	}
	return f, nil, nil
}
