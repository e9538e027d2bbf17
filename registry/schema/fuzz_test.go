package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/registry/schema"
)

// FuzzValidate compiles and validates whatever comes. Nothing may panic, an
// error has to say something, and white space may not matter.
func FuzzValidate(f *testing.F) {
	seeds := [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"a":"x"}`},
		{`{"anyOf":[{"minimum":1},{"maxLength":2}],"not":{"const":3}}`, `3`},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":{"type":"null"}}`, `{"a":1,"b":null}`},
		{`{"prefixItems":[{"$ref":"#"}],"items":false,"uniqueItems":true,"contains":{"minItems":1}}`, `[[[]]]`},
		{`{"$dynamicAnchor":"t","additionalProperties":{"$dynamicRef":"#t"},"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":{"b":{}}}`},
		{`{"if":{"multipleOf":0.1},"then":{"enum":[1,"1",[1],{"a":1}]},"else":{"dependentRequired":{"a":["b"]}}}`, `{"a":1}`},
	}
	for _, s := range seeds {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	for _, g := range suiteSeeds(f) {
		for _, tt := range g.Tests {
			f.Add([]byte(g.Schema), []byte(tt.Data))
		}
	}
	f.Fuzz(func(t *testing.T, doc, value []byte) {
		s, err := schema.Compile(doc, &schema.Options{MaxWork: 20_000, AssertFormat: true})
		if err != nil {
			var se *schema.SchemaError
			if !errors.As(err, &se) {
				t.Fatalf("got %v, want a SchemaError", err)
			}
			return
		}
		if jsonwire.Valid(value, 0) != nil {
			return
		}
		err = s.Validate(value)
		checkViolations(t, err)
		spaced := spread(value)
		other := s.Validate(spaced)
		if errors.Is(err, schema.ErrLimit) || errors.Is(other, schema.ErrLimit) {
			return // white space gives more to do, and more to do it with
		}
		if text(err) != text(other) {
			t.Errorf("%s and %s: got %q, and with white space %q", doc, value, text(err), text(other))
		}
	})
}

// suiteSeeds are the groups of the suite, if it is there.
func suiteSeeds(f *testing.F) []suiteGroup {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "suites", "json-schema", "tests", "*", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	var groups []suiteGroup
	for _, file := range files {
		groups = append(groups, suiteFile(f, file)...)
	}
	return groups
}

// spread puts white space wherever JSON allows it.
func spread(doc []byte) []byte {
	var out []byte
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			n := jsonwire.SkipString(doc[i:])
			out = append(out, doc[i:i+n]...)
			i += n - 1
		case '{', '}', '[', ']', ',', ':':
			out = append(out, ' ', doc[i], '\n', '\t')
		default:
			out = append(out, doc[i])
		}
	}
	return out
}

func checkViolations(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var ve *schema.ValidationError
	if !errors.As(err, &ve) {
		t.Fatalf("got %v, want a ValidationError", err)
	}
	if len(ve.Violations) == 0 {
		t.Fatal("an error without violations")
	}
	for _, v := range ve.Violations {
		if v.Message == "" || v.Keyword == "" || v.Path != "" && v.Path[0] != '/' {
			t.Fatalf("a violation that says too little: %+v", v)
		}
	}
	if len(err.Error()) > 20_000 {
		t.Fatalf("the text has %d bytes", len(err.Error()))
	}
}

// FuzzCompile looks at what the functions on whole documents make of whatever
// comes: nothing panics, and what comes out is a schema again.
func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"$id":"#x","dependencies":{"b":["c"]}}}}`))
	f.Add([]byte(`{"anyOf":[{"properties":{"a":{"const":"x"}}},{"$ref":"#/$defs/b"}],"$defs":{"b":{"required":["a"],"additionalProperties":false}}}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`))
	f.Add([]byte(`{"type":"array","items":{"$ref":"#"},"pattern":"^\\s[^]\\u{1f600}$"}`))
	for _, g := range suiteSeeds(f) {
		f.Add([]byte(g.Schema))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		_, compileErr := schema.Compile(doc, nil)
		for _, finding := range schema.Lint(schema.Tool{Name: "t", Input: doc, Output: doc}) {
			if finding.Message == "" {
				t.Errorf("a finding without a message: %+v", finding)
			}
		}
		if _, err := schema.Headers(doc); err != nil && jsonwire.Valid(doc, 0) != nil && compileErr == nil {
			t.Errorf("%s compiles and is not valid JSON", doc)
		}
		if compileErr != nil {
			return
		}
		relabelled, err := schema.Relabel(doc)
		if err == nil {
			if _, err := schema.Compile(relabelled, nil); err != nil {
				t.Errorf("%s: relabelled as %s: %v", doc, relabelled, err)
			}
		}
		flat, err := schema.Flatten(doc)
		if err == nil {
			if _, err := schema.Compile(flat, nil); err != nil {
				t.Errorf("%s: flattened to %s: %v", doc, flat, err)
			}
		}
		wrapped, _, err := schema.Wrap(doc)
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		if jsonwire.Valid(wrapped, 0) != nil {
			t.Errorf("%s: wrapped as %s, which is not JSON", doc, wrapped)
		}
	})
}

// fuzzed has fields of each kind that the plan treats in its own way.
type fuzzed struct {
	S string            `json:"s" jsonschema:"maxLength=3"`
	I int32             `json:"i,omitempty" jsonschema:"minimum=-5"`
	U uint8             `json:"u,omitempty"`
	B *bool             `json:"b"`
	L []string          `json:"l,omitempty" jsonschema:"maxItems=2,items.enum=a|b"`
	M map[string]*inner `json:"m,omitempty" jsonschema:"minProperties=1"`
	N *inner            `json:"n" jsonschema:"nullable"`
	E inner             `json:"e,omitzero"`
	D int               `json:"d" jsonschema:"default=4"`
	A [2]bool           `json:"a,omitzero"`
}

type inner struct {
	X string   `json:"x" jsonschema:"pattern=^[a-z]*$"`
	R []*inner `json:"r,omitzero" jsonschema:"uniqueItems"`
}

// FuzzCodec compares the one pass of a derived plan with its own schema, what
// is read with what encoding/json reads, and what is written with what was
// read.
func FuzzCodec(f *testing.F) {
	for _, s := range []string{
		`{"s":"abc"}`, `{"s":"\u00e9","i":-5,"u":255,"b":true,"l":["a","b"],"d":7}`, `{"s":"","n":null,"m":{"k":{"x":"a"}},"e":{"x":"","r":[{"x":"q"}]}}`,
		`{"s":"abcd"}`, `{"S":"a"}`, `{"s":"a","s":"b"}`, `{"s":"a","a":[true,false]}`, `{"s":null}`, `{"s":"a","b":null,"m":{}}`, `{"s":"a","i":1e0,"u":1.0}`,
	} {
		f.Add([]byte(s))
	}
	c, err := schema.NewCodec[fuzzed](&schema.CodecOptions{Options: schema.Options{NullAsAbsent: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if jsonwire.Valid(in, 0) != nil {
			return
		}
		var v fuzzed
		err := c.Decode(in, &v)
		checkViolations(t, err)
		if want := c.Compiled().Validate(in); (err == nil) != (want == nil) && !strings.Contains(text(err), "twice") {
			t.Fatalf("%s: decoding says %v, the schema %v", in, err, want)
		}
		if err != nil {
			return
		}
		out, err := c.Append(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Compiled().Validate(out); err != nil {
			t.Fatalf("%s: written as %s, which does not conform: %v", in, out, err)
		}
		var again, std fuzzed
		if err := c.Decode(out, &again); err != nil {
			t.Fatalf("%s: written as %s, which cannot be read: %v", in, out, err)
		}
		if err := json.Unmarshal(out, &std); err != nil {
			t.Fatalf("%s: written as %s, which encoding/json cannot read: %v", in, out, err)
		}
		// An empty list that is left out comes back as none, so what is read is
		// compared by how it is written.
		for name, w := range map[string]*fuzzed{"it": &again, "encoding/json": &std} {
			if got, err := c.Append(nil, w); err != nil || !bytes.Equal(got, out) {
				t.Fatalf("%s: written as %s; %s reads what is written as %s (%v)", in, out, name, got, err)
			}
		}
	})
}

// FuzzNumber compares the arithmetic on digits with rationals.
func FuzzNumber(f *testing.F) {
	for _, s := range [][2]string{{"1", "1.0"}, {"-0", "0e5"}, {"12.50", "125e-1"}, {"1e30", "3"}, {"0.3", "0.1"}, {"-7", "3.5"}, {"9007199254740993", "9007199254740992"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := rational(a), rational(b)
		if x == nil || y == nil {
			return
		}
		check := func(keyword, bound, value string, want bool) {
			s, err := schema.Compile([]byte(`{"`+keyword+`":`+bound+`}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Validate([]byte(value)) == nil; got != want {
				t.Errorf("%s %s and %s: got %v, want %v", keyword, bound, value, got, want)
			}
		}
		check("minimum", b, a, x.Cmp(y) >= 0)
		check("exclusiveMaximum", b, a, x.Cmp(y) < 0)
		check("const", b, a, x.Cmp(y) == 0)
		if y.Sign() > 0 {
			check("multipleOf", b, a, new(big.Rat).Quo(x, y).IsInt())
		}
		s, err := schema.Compile([]byte(`{"type":"integer"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Validate([]byte(a)) == nil; got != x.IsInt() {
			t.Errorf("%s as an integer: got %v, want %v", a, got, x.IsInt())
		}
	})
}

// rational reads a JSON number that is not too large for rationals.
func rational(s string) *big.Rat {
	b := []byte(s)
	if n, err := jsonwire.ConsumeNumber(b); err != nil || n != len(b) || len(b) > 60 {
		return nil
	}
	if i := bytes.IndexAny(b, "eE"); i >= 0 && len(b)-i > 4 {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}
