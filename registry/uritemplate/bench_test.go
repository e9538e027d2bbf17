package uritemplate_test

import (
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
)

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, in string }{
		{"short", "test://template/{id}/data"},
		{"long", "https://api.example/{+base}/v1{/owner,repo}/files/{name}.{ext}{?ref,line,column}{#mark}"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := uritemplate.Parse(bb.in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, bb := range []struct {
		name, template, in string
		want               bool
	}{
		{"plain", "test://template/{id}/data", "test://template/123/data", true},
		{"other", "test://template/{id}/data", "test://static/text", false},
		{"decoded", "test://template/{id}/data", "test://template/a%20b/data", true},
		{"path", "file:///{+path}{?line}", "file:///home/user/project/main.go?line=12", true},
		{"path decoded", "file:///{+path}{?line}", "file:///home/user/C%23/main.cs", true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			tmpl := mustParse(b, bb.template)
			benchmarkMatch(b, tmpl, bb.in, bb.want)
		})
	}
}

func BenchmarkMatch_hostile(b *testing.B) {
	for name, bb := range hostile() {
		b.Run(name, func(b *testing.B) {
			benchmarkMatch(b, parseNumbered(b, bb[0]), bb[1], false)
		})
	}
}

func benchmarkMatch(b *testing.B, tmpl *uritemplate.Template, uri string, want bool) {
	dst := make([]uritemplate.Var, 0, uritemplate.MaxVars)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := tmpl.Match(uri, dst); ok != want {
			b.Fatalf("Match(%q) = %v, want %v", uri, ok, want)
		}
	}
}
