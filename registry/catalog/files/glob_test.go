package files_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern string
		match   string
		differ  string
	}{
		{"*.go", "a.go b/c.go .go", "a.gox go a.go/b"},
		{"a?c", "abc a.c aéc x/abc", "ac abbc a/c"},
		{"src/*.go", "src/a.go", "a.go src/b/a.go x/src/a.go"},
		{"src/**", "src/a src/a/b", "src srcx/a"},
		{"**/x", "x a/x a/b/x", "ax a/xx"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb b"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c", "a/c"},
		{"**/*_test.go", "a_test.go x/a_test.go", "a.go"},
		{"**", "a a/b", ""},
		{"a**b/c", "ab/c axxb/c", "a/b/c"},
		{"[a-c]x", "ax cx", "dx abx"},
		{"[!a-c]x", "dx", "ax"},
		{"[]]x", "]x", "x"},
		{"[+-9]x", "+x 0x .x", "/x a/x"},
		{`[\]a]x`, "]x ax", `\x`},
		{"{a,b*}.txt", "a.txt bc.txt", "c.txt {a,b*}.txt"},
		{"{a,{b,c}}d", "ad bd cd", "abd"},
		{"{src,test}/**/*.go", "src/a.go test/x/y.go", "lib/a.go"},
		{`\*x`, "*x", "ax"},
		{"a,b", "a,b", "a"},
		{"./docs/*", "docs/a", "a"},
		{"docs/", "docs x/docs", "docs/a"},
		{"a.b+c", "a.b+c", "aXb+c a.bbc"},
	}
	for _, tt := range tests {
		for _, side := range []struct {
			names string
			want  bool
		}{{tt.match, true}, {tt.differ, false}} {
			for name := range strings.FieldsSeq(side.names) {
				got, err := files.MatchGlob(tt.pattern, name)
				if err != nil || got != side.want {
					t.Errorf("%q on %q: %v %v, want %v", tt.pattern, name, got, err, side.want)
				}
			}
		}
	}
}

func TestGlob_refuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "pattern is empty"},
		{"/etc/*", "must be relative"},
		{"a[b", "has a [ without its ]"},
		{"a{b", "has a { without its }"},
		{"a}b", "has a } without its {"},
		{"[z-a]", "runs backwards"},
		{"[a/b]", "has a / in a set"},
		{`a\`, "ends in a backslash"},
		{strings.Repeat("x", 1025), "more than the 1024"},
	}
	for _, tt := range tests {
		if _, err := files.MatchGlob(tt.in, "x"); !strings.Contains(text(err), tt.want) {
			t.Errorf("%q: %v, want %q", tt.in, err, tt.want)
		}
	}
}

// plainMatch is an obviously correct matcher of patterns without sets and braces, to compare with.
func plainMatch(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(name) > 0
		}
		for i := range len(name) + 1 {
			if plainMatch(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	return len(name) > 0 && plainName([]rune(pattern[0]), []rune(name[0])) && plainMatch(pattern[1:], name[1:])
}

func plainName(pattern, name []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == '*':
		return plainName(pattern[1:], name) || len(name) > 0 && plainName(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	return (pattern[0] == '?' || pattern[0] == name[0]) && plainName(pattern[1:], name[1:])
}

// FuzzGlob: any pattern compiles or is refused, and the simple ones match as the plain matcher says.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{{"a/**/b", "a/x/b"}, {"*.go", "x.go"}, {"[a-z]?", "bc"}, {"{a,b}", "a"}, {"**", "x"}, {"***/x", "y/x"}, {"[^/]", "x"}, {`\`, "x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 40 || len(name) > 40 {
			return
		}
		got, err := files.MatchGlob(pattern, name)
		clean := "/" + name + "/"
		if err != nil || strings.ContainsAny(pattern, `[]{},\`) || strings.IndexByte(pattern, 0xff) >= 0 || strings.Contains(pattern, "***") || strings.Count(pattern, "*") > 6 ||
			strings.Contains(clean, "//") || strings.Contains(clean, "/./") || strings.Contains(clean, "/../") ||
			strings.ToValidUTF8(name+pattern, "\uFFFD") != name+pattern {
			return
		}
		text := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
		if strings.Contains("/"+text+"/", "//") {
			return
		}
		names := strings.Split(name, "/")
		if !strings.Contains(text, "/") {
			names = names[len(names)-1:]
		}
		if want := plainMatch(strings.Split(text, "/"), names); got != want {
			t.Fatalf("%q on %q: %v, want %v", pattern, name, got, want)
		}
	})
}
