package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

type unit string

// color has its own form as text.
type color struct{ r, g, b uint8 }

func (c color) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "#%02x%02x%02x", c.r, c.g, c.b), nil
}

func (c *color) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "#%02x%02x%02x", &c.r, &c.g, &c.b); err != nil {
		return errors.New("a secret detail")
	}
	return nil
}

// pair has its own form in JSON.
type pair struct{ a, b int }

func (p pair) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d, %d]", p.a, p.b), nil }

func (p *pair) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 2 {
		return errors.New("a secret detail")
	}
	p.a, p.b = list[0], list[1]
	return nil
}

type Base struct {
	ID      int64  `json:"id" jsonschema:"minimum=1"`
	Comment string `json:"comment,omitempty"`
}

type tree struct {
	Name     string  `json:"name"`
	Children []*tree `json:"children,omitempty"`
}

type everything struct {
	*Base
	Text   string             `json:"text" jsonschema:"what to say, in English,minLength=2,maxLength=5"`
	Unit   unit               `json:"unit,omitempty" jsonschema:"enum=celsius|kelvin"`
	Limit  int                `json:"limit" jsonschema:"default=10,maximum=100"`
	Ratio  float64            `json:"ratio,omitempty"`
	On     *bool              `json:"on"`
	Tags   []string           `json:"tags,omitzero" jsonschema:"minItems=1,uniqueItems,items.pattern=^[a-z]{1\\,3}$"`
	Labels map[string]int8    `json:"labels,omitempty"`
	When   time.Time          `json:"when,omitzero"`
	Raw    json.RawMessage    `json:"raw,omitempty"`
	Any    any                `json:"any,omitempty"`
	Blob   []byte             `json:"blob,omitempty"`
	Small  uint8              `json:"small,omitempty"`
	Pair   [2]int             `json:"pair,omitzero"`
	Note   *string            `json:"note" jsonschema:"nullable"`
	Tree   *tree              `json:"tree,omitempty"`
	Number json.Number        `json:"number,omitempty"`
	Words  []string           `json:"words,omitempty" jsonschema:"default=[\"a\",\"b\"]"`
	Color  *color             `json:"color,omitempty"`
	Own    *pair              `json:"own,omitempty"`
	Ports  map[uint16]string  `json:"ports,omitempty"`
	Hosts  map[netip.Addr]int `json:"hosts,omitempty"`
	Hidden string             `json:"-"`
	//lint:ignore SA5008 the rule for this tag is what the test is about
	Dash string               `json:"-,omitempty"`
	Deep map[string][]float32 `json:"deep,omitempty"`
	//lint:ignore U1000 it must not show
	secret string
}

func newCodec[T any](t testing.TB, o *schema.CodecOptions) *schema.Codec[T] {
	t.Helper()
	c, err := schema.NewCodec[T](o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func derived[T any](t *testing.T) string {
	t.Helper()
	return string(newCodec[T](t, nil).Schema())
}

func TestDerive(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	type shadow struct {
		Base
		ID string `json:"id"`
	}
	type left struct{ X, Y int }
	type right struct {
		X string
		Z bool
	}
	type clash struct {
		left
		right
	}
	type tagged struct {
		Name string
	}
	type untagged struct {
		N string `json:"Name"`
	}
	type list struct {
		Next *list `json:"next,omitempty"`
	}
	type holder struct {
		Left  list  `json:"left"`
		Right *list `json:"right" jsonschema:"nullable"`
	}
	tests := []struct {
		name string
		in   string
		want string
	}{
		{"nothing", derived[struct{}](t), `{"type":"object","properties":{},"additionalProperties":false}`},
		{"scalars", derived[struct {
			S string
			B bool
			I int
			F float64
		}](t), `{"type":"object","properties":{"S":{"type":"string"},"B":{"type":"boolean"},"I":{"type":"integer"},"F":{"type":"number"}},"required":["S","B","I","F"],"additionalProperties":false}`},
		{"sized integers", derived[struct {
			A int8   `json:"a"`
			B uint16 `json:"b"`
			C uint64 `json:"c"`
			D int32  `json:"d" jsonschema:"minimum=0"`
		}](t), `{"type":"object","properties":{"a":{"type":"integer","minimum":-128,"maximum":127},"b":{"type":"integer","minimum":0,"maximum":65535},"c":{"type":"integer","minimum":0},"d":{"type":"integer","maximum":2147483647,"minimum":0}},"required":["a","b","c","d"],"additionalProperties":false}`},
		{"optional", derived[struct {
			A *int   `json:"a"`
			B int    `json:"b,omitempty"`
			C int    `json:"c,omitzero"`
			D int    `json:"d" jsonschema:"default=1"`
			E int    `json:"e" jsonschema:"optional"`
			F *int   `json:"f" jsonschema:"required"`
			G string `json:"g" jsonschema:"default=x y"`
		}](t), `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"},"d":{"type":"integer","default":1},"e":{"type":"integer"},"f":{"type":"integer"},"g":{"type":"string","default":"x y"}},"required":["f"],"additionalProperties":false}`},
		{"containers", derived[struct {
			A []inner          `json:"a"`
			B map[string]inner `json:"b"`
			C [2]string        `json:"c"`
		}](t), `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}},"b":{"type":"object","properties":{},"additionalProperties":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}},"c":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"string"}}},"required":["a","b","c"],"additionalProperties":false}`},
		{"special types", derived[struct {
			A time.Time       `json:"a"`
			B json.RawMessage `json:"b"`
			C any             `json:"c"`
			D color           `json:"d"`
			E pair            `json:"e"`
			F []byte          `json:"f"`
			G json.Number     `json:"g"`
		}](t), `{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{},"c":{},"d":{"type":"string"},"e":{},"f":{"type":"string","contentEncoding":"base64"},"g":{"type":"number"}},"required":["a","b","c","d","e","f","g"],"additionalProperties":false}`},
		{"tags", derived[struct {
			A string   `json:"a" jsonschema:"say, what, you like,title=A,pattern=^a{1,2}$,format=email,example=a"`
			B float64  `json:"b" jsonschema:"description=x,enum=1|2.5,multipleOf=0.5,deprecated"`
			C []string `json:"c" jsonschema:"maxItems=3,uniqueItems,items.enum=x|y,items.description=one of them"`
			D string   `json:"d" jsonschema:"header=Region"`
			E bool     `json:"e" jsonschema:"const=true,nullable"`
		}](t), `{"type":"object","properties":{"a":{"type":"string","title":"A","description":"say, what, you like","pattern":"^a{1,2}$","format":"email","examples":["a"]},"b":{"type":"number","description":"x","enum":[1,2.5],"multipleOf":0.5,"deprecated":true},"c":{"type":"array","maxItems":3,"uniqueItems":true,"items":{"type":"string","description":"one of them","enum":["x","y"]}},"d":{"type":"string","x-mcp-header":"Region"},"e":{"type":["boolean","null"],"const":true}},"required":["a","b","c","d","e"],"additionalProperties":false}`},
		{"embedded", derived[struct {
			Base
			X int `json:"x"`
		}](t), `{"type":"object","properties":{"id":{"type":"integer","minimum":1},"comment":{"type":"string"},"x":{"type":"integer"}},"required":["id","x"],"additionalProperties":false}`},
		{"shadowed", derived[shadow](t), `{"type":"object","properties":{"comment":{"type":"string"},"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`},
		{"of two with one name none counts", derived[clash](t), `{"type":"object","properties":{"Y":{"type":"integer"},"Z":{"type":"boolean"}},"required":["Y","Z"],"additionalProperties":false}`},
		{"of two the one with a tag counts", derived[struct {
			tagged
			untagged
		}](t), `{"type":"object","properties":{"Name":{"type":"string"}},"required":["Name"],"additionalProperties":false}`},
		{"a root that contains itself", derived[list](t), `{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`},
		{"a part that contains itself", derived[holder](t), `{"type":"object","properties":{"left":{"$ref":"#/$defs/list"},"right":{"anyOf":[{"$ref":"#/$defs/list"},{"type":"null"}]}},"required":["left"],"additionalProperties":false,"$defs":{"list":{"type":"object","properties":{"next":{"$ref":"#/$defs/list"}},"additionalProperties":false}}}`},
		{"a root that is no struct", derived[[]int](t), `{"type":"array","items":{"type":"integer"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.in); diff != "" {
				t.Errorf("the schema (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeriveRefuses(t *testing.T) {
	construct := func(_ any, err error) error { return err }
	tests := []struct {
		name string
		in   error
		want string // a part of the error
	}{
		{"a channel", construct(schema.NewCodec[struct{ C chan int }](nil)), "chan int"},
		{"an interface with methods", construct(schema.NewCodec[struct{ E error }](nil)), "error"},
		{"a map with strange keys", construct(schema.NewCodec[map[float64]int](nil)), "float64"},
		{"the string option", construct(schema.NewCodec[struct {
			A int `json:"a,string"`
		}](nil)), `"string"`},
		{"a misspelt keyword", construct(schema.NewCodec[struct {
			A int `jsonschema:"minimun=1"`
		}](nil)), `"minimun"`},
		{"an unknown word", construct(schema.NewCodec[struct {
			A int `jsonschema:"required,whatever"`
		}](nil)), `"whatever"`},
		{"a keyword for another type", construct(schema.NewCodec[struct {
			A int `jsonschema:"minLength=1"`
		}](nil)), "minLength does not apply to integer"},
		{"a keyword twice", construct(schema.NewCodec[struct {
			A int `jsonschema:"minimum=1,minimum=2"`
		}](nil)), "twice"},
		{"a contradiction", construct(schema.NewCodec[struct {
			A int `jsonschema:"required,optional"`
		}](nil)), "exclude"},
		{"a limit that is no number", construct(schema.NewCodec[struct {
			A int `jsonschema:"minimum=x"`
		}](nil)), "minimum"},
		{"a default of the wrong type", construct(schema.NewCodec[struct {
			A int `jsonschema:"default=true"`
		}](nil)), "default"},
		{"a default out of bounds", construct(schema.NewCodec[struct {
			A int `jsonschema:"default=5,maximum=3"`
		}](nil)), "default"},
		{"a pattern that does not compile", construct(schema.NewCodec[struct {
			A string `jsonschema:"pattern=(?=a)"`
		}](nil)), "lookahead"},
		{"an explicit schema without the field", construct(schema.NewCodecFor[struct{ B int }]([]byte(`{"properties":{"A":{}},"additionalProperties":false}`), nil)), `"/B"`},
		{"an explicit schema that is broken", construct(schema.NewCodecFor[struct{}]([]byte(`{"type":"strin"}`), nil)), `"strin"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(tt.in); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want an error with %q", got, tt.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	c := newCodec[everything](t, nil)
	in := `{"id":9007199254740993,"text":"a\nb","tags":["b","a"],"when":"2020-01-02T03:04:05Z",` +
		`"tree":{"name":"x","children":[{"name":"y"}]},"any":{"a":[1,2.50,null,true,"\u00e9"]},"blob":"aGk=","pair":[1,2],` +
		`"note":null,"on":null,"small":255,"labels":{"a":-128},"raw":{"z":1, "a":[]},"number":1.50,"color":"#0a0b0c",` +
		`"own":[3,4],"ports":{"80":"http"},"hosts":{"::1":1},"deep":{"x":[0.5,1e2]},"ratio":-0.25,"-":"dash"}`
	var got everything
	if err := c.Decode([]byte(in), &got); err != nil {
		t.Fatal(err)
	}
	want := everything{
		Base: &Base{ID: 9007199254740993}, Text: "a\nb", Limit: 10, Ratio: -0.25, Tags: []string{"b", "a"},
		Labels: map[string]int8{"a": -128}, When: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), Raw: json.RawMessage(`{"z":1, "a":[]}`),
		Any:  map[string]any{"a": []any{json.Number("1"), json.Number("2.50"), nil, true, "é"}},
		Blob: []byte("hi"), Small: 255, Pair: [2]int{1, 2}, Tree: &tree{Name: "x", Children: []*tree{{Name: "y"}}}, Number: "1.50",
		Words: []string{"a", "b"}, Color: &color{10, 11, 12}, Own: &pair{3, 4}, Ports: map[uint16]string{80: "http"},
		Hosts: map[netip.Addr]int{netip.IPv6Loopback(): 1}, Deep: map[string][]float32{"x": {0.5, 100}}, Dash: "dash",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{}, color{}, pair{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("the value (-want +got):\n%s", diff)
	}
	out, err := c.Append(nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	wantOut := `{"id":9007199254740993,"text":"a\nb","limit":10,"ratio":-0.25,"tags":["b","a"],"labels":{"a":-128},"when":"2020-01-02T03:04:05Z",` +
		`"raw":{"z":1, "a":[]},"any":{"a":[1,2.50,null,true,"é"]},"blob":"aGk=","small":255,"pair":[1,2],"note":null,` +
		`"tree":{"name":"x","children":[{"name":"y"}]},"number":1.50,"words":["a","b"],"color":"#0a0b0c","own":[3,4],` +
		`"ports":{"80":"http"},"hosts":{"::1":1},"-":"dash","deep":{"x":[0.5,100]}}`
	if diff := cmp.Diff(wantOut, string(out)); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
	if err := c.Compiled().Validate(out); err != nil {
		t.Errorf("what was written does not conform: %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"missing", `{}`, `missing required argument "id" (integer); missing required argument "text" (string)`},
		{"not an object", `[]`, `arguments: expected object, found array`},
		{"nothing", ``, `expected a value, found nothing`},
		{"case counts", `{"ID":1,"id":1,"text":"ab"}`, `unknown argument "ID"; did you mean "id"?`},
		{"twice", `{"id":1,"text":"ab","text":"ab"}`, `argument "text" is there twice`},
		{"twice in another spelling", `{"id":1,"text":"ab","te\u0078t":"ab"}`, `argument "text" is there twice`},
		{"too long", `{"id":1,"text":"abcdef"}`, `argument "text": must have at most 5 characters`},
		{"null for a required one", `{"id":1,"text":null}`, `argument "text": expected string, found null`},
		{"null inside of a list", `{"id":1,"text":"ab","tags":[null]}`, `argument "tags[0]": expected string, found null`},
		{"an enum", `{"id":1,"text":"ab","unit":"celcius"}`, `argument "unit": expected one of "celsius", "kelvin"; did you mean "celsius"?`},
		{"a fraction", `{"id":1.5,"text":"ab"}`, `argument "id": expected integer, found a number with a fraction`},
		{"beyond int64", `{"id":9223372036854775808,"text":"ab"}`, `argument "id": must be an integer from -9223372036854775808 to 9223372036854775807`},
		{"beyond uint8", `{"id":1,"text":"ab","small":256}`, `argument "small": must be at most 255`},
		{"beyond float64", `{"id":1,"text":"ab","ratio":1e999}`, `argument "ratio": is too large a number`},
		{"not a time", `{"id":1,"text":"ab","when":"tomorrow"}`, `argument "when": must be a date and time such as 2006-01-02T15:04:05Z`},
		{"not base64", `{"id":1,"text":"ab","blob":"%"}`, `argument "blob": must be base64`},
		{"not a color", `{"id":1,"text":"ab","color":"red"}`, `argument "color": is not in the form that is wanted here`},
		{"not a pair", `{"id":1,"text":"ab","own":[1]}`, `argument "own": is not in the form that is wanted here`},
		{"a name twice in a map", `{"id":1,"text":"ab","labels":{"a":1,"a":1}}`, `argument "labels": property "a" is there twice`},
		{"a name twice in an any", `{"id":1,"text":"ab","any":{"x":[{"a":1,"a":1}]}}`, `argument "any.x[0]": property "a" is there twice`},
		{"a name that is no key", `{"id":1,"text":"ab","ports":{"http":"x"}}`, `argument "ports.http": has a name that is not in the form that is wanted here`},
		{"a list that is too short", `{"id":1,"text":"ab","tags":[]}`, `argument "tags": must have at least 1 element`},
		{"equal elements", `{"id":1,"text":"ab","tags":["a","a"]}`, `argument "tags": must not have two equal elements`},
		{"a pattern", `{"id":1,"text":"ab","tags":["ABC"]}`, `argument "tags[0]": must match the pattern "^[a-z]{1,3}$"`},
		{"an array of the wrong length", `{"id":1,"text":"ab","pair":[1]}`, `argument "pair": must have at least 2 elements`},
		{"deep", `{"id":1,"text":"ab","tree":{"name":"x","children":[{"name":"y","children":[{"nam":"z"}]}]}}`, `argument "tree.children[0].children[0]": unknown property "nam"; did you mean "name"?; argument "tree.children[0].children[0]": missing required property "name" (string)`},
	}
	c := newCodec[everything](t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v everything
			err := c.Decode([]byte(tt.in), &v)
			var ve *schema.ValidationError
			if !errors.As(err, &ve) {
				t.Fatalf("got %v, want a ValidationError", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("the text (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeKinds reads each kind of number in each way of writing it.
func TestDecodeKinds(t *testing.T) {
	type in struct {
		I   *int64   `json:"i"`
		U   *uint64  `json:"u"`
		F   *float64 `json:"f"`
		F32 *float32 `json:"f32"`
		B   *bool    `json:"b"`
	}
	tests := []struct {
		name, in, want string
	}{
		{"plain", `{"i":-1,"u":1,"f":1,"f32":1,"b":true}`, `{"i":-1,"u":1,"f":1,"f32":1,"b":true}`},
		{"the largest", `{"u":18446744073709551615,"f":1.7976931348623157e308}`, `{"u":18446744073709551615,"f":1.7976931348623157e+308}`},
		{"with a fraction of zero", `{"i":2.0,"u":20e-1}`, `{"i":2,"u":2}`},
		{"with an exponent", `{"i":1e3,"u":1E+3,"f":-1.5e-7}`, `{"i":1000,"u":1000,"f":-1.5e-07}`},
		{"negative zero", `{"i":-0,"u":-0,"f":-0}`, `{"i":0,"u":0,"f":-0}`},
		{"beyond 2^53 as a float", `{"f":9007199254740993}`, `{"f":9007199254740992}`},
		{"unsigned, negative", `{"u":-1}`, `argument "u": must be at least 0`},
		{"unsigned, too large", `{"u":18446744073709551616}`, `argument "u": must be an integer from 0 to 18446744073709551615`},
		{"unsigned, a fraction", `{"u":0.5}`, `argument "u": expected integer, found a number with a fraction`},
		{"unsigned, text", `{"u":"1"}`, `argument "u": expected integer, found string`},
		{"float, text", `{"f":"1"}`, `argument "f": expected number, found string`},
		{"float32, too large", `{"f32":1e39}`, `argument "f32": is too large a number`},
		{"boolean, a number", `{"b":1}`, `argument "b": expected boolean, found number`},
	}
	c := newCodec[in](t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v in
			got := text(c.Decode([]byte(tt.in), &v))
			if got == "ok" {
				out, err := c.Append(nil, &v)
				if err != nil {
					t.Fatal(err)
				}
				got = string(out)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("read and written (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeOverwrites(t *testing.T) {
	type in struct {
		A int      `json:"a,omitempty"`
		B []string `json:"b,omitempty"`
	}
	c := newCodec[in](t, nil)
	v := in{A: 1, B: []string{"x", "y"}}
	if err := c.Decode([]byte(`{}`), &v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in{}, v); diff != "" {
		t.Errorf("what was left of the old value (-want +got):\n%s", diff)
	}
}

func TestDefaultsAreNotShared(t *testing.T) {
	type in struct {
		A []string `json:"a" jsonschema:"default=[\"x\"]"`
	}
	c := newCodec[in](t, nil)
	var v, w in
	if err := c.Decode([]byte(`{}`), &v); err != nil {
		t.Fatal(err)
	}
	v.A[0] = "changed"
	if err := c.Decode([]byte(`{"a":null}`), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x"}, w.A); diff != "" {
		t.Errorf("the default of the second value (-want +got):\n%s", diff)
	}
}

func TestCodecFor(t *testing.T) {
	const doc = ` {"type":"object","properties":{"z":{"type":"string","default":"d"},"a":{"type":["integer","null"]},` +
		`"list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer","default":7}}}},"extra":{"type":"boolean"}},"required":["a"]} `
	type elem struct {
		N int `json:"n"`
	}
	type in struct {
		A    *int   `json:"a"`
		Z    string `json:"z"`
		List []elem `json:"list"`
	}
	c, err := schema.NewCodecFor[in]([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(c.Schema()), strings.TrimSpace(doc); got != want {
		t.Errorf("the schema is %s, want the bytes that were given", got)
	}
	five := 5
	tests := []struct {
		name, in string
		want     in
		err      string
	}{
		{"defaults", `{"a":5,"list":[{},{"n":1}]}`, in{A: &five, Z: "d", List: []elem{{7}, {1}}}, "ok"},
		{"null where it is allowed", `{"a":null,"z":"x"}`, in{Z: "x"}, "ok"},
		{"null as absent", `{"a":5,"z":null,"list":null}`, in{A: &five, Z: "d"}, "ok"},
		{"a member that the type does not have", `{"a":5,"extra":true,"more":[]}`, in{A: &five, Z: "d"}, "ok"},
		{"the schema checks it all the same", `{"a":5,"extra":1}`, in{}, `argument "extra": expected boolean, found number`},
		{"missing", `{}`, in{}, `missing required argument "a" (integer or null)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got in
			err := c.Decode([]byte(tt.in), &got)
			if text(err) != tt.err {
				t.Fatalf("got %q, want %q", text(err), tt.err)
			}
			if err == nil {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("the value (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAppend(t *testing.T) {
	type out struct {
		List   []int          `json:"list"`
		Map    map[string]int `json:"map"`
		Ptr    *int           `json:"ptr"`
		Null   *int           `json:"null" jsonschema:"nullable"`
		Lists  *[]int         `json:"lists"`
		Any    any            `json:"any"`
		Raw    json.RawMessage
		Text   string
		Number json.Number
		F32    float32
		F      float64
	}
	tests := []struct {
		name string
		in   out
		want string
	}{
		{"nothing", out{}, `{"list":[],"map":{},"null":null,"any":null,"Raw":null,"Text":"","Number":0,"F32":0,"F":0}`},
		{"no HTML", out{Text: "<a&b>\u2028", List: []int{1}, Map: map[string]int{"b": 1, "a": 2}, Any: map[string]any{"z": []any{"<"}, "a": int64(1)}}, `{"list":[1],"map":{"a":2,"b":1},"null":null,"any":{"a":1,"z":["<"]},"Raw":null,"Text":"<a&b>` + "\u2028" + `","Number":0,"F32":0,"F":0}`},
		{"numbers", out{F32: 0.1, F: 1e21, Number: "1.50", Any: 1.5, Raw: json.RawMessage("{\n}"), Lists: new([]int)}, `{"list":[],"map":{},"null":null,"lists":[],"any":1.5,"Raw":{},"Text":"","Number":1.50,"F32":0.1,"F":1e+21}`},
		{"a struct in an any", out{Any: struct{ A string }{"<"}}, `{"list":[],"map":{},"null":null,"any":{"A":"<"},"Raw":null,"Text":"","Number":0,"F32":0,"F":0}`},
	}
	c := newCodec[out](t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Append([]byte("x"), &tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("x"+tt.want, string(got)); diff != "" {
				t.Errorf("the JSON (-want +got):\n%s", diff)
			}
		})
	}
	loop := map[string]any{}
	loop["loop"] = loop
	for _, v := range []out{{F: math.Inf(1)}, {F32: float32(math.NaN())}, {Number: "x"}, {Raw: json.RawMessage("{")}, {Any: make(chan int)}, {Any: loop}} {
		if got, err := c.Append(nil, &v); err == nil {
			t.Errorf("wrote %s, want an error", got)
		}
	}
}

// TestAppendAgreesWithEncodingJSON writes what both write the same way.
func TestAppendAgreesWithEncodingJSON(t *testing.T) {
	type out struct {
		Base
		A []string           `json:"a,omitempty"`
		B map[string]*pair   `json:"b,omitempty"`
		C time.Time          `json:"c,omitzero"`
		D [3]int8            `json:"d"`
		E *out               `json:"e,omitempty"`
		F map[int]float32    `json:"f,omitempty"`
		G map[string]color   `json:"g,omitempty"`
		H struct{ X, Y any } `json:"h"`
	}
	v := out{
		Base: Base{ID: 3}, A: []string{"é", "\x00\x1f\"\\", "\xff"}, B: map[string]*pair{"y": {1, 2}, "x": nil}, C: time.Unix(1e9, 5).UTC(),
		F: map[int]float32{-1: 1e-7, 10: 3.4e38, 2: 0}, G: map[string]color{"a": {1, 2, 3}}, E: &out{},
	}
	v.H.X, v.H.Y = []any{1.25, nil, map[string]any{}}, json.Number("-0.0")
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newCodec[out](t, nil).Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
