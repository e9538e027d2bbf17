package uritemplate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
	"github.com/google/go-cmp/cmp"
)

// suiteDir is where the public URI template tests are, seen from this folder.
const suiteDir = "../../../shared/suites/uritemplate"

// A section is one group of cases in a suite file. A case is the template and what it expands to: a string, a list of
// allowed strings, or false when the template is invalid.
type section struct {
	Variables map[string]any `json:"variables"`
	Cases     [][2]any       `json:"testcases"`
}

// loadSuite reads a file of the suite, and skips the test where the suite is not there.
func loadSuite(t *testing.T, file string) map[string]section {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.FromSlash(suiteDir), file))
	if errors.Is(err, os.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the public suites must be in %s when CI is true: %v", suiteDir, err)
		}
		t.Skipf("the public suites are not in %s, beside the repository", suiteDir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decodeSuite(t, text)
}

func decodeSuite(t testing.TB, text []byte) (sections map[string]section) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&sections); err != nil {
		t.Fatal(err)
	}
	return sections
}

// lookup returns a function for Expand. It sets composite when it is asked for a list or a map that is not empty; an
// empty one is undefined (RFC 6570, section 2.3).
func (s section) lookup(composite *bool) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch v := s.Variables[name].(type) {
		case string:
			return v, true
		case json.Number:
			return v.String(), true
		case []any:
			*composite = *composite || len(v) > 0
		case map[string]any:
			*composite = *composite || len(v) > 0
		}
		return "", false
	}
}

// The templates that RFC 6570 allows and Parse refuses are those with a modifier, and these.
var (
	modifier   = regexp.MustCompile(`\{[^}]*[:*][^}]*\}`)
	unmatching = map[string]string{
		"up{+path}{var}/here": "nothing separates",
		"{.who,who}":          "occurs twice",
		"{/who,who}":          "occurs twice",
	}
)

func TestSuiteExpansion(t *testing.T) {
	total := map[string]int{}
	for _, file := range []string{"spec-examples.json", "spec-examples-by-section.json", "extended-tests.json"} {
		sections := loadSuite(t, file)
		var table strings.Builder
		fmt.Fprintf(&table, "%s\n%-58s %8s %8s %8s %10s", file, "section", "expanded", "matched", "refused", "composite")
		for _, name := range slices.Sorted(maps.Keys(sections)) {
			count := map[string]int{}
			for _, c := range sections[name].Cases {
				for _, what := range checkCase(t, sections[name], c[0].(string), c[1]) {
					count[what]++
					total[what]++
				}
			}
			fmt.Fprintf(&table, "\n%-58s %8d %8d %8d %10d", name,
				count["expanded"], count["matched"], count["refused"], count["composite"])
		}
		t.Log(table.String())
	}
	// A suite that shrank, or a classification that hides cases, must not pass unseen.
	want := map[string]int{"expanded": 107, "matched": 90, "refused": 82, "composite": 45}
	if diff := cmp.Diff(want, total); diff != "" {
		t.Errorf("cases by outcome (-want +got):\n%s", diff)
	}
}

// checkCase returns what became of one case.
func checkCase(t *testing.T, s section, template string, want any) (outcome []string) {
	t.Helper()
	tmpl, err := uritemplate.Parse(template)
	reason := unmatching[template]
	if modifier.MatchString(template) {
		reason = "modifier"
	}
	if reason != "" {
		checkRefusal(t, template, err, reason)
		return []string{"refused"}
	}
	if err != nil {
		t.Errorf("Parse(%q): %v", template, err)
		return nil
	}
	composite := false
	uri := tmpl.Expand(s.lookup(&composite))
	if composite {
		return []string{"composite"} // Expand takes strings only
	}
	if !slices.Contains(allowed(want), uri) {
		t.Errorf("Expand of %q = %q, want %q", template, uri, want)
	}
	vars, ok := tmpl.Match(uri, nil)
	if !ok {
		return []string{"expanded"} // an absent or empty variable
	}
	again, ok := tmpl.Match(expand(tmpl, vars), nil)
	if diff := cmp.Diff(vars, again); !ok || diff != "" {
		t.Errorf("%q matches again %v (-want +got):\n%s", template, ok, diff)
	}
	return []string{"expanded", "matched"}
}

func allowed(want any) (uris []string) {
	if one, ok := want.(string); ok {
		return []string{one}
	}
	for _, uri := range want.([]any) {
		uris = append(uris, uri.(string))
	}
	return uris
}

// checkRefusal requires a *ParseError with the place, the expression there, and what is supported.
func checkRefusal(t *testing.T, template string, err error, reason string) {
	t.Helper()
	var refused *uritemplate.ParseError
	if !errors.As(err, &refused) {
		t.Errorf("Parse(%q): error %v, want a *ParseError", template, err)
		return
	}
	if refused.Template != template || refused.Offset < 0 || refused.Offset > len(template) {
		t.Errorf("Parse(%q): offset %d in template %q", template, refused.Offset, refused.Template)
		return
	}
	expr := template[refused.Offset:]
	if i := strings.IndexByte(expr, '}'); i >= 0 {
		expr = expr[:i+1]
	}
	for _, part := range []string{fmt.Sprintf("byte %d:", refused.Offset), fmt.Sprintf("%q", expr), reason, "supported are"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Parse(%q): error %q does not say %q", template, err, part)
		}
	}
}

func TestSuiteNegative(t *testing.T) {
	refused := 0
	for _, s := range loadSuite(t, "negative-tests.json") {
		for _, c := range s.Cases {
			template := c[0].(string)
			_, err := uritemplate.Parse(template)
			if perr := new(uritemplate.ParseError); !errors.As(err, &perr) {
				t.Errorf("Parse(%q): error %v, want a *ParseError", template, err)
				continue
			}
			refused++
			t.Logf("%-45q %v", template, err)
		}
	}
	if want := 36; refused != want {
		t.Errorf("%d templates refused, want %d", refused, want)
	}
}
