package uritemplate_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/uritemplate"
	"github.com/google/go-cmp/cmp"
)

// A part of a random template, and what it matches as a regular expression. Those are greedy from the left, as our rule
// is, and Go runs them in linear time.
type oraclePart struct{ template, pattern string }

const (
	simpleChar   = `(?:[0-9A-Za-z._~-]|%[0-9A-F]{2})`
	reservedChar = `(?:[^%]|%[0-9A-F]{2})`
)

// randomParts returns a template's parts. Parameters come last: an earlier place of theirs would restrict the values
// before it, which the pattern for + does not show.
func randomParts(r *rand.Rand) (parts []oraclePart) {
	name := 'a'
	for range 1 + r.IntN(4) {
		n := string(name)
		name++
		value := []oraclePart{
			{"{" + n + "}", "(?P<" + n + ">" + simpleChar + "+)"},
			{"{+" + n + "}", "(?P<" + n + ">" + reservedChar + "+)"},
			{"{." + n + "}", `\.(?P<` + n + ">" + simpleChar + "+)"},
			{"{/" + n + "}", "/(?P<" + n + ">" + simpleChar + "+)"},
		}[r.IntN(4)]
		text := []string{"", "a", "/", "-", ".", "a-", "/a", "aa", "%2F", "2F"}[r.IntN(10)]
		parts = append(parts, value, oraclePart{text, regexp.QuoteMeta(text)})
	}
	if r.IntN(3) == 0 {
		v := simpleChar + "*"
		parts = append(parts, oraclePart{"{;x,y}",
			"(?:;x(?:=(?P<x>" + v + "))?(?:;y(?:=(?P<y>" + v + "))?)?|;y(?:=(?P<y2>" + v + "))?(?:;x(?:=(?P<x2>" + v + "))?)?)?"})
		for i := range parts {
			parts[i].pattern = strings.ReplaceAll(parts[i].pattern, "[^%]", "[^%;]")
		}
	}
	return parts
}

// randomURI returns a URI in normal form that is likely to match parts, and to do so in several ways.
func randomURI(r *rand.Rand, parts []oraclePart) string {
	alphabet := []string{"a", "-", "/", ".", "%2F", "%20", "2", "F"}
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.template == "{;x,y}":
			b.WriteString([]string{"", ";x=a", ";y", ";x=a;y=", ";y=-;x", ";x;x", ";z=1", ";"}[r.IntN(8)])
		case strings.HasPrefix(p.template, "{"):
			b.WriteString(strings.Trim(p.template[1:2], "+abcd"))
			for range 1 + r.IntN(4) {
				b.WriteString(alphabet[r.IntN(len(alphabet))])
			}
		default:
			b.WriteString(p.template)
		}
	}
	return b.String()
}

func TestMatch_agreesWithRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	matched, parsed := 0, 0
	for range 1500 {
		var template, pattern strings.Builder
		parts := randomParts(r)
		for _, p := range parts {
			template.WriteString(p.template)
			pattern.WriteString(p.pattern)
		}
		tmpl, err := uritemplate.Parse(template.String())
		if err != nil { // values side by side
			continue
		}
		parsed++
		re := regexp.MustCompile("^" + pattern.String() + "$")
		for range 20 {
			uri := randomURI(r, parts)
			want := regexpVars(re, uri)
			got, ok := tmpl.Match(uri, nil)
			if !ok && want != nil && maySkip(tmpl, want) {
				continue
			}
			if ok {
				matched++
				checkAgain(t, tmpl, got)
			}
			if diff := cmp.Diff(want, values(got)); diff != "" {
				t.Fatalf("%q on %q (-want +got):\n%s", tmpl, uri, diff)
			}
		}
	}
	t.Logf("%d templates, %d matches", parsed, matched)
	if parsed < 1000 || matched < 5000 {
		t.Errorf("%d templates and %d matches are too few to show anything", parsed, matched)
	}
}

// maySkip reports whether the package may refuse vars, which the pattern has found: for an encoded reserved character
// in a reserved value.
func maySkip(tmpl *uritemplate.Template, vars map[string]string) bool {
	for name, value := range vars {
		if strings.Contains(tmpl.String(), "{+"+name+"}") && strings.Contains(value, "/") {
			return true
		}
	}
	return false
}

// regexpVars returns the decoded values of the named groups that are not empty, or nil if uri does not match.
func regexpVars(re *regexp.Regexp, uri string) map[string]string {
	groups := re.FindStringSubmatch(uri)
	if groups == nil {
		return nil
	}
	vars := map[string]string{}
	for i, name := range re.SubexpNames() {
		if name != "" && groups[i] != "" {
			vars[name[:1]] = strings.NewReplacer("%2F", "/", "%20", " ").Replace(groups[i])
		}
	}
	return vars
}

// values returns the variables that are not empty, or nil if there was no match.
func values(vars []uritemplate.Var) map[string]string {
	if vars == nil {
		return nil
	}
	m := map[string]string{}
	for _, v := range vars {
		if v.Value != "" {
			m[v.Name] = v.Value
		}
	}
	return m
}

// In these templates every value ends at a character it cannot hold, so Match finds exactly what Expand was given.
func TestMatch_undoesExpand(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, template := range []string{
		"note://{a}", "note://{a}/{b}", "note://{a,b}", "note:/{/a,b}", "note://x{?a,b}", "note://{a}{?b}", "note://x?v=1{&a,b}",
		"note://x{;a,b}/c", "note://{a}/@{+b}", "note://{a}{#b}", "{+a}",
	} {
		tmpl := mustParse(t, template)
		for range 500 {
			var want []uritemplate.Var
			for _, name := range tmpl.Vars() {
				want = append(want, uritemplate.Var{Name: name, Value: randomValue(r)})
			}
			got, ok := tmpl.Match(expand(tmpl, want), nil)
			if !ok || !slices.Equal(got, want) {
				t.Fatalf("%q on %q = %q, %v; want %q", tmpl, expand(tmpl, want), got, ok, want)
			}
		}
	}
}

// randomValue returns a string of one or more characters of all kinds, but without anything that looks encoded.
func randomValue(r *rand.Rand) string {
	chars := []rune("aZ0-._~ /?#[]@!$&'()*+,;=:{}|\\^`\"<>\n\x01é€𝄞")
	v := make([]rune, 1+r.IntN(6))
	for i := range v {
		v[i] = chars[r.IntN(len(chars))]
	}
	if r.IntN(4) == 0 {
		return string(v) + "%"
	}
	return string(v)
}
