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

func TestSuiteOptional(t *testing.T) {
	tests := []struct {
		name string
		in   schema.Dialect
	}{
		{"draft2020-12", schema.Draft2020},
		{"draft7", schema.Draft7},
	}
	docs := remotes(t)
	for _, tt := range tests {
		for _, elem := range [][]string{{"optional"}, {"optional", "format"}} {
			for _, file := range suiteFiles(t, tt.name, elem...) {
				for _, g := range suiteFile(t, file) {
					_, failed := runGroup(g, &schema.Options{Documents: docs, Dialect: tt.in, AssertFormat: len(elem) == 2})
					for _, f := range failed {
						t.Errorf("%s/%s: %s", tt.name, strings.TrimSuffix(filepath.Base(file), ".json"), f)
					}
				}
			}
		}
	}
}
