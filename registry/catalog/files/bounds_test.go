package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// What an edit that does not fit is told costs no more than reading the file.
func TestEditFile_hintOfLargeText(t *testing.T) {
	const lines = 200_000 // comparing every line with every one would take hours
	dir := tree(t, map[string]string{"a": strings.Repeat("a\n", lines), "b": strings.Repeat("x\n", 300) + "one\n  two\nthree\n"})
	f := open(t, dir)
	for _, n := range []int{100, 4000, lines / 2} {
		_, err := f.EditFile(t.Context(), files.EditFileIn{Path: "a", Edits: []files.Edit{{OldText: strings.Repeat("a\n", n) + "b", NewText: "c"}}})
		if !errors.Is(err, files.ErrConflict) || !strings.Contains(text(err), "its first line is line 1") {
			t.Errorf("%d lines: %v", n, err)
		}
	}
	_, err := f.EditFile(t.Context(), files.EditFileIn{Path: "b", Edits: []files.Edit{{OldText: "x\none\ntwo\nthree", NewText: "c"}}})
	equal(t, `old_text of edit 1 is not in "b"; the text of lines 300 to 303 differs only in white space: it is "x\none\n  two\nthree"`, text(err))
}

// A near match is found where a search for it has to go back a little.
func TestEditFile_hintGoesBack(t *testing.T) {
	f := open(t, tree(t, map[string]string{"a": "x\n x\nx\n y\n", "b": " a b\na  b\na c"}))
	for path, tt := range map[string]struct{ old, want string }{
		"a": {"x\nx\ny", `old_text of edit 1 is not in "a"; the text of lines 2 to 4 differs only in white space: it is " x\nx\n y"`},
		"b": {"a b\na c", `old_text of edit 1 is not in "b"; the text of lines 2 to 3 differs only in white space: it is "a  b\na c"`},
	} {
		_, err := f.EditFile(t.Context(), files.EditFileIn{Path: path, Edits: []files.Edit{{OldText: tt.old, NewText: "c"}}})
		equal(t, tt.want, text(err))
	}
}

// A costly pattern does not hold a search on one long line.
func TestSearchText_costlyPattern(t *testing.T) {
	costly := strings.Repeat(".{0,1000}", 90) + "Z"
	f := open(t, tree(t, map[string]string{"one": strings.Repeat("a", 200_000), "many": strings.Repeat(strings.Repeat("a", 300)+"\n", 20_000),
		"long": strings.Repeat("a", 1_000_000) + "needle 7"}))
	got, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: costly, Path: "one"}, nil)
	must(t, err)
	if len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "1 long line only the first") {
		t.Errorf("the notes are %q", got.Notes)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	begun := time.Now()
	if _, err := f.SearchText(ctx, files.SearchTextIn{Pattern: costly, Path: "many"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the search ended with %v", err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the search ended %v after its time was over", took)
	}
	// A usual pattern is worth a long line.
	got, err = f.SearchText(t.Context(), files.SearchTextIn{Pattern: `needle\s\d{1,3}`, Path: "long"}, nil)
	must(t, err)
	if len(got.Matches) != 1 || len(got.Notes) > 0 {
		t.Errorf("%d matches, notes %q", len(got.Matches), got.Notes)
	}
}

// A link within its root is a file like others.
func TestLinkWithinItsRoot(t *testing.T) {
	needUnix(t)
	outside := tree(t, map[string]string{"f": "error\n"})
	f := open(t, tree(t, map[string]string{"other/f": "one\nerror\n", "logs/cur": "-> ../other/f", "logs/out": "-> " + outside + "/f"}))
	got, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "error", Path: "logs/cur"}, nil)
	must(t, err)
	if len(got.Matches) != 1 || got.Matches[0].Path != "logs/cur" || got.Matches[0].Line != 2 {
		t.Errorf("%+v", got)
	}
	info, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: "logs/cur", Lines: true, SHA256: true})
	must(t, err)
	if info.Kind != "symlink" || info.Lines == nil || *info.Lines != 2 || info.SHA256 == "" {
		t.Errorf("%+v", info)
	}
	if _, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: "logs/out", Lines: true}); err == nil {
		t.Error("lines of a file outside were counted")
	}
	if _, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "error", Path: "logs/out"}, nil); err == nil {
		t.Error("a file outside was searched")
	}
}

// Two names of one file are not one name.
func TestMoveFile_hardLinks(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a": "A"})
	must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	f := open(t, dir)
	_, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: "a", Destination: "b"})
	equal(t, `"b" exists already; set overwrite to replace it`, text(err))
	got, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: "a", Destination: "b", Overwrite: true})
	must(t, err)
	equal(t, files.MoveFileOut{Source: "a", Destination: "b", Replaced: true}, got)
	equal(t, []string{"b"}, snapshot(t, dir))
}

// One name that two paths lead to is one name, and what it names stays.
func TestMoveFile_oneNameTwoPaths(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"d/a": "A", "link": "-> d"})
	f := open(t, dir)
	for _, overwrite := range []bool{false, true} {
		if _, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: "d/a", Destination: "link/a", Overwrite: overwrite}); err != nil {
			t.Logf("overwrite %v: %v", overwrite, err)
		}
		equal(t, []string{"d", "d/a", "link"}, snapshot(t, dir))
	}
	must(t, os.Link(filepath.Join(dir, "d", "a"), filepath.Join(dir, "b"))) // and in another directory
	got, err := f.MoveFile(t.Context(), files.MoveFileIn{Source: "link/a", Destination: "b", Overwrite: true})
	must(t, err)
	equal(t, true, got.Replaced)
	equal(t, []string{"b", "d", "link"}, snapshot(t, dir))
}

// A pipe is nothing that a file replaces.
func TestMoveFile_ontoAPipe(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a": "A"})
	mkfifo(t, filepath.Join(dir, "p"))
	_, err := open(t, dir).MoveFile(t.Context(), files.MoveFileIn{Source: "a", Destination: "p", Overwrite: true})
	equal(t, `"p" is neither a file nor a link, and stays`, text(err))
	equal(t, []string{"a", "p"}, snapshot(t, dir))
}

// A path that is shown can be passed back, whatever it looks like.
func TestPathLikeAURI(t *testing.T) {
	needUnix(t)
	f := open(t, tree(t, map[string]string{"file:/x": "one"}))
	got, err := f.FindFiles(t.Context(), files.FindFilesIn{Pattern: "x"})
	must(t, err)
	if len(got.Entries) != 1 || got.Entries[0].Path != "./file:/x" {
		t.Fatalf("%+v", got)
	}
	info, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: got.Entries[0].Path})
	must(t, err)
	equal(t, "file", info.Kind)
}
