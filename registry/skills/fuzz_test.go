package skills_test

import (
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"cloudg.dev/cloudg/registry/skills"
)

// FuzzURI checks that whatever URI is asked for, an answer is about something
// that is there, under one of the spellings of its URI.
func FuzzURI(f *testing.F) {
	for _, s := range []string{
		"skill://one", "skill://one/refs", "skill://one/SKILL.md", "skill://acme", "skill://acme/a%20b", "skill://one/", "skill://one/../one",
		"skill://%6fne/%72efs", "skill://one%2frefs", "SKILL://one", "skill://", "", "file:///one", "skill://one/refs?x", "skill://one#x", "skill://one/%00",
	} {
		f.Add(s)
	}
	s, err := skills.Open(&skills.Options{Systems: []fs.FS{fstest.MapFS{
		"one/SKILL.md": {Data: []byte(manifest("one"))}, "one/refs/a b/x.md": {}, "acme/two/SKILL.md": {Data: []byte(manifest("two"))},
	}}})
	if err != nil {
		f.Fatal(err)
	}
	known := map[string]string{
		"one": "resources/directory/read", "one/refs": "resources/directory/read", "one/refs/a b": "resources/directory/read",
		"acme": "resources/directory/read", "acme/two": "resources/directory/read",
		"one/SKILL.md": "skills/get", "acme/two/SKILL.md": "skills/get",
	}
	f.Fuzz(func(t *testing.T, uri string) {
		rest, isSkill := strings.CutPrefix(uri, "skill://")
		path, err := url.PathUnescape(rest)
		is := ""
		if isSkill && err == nil && strings.Count(rest, "/") == strings.Count(path, "/") {
			is = known[path]
		}
		for _, method := range []string{"skills/get", "resources/directory/read"} {
			got, err := ask(t, s, method, &skills.Query{URI: quote(uri)})
			if (err == nil) != (method == is) {
				t.Errorf("%s of %q: %s, %v", method, uri, got, err)
			}
		}
	})
}
