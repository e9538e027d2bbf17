package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

// The tests in this file carry the numbers of the field cases, as far as they
// are the part of this package. The rest of a case is tested where it belongs.

// A15: integers above 2^53 arrive as they were sent, or are refused.
func TestA15_integersKeepEachDigit(t *testing.T) {
	type in struct {
		V int64 `json:"v"`
	}
	c := newCodec[in](t, nil)
	tests := []struct {
		name, in string
		want     int64
		err      string
	}{
		{"above 2^53", `{"v":9007199254740993}`, 9007199254740993, "ok"},
		{"the largest", `{"v":9223372036854775807}`, 9223372036854775807, "ok"},
		{"the smallest", `{"v":-9223372036854775808}`, -9223372036854775808, "ok"},
		{"written with an exponent", `{"v":9.223372036854775807e18}`, 9223372036854775807, "ok"},
		{"one too many", `{"v":9223372036854775808}`, 0, `argument "v": must be an integer from -9223372036854775808 to 9223372036854775807`},
		{"far too many", `{"v":1e400}`, 0, `argument "v": must be an integer from -9223372036854775808 to 9223372036854775807`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v in
			err := c.Decode([]byte(tt.in), &v)
			if text(err) != tt.err {
				t.Fatalf("got %q, want %q", text(err), tt.err)
			}
			if err == nil && v.V != tt.want {
				t.Errorf("got %d, want %d", v.V, tt.want)
			}
		})
	}
	type raw struct {
		V any `json:"v"`
	}
	var v raw
	if err := newCodec[raw](t, nil).Decode([]byte(`{"v":9007199254740993}`), &v); err != nil {
		t.Fatal(err)
	}
	if v.V != json.Number("9007199254740993") {
		t.Errorf("an any holds %v, want each digit", v.V)
	}
}

// A55: the error names the argument and the types, and nothing of Go.
func TestA55_errorsNameTheArgument(t *testing.T) {
	var v echo
	err := newCodec[echo](t, nil).Decode([]byte(`{"text":5}`), &v)
	if diff := cmp.Diff(`argument "text": expected string, found number`, text(err)); diff != "" {
		t.Errorf("the error (-want +got):\n%s", diff)
	}
	var none struct{}
	if err := newCodec[struct{}](t, nil).Decode([]byte(`{}`), &none); err != nil {
		t.Errorf("no arguments: got %v, want no error", err)
	}
}

// A57: null for an optional property that does not allow it counts as absent.
func TestA57_nullForOptional(t *testing.T) {
	type in struct {
		Title  string   `json:"title"`
		Labels []string `json:"labels,omitempty"`
	}
	c := newCodec[in](t, nil)
	var v in
	if err := c.Decode([]byte(`{"title":"x","labels":null}`), &v); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if err := c.Decode([]byte(`{"title":null}`), &v); text(err) != `argument "title": expected string, found null` {
		t.Errorf("null for a required property: got %v", err)
	}
	s := compile(t, `{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"}}}}`, &schema.Options{NullAsAbsent: true})
	if err := s.Validate([]byte(`{"labels":null}`)); err != nil {
		t.Errorf("a schema that was given: got %v, want no error", err)
	}
}

// A61: a combinator at the root is found, with the clients that it concerns,
// and can be flattened; what we derive never has one.
func TestA61_rootCombinator(t *testing.T) {
	const in = `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`
	found := false
	for _, f := range schema.Lint(schema.Tool{Name: "search", Input: []byte(in)}) {
		if f.Rule == "root-combinator" && f.Level == schema.LevelWarning && len(f.Clients) > 0 {
			found = true
		}
	}
	if !found {
		t.Error("lint did not warn")
	}
	out, err := schema.Flatten([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("flattened (-want +got):\n%s", diff)
	}
	for _, doc := range []string{derived[everything](t), derived[tree](t)} {
		for _, f := range schema.Lint(schema.Tool{Name: "own", Input: []byte(doc)}) {
			if f.Level == schema.LevelWarning && f.Rule != "size" {
				t.Errorf("a schema of our own has the finding %+v: %s", f, doc)
			}
		}
	}
}

// A62: nothing that we derive has a label, and a label that a mounted schema
// has can be taken away.
func TestA62_dialectLabel(t *testing.T) {
	if doc := derived[everything](t); strings.Contains(doc, "$schema") {
		t.Errorf("a schema of our own has a label: %s", doc)
	}
	out, err := schema.Relabel([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"z":{"items":[{}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"object","properties":{"z":{"prefixItems":[{}]}}}`; string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
}

// A63: a tool without arguments has an object with properties all the same.
func TestA63_propertiesAreAlwaysThere(t *testing.T) {
	want := `{"type":"object","properties":{},"additionalProperties":false}`
	if got := derived[struct{}](t); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A64: arrays have items, and lint finds those without.
func TestA64_arraysHaveItems(t *testing.T) {
	type in struct {
		A []any     `json:"a"`
		B [][]bool  `json:"b"`
		C *[3]uint8 `json:"c"`
	}
	if got := derived[in](t); strings.Count(got, `"type":"array"`) != strings.Count(got, `"items":`) {
		t.Errorf("an array lacks items: %s", got)
	}
	findings := schema.Lint(schema.Tool{Name: "t", Input: []byte(`{"type":"object","properties":{"a":{"type":"array"}},"additionalProperties":false}`)})
	if diff := cmp.Diff([]string{"warning missing-items input /properties/a"}, rules(findings)); diff != "" {
		t.Errorf("the findings (-want +got):\n%s", diff)
	}
}

// A65: lint finds an output schema without an object at its root, and wrapping
// makes one.
func TestA65_outputWithoutType(t *testing.T) {
	findings := schema.Lint(schema.Tool{Name: "t", Input: []byte(derived[struct{}](t)), Output: []byte(`{"properties":{"a":{}}}`)})
	if diff := cmp.Diff([]string{"warning output-type output"}, rules(findings)); diff != "" {
		t.Errorf("the findings (-want +got):\n%s", diff)
	}
	out, wrapped, err := schema.Wrap([]byte(`{"properties":{"a":{}}}`))
	if err != nil || !wrapped || !strings.HasPrefix(string(out), `{"type":"object",`) {
		t.Errorf("got %s, %v, %v; want an object", out, wrapped, err)
	}
}

// A66: a misspelt argument is refused by name.
func TestA66_unknownArguments(t *testing.T) {
	var v echo
	err := newCodec[echo](t, nil).Decode([]byte(`{"text":"a","txet":"b"}`), &v)
	if diff := cmp.Diff(`unknown argument "txet"; did you mean "text"?`, text(err)); diff != "" {
		t.Errorf("the error (-want +got):\n%s", diff)
	}
}

// A67: keywords that some providers refuse are found, and nothing is rewritten.
func TestA67_portableKeywords(t *testing.T) {
	in := []byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"^x"},"b":{"type":"integer","minimum":1},"c":{"type":"array","prefixItems":[{}]}},"additionalProperties":false}`)
	before := string(in)
	got := rules(schema.Lint(schema.Tool{Name: "t", Input: in}))
	want := []string{"portable keyword input /properties/a", "portable keyword input /properties/b", "portable tuple input /properties/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the findings (-want +got):\n%s", diff)
	}
	if string(in) != before {
		t.Errorf("the schema was changed to %s", in)
	}
}

// A72: a schema keeps the order of its keys.
func TestA72_orderOfKeys(t *testing.T) {
	const doc = `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}}}`
	if got := string(compile(t, doc, nil).Raw()); got != doc {
		t.Errorf("compiled: got %s, want %s", got, doc)
	}
	c, err := schema.NewCodecFor[struct {
		A string `json:"a"`
	}]([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.Schema()); got != doc {
		t.Errorf("with a codec: got %s, want %s", got, doc)
	}
	type in struct{ Z, A, M string }
	for range 20 {
		if diff := cmp.Diff(derived[in](t), derived[in](t)); diff != "" {
			t.Fatalf("derived twice:\n%s", diff)
		}
	}
}

// A76: what breaks an output schema is found, with the field.
func TestA76_outputThatDoesNotConform(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`, &schema.Options{Noun: "field"})
	if got := text(s.Validate([]byte(`{"count":"many"}`))); got != `field "count": expected integer, found string` {
		t.Errorf("got %q", got)
	}
	type out struct {
		Names []string       `json:"names"`
		Sizes map[string]int `json:"sizes"`
		Note  *string        `json:"note"`
	}
	c := newCodec[out](t, nil)
	data, err := c.Append(nil, &out{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Compiled().Validate(data); err != nil {
		t.Errorf("the empty value %s does not conform to its own schema: %v", data, err)
	}
}

// A77: the text twin of structured content is the same bytes, so writing is
// deterministic and free of escapes that a model would have to read through.
func TestA77_textTwin(t *testing.T) {
	type out struct {
		Text string            `json:"text"`
		Map  map[string]string `json:"map"`
	}
	c := newCodec[out](t, nil)
	v := out{Text: `<a href="x">&</a>`, Map: map[string]string{"b": "2", "a": "1", "c": "3"}}
	want := `{"text":"<a href=\"x\">&</a>","map":{"a":"1","b":"2","c":"3"}}`
	for range 20 {
		got, err := c.Append(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("written (-want +got):\n%s", diff)
		}
	}
}

// A78: an error of a tool needs no structured content, so nothing here is asked
// about it; what is asked about an absent value gets an answer and no panic.
func TestA78_absentOutput(t *testing.T) {
	s := compile(t, `{"type":"object"}`, nil)
	if err := s.Validate(nil); err == nil {
		t.Error("no value was taken for an object")
	}
}
