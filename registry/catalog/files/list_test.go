package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestListDirectory(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{
		"b.txt": "12345", "a.txt": "1", ".hidden": "x",
		"sub/c.txt": "123", "sub/deep/d.txt": "1234567",
		"link": "-> a.txt",
	})
	f := open(t, dir)
	names := func(out files.ListDirectoryOut) []string {
		list := []string{}
		for _, e := range out.Entries {
			list = append(list, e.Path)
		}
		return list
	}
	must(t, os.Chtimes(filepath.Join(dir, "a.txt"), old, old.Add(time.Hour)))
	tests := []struct {
		name string
		in   files.ListDirectoryIn
		want []string
	}{
		{"flat", files.ListDirectoryIn{}, []string{"sub", "a.txt", "b.txt", "link"}},
		{"hidden", files.ListDirectoryIn{Hidden: true}, []string{"sub", ".hidden", "a.txt", "b.txt", "link"}},
		{"deep", files.ListDirectoryIn{Depth: 10}, []string{"sub", "sub/deep", "sub/deep/d.txt", "sub/c.txt", "a.txt", "b.txt", "link"}},
		{"depth 2", files.ListDirectoryIn{Depth: 2}, []string{"sub", "sub/deep", "sub/c.txt", "a.txt", "b.txt", "link"}},
		{"by size", files.ListDirectoryIn{Sort: "size"}, []string{"sub", "b.txt", "a.txt", "link"}},
		{"below", files.ListDirectoryIn{Path: "sub"}, []string{"sub/deep", "sub/c.txt"}},
		{"page", files.ListDirectoryIn{Limit: 2, Offset: 1}, []string{"a.txt", "b.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.ListDirectory(t.Context(), tt.in)
			must(t, err)
			equal(t, tt.want, names(got))
		})
	}
	byTime, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Sort: "modified"})
	must(t, err)
	equal(t, []string{"sub", "link", "a.txt", "b.txt"}, names(byTime))
}

func TestListDirectory_exact(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a.txt": "1", "sub/c.txt": "123", ".git/x": "x"})
	must(t, os.Symlink("/etc", filepath.Join(dir, "zlink")))
	must(t, os.Chtimes(filepath.Join(dir, "sub"), old, old))
	f := open(t, dir)
	got, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{})
	must(t, err)
	got.Entries[2].Modified = oldStamp // a link cannot be given a time
	equal(t, files.ListDirectoryOut{
		Path: ".",
		Entries: []files.Entry{
			{Path: "sub", Name: "sub", Kind: "directory", Modified: oldStamp},
			{Path: "a.txt", Name: "a.txt", Kind: "file", SizeBytes: 1, Modified: oldStamp},
			{Path: "zlink", Name: "zlink", Kind: "symlink", Modified: oldStamp, Target: "/etc"},
		},
		Files: 1, Directories: 1, Total: 3, SizeBytes: 1,
		Notes: []string{"1 hidden entry left out; set hidden to true to include them"},
	}, got)

	drawn, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Tree: true, Depth: 3})
	must(t, err)
	equal(t, "sub/\n  c.txt  3 B\na.txt  1 B\nzlink -> /etc\n", drawn.Tree)
	equal(t, []files.Entry{}, drawn.Entries)
}

func TestListDirectory_pages(t *testing.T) {
	content := map[string]string{}
	for i := range 25 {
		content["f"+strconv.Itoa(100+i)] = ""
	}
	f := open(t, tree(t, content))
	seen, offset := 0, 0
	for pages := 1; ; pages++ {
		got, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Limit: 10, Offset: offset})
		must(t, err)
		equal(t, 25, got.Total)
		seen += len(got.Entries)
		if offset = got.NextOffset; offset == 0 {
			equal(t, 3, pages)
			break
		}
	}
	equal(t, 25, seen)
}

func TestListDirectory_oddNames(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"line\nbreak": "x", "caf\xe9": "x"})
	f := open(t, dir)
	got, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Tree: true})
	must(t, err)
	equal(t, "caf\uFFFD  1 B\n\"line\\nbreak\"  1 B\n", got.Tree)
	mkfifo(t, filepath.Join(dir, "pipe"))
	got, err = f.ListDirectory(t.Context(), files.ListDirectoryIn{})
	must(t, err)
	equal(t, "other", got.Entries[2].Kind)
}

func TestListDirectory_bounds(t *testing.T) {
	f := openWith(t, files.Options{Roots: []string{tree(t, map[string]string{"a": "", "b": "", "c/d": "", "c/e": ""})}, MaxWalkEntries: 4})
	got, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Depth: 3})
	must(t, err)
	equal(t, []string{"4 entries were looked at, which is the bound; name a directory further down to see the rest"}, got.Notes)
	for _, in := range []files.ListDirectoryIn{{Depth: 11}, {Depth: -1}, {Limit: 5001}, {Offset: -1}, {Sort: "colour"}} {
		if _, err := f.ListDirectory(t.Context(), in); err == nil {
			t.Errorf("%+v is accepted", in)
		}
	}
	_, err = f.ListDirectory(t.Context(), files.ListDirectoryIn{Depth: 11})
	equal(t, "depth must be from 1 to 10, not 11", text(err))
}

// TestOutputs_haveNoNull encodes what every reading operation returns about an empty directory.
func TestOutputs_haveNoNull(t *testing.T) {
	f := open(t, t.TempDir())
	list, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{})
	must(t, err)
	find, err := f.FindFiles(t.Context(), files.FindFilesIn{})
	must(t, err)
	search, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "x"}, nil)
	must(t, err)
	roots, err := f.ListRoots(t.Context(), files.ListRootsIn{})
	must(t, err)
	many, err := f.ReadFiles(t.Context(), files.ReadFilesIn{Paths: []string{"missing"}})
	must(t, err)
	for _, out := range []any{list, find, search, roots, many} {
		encoded, err := json.Marshal(out)
		must(t, err)
		if strings.Contains(string(encoded), "null") {
			t.Errorf("%T has null: %s", out, encoded)
		}
	}
}
