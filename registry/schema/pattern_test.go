package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		name, in string
		match    []string
		not      []string
	}{
		{"anywhere", `b+`, []string{"abc", "b"}, []string{"", "a"}},
		{"prefix", `^ab`, []string{"ab", "abc"}, []string{"", "a", "xab"}},
		{"exact", `^ab$`, []string{"ab"}, []string{"abc", "xab", "ab\n"}},
		{"one class", `^[a-c]+$`, []string{"a", "abc"}, []string{"", "abd", "é", "abc\n"}},
		{"one class, counted", `^[0-9]{2,3}$`, []string{"12", "123"}, []string{"1", "1234", "12a"}},
		{"one class, optional", `^x?$`, []string{"", "x"}, []string{"xx"}},
		{"one class, any number", `^\w*$`, []string{"", "a_1"}, []string{"é", "a-b"}},
		{"digits are those of ASCII", `^\d$`, []string{"5"}, []string{"५"}},
		{"space is that of Unicode", `^\s$`, []string{" ", "\t", "\v", "\u00a0", "\u2003", "\ufeff"}, []string{"a", "\u200b"}},
		{"no space", `^\S$`, []string{"a", "\u200b"}, []string{" ", "\u00a0"}},
		{"space in a class", `^[\sx]$`, []string{"x", "\u2028"}, []string{"y"}},
		{"no space in a class", `^[\S ]$`, []string{" ", "a"}, []string{"\t"}},
		{"the point stops at ends of lines", `^.$`, []string{"a", "é"}, []string{"\n", "\r", "\u2028", "\u2029"}},
		{"the end is the end", `a$`, []string{"a"}, []string{"a\n"}},
		{"code units", `^\u00e9$`, []string{"é"}, []string{"e"}},
		{"pairs of code units", `^\ud83d\ude00$`, []string{"😀"}, nil},
		{"code points", `^\u{1f600}\x41$`, []string{"😀A"}, nil},
		{"control characters", `^\cJ\0$`, []string{"\n\x00"}, nil},
		{"properties", `^\p{L}\p{Letter}\p{Script=Greek}\P{Lu}\p{gc=Nd}$`, []string{"aéβx5"}, []string{"aéxx5", "aéβX5"}},
		{"named groups", `^(?<$name>a)(?:b)$`, []string{"ab"}, []string{"a"}},
		{"a backspace", `^[\b]$`, []string{"\b"}, []string{"b"}},
		{"word boundaries", `\bfoo\b`, []string{"a foo b"}, []string{"afoob"}},
		{"brackets in a class", `^[[\]]$`, []string{"[", "]"}, []string{"a"}},
		{"the empty class", `a[]`, nil, []string{"a", ""}},
		{"the full class", `^[^]$`, []string{"\n", "é"}, []string{""}},
		{"hyphens at the ends of a class", `^[-a]+[a-]$`, []string{"-a", "a-"}, []string{"ab"}},
		{"a brace that stands for itself", `^a{b}{$`, []string{"a{b}{"}, []string{"ab"}},
		{"escaped punctuation", `^\/\-\.\$\"$`, []string{`/-.$"`}, nil},
		{"lazy", `^a+?b??$`, []string{"ab", "a"}, []string{"b"}},
		{"alternatives of ends", `^$|^x$`, []string{"", "x"}, []string{"y"}},
		{"no anchors of other dialects", `^[&~|-]+$`, []string{"&&", "--", "~~"}, []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			quoted, err := json.Marshal(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			s := compile(t, `{"pattern":`+string(quoted)+`}`, nil)
			check := func(list []string, want bool) {
				for _, in := range list {
					value, err := json.Marshal(in)
					if err != nil {
						t.Fatal(err)
					}
					if got := s.Validate(value) == nil; got != want {
						t.Errorf("%q and %q: got %v, want %v", tt.in, in, got, want)
					}
				}
			}
			check(tt.match, true)
			check(tt.not, false)
		})
	}
}

func TestPatternRefuses(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"lookahead", `a(?=b)`, `lookahead "(?=…)"`},
		{"negative lookahead", `a(?!b)`, `negative lookahead`},
		{"lookbehind", `(?<=a)b`, `lookbehind`},
		{"negative lookbehind", `(?<!a)b`, `negative lookbehind`},
		{"backreference", `(a)\1`, `backreference "\\1"`},
		{"named backreference", `(?<x>a)\k<x>`, `backreference`},
		{"repetition", `a{1001}`, `more than 1000 times`},
		{"a property that RE2 lacks", `\p{Emoji}`, `property "Emoji"`},
		{"script extensions", `\p{scx=Greek}`, `property`},
		{"a surrogate", `\ud83d`, `surrogate`},
		{"an end of another dialect", `a\Z`, `unknown escape "\\Z"`},
		{"a bell", `\a`, `unknown escape`},
		{"inline flags", `(?i)a`, `unknown group`},
		{"a class without an end", `[a`, `class`},
		{"a group without an end", `(a`, `missing closing`},
		{"a possessive quantifier", `a++`, `quantifier`},
		{"nothing to repeat", `*a`, `repetition`},
		{"a trailing backslash", `a\`, `backslash`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			quoted, err := json.Marshal(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			_, err = schema.Compile([]byte(`{"properties":{"x":{"pattern":`+string(quoted)+`}}}`), nil)
			if got := text(err); !strings.Contains(got, tt.want) || !strings.Contains(got, `"/properties/x"`) {
				t.Errorf("got %q, want an error at /properties/x with %q", got, tt.want)
			}
		})
	}
}
