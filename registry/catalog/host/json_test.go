package host_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
)

// Every field of every query and answer is named and described for a model.
func TestTags(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, v := range []any{host.StatusQuery{}, host.Status{}, host.ProcessQuery{}, host.ProcessList{},
		host.ListenerQuery{}, host.ListenerList{}, host.InterfaceList{}} {
		checkTags(t, reflect.TypeOf(v), seen)
	}
	if len(seen) < 15 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func checkTags(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	option := regexp.MustCompile(`^(description|enum|default|minimum|maximum|maxLength)=[^=]`)
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !snake.MatchString(name) {
			t.Errorf("%v.%s: JSON name %q", typ, f.Name, name)
		}
		if strings.HasSuffix(f.Name, "Bytes") != strings.HasSuffix(name, "_bytes") {
			t.Errorf("%v.%s: the unit is not in the JSON name %q", typ, f.Name, name)
		}
		schema := f.Tag.Get("jsonschema")
		if !strings.HasPrefix(schema, "description=") {
			t.Errorf("%v.%s: no description", typ, f.Name)
		}
		for part := range strings.SplitSeq(strings.ReplaceAll(schema, `\,`, ""), ",") {
			if !option.MatchString(part) {
				t.Errorf("%v.%s: %q is not a schema option", typ, f.Name, part)
			}
		}
		checkTags(t, f.Type, seen)
	}
}
