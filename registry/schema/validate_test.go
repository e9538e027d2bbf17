package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

// compile compiles a schema that has to be right.
func compile(t testing.TB, doc string, o *schema.Options) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(doc), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// firstPath is where the first violation is, or "ok".
func firstPath(err error) string {
	var ve *schema.ValidationError
	if !errors.As(err, &ve) {
		return "ok"
	}
	return ve.Violations[0].Path
}

// text is the text of an error, or "ok".
func text(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

func TestValidationErrorText(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		in     string
		want   string
	}{
		{"type", `{"properties":{"text":{"type":"string"}}}`, `{"text":5}`, `argument "text": expected string, found number`},
		{"several types", `{"properties":{"a":{"type":["string","null"]}}}`, `{"a":[]}`, `argument "a": expected string or null, found array`},
		{"integer", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, `argument "a": expected integer, found a number with a fraction`},
		{"the whole value", `{"type":"object"}`, `[]`, `arguments: expected object, found array`},
		{"unknown", `{"properties":{"text":{}},"additionalProperties":false}`, `{"txet":1}`, `unknown argument "txet"; did you mean "text"?`},
		{"unknown by case", `{"properties":{"userId":{}},"additionalProperties":false}`, `{"user_id":1}`, `unknown argument "user_id"; did you mean "userId"?`},
		{"unknown, like nothing", `{"properties":{"text":{}},"additionalProperties":false}`, `{"limit":1}`, `unknown argument "limit"`},
		{"unknown and nested", `{"properties":{"a":{"items":{"properties":{"b":{}},"additionalProperties":false}}}}`, `{"a":[{},{"x":1}]}`, `argument "a[1]": unknown property "x"`},
		{"missing", `{"properties":{"b":{"type":"integer"}},"required":["b"]}`, `{}`, `missing required argument "b" (integer)`},
		{"missing, of any type", `{"required":["b"]}`, `{}`, `missing required argument "b"`},
		{"missing and nested", `{"properties":{"a":{"required":["b"]}}}`, `{"a":{}}`, `argument "a": missing required property "b"`},
		{"missing through a reference", `{"properties":{"b":{"$ref":"#/$defs/x"}},"required":["b"],"$defs":{"x":{"anyOf":[{"type":"string"},{"type":"boolean"}]}}}`, `{}`, `missing required argument "b" (boolean or string)`},
		{"missing because of another", `{"dependentRequired":{"a":["b","c"]}}`, `{"a":1,"c":2}`, `missing required argument "b"`},
		{"twice", `{"properties":{"a":{}}}`, `{"a":1,"a":2}`, `argument "a" is there twice`},
		{"enum", `{"properties":{"a":{"enum":["celsius","kelvin",null]}}}`, `{"a":"kelvim"}`, `argument "a": expected one of "celsius", "kelvin", null; did you mean "kelvin"?`},
		{"enum, wrong type", `{"properties":{"a":{"enum":["x","y"]}}}`, `{"a":1}`, `argument "a": expected one of "x", "y", found number`},
		{"const", `{"properties":{"a":{"const":"x"}}}`, `{"a":"secret"}`, `argument "a": expected "x"`},
		{"minimum", `{"properties":{"a":{"minimum":1}}}`, `{"a":0}`, `argument "a": must be at least 1`},
		{"maximum", `{"properties":{"a":{"maximum":1}}}`, `{"a":2}`, `argument "a": must be at most 1`},
		{"exclusive bounds", `{"properties":{"a":{"exclusiveMinimum":1},"b":{"exclusiveMaximum":2}}}`, `{"a":1,"b":2}`, `argument "a": must be greater than 1; argument "b": must be less than 2`},
		{"multiple", `{"properties":{"a":{"multipleOf":0.5}}}`, `{"a":0.7}`, `argument "a": must be a multiple of 0.5`},
		{"length", `{"properties":{"a":{"minLength":2},"b":{"maxLength":1}}}`, `{"a":"x","b":"xx"}`, `argument "a": must have at least 2 characters; argument "b": must have at most 1 character`},
		{"pattern", `{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"y"}`, `argument "a": must match the pattern "^x"`},
		{"elements", `{"properties":{"a":{"minItems":1},"b":{"maxItems":1},"c":{"uniqueItems":true}}}`, `{"a":[],"b":[1,2],"c":[1,1.0]}`, `argument "a": must have at least 1 element; argument "b": must have at most 1 element; argument "c": must not have two equal elements`},
		{"contains", `{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `arguments: must have at most 1 element of the given form`},
		{"contains nothing", `{"contains":{"type":"string"}}`, `[1]`, `arguments: must have at least 1 element of the required form`},
		{"members", `{"minProperties":1}`, `{}`, `arguments: must have at least 1 member`},
		{"too many members", `{"maxProperties":1}`, `{"a":1,"b":2}`, `arguments: must have at most 1 member`},
		{"names", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `argument "ab": must have at most 1 character`},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, `argument "a": is not allowed here`},
		{"alternatives of types", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":1}`, `argument "a": expected string or null, found number`},
		{"the alternative of the type", `{"properties":{"a":{"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]}}}`, `{"a":"xx"}`, `argument "a": must have at most 1 character`},
		{"the alternative that came furthest", `{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k"]},{"properties":{"k":{"const":"b"},"n":{"type":"string"}},"required":["k"]}]}`, `{"k":"b","n":1}`, `argument "n": expected string, found number`},
		{"more than one alternative", `{"properties":{"a":{"oneOf":[{"minimum":1},{"minimum":2}]}}}`, `{"a":3}`, `argument "a": must match exactly one of 2 alternatives`},
		{"no alternative", `{"properties":{"a":{"anyOf":[{"minimum":5},{"minimum":9}]}}}`, `{"a":3}`, `argument "a": must match at least one of 2 alternatives`},
		{"not", `{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, `argument "a": has a form that is not allowed`},
		{"condition", `{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}`, `{"a":1}`, `missing required argument "b"`},
		{"unevaluated", `{"allOf":[{"properties":{"text":{}}}],"properties":{"test":{}},"unevaluatedProperties":false}`, `{"text":1,"tesd":2}`, `unknown argument "tesd"; did you mean "test"?`},
		{"unevaluated elements", `{"prefixItems":[true],"unevaluatedItems":false}`, `[1,2]`, `argument "[1]": must have no further elements`},
		{"said once", `{"allOf":[{"required":["a"]},{"required":["a"]}]}`, `{}`, `missing required argument "a"`},
		{"nothing", `{}`, ` `, `expected a value, found nothing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := text(compile(t, tt.schema, nil).Validate([]byte(tt.in)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the text of the error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidationErrorIsBounded(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"string"}}`, &schema.Options{MaxErrors: 3})
	err := s.Validate([]byte(`[1,2,3,4,5]`))
	var ve *schema.ValidationError
	if !errors.As(err, &ve) {
		t.Fatalf("got %v, want a ValidationError", err)
	}
	if len(ve.Violations) != 3 || !ve.Truncated {
		t.Errorf("got %d violations, truncated %v; want 3, true", len(ve.Violations), ve.Truncated)
	}
	if !strings.HasSuffix(err.Error(), "; and more") {
		t.Errorf("got %q, want a text that says that there is more", err)
	}
}

// TestErrorsAreShort gives names that are not.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, schema, in string
	}{
		{"a path", `{"additionalProperties":{"type":"string"}}`, `{"` + long + `":1}`},
		{"a path inside", `{"additionalProperties":{"additionalProperties":{"type":"string"}}}`, `{"` + long + `":{"a":1}}`},
		{"an unknown name", `{"additionalProperties":false}`, `{"` + long + `":1}`},
		{"a missing name", `{"required":["` + long + `"]}`, `{}`},
		{"a constant", `{"const":"` + long + `"}`, `1`},
		{"a pattern", `{"pattern":"^` + long[:8000] + `$"}`, `""`},
		{"a bound", `{"minimum":1` + strings.Repeat("0", 10_000) + `}`, `1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := compile(t, tt.schema, nil).Validate([]byte(tt.in))
			if err == nil {
				t.Fatal("accepted, want an error")
			}
			if n := len(err.Error()); n > 500 {
				t.Errorf("the text has %d bytes, want at most 500", n)
			}
			if n := len(firstPath(err)); n > 1024 {
				t.Errorf("the path has %d bytes, want at most 1024", n)
			}
		})
	}
}

func TestViolationsAsJSON(t *testing.T) {
	err := compile(t, `{"properties":{"a/b":{"type":"string"}},"required":["c"]}`, nil).Validate([]byte(`{"a/b":1}`))
	var ve *schema.ValidationError
	if !errors.As(err, &ve) {
		t.Fatalf("got %v, want a ValidationError", err)
	}
	got, err := json.Marshal(ve.Violations)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"path":"/a~1b","message":"expected string, found number","keyword":"type"},` +
		`{"path":"","message":"missing required argument \"c\"","keyword":"required"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the violations (-want +got):\n%s", diff)
	}
}

// TestErrorsHoldNoValues plants a secret in every place of a value that can
// have one, and looks for it in what is said.
func TestErrorsHoldNoValues(t *testing.T) {
	const secret = "hunter2"
	schemas := []string{
		`{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"enum":["x","hunters"]}}}`, `{"properties":{"a":{"const":1}}}`,
		`{"properties":{"a":{"pattern":"^x$"}}}`, `{"properties":{"a":{"maxLength":1}}}`, `{"properties":{"a":{"not":{}}}}`,
		`{"properties":{"a":{"anyOf":[{"const":"y"},{"pattern":"z"}]}}}`, `{"properties":{"a":{"format":"date"}}}`,
		`{"properties":{"a":false}}`, `{"additionalProperties":{"type":"null"}}`, `{"unevaluatedProperties":{"type":"null"}}`,
	}
	for _, doc := range schemas {
		err := compile(t, doc, &schema.Options{AssertFormat: true}).Validate([]byte(`{"a":"` + secret + `"}`))
		if err == nil {
			t.Errorf("%s: accepted, want an error", doc)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the value is in the error: %v", doc, err)
		}
	}
}

func TestNoun(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, &schema.Options{Noun: "field"})
	tests := []struct {
		name, in, want string
	}{
		{"a member", `{"a":1,"b":2}`, `field "a": expected string, found number`},
		{"a missing member", `{}`, `missing required field "b"`},
		{"the whole", `1`, `fields: expected object, found number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(s.Validate([]byte(tt.in))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNullAsAbsent(t *testing.T) {
	const doc = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":"string"}},` +
		`"required":["c"],"additionalProperties":false,"dependentRequired":{"a":["b"]}}`
	tests := []struct {
		name, in, want string
	}{
		{"optional", `{"a":null,"c":"x"}`, "ok"},
		{"required", `{"c":null}`, `argument "c": expected string, found null`},
		{"required and absent", `{"a":null}`, `missing required argument "c" (string)`},
		{"unknown", `{"c":"x","d":null}`, `unknown argument "d"`},
	}
	s := compile(t, doc, &schema.Options{NullAsAbsent: true})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(s.Validate([]byte(tt.in))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if err := compile(t, doc, nil).Validate([]byte(`{"a":null,"c":"x"}`)); err == nil {
		t.Error("without the option null was accepted for a string")
	}
}

func TestNumbersAreExact(t *testing.T) {
	tests := []struct {
		name, schema, in string
		want             bool
	}{
		{"an integer with a fraction of zero", `{"type":"integer"}`, `1.0`, true},
		{"an integer with an exponent", `{"type":"integer"}`, `1.5e1`, true},
		{"a tiny fraction", `{"type":"integer"}`, `1.00000000000000000000000001`, false},
		{"beyond 2^53", `{"const":9007199254740993}`, `9007199254740992`, false},
		{"beyond 2^53, the same", `{"const":9007199254740993}`, `9007199254740993.0`, true},
		{"beyond 2^64", `{"maximum":18446744073709551616}`, `18446744073709551617`, false},
		{"a bound that float64 cannot tell", `{"exclusiveMaximum":0.1}`, `0.09999999999999999999999`, true},
		{"a bound with a huge exponent", `{"maximum":1e400}`, `1e401`, false},
		{"a tiny number", `{"exclusiveMinimum":0}`, `1e-999999999999`, true},
		{"negative zero", `{"const":0}`, `-0.0`, true},
		{"signs", `{"minimum":-1}`, `-1.0000000000000000000001`, false},
		{"multiple of a tenth", `{"multipleOf":0.1}`, `0.3`, true},
		{"multiple of a hundredth", `{"multipleOf":0.01}`, `0.075`, false},
		{"multiple of many digits", `{"multipleOf":123456789012345678901234567891}`, `246913578024691357802469135782`, true},
		{"not a multiple of many digits", `{"multipleOf":123456789012345678901234567891}`, `246913578024691357802469135783`, false},
		{"multiple with a huge exponent", `{"multipleOf":3}`, `3e1000000`, true},
		{"not a multiple with a huge exponent", `{"multipleOf":3}`, `1e1000000`, false},
		{"equal elements", `{"uniqueItems":true}`, `[1,1.0]`, false},
		{"elements that float64 cannot tell", `{"uniqueItems":true}`, `[9007199254740992,9007199254740993]`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compile(t, tt.schema, nil).Validate([]byte(tt.in)) == nil; got != tt.want {
				t.Errorf("%s and %s: got %v, want %v", tt.schema, tt.in, got, tt.want)
			}
		})
	}
}

func TestNamesAndTextWithEscapes(t *testing.T) {
	tests := []struct {
		name, schema, in string
		want             bool
	}{
		{"a name with an escape", `{"required":["aé"]}`, `{"a\u00e9":1}`, true},
		{"a name with an escape in the schema", `{"properties":{"\u0061":{"type":"null"}}}`, `{"a":1}`, false},
		{"a name that looks alike up to a quote", `{"properties":{"a":false}}`, `{"a\"":1}`, true},
		{"the length of an escape", `{"maxLength":1}`, `"\u00e9"`, true},
		{"the length of a pair of escapes", `{"maxLength":1}`, `"\ud83d\ude00"`, true},
		{"the length of half a pair", `{"minLength":2}`, `"\ud83d"`, false},
		{"the length of two halves in the wrong order", `{"minLength":2}`, `"\ude00\ud83d"`, true},
		{"a pattern on an escape", `{"pattern":"^\\n$"}`, `"\n"`, true},
		{"a constant with an escape", `{"const":"a/b"}`, `"a\/b"`, true},
		{"an enum with an escape", `{"enum":["a","b","c","d","e","f","g","h","i","é"]}`, `"\u00e9"`, true},
		{"equal elements", `{"uniqueItems":true}`, `["a","\u0061"]`, false},
		{"equal objects", `{"uniqueItems":true}`, `[{"a":1,"b":[2]},{"\u0062":[2.0],"a":1}]`, false},
		{"const and enum", `{"enum":["a",{"x":1},2],"const":2.0}`, `2`, true},
		{"const against enum", `{"const":"a","enum":["a","b"]}`, `"b"`, false},
		{"const without enum", `{"const":"c","enum":["a","b"]}`, `"c"`, false},
		{"a large constant in another order", `{"const":{` + list(20, `"p%d":[%[1]d]`) + `}}`, `{"p19":[19],` + list(19, `"p%d":[%[1]d.0]`) + `}`, true},
		{"a large constant with one more", `{"const":{` + list(20, `"p%d":[%[1]d]`) + `}}`, `{"p20":1,` + list(20, `"p%d":[%[1]d]`) + `}`, false},
		{"white space", `{"properties":{"a":{"items":{"type":"integer"}}},"required":["a"]}`, " { \"a\" :\t[ 1 ,\r\n2 ] } ", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compile(t, tt.schema, nil).Validate([]byte(tt.in)) == nil; got != tt.want {
				t.Errorf("%s and %s: got %v, want %v", tt.schema, tt.in, got, tt.want)
			}
		})
	}
}

// TestNullTwice makes sure that a null that counts as absent does not hide that
// its name is there again.
func TestNullTwice(t *testing.T) {
	const in = `{"a":null,"a":"x"}`
	const want = `argument "a" is there twice`
	for _, doc := range []string{
		`{"properties":{"a":{"type":"string"}}}`,
		`{"properties":{"a":{"type":"string"}},"dependentRequired":{"a":["b"]}}`,
	} {
		got := text(compile(t, doc, &schema.Options{NullAsAbsent: true}).Validate([]byte(in)))
		if !strings.HasPrefix(got, want) && !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
	}
	var v struct {
		A *string `json:"a"`
	}
	c := newCodec[struct {
		A *string `json:"a"`
	}](t, nil)
	if got := text(c.Decode([]byte(in), &v)); got != want {
		t.Errorf("decoded: got %q, want %q", got, want)
	}
}

// TestNullAsAbsentCounts makes sure that what counts as absent is not counted
// and asks for nothing.
func TestNullAsAbsentCounts(t *testing.T) {
	tests := []struct {
		name, schema, in, want string
	}{
		{"the number of members", `{"properties":{"a":{"type":"string"}},"minProperties":1}`, `{"a":null}`, `arguments: must have at least 1 member`},
		{"what depends on it", `{"properties":{"a":{"type":"string"}},"dependentRequired":{"a":["b"]}}`, `{"a":null}`, "ok"},
		{"what it is needed for", `{"properties":{"a":{"type":"string"}},"dependentRequired":{"b":["a"]}}`, `{"b":1,"a":null}`, `missing required argument "a" (string)`},
		{"what is left over", `{"properties":{"a":{"type":"string"}},"unevaluatedProperties":false}`, `{"a":null}`, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := text(compile(t, tt.schema, &schema.Options{NullAsAbsent: true}).Validate([]byte(tt.in)))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
