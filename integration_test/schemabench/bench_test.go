package schemabench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
	google "github.com/google/jsonschema-go/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// A workload is a schema, a document that conforms, and the struct into which
// encoding/json reads it.
type workload struct {
	name   string
	schema string
	doc    []byte
	target func() any
}

// call is a tool call with five properties.
type call struct {
	Query  string   `json:"query"`
	Limit  int      `json:"limit"`
	Format string   `json:"format"`
	Exact  bool     `json:"exact"`
	Tags   []string `json:"tags"`
}

const callSchema = `{"type":"object","properties":{` +
	`"query":{"type":"string","minLength":1,"maxLength":200},` +
	`"limit":{"type":"integer","minimum":1,"maximum":100},` +
	`"format":{"type":"string","enum":["json","text","table"]},` +
	`"exact":{"type":"boolean"},` +
	`"tags":{"type":"array","items":{"type":"string"},"maxItems":10}},` +
	`"required":["query","limit","format","exact","tags"],"additionalProperties":false}`

const callDoc = `{"query":"where is the file with the figures","limit":20,"format":"json","exact":true,"tags":["a","b","c"]}`

// part is a sixth of the nested object.
type part struct {
	ID      int64   `json:"id"`
	Name    string  `json:"name"`
	Address string  `json:"address"`
	City    string  `json:"city"`
	Active  bool    `json:"active"`
	Score   float64 `json:"score"`
	Count   int     `json:"count"`
	Kind    string  `json:"kind"`
	Comment string  `json:"comment"`
	Rank    int     `json:"rank"`
}

type nested struct {
	A part `json:"a"`
	B part `json:"b"`
	C part `json:"c"`
	D part `json:"d"`
	E part `json:"e"`
	F part `json:"f"`
}

const partSchema = `{"type":"object","properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":100},` +
	`"address":{"type":"string"},"city":{"type":"string"},"active":{"type":"boolean"},"score":{"type":"number"},` +
	`"count":{"type":"integer","minimum":0},"kind":{"type":"string","enum":["small","medium","large"]},` +
	`"comment":{"type":"string"},"rank":{"type":"integer"}},` +
	`"required":["id","name","address","city","active","score","count","kind","comment","rank"],"additionalProperties":false}`

const partDoc = `{"id":9007199254740993,"name":"Jordan Example","address":"12 Long Street","city":"Somewhere","active":true,` +
	`"score":12.75,"count":17,"kind":"medium","comment":"nothing to say about this one","rank":3}`

func workloads() []workload {
	var schemaB, docB strings.Builder
	schemaB.WriteString(`{"type":"object","properties":{`)
	docB.WriteByte('{')
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if i > 0 {
			schemaB.WriteByte(',')
			docB.WriteByte(',')
		}
		fmt.Fprintf(&schemaB, "%q:%s", name, partSchema)
		fmt.Fprintf(&docB, "%q:%s", name, partDoc)
	}
	schemaB.WriteString(`},"required":["a","b","c","d","e","f"],"additionalProperties":false}`)
	docB.WriteByte('}')

	var array bytes.Buffer
	array.WriteByte('[')
	for i := 0; array.Len() < 1<<20; i++ {
		if i > 0 {
			array.WriteByte(',')
		}
		fmt.Fprintf(&array, `{"query":"where is number %d","limit":%d,"format":"text","exact":false,"tags":["x","y"]}`, i, 1+i%100)
	}
	array.WriteByte(']')
	return []workload{
		{"call", callSchema, []byte(callDoc), func() any { return new(call) }},
		{"nested", schemaB.String(), []byte(docB.String()), func() any { return new(nested) }},
		{"array", `{"type":"array","items":` + callSchema + `}`, array.Bytes(), func() any { return new([]call) }},
	}
}

func compileSanthosh(t testing.TB, doc string) *santhosh.Schema {
	t.Helper()
	v, err := santhosh.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	c := santhosh.NewCompiler()
	if err := c.AddResource("https://example.com/schema.json", v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://example.com/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compileGoogle(t testing.TB, doc string) *google.Resolved {
	t.Helper()
	var s google.Schema
	if err := json.Unmarshal([]byte(doc), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// BenchmarkValidate compares, in one run: this engine on raw JSON; decoding
// into a map and then santhosh-tekuri or google; and encoding/json into a
// struct with no check at all.
func BenchmarkValidate(b *testing.B) {
	for _, w := range workloads() {
		ours, err := schema.Compile([]byte(w.schema), nil)
		if err != nil {
			b.Fatal(err)
		}
		sant, goog := compileSanthosh(b, w.schema), compileGoogle(b, w.schema)
		run := func(name string, f func() error) {
			b.Run(w.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(w.doc)))
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("cloudg", func() error { return ours.Validate(w.doc) })
		run("json+santhosh", func() error {
			var v any
			if err := json.Unmarshal(w.doc, &v); err != nil {
				return err
			}
			return sant.Validate(v)
		})
		run("json+google", func() error {
			var v any
			if err := json.Unmarshal(w.doc, &v); err != nil {
				return err
			}
			return goog.Validate(v)
		})
		run("json-struct", func() error { return json.Unmarshal(w.doc, w.target()) })
	}
}

// BenchmarkDecode compares checking and decoding in one pass with encoding/json
// alone.
func BenchmarkDecode(b *testing.B) {
	benchDecode[call](b, "call", []byte(callDoc))
	w := workloads()
	benchDecode[nested](b, w[1].name, w[1].doc)
	benchDecode[[]call](b, w[2].name, w[2].doc)
}

func benchDecode[T any](b *testing.B, name string, doc []byte) {
	c, err := schema.NewCodec[T](nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(name+"/cloudg", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			var v T
			if err := c.Decode(doc, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/json-struct", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			var v T
			if err := json.Unmarshal(doc, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
