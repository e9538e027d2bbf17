package schema_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

// shared returns the path of a part of the folder with the references, which
// is beside the repository on the machines where this project is built.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the folder shared is not beside the repository, and this test needs it")
		}
		t.Skip("the folder shared is not beside the repository, so there is nothing to test against")
	}
	return filepath.Join(append([]string{root}, elem...)...)
}

// remotes reads the documents that the suite expects at localhost.
func remotes(t testing.TB) map[string][]byte {
	t.Helper()
	root := shared(t, "suites", "json-schema", "remotes")
	docs := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		docs["http://localhost:1234/"+filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// A suiteGroup is one schema of the suite with its tests.
type suiteGroup struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
}

func suiteFile(t testing.TB, path string) []suiteGroup {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return groups
}

func suiteFiles(t testing.TB, dialect string, elem ...string) []string {
	t.Helper()
	dir := shared(t, append([]string{"suites", "json-schema", "tests", dialect}, elem...)...)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no tests in %s", dir)
	}
	return files
}

// runGroup runs the tests of one schema and returns how many there are and
// the descriptions of those that fail.
func runGroup(g suiteGroup, o *schema.Options) (tests int, failed []string) {
	s, err := schema.Compile(g.Schema, o)
	if err != nil {
		for _, tt := range g.Tests {
			failed = append(failed, g.Description+"/"+tt.Description+": "+err.Error())
		}
		return len(g.Tests), failed
	}
	for _, tt := range g.Tests {
		err := s.Validate(tt.Data)
		if (err == nil) != tt.Valid {
			text := "accepted, want an error"
			if err != nil {
				text = err.Error()
			}
			failed = append(failed, g.Description+"/"+tt.Description+": "+text)
		}
	}
	return len(g.Tests), failed
}

func TestSuiteRequired(t *testing.T) {
	tests := []struct {
		name string
		in   schema.Dialect
	}{
		{"draft2020-12", schema.Draft2020},
		{"draft7", schema.Draft7},
	}
	docs := remotes(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			total := 0
			for _, file := range suiteFiles(t, tt.name) {
				for _, g := range suiteFile(t, file) {
					n, failed := runGroup(g, &schema.Options{Documents: docs, Dialect: tt.in})
					total += n
					for _, f := range failed {
						t.Errorf("%s: %s", strings.TrimSuffix(filepath.Base(file), ".json"), f)
					}
				}
			}
			t.Logf("%d tests", total)
		})
	}
}

// notPassed lists the optional tests of the suite that do not pass, and why.
func notPassed() map[string]string {
	const (
		content = "contentEncoding and contentMediaType are annotations, as draft 2020-12 wants them in both dialects"
		draft19 = "draft 2019-09 is not understood, and a document that says so is refused instead of misread"
	)
	return map[string]string{
		"draft2020-12/cross-draft/refs to historic drafts are processed as historic drafts/first item not a string is valid": draft19,
		"draft7/cross-draft/refs to future drafts are processed as future drafts/missing bar is invalid":                     draft19,
		"draft7/cross-draft/refs to future drafts are processed as future drafts/present bar is valid":                       draft19,
		"draft7/content/validation of string-encoded content based on media type/an invalid JSON document":                   content,
		"draft7/content/validation of binary string-encoding/an invalid base64 string (% is not a valid character)":          content,
		"draft7/content/validation of binary-encoded media type documents/a validly-encoded invalid JSON document":           content,
		"draft7/content/validation of binary-encoded media type documents/an invalid base64 string that is valid JSON":       content,
	}
}

// TestSuiteOptional reports what does not pass, and fails if that is not what
// the table says.
func TestSuiteOptional(t *testing.T) {
	docs := remotes(t)
	reasons := notPassed()
	total := 0
	for name, dialect := range map[string]schema.Dialect{"draft2020-12": schema.Draft2020, "draft7": schema.Draft7} {
		for _, elem := range [][]string{{"optional"}, {"optional", "format"}} {
			o := &schema.Options{Documents: docs, Dialect: dialect, AssertFormat: len(elem) == 2}
			for _, file := range suiteFiles(t, name, elem...) {
				for _, g := range suiteFile(t, file) {
					n, failed := runGroup(g, o)
					total += n
					for _, f := range failed {
						id, detail, _ := strings.Cut(f, ": ")
						id = name + "/" + strings.TrimSuffix(filepath.Base(file), ".json") + "/" + id
						if reason, ok := reasons[id]; ok {
							t.Logf("not passed: %s: %s", id, reason)
							delete(reasons, id)
							continue
						}
						t.Errorf("%s: %s", id, detail)
					}
				}
			}
		}
	}
	for id := range reasons {
		t.Errorf("%s passes or is gone: take it out of the table", id)
	}
	t.Logf("%d tests, %d not passed", total, len(notPassed()))
}
