package skills_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry/skills"
)

// manifest returns a SKILL.md.
func manifest(name string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " is for.\n---\n\nDo it.\n"
}

// write writes files below a new directory and returns that.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "skills")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, dir, files)
	return dir
}

// put writes files below a directory; a name with a slash at its end is a
// directory.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		parent := filepath.Dir(file)
		if name[len(name)-1] == '/' {
			parent = file
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		if parent == file {
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// open opens what must be sound.
func open(t *testing.T, o *skills.Options) *skills.Set {
	t.Helper()
	s, err := skills.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask calls a method and returns the result as an object, or the error.
func ask(t *testing.T, s *skills.Set, method string, q *skills.Query) (string, error) {
	t.Helper()
	if q.Principal == nil {
		q.Principal = policy.Local()
	}
	for _, m := range s.Methods() {
		if m.Name != method {
			continue
		}
		got, err := m.Append([]byte("{"), q)
		if err != nil {
			return "", err
		}
		got = append(got, '}')
		if err := jsonwire.Valid(got, 0); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		return string(got), nil
	}
	t.Fatalf("there is no method %s", method)
	return "", nil
}

// quote returns a string as JSON.
func quote(s string) []byte { return jsonwire.AppendQuote(nil, s) }

// decode decodes a result.
func decode[T any](t *testing.T, doc string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

type entry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   int64  `json:"size"`
	} `json:"resources"`
}

type listResult struct {
	Skills     []entry `json:"skills"`
	NextCursor string  `json:"nextCursor"`
}

type directoryResult struct {
	Resources []struct {
		URI      string `json:"uri"`
		Name     string `json:"name"`
		MIMEType string `json:"mimeType"`
	} `json:"resources"`
	NextCursor string `json:"nextCursor"`
}

// uris returns the URIs of all skills that are listed on one page.
func uris(t *testing.T, s *skills.Set) []string {
	t.Helper()
	got, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range decode[listResult](t, got).Skills {
		list = append(list, e.URI)
	}
	return list
}

// equal reports a difference.
func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// logger returns a logger and what was logged to it, without times.
func logger() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})), &b
}
