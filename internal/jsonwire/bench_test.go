package jsonwire_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// The documents that the benchmarks read: what an envelope looks like, a long
// text as a file gives it, a text in another script, and many small values.
var benchDocs = []struct{ name, doc string }{
	{"envelope", `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}`},
	{"plain 1 MiB", quoted(strings.Repeat("a", 1<<20))},
	{"escapes 1 MiB", quoted(strings.Repeat("\tif x == \"y\" {\n\t\treturn nil\n", 1<<20/28))},
	{"cyrillic 1 MiB", quoted(strings.Repeat("привет мир ", 1<<20/20))},
	{"objects 1 MiB", "[" + strings.Repeat(`{"name":"a.txt","size":1234,"dir":false},`, 1<<20/41) + "null]"},
	{"indented 1 MiB", "[" + strings.Repeat("\n    {\n      \"name\": \"a.txt\",\n      \"size\": 1234\n    },", 1<<20/56) + "null]"},
}

func quoted(s string) string { return string(jsonwire.AppendQuote(nil, s)) }

func BenchmarkValid(b *testing.B) {
	for _, bb := range benchDocs {
		b.Run(bb.name, func(b *testing.B) {
			doc := []byte(bb.doc)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if err := jsonwire.Valid(doc, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkipValue(b *testing.B) {
	for _, bb := range benchDocs {
		b.Run(bb.name, func(b *testing.B) {
			doc := []byte(bb.doc)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if n := jsonwire.SkipValue(doc); n != len(doc) {
					b.Fatalf("SkipValue = %d, want %d", n, len(doc))
				}
			}
		})
	}
}

// benchTexts are the texts that are quoted and unquoted.
func benchTexts() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"short", "list_directory"},
		{"plain 1 MiB", strings.Repeat("a", 1<<20)},
		{"escapes 1 MiB", strings.Repeat("\tif x == \"y\" {\n\t\treturn nil\n", 1<<20/28)},
		{"cyrillic 1 MiB", strings.Repeat("привет мир ", 1<<20/20)},
	}
}

func BenchmarkAppendQuote(b *testing.B) {
	for _, bb := range benchTexts() {
		b.Run(bb.name, func(b *testing.B) {
			dst := make([]byte, 0, 2<<20)
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = jsonwire.AppendQuote(dst[:0], bb.text)
			}
		})
	}
}

func BenchmarkAppendQuoteBytes(b *testing.B) {
	for _, bb := range benchTexts() {
		b.Run(bb.name, func(b *testing.B) {
			dst, text := make([]byte, 0, 2<<20), []byte(bb.text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = jsonwire.AppendQuoteBytes(dst[:0], text)
			}
		})
	}
}

func BenchmarkAppendUnquote(b *testing.B) {
	for _, bb := range benchTexts() {
		b.Run(bb.name, func(b *testing.B) {
			dst, q := make([]byte, 0, 2<<20), jsonwire.AppendQuote(nil, bb.text)
			b.SetBytes(int64(len(q)))
			b.ReportAllocs()
			for b.Loop() {
				dst = jsonwire.AppendUnquote(dst[:0], q)
			}
		})
	}
}
