package schema_test

import (
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

func BenchmarkCompile(b *testing.B) {
	b.Run("tool", func(b *testing.B) {
		doc := newCodec[search](b, nil).Schema()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.Compile(doc, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("breadth", func(b *testing.B) {
		doc := []byte(`{"anyOf":[` + list(20_000, `{"minimum":%d}`) + `]}`)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.Compile(doc, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
