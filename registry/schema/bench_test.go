package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

type sum struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

type echo struct {
	Text string `json:"text"`
}

type search struct {
	Query  string   `json:"query" jsonschema:"minLength=1,maxLength=200"`
	Limit  int      `json:"limit" jsonschema:"minimum=1,maximum=100"`
	Format string   `json:"format" jsonschema:"enum=json|text|table"`
	Exact  bool     `json:"exact"`
	Tags   []string `json:"tags"`
}

func benchDecode[T any](b *testing.B, in []byte) {
	c := newCodec[T](b, nil)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(in)))
		var v T
		for b.Loop() {
			if err := c.Decode(in, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("validate", func(b *testing.B) {
		b.ReportAllocs()
		s := c.Compiled()
		for b.Loop() {
			if err := s.Validate(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v T
			if err := json.Unmarshal(in, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		var v T
		_ = c.Decode(in, &v)
		var dst []byte
		for b.Loop() {
			dst, _ = c.Append(dst[:0], &v)
		}
	})
}

func BenchmarkSum(b *testing.B)  { benchDecode[sum](b, []byte(`{"a":1,"b":2}`)) }
func BenchmarkEcho(b *testing.B) { benchDecode[echo](b, []byte(`{"text":"hello, world"}`)) }
func BenchmarkEchoLarge(b *testing.B) {
	benchDecode[echo](b, []byte(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`))
}
func BenchmarkSearch(b *testing.B) {
	benchDecode[search](b, []byte(`{"query":"where is it","limit":20,"format":"json","exact":true,"tags":["a","b","c"]}`))
}

func BenchmarkArray(b *testing.B) {
	type doc struct {
		Items []search `json:"items"`
	}
	var sb strings.Builder
	sb.WriteString(`{"items":[`)
	for i := 0; sb.Len() < 1<<20; i++ {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, `{"query":"where is number %d","limit":20,"format":"json","exact":true,"tags":["a","b","c"]}`, i)
	}
	sb.WriteString(`]}`)
	benchDecode[doc](b, []byte(sb.String()))
}

var _ = schema.Draft7
