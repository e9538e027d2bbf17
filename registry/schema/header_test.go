package schema_test

import (
	"errors"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

func TestHeaders(t *testing.T) {
	const doc = `{"type":"object","properties":{` +
		`"region":{"type":"string","x-mcp-header":"Region"},` +
		`"q":{"type":"string","default":{"x-mcp-header":"no schema"}},` +
		`"x-mcp-header":{"type":"string"},` +
		`"page":{"type":"object","properties":{"size":{"type":"integer","x-mcp-header":"Page-Size"},"all":{"type":"boolean","x-mcp-header":"all"}}}},` +
		`"examples":[{"x-mcp-header":1}]}`
	got, err := schema.Headers([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.Header{
		{Name: "Region", Path: []string{"region"}, Type: "string"},
		{Name: "Page-Size", Path: []string{"page", "size"}, Type: "integer"},
		{Name: "all", Path: []string{"page", "all"}, Type: "boolean"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the headers (-want +got):\n%s", diff)
	}
}

func TestHeadersRefuses(t *testing.T) {
	property := func(s string) string { return `{"type":"object","properties":{"a":` + s + `}}` }
	tests := []struct {
		name, in, path, want string
	}{
		{"an empty name", property(`{"type":"string","x-mcp-header":""}`), "/properties/a", "header name"},
		{"a space", property(`{"type":"string","x-mcp-header":"a b"}`), "/properties/a", "header name"},
		{"a control character", property(`{"type":"string","x-mcp-header":"a\r\nb"}`), "/properties/a", "header name"},
		{"a letter beyond ASCII", property(`{"type":"string","x-mcp-header":"é"}`), "/properties/a", "header name"},
		{"a colon", property(`{"type":"string","x-mcp-header":"a:b"}`), "/properties/a", "header name"},
		{"no string", property(`{"type":"string","x-mcp-header":1}`), "/properties/a", "expected a string"},
		{"null", property(`{"type":"string","x-mcp-header":null}`), "/properties/a", "expected a string"},
		{"a number", property(`{"type":"number","x-mcp-header":"A"}`), "/properties/a", "type string, integer or boolean"},
		{"no type", property(`{"x-mcp-header":"A"}`), "/properties/a", "type string, integer or boolean"},
		{"an object", property(`{"type":"object","x-mcp-header":"A"}`), "/properties/a", "type string, integer or boolean"},
		{"several types", property(`{"type":["string","null"],"x-mcp-header":"A"}`), "/properties/a", "type string, integer or boolean"},
		{"the same but for case", `{"properties":{"a":{"type":"string","x-mcp-header":"Abc"},"b":{"type":"string","x-mcp-header":"aBC"}}}`, "/properties/b", "twice"},
		{"the root", `{"type":"string","x-mcp-header":"A"}`, "", "reached from the root"},
		{"items", property(`{"items":{"type":"string","x-mcp-header":"A"}}`), "/properties/a/items", "reached from the root"},
		{"an alternative", `{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, "/anyOf/0/properties/a", "reached from the root"},
		{"a condition", `{"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, "/then/properties/a", "reached from the root"},
		{"not", `{"not":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, "/not/properties/a", "reached from the root"},
		{"a definition", `{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}`, "/$defs/a", "reached from the root"},
		{"further properties", `{"additionalProperties":{"type":"string","x-mcp-header":"A"}}`, "/additionalProperties", "reached from the root"},
		{"no object", `[]`, "", "expected an object"},
		{"no JSON", `{`, "", "the input ends"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Headers([]byte(tt.in))
			var se *schema.SchemaError
			if !errors.As(err, &se) {
				t.Fatalf("got %v, want a SchemaError", err)
			}
			if se.Path != tt.path || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q at %q, want an error with %q at %q", err, se.Path, tt.want, tt.path)
			}
		})
	}
}

func TestHeaderValue(t *testing.T) {
	tests := []struct {
		name string
		path []string
		in   string
		want string
	}{
		{"there", []string{"a"}, ` {"a":"x"}`, `"x"`},
		{"nested", []string{"a", "b"}, `{"a":{"b":1.0}}`, `1.0`},
		{"false", []string{"a"}, `{"a":false}`, `false`},
		{"absent", []string{"a"}, `{"b":1}`, ``},
		{"null", []string{"a"}, `{"a":null}`, ``},
		{"absent on the way", []string{"a", "b"}, `{}`, ``},
		{"no object on the way", []string{"a", "b"}, `{"a":1}`, ``},
		{"no arguments", []string{"a"}, ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := schema.Header{Name: "X", Path: tt.path}
			if got := string(h.Value([]byte(tt.in))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHeaderMatches(t *testing.T) {
	tests := []struct {
		name, text, value string
		want              bool
	}{
		{"text", "us-west1", `"us-west1"`, true},
		{"text with an escape", "é", `"\u00e9"`, true},
		{"case counts", "US", `"us"`, false},
		{"an integer", "42", `42`, true},
		{"an integer with a fraction of zero", "42.0", `42`, true},
		{"the other way round", "42", `42.0`, true},
		{"a different integer", "43", `42`, false},
		{"the largest", "9007199254740991", `9007199254740991`, true},
		{"too large", "9007199254740992", `9007199254740992`, false},
		{"too small", "-9007199254740992", `-9007199254740992`, false},
		{"not a number", "42x", `42`, false},
		{"empty", "", `42`, false},
		{"a fraction", "1.5", `1.5`, false},
		{"true", "true", `true`, true},
		{"true in another case", "True", `true`, false},
		{"an array", "[]", `[]`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := schema.Header{Name: "X", Path: []string{"a"}}
			if got := h.Matches(tt.text, []byte(tt.value)); got != tt.want {
				t.Errorf("%q and %s: got %v, want %v", tt.text, tt.value, got, tt.want)
			}
		})
	}
}
