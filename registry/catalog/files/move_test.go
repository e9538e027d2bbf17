package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestMakeDirectory(t *testing.T) {
	dir := tree(t, map[string]string{"file": ""})
	f := open(t, dir)
	for _, want := range []bool{true, false} {
		got, err := f.MakeDirectory(t.Context(), files.MakeDirectoryIn{Path: "a/b/c"})
		must(t, err)
		equal(t, files.MakeDirectoryOut{Path: "a/b/c", Created: want}, got)
	}
	equal(t, []string{"a", "a/b", "a/b/c", "file"}, snapshot(t, dir))
	_, err := f.MakeDirectory(t.Context(), files.MakeDirectoryIn{Path: "file"})
	equal(t, `"file" exists already and is not a directory; choose another name`, text(err))
	_, err = f.MakeDirectory(t.Context(), files.MakeDirectoryIn{Path: "file/x"})
	if !errors.Is(err, files.ErrKind) {
		t.Errorf("below a file: %v", err)
	}
}

func TestMoveFile(t *testing.T) {
	needUnix(t)
	start := map[string]string{"a": "A", "b": "B", "d/x": "X", "e/": "", "link": "-> a"}
	tests := []struct {
		name string
		in   files.MoveFileIn
		want files.MoveFileOut
		tree []string
	}{
		{"rename", files.MoveFileIn{Source: "a", Destination: "c"}, files.MoveFileOut{Source: "a", Destination: "c"}, []string{"b", "c", "d", "d/x", "e", "link"}},
		{"into a directory", files.MoveFileIn{Source: "a", Destination: "e/a"}, files.MoveFileOut{Source: "a", Destination: "e/a"}, []string{"b", "d", "d/x", "e", "e/a", "link"}},
		{"directory", files.MoveFileIn{Source: "d", Destination: "e/d"}, files.MoveFileOut{Source: "d", Destination: "e/d"}, []string{"a", "b", "e", "e/d", "e/d/x", "link"}},
		{"overwrite", files.MoveFileIn{Source: "a", Destination: "b", Overwrite: true}, files.MoveFileOut{Source: "a", Destination: "b", Replaced: true}, []string{"b", "d", "d/x", "e", "link"}},
		{"link itself", files.MoveFileIn{Source: "link", Destination: "e/link"}, files.MoveFileOut{Source: "link", Destination: "e/link"}, []string{"a", "b", "d", "d/x", "e", "e/link"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, start)
			got, err := open(t, dir).MoveFile(t.Context(), tt.in)
			must(t, err)
			equal(t, tt.want, got)
			equal(t, tt.tree, snapshot(t, dir))
		})
	}
}

func TestMoveFile_refuses(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a": "A", "b": "B", "d/x": "X", "e/f/": ""})
	f := open(t, dir, filepath.Join(dir, "e/f"))
	tests := []struct {
		name string
		in   files.MoveFileIn
		want string
	}{
		{"exists", files.MoveFileIn{Source: "a", Destination: "b"}, `"b" exists already; set overwrite to replace it`},
		{"directory exists", files.MoveFileIn{Source: "a", Destination: "d", Overwrite: true}, `"d" is a directory that exists already; give the whole new path, with the name in it`},
		{"directory over file", files.MoveFileIn{Source: "d", Destination: "b", Overwrite: true}, `"b" is a file, and a directory cannot replace it; delete_file removes it`},
		{"same", files.MoveFileIn{Source: "a", Destination: "./a"}, `source and destination are the same: "a"`},
		{"into itself", files.MoveFileIn{Source: "d", Destination: "d/y"}, `"d" cannot be moved into itself: "d/y"`},
		{"missing", files.MoveFileIn{Source: "x", Destination: "y"}, `not found: "x"; list_directory on "." shows what is there`},
		{"no directory", files.MoveFileIn{Source: "a", Destination: "x/y"}, `the directory of "x/y" does not exist; make_directory creates it`},
		{"root", files.MoveFileIn{Source: ".", Destination: "y"}, `"." is an allowed root itself; name something inside it`},
		{"inner root", files.MoveFileIn{Source: "e/f", Destination: "y"}, `"e/f" is an allowed root or holds one; it stays where it is`},
		{"above a root", files.MoveFileIn{Source: "e", Destination: "y"}, `"e" is an allowed root or holds one; it stays where it is`},
	}
	before := snapshot(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.MoveFile(t.Context(), tt.in)
			equal(t, tt.want, text(err))
		})
	}
	equal(t, before, snapshot(t, dir))
}

func TestMoveFile_betweenRoots(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"one/a": "A", "one/d/x": "", "one/in/": "", "two/b": "B"})
	must(t, os.Chmod(filepath.Join(base, "one/a"), 0o640))
	f := open(t, filepath.Join(base, "one"), filepath.Join(base, "two"), filepath.Join(base, "one/in"))
	_, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: "d", Destination: base + "/two/d"})
	equal(t, `"d" is a directory; to another root or file system only files can be moved, so create it there and move the files in it`, text(err))
	_, err = f.MoveFile(t.Context(), files.MoveFileIn{Source: "a", Destination: base + "/two/b"})
	if !errors.Is(err, files.ErrExists) {
		t.Errorf("existing: %v", err)
	}
	for left := range 6 {
		_, err = f.MoveFile(&countdown{Context: context.Background(), left: left}, files.MoveFileIn{Source: "a", Destination: base + "/two/a"})
		if err == nil {
			break
		}
		equal(t, "A", content(t, base, "one/a"))
	}
	must(t, err)
	_, err = f.MoveFile(t.Context(), files.MoveFileIn{Source: "d", Destination: base + "/one/in/d"})
	must(t, err)
	equal(t, []string{"one", "one/in", "one/in/d", "one/in/d/x", "two", "two/a", "two/b"}, snapshot(t, base))
	info, err := os.Stat(filepath.Join(base, "two/a"))
	must(t, err)
	equal(t, os.FileMode(0o640), info.Mode())
}

// TestMoveFile_betweenFileSystems moves between two mounts inside one root, which is the whole file system.
func TestMoveFile_betweenFileSystems(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a": "A", "d/": ""})
	other, err := os.MkdirTemp("/dev/shm", "move")
	if err != nil {
		t.Skip("needs a second file system at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	f := open(t, "/")
	got, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: dir + "/a", Destination: other + "/a"})
	must(t, err)
	equal(t, files.MoveFileOut{Source: strings.TrimPrefix(dir, "/") + "/a", Destination: strings.TrimPrefix(other, "/") + "/a"}, got)
	equal(t, "A", content(t, other, "a"))
	equal(t, []string{"d"}, snapshot(t, dir))
}

func TestDeleteFile(t *testing.T) {
	needUnix(t)
	start := map[string]string{"a": "A", "d/x/y/z": "", "d/.h": "", "e/": "", "keep/k": "", "d/link": "-> ../keep"}
	tests := []struct {
		name    string
		in      files.DeleteFileIn
		removed int
		tree    []string
	}{
		{"file", files.DeleteFileIn{Path: "a"}, 1, []string{"d", "d/.h", "d/link", "d/x", "d/x/y", "d/x/y/z", "e", "keep", "keep/k"}},
		{"empty directory", files.DeleteFileIn{Path: "e"}, 1, []string{"a", "d", "d/.h", "d/link", "d/x", "d/x/y", "d/x/y/z", "keep", "keep/k"}},
		{"link", files.DeleteFileIn{Path: "d/link", Recursive: true}, 1, []string{"a", "d", "d/.h", "d/x", "d/x/y", "d/x/y/z", "e", "keep", "keep/k"}},
		{"all of it", files.DeleteFileIn{Path: "d", Recursive: true}, 6, []string{"a", "e", "keep", "keep/k"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, start)
			got, err := open(t, dir).DeleteFile(t.Context(), tt.in)
			must(t, err)
			equal(t, files.DeleteFileOut{Path: tt.in.Path, Removed: tt.removed}, got)
			equal(t, tt.tree, snapshot(t, dir))
		})
	}
}

func TestDeleteFile_refuses(t *testing.T) {
	needUnix(t)
	content := map[string]string{"d/root/x": "", "deep/" + strings.Repeat("d/", 70): ""}
	for i := range 11 {
		content["many/"+strconv.Itoa(i)] = ""
	}
	base := tree(t, content)
	f := openWith(t, files.Options{Roots: []string{base, filepath.Join(base, "d/root")}, AllowWrite: true, MaxDeleteEntries: 10})
	deep := openWith(t, files.Options{Roots: []string{base}, AllowWrite: true})
	before := snapshot(t, base)
	tests := []struct {
		name string
		f    *files.Files
		in   files.DeleteFileIn
		want string
	}{
		{"root", f, files.DeleteFileIn{Path: base, Recursive: true}, `"." is an allowed root itself; name something inside it`},
		{"inner root", f, files.DeleteFileIn{Path: "d/root", Recursive: true}, `"d/root" is an allowed root or holds one; it cannot be deleted`},
		{"holds a root", f, files.DeleteFileIn{Path: "d", Recursive: true}, `"d" is an allowed root or holds one; it cannot be deleted`},
		{"not empty", f, files.DeleteFileIn{Path: "many"}, `"many" is a directory that is not empty; set recursive to delete it with what is in it`},
		{"too many", f, files.DeleteFileIn{Path: "many", Recursive: true}, `"many" holds more than the 10 entries that are deleted at once; delete directories in it one by one`},
		{"too deep", deep, files.DeleteFileIn{Path: "deep", Recursive: true}, `"deep" is more than 64 levels deep; delete directories in it one by one`},
		{"missing", f, files.DeleteFileIn{Path: "x"}, `not found: "x"; list_directory on "." shows what is there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.f.DeleteFile(t.Context(), tt.in)
			equal(t, tt.want, text(err))
		})
	}
	equal(t, before, snapshot(t, base))
}

func TestDeleteFile_cancelled(t *testing.T) {
	dir := tree(t, map[string]string{"d/a": "", "d/b": "", "d/c": ""})
	f := open(t, dir)
	var err error
	for left := range 100 {
		if _, err = f.DeleteFile(&countdown{Context: context.Background(), left: left}, files.DeleteFileIn{Path: "d", Recursive: true}); err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	must(t, err)
	equal(t, []string{}, snapshot(t, dir))
}
