//go:build unix

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
)

// openTree unpacks testdata/NAME.tree, a recorded machine, and returns a source for
// it. Links are kept as text because neither archives of modules nor every checkout
// can hold links. Where a test needs more lines, it passes them in the same form.
//
//	== path            a file; its lines follow
//	== path \0         a file; each line is ended by a NUL instead
//	== path -> target  a link
//	== path/           an empty folder
func openTree(t *testing.T, name, more string) host.Source {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".tree"))
	if err != nil {
		t.Fatal(err)
	}
	return unpackTree(t, string(b)+more)
}

func unpackTree(t *testing.T, tree string) host.Source {
	t.Helper()
	dir := t.TempDir()
	_, tree, _ = strings.Cut("\n"+tree, "\n== ")
	for entry := range strings.SplitSeq(tree, "\n== ") {
		head, body, _ := strings.Cut(entry, "\n")
		if body != "" && !strings.HasSuffix(body, "\n") {
			body += "\n"
		}
		if err := unpack(dir, head, body); err != nil {
			t.Fatal(err)
		}
	}
	return host.Source{
		Proc:   filepath.Join(dir, "proc"),
		Sys:    filepath.Join(dir, "sys"),
		Root:   dir,
		Statfs: recordedStatfs,
		Links:  func() ([]host.Interface, error) { return nil, nil },
	}
}

func unpack(dir, head, body string) error {
	name, target, isLink := strings.Cut(head, " -> ")
	name, withNUL := strings.CutSuffix(name, ` \0`)
	path := filepath.Join(dir, filepath.FromSlash(name))
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if isLink {
		return os.Symlink(target, path)
	}
	if withNUL {
		body = strings.ReplaceAll(body, "\n", "\x00")
	}
	return os.WriteFile(path, []byte(body), 0o644)
}

// recordedStatfs answers the same for every path but the one that has no inodes.
func recordedStatfs(path string) (host.Usage, error) {
	u := host.Usage{TotalBytes: 1000, FreeBytes: 400, AvailableBytes: 200, Inodes: 50, InodesFree: 20}
	if path == "/covered" {
		u.Inodes, u.InodesFree = 0, 0
	}
	return u, nil
}

func ptr[T any](v T) *T { return &v }
