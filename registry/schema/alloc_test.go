package schema_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

// TestValidInputAllocatesNothing guards the promise of Validate, for each kind
// of keyword.
func TestValidInputAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget what they hold, so allocations cannot be counted")
	}
	tests := []struct {
		name, schema, in string
	}{
		{"objects", `{"type":"object","properties":{"a":{"type":"string","maxLength":5},"b":{"type":"integer","minimum":1}},"required":["a"],"additionalProperties":false}`, `{"b":2,"a":"x"}`},
		{"many members", `{"properties":{` + list(300, `"p%d":{"type":"integer"}`) + `},"required":["p299"]}`, `{` + list(300, `"p%d":1`) + `}`},
		{"names with escapes", `{"properties":{"é":{"type":"integer"}}}`, `{"\u00e9":1}`},
		{"arrays", `{"items":{"type":"number","multipleOf":0.1},"minItems":1,"contains":{"const":0.3}}`, `[0.1,0.2,0.3]`},
		{"few distinct elements", `{"uniqueItems":true}`, `["a","b",1]`},
		{"many distinct elements", `{"uniqueItems":true}`, `[` + list(100, `{"a":%d}`) + `]`},
		{"enum", `{"items":{"enum":["a","b",1,null,{"x":1}]}}`, `["b",1.0,null,{"x":1}]`},
		{"patterns", `{"pattern":"^[a-z]+(-[a-z]+)*$"}`, `"abc-def"`},
		{"formats", `{"format":"date-time"}`, `"2020-01-02T03:04:05Z"`},
		{"alternatives", `{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`, `{"a":1}`},
		{"references", `{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"next":{"$ref":"#/$defs/t"}}}}}`, `{"next":{"next":{}}}`},
		{"dynamic references", `{"$dynamicAnchor":"t","properties":{"next":{"$dynamicRef":"#t"}}}`, `{"next":{"next":{}}}`},
		{"unevaluated", `{"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`},
		{"conditions", `{"if":{"required":["a"]},"then":{"required":["b"]},"dependentRequired":{"a":["b"]}}`, `{"a":1,"b":2}`},
		{"large integers", `{"maximum":9223372036854775807,"type":"integer"}`, `9223372036854775806`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.schema, &schema.Options{AssertFormat: true})
			in := []byte(tt.in)
			got := testing.AllocsPerRun(200, func() {
				if err := s.Validate(in); err != nil {
					t.Fatal(err)
				}
			})
			if got != 0 {
				t.Errorf("got %v allocations, want 0", got)
			}
		})
	}
}

// TestDecodeAllocations guards that decoding allocates what it hands out and
// nothing else.
func TestDecodeAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget what they hold, so allocations cannot be counted")
	}
	decodeAllocations[sum](t, "integers", `{"a":1,"b":2}`, 0)
	decodeAllocations[echo](t, "a string", `{"text":"hello"}`, 1)
	decodeAllocations[echo](t, "a long string", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`, 1)
	decodeAllocations[echo](t, "a string with escapes", `{"text":"a\nb\u00e9"}`, 1)
	decodeAllocations[search](t, "several", `{"query":"x","limit":1,"format":"json","exact":true,"tags":["a","b"]}`, 5)
}

func decodeAllocations[T any](t *testing.T, name, in string, want float64) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		c := newCodec[T](t, nil)
		raw := []byte(in)
		var v T
		got := testing.AllocsPerRun(200, func() {
			if err := c.Decode(raw, &v); err != nil {
				t.Fatal(err)
			}
		})
		if got > want {
			t.Errorf("got %v allocations, want at most %v", got, want)
		}
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget what they hold, so allocations cannot be counted")
	}
	c := newCodec[search](t, nil)
	v := search{Query: "x", Limit: 1, Format: "json", Tags: []string{"a"}}
	dst := make([]byte, 0, 1024)
	got := testing.AllocsPerRun(200, func() {
		if _, err := c.Append(dst, &v); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
