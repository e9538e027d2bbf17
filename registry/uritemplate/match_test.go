package uritemplate_test

import (
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	type vars = []uritemplate.Var
	tests := []struct {
		name     string
		template string
		in       string
		want     vars // nil: no match
	}{
		{"literal", "note://all", "note://all", vars{}},
		{"empty", "", "", vars{}},
		{"longer than literal", "note://all", "note://all/", nil},
		{"case counts", "note://all", "note://ALL", nil},
		{"between literals", "test://template/{id}/data", "test://template/123/data", vars{{"id", "123"}}},
		{"not over a slash", "test://template/{id}/data", "test://template/1/2/data", nil},
		{"not reserved", "user://{id}", "user://a@b", nil},
		{"not empty", "user://{id}", "user://", nil},
		{"decoded", "user://{id}", "user://a%40b%2fc%20d", vars{{"id", "a@b/c d"}}},
		{"beyond ASCII", "user://{id}", "user://%C3%a9t%c3%A9", vars{{"id", "été"}}},
		{"beyond ASCII, not encoded", "user://{id}", "user://été", vars{{"id", "été"}}},
		{"literal beyond ASCII", "café/{id}", "caf%c3%a9/1", vars{{"id", "1"}}},
		{"literal not encoded", "caf%C3%A9/{id}", "café/1", vars{{"id", "1"}}},
		{"literal in lower case", "a%2Fb/{id}", "a%2fb/1", vars{{"id", "1"}}},
		{"encoded is not plain", "a%2Fb/{id}", "a/b/1", nil},
		{"encoded without need", "a-b/{id}", "%61%2db/%31", vars{{"id", "1"}}},
		{"half a byte", "a/{id}", "a/%4", nil},
		{"no hexadecimal", "a/{id}", "a/%4g", nil},
		{"lone percent", "a/{id}", "a/100%", nil},
		{"text inside a byte", "{id}2F", "a%2F", nil},
		{"text behind a byte", "{id}F", "%2FF", vars{{"id", "/"}}},
		{"NUL", "a/{id}", "a/x%00", nil},
		{"not UTF-8", "a/{id}", "a/%FF", nil},
		{"not UTF-8, not encoded", "a/{id}", "a/\xff", nil},
		{"half a character", "a/{id}", "a/%C3", nil},
		{"space", "a/{id}", "a/b c", nil},
		{"control", "a/{+id}", "a/b\nc", nil},
		{"brace", "a/{+id}", "a/{id}", nil},
		{"dots stay", "a/{id}", "a/..", vars{{"id", ".."}}},

		{"earlier takes more", "{name}.{ext}", "a.tar.gz", vars{{"name", "a.tar"}, {"ext", "gz"}}},
		{"earlier gives back", "{a}-{+b}", "x-y/z-w", vars{{"a", "x"}, {"b", "y/z-w"}}},
		{"list", "x/{a,b}", "x/1,2", vars{{"a", "1"}, {"b", "2"}}},
		{"list is complete", "x/{a,b}", "x/1", nil},
		{"list with encoded comma", "x/{a,b}", "x/1%2C2,3", vars{{"a", "1,2"}, {"b", "3"}}},
		{"path", "x{/a,b}/z", "x/1/2/z", vars{{"a", "1"}, {"b", "2"}}},
		{"path is complete", "x{/a,b}", "x/1", nil},
		{"labels", "x{.a,b}", "x.1.2.3", vars{{"a", "1.2"}, {"b", "3"}}},

		{"reserved", "file:///{+path}", "file:///a/b.txt", vars{{"path", "a/b.txt"}}},
		{"reserved not empty", "file:///{+path}", "file:///", nil},
		{"reserved decoded", "file:///{+path}", "file:///C%23/100%25.txt", vars{{"path", "C#/100%.txt"}}},
		{"reserved encoded twice", "file:///{+path}", "file:///%252e%252e", nil},
		{"simple encoded twice", "file:///{name}", "file:///%252e", vars{{"name", "%2e"}}},
		{"reserved to the last text", "{+path}/here", "/a/here/b/here", vars{{"path", "/a/here/b"}}},
		{"two reserved", "{+a}/x/{+b}", "p/x/q/x/r", vars{{"a", "p/x/q"}, {"b", "r"}}},
		{"not to be written back", "{+a}/x/{+b}", "p/x/q%2Fx%2Fr", nil},
		{"written back", "{+a}/x/{+b}", "p/x/q%2Fr", vars{{"a", "p"}, {"b", "q/r"}}},
		{"fragment", "a{#b}", "a#b/c?d", vars{{"b", "b/c?d"}}},
		{"fragment is required", "a{#b}", "a", nil},

		{"query", "s{?q,page}", "s?q=a%20b&page=2", vars{{"q", "a b"}, {"page", "2"}}},
		{"query in any order", "s{?q,page}", "s?page=2&q=a", vars{{"q", "a"}, {"page", "2"}}},
		{"query in part", "s{?q,page}", "s?page=2", vars{{"page", "2"}}},
		{"query absent", "s{?q,page}", "s", vars{}},
		{"query empty value", "s{?q,page}", "s?q=&page=", vars{{"q", ""}, {"page", ""}}},
		{"query without value", "s{?q}", "s?q", nil},
		{"query mark alone", "s{?q}", "s?", nil},
		{"query twice", "s{?q}", "s?q=1&q=2", nil},
		{"query unknown", "s{?q}", "s?q=1&r=2", nil},
		{"query longer name", "s{?q}", "s?qq=1", nil},
		{"query ends in a mark", "s{?q}", "s?q=1&", nil},
		{"query reserved", "s{?q}", "s?q=a/b", nil},
		{"query encoded name", "s{?a%2fb}", "s?a%2Fb=1", vars{{"a%2fb", "1"}}},
		{"query continued", "s?v=1{&q}", "s?v=1&q=2", vars{{"q", "2"}}},
		{"query continued, absent", "s?v=1{&q}", "s?v=1", vars{}},
		{"query in two", "s{?q}{&r}", "s?q=1&r=2", vars{{"q", "1"}, {"r", "2"}}},
		{"query in two, second only", "s{?q}{&r}", "s&r=2", vars{{"r", "2"}}},
		{"query and fragment", "s{?q}{#f}", "s?q=1#x", vars{{"q", "1"}, {"f", "x"}}},
		{"path and query", "file:///{+path}{?line}", "file:///a/b?line=3", vars{{"path", "a/b"}, {"line", "3"}}},
		{"path without query", "file:///{+path}{?line}", "file:///a/b", vars{{"path", "a/b"}}},
		{"path and other query", "file:///{+path}{?line}", "file:///a/b?x=3", nil},
		{"matrix", "a{;x,y}/b", "a;y;x=1/b", vars{{"x", "1"}, {"y", ""}}},
		{"matrix absent", "a{;x,y}/b", "a/b", vars{}},
		{"matrix empty value", "a{;x}", "a;x=", vars{{"x", ""}}},
		{"matrix behind a value", "{a}{;x}/{b}", "1;x=2/3", vars{{"a", "1"}, {"x", "2"}, {"b", "3"}}},
		{"matrix given up for a later reading", "{+a}{;x}/{+b}", "p/q;x=1", vars{{"a", "p"}, {"b", "q;x=1"}}},
		{"values keep the template's order", "{a}{;x}/{b}", "1/3", vars{{"a", "1"}, {"b", "3"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmpl := mustParse(t, tt.template)
			kept := vars{{"kept", "x"}}
			got, ok := tmpl.Match(tt.in, kept)
			if ok != (tt.want != nil) {
				t.Errorf("Match = %v, %v; want %v", got, ok, tt.want)
			}
			if diff := cmp.Diff(append(kept, tt.want...), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if ok {
				checkAgain(t, tmpl, got[1:])
			}
		})
	}
}

// checkAgain requires that the URI written from vars has vars again.
func checkAgain(t *testing.T, tmpl *uritemplate.Template, vars []uritemplate.Var) {
	t.Helper()
	uri := expand(tmpl, vars)
	again, ok := tmpl.Match(uri, []uritemplate.Var{})
	if diff := cmp.Diff(append([]uritemplate.Var{}, vars...), again); !ok || diff != "" {
		t.Errorf("%q written as %q matches again: %v (-want +got):\n%s", tmpl, uri, ok, diff)
	}
}

func TestMatch_bounds(t *testing.T) {
	tmpl := mustParse(t, "a/{+b}")
	for _, tt := range []struct {
		name string
		in   string
		want bool
	}{
		{"longest", "a/" + strings.Repeat("b", uritemplate.MaxURI-2), true},
		{"too long", "a/" + strings.Repeat("b", uritemplate.MaxURI-1), false},
		{"shorter in normal form", "a/" + strings.Repeat("%62", uritemplate.MaxURI-2), true},
		{"longer in normal form", "a/" + strings.Repeat("é", uritemplate.MaxURI/4), false},
		{"far too long", strings.Repeat("%62", uritemplate.MaxURI+1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := tmpl.Match(tt.in, nil); got != tt.want {
				t.Errorf("Match of %d bytes = %v, want %v", len(tt.in), got, tt.want)
			}
		})
	}
}

func TestMatch_allocatesNothing(t *testing.T) {
	for _, tt := range [][2]string{
		{"test://template/{id}/data", "test://template/123/data"},
		{"file:///{+path}{?line}", "file:///a/b/c.txt?line=3"},
	} {
		tmpl := mustParse(t, tt[0])
		dst := make([]uritemplate.Var, 0, 2)
		if got := testing.AllocsPerRun(100, func() {
			if _, ok := tmpl.Match(tt[1], dst); !ok {
				t.Errorf("%q does not match %q", tt[0], tt[1])
			}
		}); got != 0 {
			t.Errorf("Match of %q allocates %v times, want 0", tt[0], got)
		}
	}
}

// hostile returns templates and URIs on which a careless search would take exponential time.
func hostile() map[string][2]string {
	as := strings.Repeat("a", uritemplate.MaxURI-1)
	return map[string][2]string{
		"values":  {strings.Repeat("{%s}a", uritemplate.MaxVars), as + "b"},
		"reserve": {strings.Repeat("{+%s}a", uritemplate.MaxVars), as + "/"},
		"texts":   {strings.Repeat("{+%s}"+strings.Repeat("a", 120), uritemplate.MaxVars), as + "/"},
		"dashes":  {strings.Repeat("{%s}-", uritemplate.MaxVars), strings.Repeat("a-", uritemplate.MaxURI/2-1) + "a"},
		"slashes": {strings.Repeat("{+%s}/{%s}-", uritemplate.MaxVars/2), strings.Repeat("a-/", uritemplate.MaxURI/3)},
		"params":  {strings.Repeat("{+%s}a", uritemplate.MaxVars-2) + "{?%s}{&%s}", strings.Repeat("?v=a&a", uritemplate.MaxURI/6)},
	}
}

// parseNumbered parses a template in which each %s stands for a fresh name.
func parseNumbered(t testing.TB, template string) *uritemplate.Template {
	t.Helper()
	names := make([]any, strings.Count(template, "%s"))
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i)
	}
	return mustParse(t, fmt.Sprintf(template, names...))
}

func TestMatch_hostile(t *testing.T) {
	// A search that tries places again does not end before the test's deadline. How long ours takes, some milliseconds,
	// is for the benchmark to say: a limit here would fail on a busy machine.
	for name, tt := range hostile() {
		t.Run(name, func(t *testing.T) {
			if got, ok := parseNumbered(t, tt[0]).Match(tt[1], nil); ok {
				t.Errorf("Match = %v, want no match", got)
			}
		})
	}
}
