package files_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/registry/catalog/files"
)

const (
	sumOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	sumOfNew   = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
)

func TestWriteFile(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"have.txt": "hello", "script.sh": "hello", "d/": ""})
	must(t, os.Chmod(filepath.Join(dir, "script.sh"), 0o750))
	f := open(t, dir)
	tests := []struct {
		name    string
		in      files.WriteFileIn
		want    files.WriteFileOut
		content string
	}{
		{"create", files.WriteFileIn{Path: "new.txt", Content: "new"}, files.WriteFileOut{Path: "new.txt", Created: true, SizeBytes: 3, SHA256: sumOfNew}, "new"},
		{"create below", files.WriteFileIn{Path: "d/new.txt", Content: "new"}, files.WriteFileOut{Path: "d/new.txt", Created: true, SizeBytes: 3, SHA256: sumOfNew}, "new"},
		{"overwrite creates", files.WriteFileIn{Path: "other.txt", Content: "new", Mode: "overwrite"}, files.WriteFileOut{Path: "other.txt", Created: true, SizeBytes: 3, SHA256: sumOfNew}, "new"},
		{"overwrite", files.WriteFileIn{Path: "have.txt", Content: "new", Mode: "overwrite", ExpectedSHA256: strings.ToUpper(sumOfHello)}, files.WriteFileOut{Path: "have.txt", SizeBytes: 3, SHA256: sumOfNew}, "new"},
		{"keeps its mode", files.WriteFileIn{Path: "script.sh", Content: "new", Mode: "overwrite"}, files.WriteFileOut{Path: "script.sh", SizeBytes: 3, SHA256: sumOfNew}, "new"},
		{"base64", files.WriteFileIn{Path: "bin", Content: "bmV3", Encoding: "base64"}, files.WriteFileOut{Path: "bin", Created: true, SizeBytes: 3, SHA256: sumOfNew}, "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.WriteFile(t.Context(), tt.in)
			must(t, err)
			equal(t, tt.want, got)
			equal(t, tt.content, content(t, dir, tt.in.Path))
		})
	}
	info, err := os.Stat(filepath.Join(dir, "script.sh"))
	must(t, err)
	equal(t, fs.FileMode(0o750), info.Mode())
	equal(t, []string{"bin", "d", "d/new.txt", "have.txt", "new.txt", "other.txt", "script.sh"}, snapshot(t, dir))
}

func TestWriteFile_refuses(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"have.txt": "hello", "d/": "", "link": "-> have.txt"})
	f := openWith(t, files.Options{Roots: []string{dir}, AllowWrite: true, MaxFileBytes: 100})
	before := snapshot(t, dir)
	tests := []struct {
		name string
		in   files.WriteFileIn
		want string
	}{
		{"exists", files.WriteFileIn{Path: "have.txt"}, `"have.txt" exists already; set mode to overwrite to replace it, or change a part of it with edit_file`},
		{"stale", files.WriteFileIn{Path: "have.txt", Mode: "overwrite", ExpectedSHA256: sumOfNew}, `"have.txt" has changed: its SHA-256 is ` + sumOfHello + `, not the expected one; read it again before writing`},
		{"expected but missing", files.WriteFileIn{Path: "x", Mode: "overwrite", ExpectedSHA256: sumOfNew}, `"x" does not exist, but expected_sha256 says what it should contain; leave expected_sha256 away to create it`},
		{"no sum", files.WriteFileIn{Path: "have.txt", Mode: "overwrite", ExpectedSHA256: "abc"}, `expected_sha256 must be 64 hexadecimal digits, not "abc"`},
		{"no base64", files.WriteFileIn{Path: "x", Content: "!", Encoding: "base64"}, `content is not base64: illegal base64 data at input byte 0; use the standard alphabet with padding`},
		{"large", files.WriteFileIn{Path: "x", Content: strings.Repeat("x", 101)}, `the content has 101 B, more than the 100 B that are written at once`},
		{"directory", files.WriteFileIn{Path: "d", Mode: "overwrite"}, `"d" is a directory; name a file in it`},
		{"link", files.WriteFileIn{Path: "link", Mode: "overwrite"}, `"link" is a symbolic link, which is not written through; write to the file that it leads to (file_info shows it)`},
		{"root", files.WriteFileIn{Path: "."}, `"." is an allowed root itself; name something inside it`},
		{"no directory", files.WriteFileIn{Path: "a/b/c"}, `the directory of "a/b/c" does not exist; make_directory creates it`},
		{"mode", files.WriteFileIn{Path: "x", Mode: "append"}, `mode must be one of ["create" "overwrite"], not "append"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.WriteFile(t.Context(), tt.in)
			equal(t, tt.want, text(err))
		})
	}
	equal(t, before, snapshot(t, dir))
	equal(t, "hello", content(t, dir, "have.txt"))
}

// TestWriteFile_cancelled stops a write at every point at which it looks at its context: the old content stays whole and
// no temporary file is left.
func TestWriteFile_cancelled(t *testing.T) {
	dir := tree(t, map[string]string{"have.txt": "hello"})
	f := open(t, dir)
	big := strings.Repeat("x", 300<<10)
	stopped := 0
	for ; ; stopped++ {
		_, err := f.WriteFile(&countdown{Context: context.Background(), left: stopped}, files.WriteFileIn{Path: "have.txt", Content: big, Mode: "overwrite"})
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		equal(t, []string{"have.txt"}, snapshot(t, dir))
		equal(t, "hello", content(t, dir, "have.txt"))
	}
	if stopped < 5 {
		t.Errorf("the context was looked at only %d times", stopped)
	}
	equal(t, big, content(t, dir, "have.txt"))
}

// TestWriteFile_atomic replaces a file over and over while it is read: every read sees one of the contents whole.
func TestWriteFile_atomic(t *testing.T) {
	dir := tree(t, map[string]string{"file": strings.Repeat("0", 5000)})
	f := open(t, dir)
	synctest.Test(t, func(t *testing.T) {
		var writers sync.WaitGroup
		for digit := range 3 {
			writers.Go(func() {
				for range 20 {
					_, err := f.WriteFile(t.Context(), files.WriteFileIn{Path: "file", Content: strings.Repeat(string(rune('1'+digit)), 5000), Mode: "overwrite"})
					must(t, err)
				}
			})
		}
		for range 300 {
			got := []byte(content(t, dir, "file"))
			if len(got) != 5000 || bytes.Count(got, got[:1]) != 5000 {
				t.Fatalf("a torn file of %d bytes", len(got))
			}
		}
		writers.Wait()
	})
	equal(t, []string{"file"}, snapshot(t, dir))
}

// TestWriteFile_lostUpdate lets many callers count in a file, each with the sum of what it read: no increment is lost.
func TestWriteFile_lostUpdate(t *testing.T) {
	dir := tree(t, map[string]string{"count": ""})
	f := open(t, dir)
	synctest.Test(t, func(t *testing.T) {
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for done := 0; done < 10; {
					read, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "count"})
					must(t, err)
					_, err = f.WriteFile(t.Context(), files.WriteFileIn{
						Path: "count", Content: read.Text + "x", Mode: "overwrite", ExpectedSHA256: sha(read.Text),
					})
					if err == nil {
						done++
					} else if !errors.Is(err, files.ErrConflict) {
						t.Errorf("writing: %v", err)
						return
					}
				}
			})
		}
		callers.Wait()
	})
	equal(t, strings.Repeat("x", 40), content(t, dir, "count"))
}

// TestWriteFile_createOnce lets many callers create the same file: exactly one succeeds.
func TestWriteFile_createOnce(t *testing.T) {
	dir := t.TempDir()
	// Each has its own Files, as separate processes would.
	var all []*files.Files
	for range 8 {
		all = append(all, open(t, dir))
	}
	synctest.Test(t, func(t *testing.T) {
		var callers sync.WaitGroup
		results := make(chan error, len(all))
		for _, f := range all {
			callers.Go(func() {
				_, err := f.WriteFile(t.Context(), files.WriteFileIn{Path: "new", Content: "x"})
				results <- err
			})
		}
		callers.Wait()
		close(results)
		succeeded := 0
		for err := range results {
			if err == nil {
				succeeded++
			} else if !errors.Is(err, files.ErrExists) {
				t.Errorf("creating: %v", err)
			}
		}
		equal(t, 1, succeeded)
	})
	equal(t, []string{"new"}, snapshot(t, dir))
}

// TestWriteFile_exchangedParent exchanges the directory for a link to the outside while files are written in it.
func TestWriteFile_exchangedParent(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"root/d/": "", "outside/": ""})
	root := filepath.Join(base, "root")
	must(t, os.Symlink("../outside", filepath.Join(root, "evil")))
	f := open(t, root)
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		var attacker sync.WaitGroup
		attacker.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(filepath.Join(root, "d"), filepath.Join(root, "aside"))
				_ = os.Rename(filepath.Join(root, "evil"), filepath.Join(root, "d"))
				_ = os.Rename(filepath.Join(root, "d"), filepath.Join(root, "evil"))
				_ = os.Rename(filepath.Join(root, "aside"), filepath.Join(root, "d"))
			}
		})
		for range 200 {
			_, _ = f.WriteFile(t.Context(), files.WriteFileIn{Path: "d/file", Content: "x", Mode: "overwrite"})
			_, _ = f.DeleteFile(t.Context(), files.DeleteFileIn{Path: "d/file"})
		}
		close(stop)
		attacker.Wait()
	})
	equal(t, []string{}, snapshot(t, filepath.Join(base, "outside")))
}

// TestWrite_waitsForItsTurn holds the turn to write: a second writer waits no longer than its context.
func TestWrite_waitsForItsTurn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := open(t, dir)
		release := files.HoldWrites(f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := f.WriteFile(ctx, files.WriteFileIn{Path: "x"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		release()
		_, err := f.WriteFile(t.Context(), files.WriteFileIn{Path: "x"})
		must(t, err)
	})
}

func TestReserveAndRename(t *testing.T) {
	dir := tree(t, map[string]string{"temp": "new", "taken": "old"})
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	if err := files.ReserveAndRename(root, "temp", "taken"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken name: %v", err)
	}
	equal(t, "old", content(t, dir, "taken"))
	if err := files.ReserveAndRename(root, "missing", "free"); err == nil {
		t.Error("a missing file is renamed")
	}
	must(t, files.ReserveAndRename(root, "temp", "free"))
	equal(t, []string{"free", "taken"}, snapshot(t, dir))
	equal(t, "new", content(t, dir, "free"))
}
