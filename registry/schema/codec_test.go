package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/schema"
	"github.com/google/go-cmp/cmp"
)

type unit string

type base struct {
	ID      int64  `json:"id" jsonschema:"minimum=1"`
	Comment string `json:"comment,omitempty"`
}

type tree struct {
	Name     string  `json:"name"`
	Children []*tree `json:"children,omitempty"`
}

type everything struct {
	base
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
	Nested struct{ A, B int } `json:"nested,omitzero"`
	Words  []string           `json:"words,omitempty" jsonschema:"default=[\"a\",\"b\"]"`
}

func newCodec[T any](t testing.TB, o *schema.CodecOptions) *schema.Codec[T] {
	t.Helper()
	c, err := schema.NewCodec[T](o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDerive(t *testing.T) {
	c := newCodec[everything](t, nil)
	t.Logf("%s", c.Schema())
	var v everything
	if err := c.Decode([]byte(`{"id":9007199254740993,"text":"a\nb","tags":["b","a"],"when":"2020-01-02T03:04:05Z","tree":{"name":"x","children":[{"name":"y"}]},"any":{"a":[1,2.50,null]},"blob":"aGk=","pair":[1,2],"note":null}`), &v); err != nil {
		t.Fatal(err)
	}
	out, err := c.Append(nil, &v)
	t.Logf("%s %v", out, err)
	for _, in := range []string{
		`{}`, `[]`, `{"id":0,"text":"abcdef","txet":1,"limit":101,"tags":[],"unit":"celcius"}`,
		`{"id":1,"text":"abc","note":null,"tree":{"name":1,"children":[{"nam":1}]},"small":256,"labels":{"a":128}}`,
		`{"id":1,"text":"abc","note":null,"when":"x"}`,
		`{"id":9223372036854775808,"text":"abc","note":null}`,
		`{"id":1,"text":"abc","note":null,"labels":{"a":1,"a":2}}`,
		`{"id":1,"text":"abc","text":"abc","note":null}`,
		`{"id":1,"text":"abc","note":null,"tags":["a","a"]}`,
		`{"id":1.5,"text":null,"note":null,"tags":["A"],"pair":[1,2,3]}`,
	} {
		err := c.Decode([]byte(in), &v)
		t.Logf("%s\n   %v", in, err)
	}
	_ = errors.Is
	_ = strings.Contains
	_ = cmp.Diff
}
