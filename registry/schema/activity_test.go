package schema

import (
	"regexp/syntax"
	"testing"
)

func TestActivity(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
	}{
		{"the next character decides", `^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+=*$`, 2},
		{"words with hyphens", `^[a-z]+(-[a-z]+)*$`, 2},
		{"anywhere", `abc`, 2},
		{"two ways", `^(ab|ac)d$`, 1}, // the parser shares the prefix
		{"one after the other", `^abc$`, 1},
		{"a count", `^(x?){20}$`, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := syntax.Parse(tt.in, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := syntax.Compile(tree.Simplify())
			if err != nil {
				t.Fatal(err)
			}
			if got := activity(prog); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
