package schema_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

func TestRelabel(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	tests := []struct {
		name, in, want string
	}{
		{"no label", `{"z":1,"type":"object"}`, `{"z":1,"type":"object"}`},
		{"the label of 2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`, `{"type":"object"}`},
		{"only the label", `{` + draft7 + `}`, `{}`},
		{"the order stays", `{"z":{},` + draft7 + `,"properties":{"z":{"type":"string"},"a":{"minimum":1.50}},"a":{}}`, `{"z":{},"properties":{"z":{"type":"string"},"a":{"minimum":1.50}},"a":{}}`},
		{"a tuple", `{` + draft7 + `,"items":[{"type":"string"}],"additionalItems":false}`, `{"prefixItems":[{"type":"string"}],"items":false}`},
		{"an empty tuple", `{` + draft7 + `,"items":[],"additionalItems":{"type":"null"}}`, `{"items":{"type":"null"}}`},
		{"additionalItems that says nothing", `{` + draft7 + `,"items":{},"additionalItems":false}`, `{"items":{}}`},
		{"dependencies", `{` + draft7 + `,"dependencies":{"a":["b"],"c":{"items":[true]}}}`, `{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"prefixItems":[true]}}}`},
		{"beside a reference", `{` + draft7 + `,"properties":{"a":{"$ref":"#/definitions/x","description":"d","minimum":1}},"definitions":{"x":{"$id":"#y","type":"integer"}}}`, `{"properties":{"a":{"$ref":"#/definitions/x","description":"d"}},"definitions":{"x":{"$anchor":"y","type":"integer"}}}`},
		{"keywords that came later", `{` + draft7 + `,"unevaluatedProperties":false,"dependentRequired":{"a":["b"]},"minContains":2,"contains":true}`, `{"contains":true}`},
		{"a property with the name of a keyword", `{` + draft7 + `,"properties":{"items":{"type":"string"},"dependencies":{"type":"string"},"$schema":{}}}`, `{"properties":{"items":{"type":"string"},"dependencies":{"type":"string"},"$schema":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := schema.Relabel([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("relabelled (-want +got):\n%s", diff)
			}
		})
	}
	for name, in := range map[string]string{
		"another dialect":    `{"$schema":"http://json-schema.org/draft-04/schema#"}`,
		"a place that moved": `{` + draft7 + `,"items":[{"type":"string"},{"$ref":"#/items/0"}]}`,
		"no object":          `true`,
		"no JSON":            `{`,
	} {
		if got, err := schema.Relabel([]byte(in)); err == nil {
			t.Errorf("%s: got %s, want an error", name, got)
		}
	}
}

// TestRelabelAcceptsTheSame runs the tests of draft-07 with relabelled schemas.
func TestRelabelAcceptsTheSame(t *testing.T) {
	docs := remotes(t)
	total, skipped := 0, 0
	for _, file := range suiteFiles(t, "draft7") {
		for _, g := range suiteFile(t, file) {
			if g.Schema[0] != '{' || strings.Contains(string(g.Schema), "localhost:1234") {
				skipped++ // no object, or it leads to other documents of draft-07
				continue
			}
			labelled := `{"$schema":"http://json-schema.org/draft-07/schema#",` + strings.TrimLeft(string(g.Schema), "{ \n\t")
			out, err := schema.Relabel([]byte(labelled))
			if err != nil {
				if strings.Contains(err.Error(), "is not there") {
					skipped++ // a reference to a place that moved
					continue
				}
				t.Errorf("%s: %v", g.Description, err)
				continue
			}
			g.Schema = out
			n, failed := runGroup(g, &schema.Options{Documents: docs})
			total += n
			for _, f := range failed {
				t.Errorf("%s: %s: %s", file, f, out)
			}
		}
	}
	t.Logf("%d tests, %d schemas skipped", total, skipped)
	if total < 700 {
		t.Errorf("%d tests have run, want at least 700", total)
	}
}

func TestFlatten(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"nothing to do", `{"properties":{"a":{"anyOf":[{}]}}, "type":"object"}`, `{"properties":{"a":{"anyOf":[{}]}}, "type":"object"}`},
		{"alternatives", `{"title":"t","anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]}]}`,
			`{"type":"object","title":"t","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`},
		{"closed alternatives", `{"oneOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`},
		{"a field that tells them apart", `{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"enum":["b","c"]}},"required":["k"]}]}`,
			`{"type":"object","properties":{"k":{"type":"string","enum":["a","b","c"]}},"required":["k"]}`},
		{"a property of several types", `{"oneOf":[{"properties":{"k":{"type":"string"}}},{"properties":{"k":{"type":"null"}}}]}`,
			`{"type":"object","properties":{"k":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		{"all of several", `{"type":"object","properties":{"a":{}},"required":["a"],"allOf":[{"properties":{"b":{}},"required":["b"]},{"$ref":"#/$defs/c"}],"$defs":{"c":{"properties":{"c":{}}}}}`,
			`{"type":"object","$defs":{"c":{"properties":{"c":{}}}},"properties":{"a":{},"b":{},"c":{}},"required":["a","b"]}`},
		{"requirements as alternatives", `{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false,"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`},
		{"a reference", `{"$ref":"#/definitions/x","definitions":{"x":{"type":"object","properties":{"a":{"$ref":"#/definitions/y"}}},"y":{}}}`,
			`{"type":"object","definitions":{"x":{"type":"object","properties":{"a":{"$ref":"#/definitions/y"}}},"y":{}},"properties":{"a":{"$ref":"#/definitions/y"}}}`},
		{"an alternative that is no object", `{"anyOf":[{"type":"null"},{"properties":{"a":{}},"required":["a"]}]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := schema.Flatten([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("flattened (-want +got):\n%s", diff)
			}
			if _, err := schema.Compile(got, nil); err != nil {
				t.Errorf("what came out does not compile: %v", err)
			}
		})
	}
	for name, in := range map[string]string{
		"a loop":               `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`,
		"out of the document":  `{"$ref":"https://example.com/a"}`,
		"a place that is gone": `{"anyOf":[{"properties":{"a":{"$ref":"#/anyOf/1"}}},{"type":"object"}]}`,
		"too many":             `{"anyOf":[` + list(6000, `{"required":["a%d"]}`) + `]}`,
		"no object":            `[]`,
	} {
		if got, err := schema.Flatten([]byte(in)); err == nil {
			t.Errorf("%s: got %s, want an error", name, got)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name, in, want string
		wrapped        bool
		valid, invalid string // for the result
	}{
		{"an object", ` {"type":"object","x":1} `, `{"type":"object","x":1}`, false, `{}`, `[]`},
		{"an array", `{"type":"array","items":{"type":"string"}}`, `{"type":"object","properties":{"result":{"type":"array","items":{"type":"string"}}},"required":["result"]}`, true, `{"result":["a"]}`, `{"result":[1]}`},
		{"no type", `{}`, `{"type":"object","properties":{"result":{}},"required":["result"]}`, true, `{"result":1}`, `1`},
		{"a boolean", `true`, `{"type":"object","properties":{"result":true},"required":["result"]}`, true, `{"result":1}`, `{}`},
		{"definitions", `{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}`, `{"$defs":{"a":{"type":"string"}},"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/$defs/a"}}},"required":["result"]}`, true, `{"result":["a"]}`, `{"result":[1]}`},
		{"a reference to the root", `{"items":{"$ref":"#"},"maxItems":1}`, `{"type":"object","properties":{"result":{"items":{"$ref":"#/properties/result"},"maxItems":1}},"required":["result"]}`, true, `{"result":[[1]]}`, `{"result":[[1,2]]}`},
		{"a reference into the root", `{"prefixItems":[{"type":"string"},{"$ref":"#/prefixItems/0"}],"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"result":{"prefixItems":[{"type":"string"},{"$ref":"#/properties/result/prefixItems/0"}]}},"required":["result"]}`, true, `{"result":["a","b"]}`, `{"result":["a",1]}`},
		{"a reference in a definition", `{"type":"null","$defs":{"a":{"$ref":"#"}}}`, `{"$defs":{"a":{"$ref":"#/properties/result"}},"type":"object","properties":{"result":{"type":"null"}},"required":["result"]}`, true, `{"result":null}`, `{"result":1}`},
		{"a resource of its own", `{"items":{"$id":"https://example.com/x","items":{"$ref":"#"}}}`, `{"type":"object","properties":{"result":{"items":{"$id":"https://example.com/x","items":{"$ref":"#"}}}},"required":["result"]}`, true, `{"result":[]}`, `{}`},
		{"what looks like a reference", `{"const":{"$ref":"#"},"properties":{"$ref":{"type":"string"}}}`, `{"type":"object","properties":{"result":{"const":{"$ref":"#"},"properties":{"$ref":{"type":"string"}}}},"required":["result"]}`, true, `{"result":{"$ref":"#"}}`, `{"result":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, wrapped, err := schema.Wrap([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if wrapped != tt.wrapped {
				t.Errorf("wrapped is %v, want %v", wrapped, tt.wrapped)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("wrapped (-want +got):\n%s", diff)
			}
			s := compile(t, string(got), nil)
			if err := s.Validate([]byte(tt.valid)); err != nil {
				t.Errorf("%s: got %v, want no error", tt.valid, err)
			}
			if err := s.Validate([]byte(tt.invalid)); err == nil {
				t.Errorf("%s was accepted", tt.invalid)
			}
		})
	}
	if got := string(schema.AppendWrapped([]byte("x"), []byte(`[1]`))); got != `x{"result":[1]}` {
		t.Errorf("the wrapped value is %s", got)
	}
	if _, _, err := schema.Wrap([]byte(`{`)); err == nil {
		t.Error("what is no JSON was wrapped")
	}
}
