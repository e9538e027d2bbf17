package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

func TestCompileRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		path     string
		keyword  string
		want     string // a part of the error
	}{
		{"no JSON", `{`, "", "", "the input ends inside a value at byte 1"},
		{"nothing", ``, "", "", "the input ends"},
		{"no schema", `[]`, "", "", "expected an object or a boolean, found array"},
		{"no schema inside", `{"properties":{"a":1}}`, "/properties/a", "", "found number"},
		{"an unknown type", `{"type":"strin"}`, "", "type", `unknown type "strin"`},
		{"a type that is no string", `{"type":[1]}`, "", "type", "expected a string, found number"},
		{"no types", `{"type":[]}`, "", "type", "empty"},
		{"a type twice", `{"type":["null","null"]}`, "", "type", "twice"},
		{"a negative length", `{"minLength":-1}`, "", "minLength", "not negative"},
		{"a length with a fraction", `{"maxItems":1.5}`, "", "maxItems", "integer"},
		{"a bound of draft-04", `{"exclusiveMinimum":true}`, "", "exclusiveMinimum", "expected a number, found boolean"},
		{"a multiple of nothing", `{"multipleOf":0}`, "", "multipleOf", "greater than 0"},
		{"a tuple of draft-07", `{"items":[{}]}`, "", "items", "prefixItems"},
		{"no alternatives", `{"anyOf":[]}`, "", "anyOf", "at least one"},
		{"alternatives that are no array", `{"oneOf":{}}`, "", "oneOf", "array of schemas"},
		{"required of draft-03", `{"properties":{"a":{"required":true}}}`, "/properties/a", "required", "array of names"},
		{"a required name twice", `{"required":["a","a"]}`, "", "required", "twice"},
		{"a keyword twice", `{"type":"string","type":"string"}`, "", "type", "twice"},
		{"a keyword twice among many", `{` + list(20, `"x%d":1`) + `,"x3":2}`, "", "x3", "twice"},
		{"a flag that is none", `{"uniqueItems":1}`, "", "uniqueItems", "expected a boolean"},
		{"a condition that is no schema", `{"if":1}`, "/if", "", "found number"},
		{"a branch that is no schema", `{"then":1}`, "/then", "", "found number"},
		{"a pattern that is no string", `{"pattern":1}`, "", "pattern", "expected a string"},
		{"patterns that are no object", `{"patternProperties":[]}`, "", "patternProperties", "expected an object"},
		{"names that are none", `{"dependentRequired":{"a":[1]}}`, "", "dependentRequired", "expected a name"},
		{"dependencies of the wrong kind", `{"dependentRequired":{"a":{}}}`, "", "dependentRequired", "array of names"},
		{"a property twice", `{"properties":{"a":{},"a":{}}}`, "", "properties", "twice"},
		{"an enum that is no array", `{"enum":1}`, "", "enum", "expected an array"},
		{"a reference that is no string", `{"$ref":1}`, "", "$ref", "expected a string"},
		{"a reference to nothing", `{"items":{"$ref":"#/$defs/a"}}`, "/items", "$ref", `"/$defs/a", which is not there`},
		{"a reference to no anchor", `{"$ref":"#a"}`, "", "$ref", `anchor "a"`},
		{"a reference out of the document", `{"$ref":"https://example.com/x.json"}`, "", "$ref", "nothing is fetched"},
		{"a reference to something else", `{"$ref":"#/title","title":"x"}`, "/title", "", "found string"},
		{"an anchor twice", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "/$defs/b", "$anchor", "twice"},
		{"a dialect that is not known", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, "", "$schema", "unsupported dialect"},
		{"a dialect that is not known, inside", `{"$defs":{"a":{"$id":"https://example.com/a","$schema":"https://example.com/d"}},"$ref":"#/$defs/a"}`, "/$defs/a", "$schema", "unsupported dialect"},
		{"a URI that is none", `{"$id":"http://[","type":"object"}`, "", "$id", "not a URI"},
		{"definitions that are no object", `{"$defs":[]}`, "", "$defs", "expected an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(tt.in), nil)
			var se *schema.SchemaError
			if !errors.As(err, &se) {
				t.Fatalf("got %v, want a SchemaError", err)
			}
			if se.Path != tt.path || se.Keyword != tt.keyword || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q at %q, keyword %q; want one with %q at %q, keyword %q", err, se.Path, se.Keyword, tt.want, tt.path, tt.keyword)
			}
		})
	}
}

// TestCompileMetaSchema reads the vocabularies of a meta-schema of one's own.
func TestCompileMetaSchema(t *testing.T) {
	meta := func(vocabulary string) map[string][]byte {
		return map[string][]byte{"https://example.com/meta": []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema",` + vocabulary + `"$id":"https://example.com/meta"}`)}
	}
	const vocab = "https://json-schema.org/draft/2020-12/vocab/"
	const doc = `{"$schema":"https://example.com/meta","minimum":5,"format":"date","unevaluatedProperties":false}`
	tests := []struct {
		name string
		in   map[string][]byte
		want []string // of 1, "x" and {"a":1}: those that are accepted
		err  string
	}{
		{"none listed", meta(""), []string{`"x"`}, "ok"},
		{"no validation", meta(`"$vocabulary":{"` + vocab + `core":true,"` + vocab + `applicator":true},`), []string{`1`, `"x"`, `{"a":1}`}, "ok"},
		{"formats are checked", meta(`"$vocabulary":{"` + vocab + `format-assertion":true,"` + vocab + `validation":true},`), []string{`{"a":1}`}, "ok"},
		{"an unknown one that may be left out", meta(`"$vocabulary":{"https://example.com/v":false},`), []string{`1`, `"x"`, `{"a":1}`}, "ok"},
		{"an unknown one", meta(`"$vocabulary":{"https://example.com/v":true},`), nil, "unknown vocabulary"},
		{"no meta-schema", nil, nil, "unsupported dialect"},
		{"a meta-schema of another dialect", map[string][]byte{"https://example.com/meta": []byte(`{"$schema":"x"}`)}, nil, "unsupported meta-schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(doc), &schema.Options{Documents: tt.in})
			if !strings.Contains(text(err), tt.err) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if err != nil {
				return
			}
			var got []string
			for _, in := range []string{`1`, `"x"`, `{"a":1}`} {
				if s.Validate([]byte(in)) == nil {
					got = append(got, in)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("accepted %v, want %v", got, tt.want)
			}
		})
	}
}

// TestCompileReferences resolves references in and between documents.
func TestCompileReferences(t *testing.T) {
	docs := map[string][]byte{
		"https://example.com/defs.json":  []byte(`{"$defs":{"s":{"type":"string"},"n":{"$ref":"other.json"}}}`),
		"https://example.com/other.json": []byte(`{"type":"number","$defs":{"inner":{"$id":"https://example.org/inner","type":"null"}}}`),
		"https://example.com/old.json":   []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"definitions":{"b":{"$id":"#b","type":"boolean"}}}`),
	}
	tests := []struct {
		name, in, value string
		want            bool
	}{
		{"into another document", `{"$ref":"https://example.com/defs.json#/$defs/s"}`, `1`, false},
		{"from there into a third", `{"$ref":"https://example.com/defs.json#/$defs/n"}`, `1`, true},
		{"relative to the own URI", `{"$id":"https://example.com/main.json","$ref":"defs.json#/$defs/s"}`, `"x"`, true},
		{"to an $id inside of a document", `{"$ref":"https://example.org/inner"}`, `1`, false},
		{"to another dialect", `{"$ref":"https://example.com/old.json"}`, `[1]`, false},
		{"to an anchor of another dialect", `{"$ref":"https://example.com/old.json#b"}`, `true`, true},
		{"to an anchor", `{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"null"}}}`, `1`, false},
		{"with escapes", `{"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"null"}}}`, `1`, false},
		{"to the root", `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{"b":1}}}`, false},
		{"into what is no keyword", `{"$ref":"#/components/x","components":{"x":{"type":"null"}}}`, `1`, false},
		{"into an array", `{"$ref":"#/anyOf/1","anyOf":[true,{"type":"null"}]}`, `1`, false},
		{"to the meta-schema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"properties":{"a":{"type":"strin"}}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.in, &schema.Options{Documents: docs})
			if got := s.Validate([]byte(tt.value)) == nil; got != tt.want {
				t.Errorf("%s and %s: got %v, want %v", tt.in, tt.value, got, tt.want)
			}
		})
	}
}

func TestCompileKeepsTheBytes(t *testing.T) {
	in := []byte(" {\"type\" : \"object\",\"x\":1e5}\n")
	s := compile(t, string(in), nil)
	want := `{"type" : "object","x":1e5}`
	if got := string(s.Raw()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in[3] = 'x' // the document was copied
	if got := string(s.Raw()); got != want {
		t.Errorf("after the change of the input got %s, want %s", got, want)
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name, schema, in string
		options          schema.Options
	}{
		{"work", `{"items":{"anyOf":[{"type":"null"},{"type":"string"},{"type":"object"},{"type":"array"},{"type":"integer"}]}}`, `[1` + strings.Repeat(`,1`, 1000) + `]`, schema.Options{MaxWork: 1}},
		{"depth", `{"items":{"$ref":"#"}}`, nest("[", "", "]", 50), schema.Options{MaxDepth: 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, &tt.options).Validate([]byte(tt.in))
			if !errors.Is(err, schema.ErrLimit) {
				t.Errorf("got %v, want ErrLimit", err)
			}
			if err := compile(t, tt.schema, nil).Validate([]byte(tt.in)); err != nil {
				t.Errorf("with the defaults got %v, want no error", err)
			}
		})
	}
	if _, err := schema.Compile([]byte(`{"enum":[1,2,3]}`), &schema.Options{MaxSchemas: 3}); err == nil {
		t.Error("a schema above MaxSchemas was compiled")
	}
	if _, err := schema.Compile([]byte(`{"title":"0123456789"}`), &schema.Options{MaxBytes: 20}); err == nil {
		t.Error("a schema above MaxBytes was compiled")
	}
}
