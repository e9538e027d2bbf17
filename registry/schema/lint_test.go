package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

// rules writes findings in short: the rule, the schema and the path.
func rules(findings []schema.Finding) []string {
	list := []string{}
	for _, f := range findings {
		if f.Rule != "size" {
			list = append(list, strings.TrimRight(fmt.Sprintf("%s %s %s %s", f.Level, f.Rule, f.Schema, f.Path), " "))
		}
	}
	return list
}

func TestLint(t *testing.T) {
	const clean = `{"type":"object","properties":{},"additionalProperties":false}`
	in := func(input string) schema.Tool { return schema.Tool{Name: "tool", Input: []byte(input)} }
	tests := []struct {
		name string
		in   schema.Tool
		want []string
	}{
		{"nothing", in(clean), []string{}},
		{"no schema", in(``), []string{"warning not-an-object input"}},
		{"root combinator", in(`{"type":"object","properties":{},"additionalProperties":false,"oneOf":[{}]}`), []string{"warning root-combinator input"}},
		{"combinator inside", in(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}},"additionalProperties":false}`), []string{}},
		{"dialect", in(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{},"additionalProperties":false}`), []string{"warning dialect-label input"}},
		{"the default dialect", in(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"additionalProperties":false}`), []string{}},
		{"missing properties", in(`{"type":"object","additionalProperties":false}`), []string{"warning missing-properties input"}},
		{"open", in(`{"type":"object","properties":{}}`), []string{"info open-object input"}},
		{"no object", in(`{"properties":{},"additionalProperties":false}`), []string{"warning input-type input"}},
		{"arrays without items", in(`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["array","null"]},"c":{"type":"array","items":{}}},"additionalProperties":false}`), []string{"warning missing-items input /properties/a", "warning missing-items input /properties/b", "portable type-list input /properties/b"}},
		{"tuples", in(`{"type":"object","properties":{"a":{"prefixItems":[{"type":"string"}]},"b":{"items":[{}]}},"additionalProperties":false}`), []string{"portable tuple input /properties/a", "portable tuple input /properties/b"}},
		{"references", in(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"additionalProperties":false,"$defs":{"x":{}}}`), []string{"portable reference input /properties/a"}},
		{"keywords", in(`{"type":"object","properties":{"a":{"type":"string","pattern":"x"},"b":{"minimum":1}},"additionalProperties":false}`), []string{"portable keyword input /properties/a", "portable keyword input /properties/b"}},
		{"names that look like keywords", in(`{"type":"object","properties":{"pattern":{"type":"string"},"$ref":{"type":"string","enum":["minimum"]}},"additionalProperties":false}`), []string{}},
		{"formats", in(`{"type":"object","properties":{"a":{"format":"date-time"},"b":{"format":"uri-template"}},"additionalProperties":false}`), []string{"portable format input /properties/b"}},
		{"output without a type", schema.Tool{Name: "tool", Input: []byte(clean), Output: []byte(`{"properties":{"a":{}}}`)}, []string{"warning output-type output"}},
		{"output with a combinator", schema.Tool{Name: "tool", Input: []byte(clean), Output: []byte(`{"type":"object","properties":{},"anyOf":[{}]}`)}, []string{}},
		{"characters of the name", schema.Tool{Name: "a.b/c", Input: []byte(clean)}, []string{"warning name-characters"}},
		{"length of the name", schema.Tool{Name: strings.Repeat("a", 65), Input: []byte(clean)}, []string{"warning name-length"}},
		{"length with a prefix", schema.Tool{Name: strings.Repeat("a", 50), Server: "my-company", Input: []byte(clean)}, []string{"warning name-length"}},
		{"length of both", schema.Tool{Name: strings.Repeat("a", 40), Server: "my-company", Input: []byte(clean)}, []string{}},
		{"no more than ten of a kind", in(`{"type":"object","properties":{` + list(30, `"p%d":{"type":"array"}`) + `},"additionalProperties":false}`), slices.Collect(func(yield func(string) bool) {
			for i := range 10 {
				if !yield(fmt.Sprintf("warning missing-items input /properties/p%d", i)) {
					return
				}
			}
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := schema.Lint(tt.in)
			if diff := cmp.Diff(tt.want, rules(got)); diff != "" {
				t.Errorf("the findings (-want +got):\n%s", diff)
			}
			for _, f := range got {
				if f.Message == "" || f.Clients == nil || f.Level == schema.LevelPortable && len(f.Clients) == 0 {
					t.Errorf("the finding %+v lacks a message or clients", f)
				}
			}
		})
	}
}

func TestLintTellsTheSize(t *testing.T) {
	small := schema.Lint(schema.Tool{Name: "tool", Description: "does it", Input: []byte(`{"type":"object"}`)})
	last := small[len(small)-1]
	want := schema.Finding{Rule: "size", Level: schema.LevelInfo, Message: "28 bytes, about 7 tokens", Clients: []string{}}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("the last finding (-want +got):\n%s", diff)
	}
	large := schema.Lint(schema.Tool{Name: "tool", Description: strings.Repeat("x", 10_000), Input: []byte(`{}`)})
	if last := large[len(large)-1]; last.Level != schema.LevelWarning {
		t.Errorf("a tool of 10 kB has level %s, want a warning", last.Level)
	}
}

func TestFindingAsJSON(t *testing.T) {
	got, err := json.Marshal(schema.Lint(schema.Tool{Name: "t", Input: []byte(`{"type":"object","properties":{}}`)})[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"rule":"open-object","level":"info","schema":"input","path":"","message":"misspelt arguments go unnoticed: write \"additionalProperties\":false","clients":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the finding (-want +got):\n%s", diff)
	}
}
