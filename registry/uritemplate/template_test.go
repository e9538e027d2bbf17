package uritemplate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, template string) *uritemplate.Template {
	t.Helper()
	tmpl, err := uritemplate.Parse(template)
	if err != nil {
		t.Fatalf("Parse(%q): %v", template, err)
	}
	return tmpl
}

// expand writes the URI with vars.
func expand(tmpl *uritemplate.Template, vars []uritemplate.Var) string {
	return tmpl.Expand(func(name string) (string, bool) {
		for _, v := range vars {
			if v.Name == name {
				return v.Value, true
			}
		}
		return "", false
	})
}

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"empty", "", []string{}},
		{"literal", "note://all", []string{}},
		{"one", "note://{id}", []string{"id"}},
		{"order", "db://{b}/{a}{?d,c}", []string{"b", "a", "d", "c"}},
		{"several in one", "{x,y}", []string{"x", "y"}},
		{"dotted and encoded", "{a.b}/{Stra%C3%9Fe}", []string{"a.b", "Stra%C3%9Fe"}},
		{"case of names counts", "{id}/{ID}", []string{"id", "ID"}},
		{"parameters then fragment", "x{?a}{&b}{#c}", []string{"a", "b", "c"}},
		{"parameters inside", "x{;a}/y", []string{"a"}},
		{"as many as allowed", manyVars(uritemplate.MaxVars), nil},
		{"as long as allowed", strings.Repeat("a", uritemplate.MaxTemplate), []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmpl := mustParse(t, tt.in)
			if tmpl.String() != tt.in {
				t.Errorf("String() = %q, want %q", tmpl, tt.in)
			}
			got := tmpl.Vars()
			if tt.want == nil {
				if len(got) != uritemplate.MaxVars {
					t.Errorf("%d variables, want %d", len(got), uritemplate.MaxVars)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Vars() (-want +got):\n%s", diff)
			}
		})
	}
}

// manyVars returns a template with n variables.
func manyVars(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("/{v" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + "}")
	}
	return b.String()
}

func TestParse_refuses(t *testing.T) {
	const tail = "; supported are {a} {+a} {#a} {.a} {/a} {;a} {?a} {&a}, several names as in {?a,b}"
	type refusal struct {
		Offset int
		Reason string
	}
	const nameChars = "a name has letters, digits, underscores, inner dots and percent-encoded bytes"
	tests := []struct {
		name string
		in   string
		want refusal
	}{
		{"prefix", "a/{b:3}", refusal{2, `"{b:3}": the modifier ":3" is not supported, for such a value cannot be matched again` + tail}},
		{"explode", "a/{x,b*}", refusal{2, `"{x,b*}": the modifier "*" is not supported, for such a value cannot be matched again` + tail}},
		{"not closed", "a/{b", refusal{2, `"{b": the expression is not closed with a brace` + tail}},
		{"no expression", "a/b}", refusal{3, `a brace closes no expression; write %7D for the brace itself`}},
		{"nested", "{a{b}}", refusal{0, `"{a{b}": '{' is not allowed here: ` + nameChars + tail}},
		{"no variable", "a{}", refusal{1, `"{}": the expression names no variable` + tail}},
		{"operator alone", "a{?}", refusal{1, `"{?}": the name of a variable is empty` + tail}},
		{"empty name", "a{x,}", refusal{1, `"{x,}": the name of a variable is empty` + tail}},
		{"reserved operator", "{!a}", refusal{0, `"{!a}": '!' is not allowed here: ` + nameChars + tail}},
		{"not ASCII", "{größe}", refusal{0, `"{größe}": 'ö' is not allowed here: ` + nameChars + tail}},
		{"dots", "{a..b}", refusal{0, `"{a..b}": a dot in a name has to stand between other characters` + tail}},
		{"percent in name", "{%4}", refusal{0, `"{%4}": a percent sign in a name needs two hexadecimal digits behind it` + tail}},
		{"twice", "{a}/{a}", refusal{4, `"{a}": the variable "a" occurs twice` + tail}},
		{"twice in another spelling", "{?a%2F,a%2f}", refusal{0, `"{?a%2F,a%2f}": the variable "a%2f" occurs twice` + tail}},
		{"adjacent", "x{a}{+b}", refusal{4, `"{+b}": nothing separates this value from the expression before it, so it cannot be matched` + tail}},
		{"value behind parameters", "{?a}{b}", refusal{4, `"{b}": nothing separates this value from the expression before it, so it cannot be matched` + tail}},
		{"text behind parameters", "{?a}b/{c}", refusal{4, `"b/": this text could be a part of the optional parameters before it` + tail}},
		{"parameter behind parameters", "{?a}{#b}{;c}{&d}&e=1", refusal{16, `"&e=1": this text could be a part of the optional parameters before it` + tail}},
		{"label behind parameters", "{?a}{.b}", refusal{4, `"{.b}": this text could be a part of the optional parameters before it` + tail}},
		{"equals sign behind parameters", "{;a}=b", refusal{4, `"=b": this text could be a part of the optional parameters before it` + tail}},
		{"mark behind absent parameters", "{?a}{;b}?", refusal{8, `"?": this text could be a part of the optional parameters before it` + tail}},
		{"space", "a b", refusal{1, `' ' is not allowed in a URI; percent-encode it`}},
		{"control", "a\u0085", refusal{1, `'\u0085' is not allowed in a URI; percent-encode it`}},
		{"percent", "100%/{a}", refusal{3, `a percent sign needs two hexadecimal digits behind it; write %25 for the sign itself`}},
		{"percent before expression", "a%2{b}", refusal{1, `a percent sign needs two hexadecimal digits behind it; write %25 for the sign itself`}},
		{"not UTF-8", "a\xff{b}", refusal{1, `the template is not UTF-8`}},
		{"too many", manyVars(uritemplate.MaxVars + 1), refusal{6*uritemplate.MaxVars + 1, `"{vbg}": the template has more than 32 variables` + tail}},
		{"too long", strings.Repeat("a", uritemplate.MaxTemplate+1), refusal{uritemplate.MaxTemplate, `the template has 4097 bytes; at most 4096 are allowed`}},
		{"long excerpt", "{" + strings.Repeat("-", 200) + "}", refusal{0, `"{` + strings.Repeat("-", 79) + `"...: '-' is not allowed here: ` + nameChars + tail}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmpl, err := uritemplate.Parse(tt.in)
			var refused *uritemplate.ParseError
			if tmpl != nil || !errors.As(err, &refused) {
				t.Fatalf("Parse = %v, %v; want a *ParseError", tmpl, err)
			}
			if diff := cmp.Diff(tt.want, refusal{refused.Offset, refused.Reason}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if refused.Template != tt.in {
				t.Errorf("Template = %q, want %q", refused.Template, tt.in)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	want := []string{
		"note://a/b/c",
		"note://a/{+b}",
		"note://{a}/{b}",
		"note:/{/a,b}", // as specific as the one before it, so the text decides
		"note://{a}/{+b}",
		"note://{a}",
		"note://{id}",
		"note://{+a}",
		"note://{a}{?b}",
	}
	var got []*uritemplate.Template
	for _, s := range want {
		got = append(got, mustParse(t, s))
	}
	for range 8 { // from different starts
		got = append(got[1:], got[0])
		sorted := slices.SortedFunc(slices.Values(got), uritemplate.Compare)
		var order []string
		for _, tmpl := range sorted {
			order = append(order, tmpl.String())
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, a := range got {
		for _, b := range got {
			if ab, ba := uritemplate.Compare(a, b), uritemplate.Compare(b, a); ab != -ba || (ab == 0) != (a == b) {
				t.Errorf("Compare(%q, %q) = %d, the other way %d", a, b, ab, ba)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	vars := []uritemplate.Var{
		{Name: "id", Value: "a/b c"}, {Name: "bad", Value: "\xff"}, {Name: "half", Value: "%4"},
		{Name: "none1", Value: ""}, {Name: "none2", Value: ""}, {Name: "none3", Value: ""},
	}
	tests := []struct {
		name string
		in   string
		want string
	}{
		{"absent parts leave no mark", "x{/a}{.b}{;c}{?d}{#e}", "x"},
		{"absent among present", "x{/a,id,b}{?c,half,d}", "x/a%2Fb%20c?half=%254"},
		{"empty values", "x{none1}{;none2}{?none3}", "x;none2?none3="},
		{"encoded", "x/{id}", "x/a%2Fb%20c"},
		{"reserved", "x/{+id}", "x/a/b%20c"},
		{"not UTF-8", "x/{bad}", "x/%FF"},
		{"lone percent", "x/{+half}", "x/%254"},
		{"literal as written", "x/%2d%c3é/{id}", "x/%2d%c3%C3%A9/a%2Fb%20c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := expand(mustParse(t, tt.in), vars); got != tt.want {
				t.Errorf("Expand = %q, want %q", got, tt.want)
			}
		})
	}
}
