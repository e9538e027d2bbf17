package files_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// old is when every file of a test tree was last changed.
var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

const oldStamp = "2020-01-02T03:04:05Z"

// tree makes a directory with files: the keys are paths, and one that ends in a slash is a directory. "-> x" is a link to x.
func tree(t *testing.T, content map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, content)
	return dir
}

func plant(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case isLink:
			must(t, os.Symlink(target, path))
		default:
			must(t, os.WriteFile(path, []byte(text), 0o644))
			must(t, os.Chtimes(path, old, old))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens roots for writing.
func open(t *testing.T, roots ...string) *files.Files {
	t.Helper()
	return openWith(t, files.Options{Roots: roots, AllowWrite: true})
}

func openWith(t *testing.T, opts files.Options) *files.Files {
	t.Helper()
	f, err := files.Open(opts)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// equal compares and reports the difference.
func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// text is the text of an error, or nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// content reads a file past the package under test.
func content(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	must(t, err)
	return string(data)
}

// snapshot lists everything below a directory.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	list := []string{}
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); err == nil && rel != "." {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	}))
	return list
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links and permissions as Unix has them")
	}
}

func writeAll(path, body string) error { return os.WriteFile(path, []byte(body), 0o644) }
