package files_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestOpen_refuses(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x"})
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"none", nil, "--root: from 1 to 64 directories are needed, not 0"},
		{"empty name", []string{""}, "--root: the name of a directory is empty"},
		{"missing", []string{dir, filepath.Join(dir, "missing")}, "must be a directory that can be opened"},
		{"file", []string{filepath.Join(dir, "file")}, "is not a directory"},
		{"too many", make([]string, 65), "not 65"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := files.Open(files.Options{Roots: tt.in})
			if f != nil || !strings.Contains(text(err), tt.want) || !strings.HasPrefix(text(err), "--root") {
				t.Errorf("got %v, want an error that begins with --root and contains %q", err, tt.want)
			}
		})
	}
}

func TestListRoots_aliasesAndDuplicates(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"real/inner/x": "x", "alias": "-> real", "other dir/": ""})
	real, alias := filepath.Join(base, "real"), filepath.Join(base, "alias")
	f := openWith(t, files.Options{Roots: []string{alias, real, real + "/", filepath.Join(real, "inner"), filepath.Join(base, "other dir")}})
	got, err := f.ListRoots(t.Context(), files.ListRootsIn{})
	must(t, err)
	equal(t, files.ListRootsOut{Roots: []files.Root{
		{Path: alias, URI: "file://" + alias, Aliases: []string{real}},
		{Path: filepath.Join(real, "inner"), URI: "file://" + real + "/inner", Aliases: []string{}},
		{Path: base + "/other dir", URI: "file://" + base + "/other%20dir", Aliases: []string{}},
	}}, got)

	for _, p := range []string{"inner/x", real + "/inner/x", alias + "/inner/x"} {
		if read, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: p}); err != nil || read.Text != "x" {
			t.Errorf("reading %q: %q %v", p, read.Text, err)
		}
	}
}

// TestPaths_canBePassedBack lists through every root and reads what is listed by the paths that the listing shows.
func TestPaths_canBePassedBack(t *testing.T) {
	base := tree(t, map[string]string{"a/one.txt": "1", "a/in/two.txt": "2", "b/three.txt": "3"})
	f := open(t, filepath.Join(base, "a"), filepath.Join(base, "b"), filepath.Join(base, "a", "in"))
	shown := []string{}
	for _, root := range []string{"", filepath.Join(base, "b"), filepath.Join(base, "a", "in")} {
		list, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Path: root, Depth: 5})
		must(t, err)
		for _, e := range list.Entries {
			if e.Kind != "file" {
				continue
			}
			read, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: e.Path})
			must(t, err)
			shown = append(shown, e.Path+"="+read.Text)
		}
	}
	equal(t, []string{"in/two.txt=2", "one.txt=1", filepath.ToSlash(base) + "/b/three.txt=3", "in/two.txt=2"}, shown)
}

func TestWrite_needsPermission(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x"})
	f := openWith(t, files.Options{Roots: []string{dir}})
	_, write := f.WriteFile(t.Context(), files.WriteFileIn{Path: "b"})
	_, edit := f.EditFile(t.Context(), files.EditFileIn{Path: "a"})
	_, mkdir := f.MakeDirectory(t.Context(), files.MakeDirectoryIn{Path: "d"})
	_, move := f.MoveFile(t.Context(), files.MoveFileIn{Source: "a", Destination: "b"})
	_, remove := f.DeleteFile(t.Context(), files.DeleteFileIn{Path: "a"})
	for i, err := range []error{write, edit, mkdir, move, remove} {
		if !errors.Is(err, files.ErrReadOnly) || !strings.Contains(err.Error(), "--allow-write") {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	equal(t, []string{"a"}, snapshot(t, dir))
}

func TestClose_endsEverything(t *testing.T) {
	f, err := files.Open(files.Options{Roots: []string{t.TempDir()}})
	must(t, err)
	must(t, f.Close())
	must(t, f.Close())
	_, err = f.ListDirectory(t.Context(), files.ListDirectoryIn{})
	equal(t, "the files are closed: the server is shutting down", text(err))
}

func TestErrors_sayWhatToDo(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"docs/a.md": "x", "docs/up": "-> /etc"})
	f := open(t, dir)
	read := func(p string) func() error {
		return func() error {
			_, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: p})
			return err
		}
	}
	list := func(p string) func() error {
		return func() error {
			_, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Path: p})
			return err
		}
	}
	tests := []struct {
		name string
		in   func() error
		want string
	}{
		{"missing", read("docs/x.md"), `not found: "docs/x.md"; list_directory on "docs" shows what is there`},
		{"missing deep", read("docs/x/y/z.md"), `not found: "docs/x/y/z.md"; list_directory on "docs" shows what is there`},
		{"missing at the top", read("x"), `not found: "x"; list_directory on "." shows what is there`},
		{"outside", read("/etc/passwd"), `outside the allowed roots: "/etc/passwd"; list_roots shows the directories that may be used`},
		{"link out", read("docs/up/passwd"), `"docs/up/passwd" is or passes a symbolic link that leaves its root; such links and absolute links are not followed`},
		{"directory", read("docs"), `"docs" is a directory; list_directory shows what is in it`},
		{"file as directory", list("docs/a.md"), `"docs/a.md" is not a directory; read_file reads it and file_info describes it`},
		{"below a file", read("docs/a.md/b"), `"docs/a.md/b" has a part that is not a directory; list_directory on "docs" shows what is there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, tt.want, text(tt.in())) })
	}
}
