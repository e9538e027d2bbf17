package uritemplate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
	"github.com/google/go-cmp/cmp"
)

// FuzzURITemplate checks that no input panics, that a refusal is a *ParseError with a place inside the template, and
// that whatever matches can be written again and then matches with the same variables.
func FuzzURITemplate(f *testing.F) {
	for _, s := range [][2]string{
		{"test://template/{id}/data", "test://template/123/data"},
		{"file:///{+path}{?line}", "file:///a%2Fb?line=3"},
		{"{name}.{ext}", "a%2Etar.gz"},
		{"{a}-{+b}", "x%2dy/z-w"},
		{"{+a}/x/{+b}", "p/x/q%2Fx%2Fr"},
		{"{a}{;x,y}/{b}{?q}{&r}{#f}", "1;y;x=2/3?q=4&r=5#6"},
		{"caf%C3%A9é{.a%41}", "café%C3%A9.%C3%A9"},
		{"{a}%A9{b}", "%C3%A9x"},
		{"{+a}", "%25%34%31%2541"},
		{"{a:3}{b*}", ""},
	} {
		f.Add(s[0], s[1])
	}
	addSuite(f)
	f.Fuzz(func(t *testing.T, template, uri string) {
		tmpl, err := uritemplate.Parse(template)
		if err != nil {
			var refused *uritemplate.ParseError
			if !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > len(template) || refused.Reason == "" {
				t.Errorf("Parse(%q): %#v", template, err)
			}
			return
		}
		if tmpl.String() != template || uritemplate.Compare(tmpl, tmpl) != 0 {
			t.Errorf("Parse(%q).String() = %q", template, tmpl)
		}
		vars, ok := tmpl.Match(uri, nil)
		if !ok {
			return
		}
		if names := tmpl.Vars(); len(vars) > len(names) {
			t.Errorf("%d values for %d variables", len(vars), len(names))
		}
		written := expand(tmpl, vars)
		again, ok := tmpl.Match(written, nil)
		if diff := cmp.Diff(vars, again); !ok || diff != "" {
			t.Errorf("%q on %q, written as %q, matches again: %v (-want +got):\n%s", template, uri, written, ok, diff)
		}
	})
}

// addSuite adds the files of the public suite as seeds where they are; the suite tests complain where they are not.
func addSuite(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(suiteDir), "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range decodeSuite(f, text) {
			for _, c := range s.Cases {
				uri, _ := c[1].(string)
				f.Add(c[0].(string), uri)
			}
		}
	}
}
