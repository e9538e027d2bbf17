package schema_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/schema"
)

// bombTime is how long a schema or value made to explode may keep a server
// busy. The race detector makes everything slower.
func bombTime() time.Duration {
	if raceEnabled {
		return 500 * time.Millisecond
	}
	return 50 * time.Millisecond
}

// fastest is the time that the fastest of some runs takes.
func fastest(f func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := cpuTime()
		f()
		if best = min(best, cpuTime()-start); best < bombTime()/2 {
			break
		}
	}
	return best
}

// nest returns value inside of n times open and close.
func nest(open, value, closing string, n int) string {
	return strings.Repeat(open, n) + value + strings.Repeat(closing, n)
}

// list joins n strings that depend on their index.
func list(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

// doubling is a chain of definitions each of which applies the next one twice.
func doubling(n int, keyword, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, n, last)
	return b.String()
}

// branching is a chain of definitions each of which offers the next one many
// times.
func branching(n, times int, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d":{"anyOf":[%s]},`, i, strings.TrimSuffix(strings.Repeat(next+",", times), ","))
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, n, last)
	return b.String()
}

// permuted is a nest of objects whose members are in turns in one order and in
// the other.
func permuted(n, turn int) string {
	if n == 0 {
		return "1"
	}
	if turn == 0 {
		return `{"a":` + permuted(n-1, 0) + `,"b":1}`
	}
	return `{"b":1,"a":` + permuted(n-1, 1) + `}`
}

func TestBombsCompile(t *testing.T) {
	tests := []struct {
		name string
		in   string
	}{
		{"depth of the document", nest(`{"not":`, `true`, `}`, 100_000)},
		{"depth of arrays in a value", `{"const":` + nest(`[`, `1`, `]`, 100_000) + `}`},
		{"depth with a heavy end", nest(`{"not":`, `{"enum":[`+list(20_000, "%d")+`]}`, `}`, 500)},
		{"breadth of alternatives", `{"anyOf":[` + list(200_000, `{"minimum":%d}`) + `]}`},
		{"breadth of properties", `{"properties":{` + list(200_000, `"p%d":{}`) + `}}`},
		{"breadth of an enum", `{"enum":[` + list(400_000, `%d`) + `]}`},
		{"breadth of required", `{"required":[` + list(200_000, `"p%d"`) + `]}`},
		{"breadth of dependencies", `{"dependentRequired":{` + list(100_000, `"p%d":["a"]`) + `}}`},
		{"size of the document", `{"description":"` + strings.Repeat("x", 5<<20) + `"}`},
		{"loop of a reference to itself", `{"$ref":"#"}`},
		{"loop of two references", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`},
		{"loop through alternatives", `{"anyOf":[{"type":"null"},{"allOf":[{"$ref":"#"}]}]}`},
		{"loop through a dynamic reference", `{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"}]}`},
		{"loop through dependent schemas", `{"dependentSchemas":{"a":{"$ref":"#"}}}`},
		{"long pattern", `{"pattern":"` + strings.Repeat("a?", 50_000) + `"}`},
		{"pattern of repetitions", `{"pattern":"` + strings.Repeat("a{1000}", 1000) + `"}`},
		{"pattern of nested repetitions", `{"pattern":"((a{100}){100}){100}"}`},
		{"pattern of many classes", `{"pattern":"` + strings.Repeat(`\\p{L}{100}`, 500) + `"}`},
		{"many patterns", `{"patternProperties":{` + list(20_000, `"^x{900}%d$":true`) + `}}`},
		{"deep groups in a pattern", `{"pattern":"` + nest("(", "a", ")", 3_000) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			took := fastest(func() { _, err = schema.Compile([]byte(tt.in), nil) })
			if err == nil {
				t.Error("compiled, want an error")
			} else if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes, want at most 1000", len(err.Error()))
			} else {
				t.Log(took, err)
			}
			if took > bombTime() {
				t.Errorf("took %v, want at most %v", took, bombTime())
			}
		})
	}
}

func TestBombsValidate(t *testing.T) {
	deep := nest(`[`, `1`, `]`, 500)
	tests := []struct {
		name   string
		schema string
		in     string
	}{
		{"doubling anyOf", doubling(100, "anyOf", `{"type":"null"}`), `1`},
		{"doubling allOf", doubling(100, "allOf", `true`), `1`},
		{"doubling oneOf", doubling(100, "oneOf", `{"type":"null"}`), `1`},
		{"recursion that doubles with depth", `{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/t"}},{"type":"array","items":{"$ref":"#/$defs/t"}}]}}}`, deep},
		{"not of not", `{"$ref":"#/$defs/t","$defs":{"t":{"not":{"not":{"items":{"allOf":[{"$ref":"#/$defs/t"},{"$ref":"#/$defs/t"}]}}}}}}`, deep},
		{"unevaluated with depth", `{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"prefixItems":[{"$ref":"#/$defs/t"}]},{"prefixItems":[{"$ref":"#/$defs/t"}]}],"unevaluatedItems":false}}}`, deep},
		{"unevaluated with breadth", `{"anyOf":[` + list(2_000, `{"properties":{"p%d":true}}`) + `],"unevaluatedProperties":false}`, `{` + list(5_000, `"p%d":1`) + `}`},
		{"contains with breadth", `{"contains":{"anyOf":[` + list(5_000, `{"const":-%d}`) + `]}}`, `[` + list(50_000, `%d`) + `]`},
		{"conditions with depth", `{"$ref":"#/$defs/t","$defs":{"t":{"if":{"items":{"$ref":"#/$defs/t"}},"then":{"items":{"$ref":"#/$defs/t"}},"else":false}}}`, deep},
		{"equal elements of large arrays", `{"uniqueItems":true}`, `[` + list(60_000, `{"a":%d}`) + `,{"a":1}]`},
		{"numbers with huge exponents", `{"items":{"multipleOf":0.0000001}}`, `[` + list(20_000, `1e%d`) + `,1e-99]`},
		{"a huge exponent", `{"multipleOf":7}`, `1e999999999999999999999`},
		{"a long number", `{"multipleOf":10}`, `1` + strings.Repeat("0", 500_000) + `1`},
		{"backtracking pattern", `{"pattern":"^(a+)+$"}`, `"` + strings.Repeat("a", 50_000) + `!"`},
		{"large pattern on long text", `{"pattern":"(x+x+)+y(a|b|ab){500}$"}`, `"` + strings.Repeat("xa", 500_000) + `"`},
		{"pattern for many names", `{"patternProperties":{"(x|y){400}z$":false},"minProperties":100000}`, `{` + list(30_000, `"xyxyxyxyxyxyxyxyxyxyxyxyxyxy%d":1`) + `}`},
		{"missing names of many", `{"required":[` + list(10_000, `"p%d"`) + `]}`, `{}`},
		{"unknown names of many", `{"properties":{` + list(12_000, `"property%d":true`) + `},"additionalProperties":false}`, `{` + list(20_000, `"propetry%d":1`) + `}`},
		{"many faults", `{"items":{"type":"string"}}`, `[` + list(200_000, `%d`) + `]`},
		{"depth of alternatives in an error", branching(10, 20, `{"type":"null"}`), `1`},
		{"unevaluated with depth and a heavy end", `{"$ref":"#/$defs/t","$defs":{"t":{"prefixItems":[{"$ref":"#/$defs/t"}],"unevaluatedItems":{"type":"null"}}}}`, nest(`[`, list(50_000, "%d"), `]`, 500)},
		{"equal elements with depth", `{"uniqueItems":true}`, `[` + permuted(450, 0) + `,` + permuted(450, 1) + `]`},
		{"equal elements with depth and a heavy end", `{"uniqueItems":true}`, `[` + list(20, "%d") + `,` + nest(`{"b":1,"a":`, `[`+list(50_000, "%d")+`]`, `}`, 450) + `,` + nest(`{"a":`, `[`+list(50_000, "%d")+`]`, `,"b":1}`, 450) + `]`},
		{"faults at the end of a deep value", `{"$ref":"#/$defs/t","$defs":{"t":{"prefixItems":[{"$ref":"#/$defs/t"},{"type":"null"}],"items":{"type":"integer"}}}}`, nest(`[`, `[`+list(100_000, "%d")+`]`, `,1]`, 490)},
		{"large constant", `{"const":{` + list(20_000, `"p%d":1`) + `}}`, `{` + list(20_000, `"p%d":2`) + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.schema), nil)
			if err != nil {
				t.Fatal(err)
			}
			took := fastest(func() { err = s.Validate([]byte(tt.in)) })
			var ve *schema.ValidationError
			if !errors.As(err, &ve) {
				t.Errorf("got %v, want a ValidationError", err)
			} else if len(err.Error()) > 8000 {
				t.Errorf("the error has %d bytes, want at most 8000", len(err.Error()))
			} else {
				t.Log(took, errors.Is(err, schema.ErrLimit), len(ve.Violations), ve.Violations[0].Keyword)
			}
			if took > bombTime() {
				t.Errorf("took %v, want at most %v", took, bombTime())
			}
		})
	}
}

// TestBombsDecode reads what is deep, with most of it at the end.
func TestBombsDecode(t *testing.T) {
	type in struct {
		Any any `json:"any"`
	}
	c := newCodec[in](t, nil)
	for name, value := range map[string]string{
		"arrays":  nest(`[`, list(50_000, "%d"), `]`, 450),
		"objects": nest(`{"a":`, `[`+list(50_000, "%d")+`]`, `}`, 450),
	} {
		var err error
		took := fastest(func() {
			var v in
			err = c.Decode([]byte(`{"any":`+value+`}`), &v)
		})
		if err != nil {
			t.Errorf("%s: got %v, want no error", name, err)
		}
		if took > bombTime() {
			t.Errorf("%s: took %v, want at most %v", name, took, bombTime())
		}
	}
}

// TestLargeSchemas compiles what is large and harmless, in time.
func TestLargeSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 10_000 {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	b.WriteString(`"d10000":{"type":"null"}}}`)
	chain := b.String()
	tests := []struct {
		name, in string
	}{
		{"a chain of references", chain},
		{"many references in a large document", `{"description":"` + strings.Repeat("x", 2<<20) + `","properties":{` + list(10_000, `"p%d":{"$ref":"#/$defs/x"}`) + `},"$defs":{"x":{"type":"null"}}}`},
		{"many classes", `{"pattern":"` + strings.Repeat(`[a-z0-9]+(-|_)`, 200) + `"}`},
		{"a pattern with many sets of threads", `{"pattern":"` + strings.Repeat(`(a|b)?`, 200) + `c$"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			took := fastest(func() { _, err = schema.Compile([]byte(tt.in), nil) })
			if err != nil {
				t.Fatal(err)
			}
			t.Log(took)
			if took > bombTime() {
				t.Errorf("took %v, want at most %v", took, bombTime())
			}
		})
	}
}

// TestBombsTransform gives the functions on whole documents what would keep
// them busy.
func TestBombsTransform(t *testing.T) {
	in := []byte(nest(`{"type":"array","items":`, `{"enum":[`+list(20_000, "%d")+`]}`, `}`, 500))
	wide := []byte(`{"type":"object","properties":{` + list(50_000, `"p%d":{"type":"array"}`) + `}}`)
	tests := []struct {
		name string
		f    func(doc []byte)
	}{
		{"lint", func(doc []byte) { schema.Lint(schema.Tool{Input: doc}) }},
		{"headers", func(doc []byte) { _, _ = schema.Headers(doc) }},
		{"relabel", func(doc []byte) { _, _ = schema.Relabel(doc) }},
		{"flatten", func(doc []byte) { _, _ = schema.Flatten(doc) }},
		{"wrap", func(doc []byte) { _, _, _ = schema.Wrap(doc) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for what, doc := range map[string][]byte{"deep": in, "wide": wide} {
				if took := fastest(func() { tt.f(doc) }); took > 2*bombTime() {
					t.Errorf("%s: took %v, want at most %v", what, took, 2*bombTime())
				} else {
					t.Log(what, took)
				}
			}
		})
	}
}
