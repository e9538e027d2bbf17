package files_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// deny takes all permissions from a path until the test is over.
func deny(t *testing.T, path string) {
	t.Helper()
	needUnix(t)
	if os.Geteuid() == 0 {
		t.Skip("the superuser may do everything")
	}
	must(t, os.Chmod(path, 0))
	t.Cleanup(func() { must(t, os.Chmod(path, 0o700)) })
}

func TestDenied_file(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x"})
	deny(t, filepath.Join(dir, "a"))
	f := open(t, dir)
	_, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "a"})
	equal(t, `permission denied: "a"; the user that the server runs as has no access to it`, text(err))
	info, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: "a"})
	must(t, err)
	equal(t, "0000", info.Permissions)
	found, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "x"}, nil)
	must(t, err)
	equal(t, 1, found.Unreadable)
}

func TestDenied_directory(t *testing.T) {
	dir := tree(t, map[string]string{"a/x": "", "b/y": "", "c": ""})
	deny(t, filepath.Join(dir, "a"))
	f := open(t, dir)
	got, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Depth: 3})
	must(t, err)
	equal(t, `permission denied: "a"; the user that the server runs as has no access to it`, got.Entries[0].Error)
	equal(t, []string{"1 directory could not be read"}, got.Notes)
	equal(t, 4, got.Total)
	drawn, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Tree: true})
	must(t, err)
	equal(t, "a/\nb/\nc  0 B\n", drawn.Tree)
	completions, _, err := f.CompletePath(t.Context(), "a/", 0)
	must(t, err)
	equal(t, []string{}, completions)
}

// TestDenied_deletion removes what it can and says how much that was.
func TestDenied_deletion(t *testing.T) {
	dir := tree(t, map[string]string{"d/a": "", "d/b/x": "", "d/c": ""})
	deny(t, filepath.Join(dir, "d/b"))
	_, err := open(t, dir).DeleteFile(t.Context(), files.DeleteFileIn{Path: "d", Recursive: true})
	equal(t, `not all of "d" could be deleted, 1 entry went: permission denied: "d/b"; the user that the server runs as has no access to it`, text(err))
	equal(t, true, errors.Is(err, files.ErrDenied))
	if _, err := os.Stat(filepath.Join(dir, "d/a")); !os.IsNotExist(err) {
		t.Errorf("d/a: %v", err)
	}
}

func TestSpecialFiles(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a": "x"})
	mkfifo(t, filepath.Join(dir, "pipe"))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skipf("needs a socket: %v", err)
	}
	defer socket.Close()
	f := open(t, dir)
	for _, kind := range []string{"pipe", "socket"} {
		_, read := f.ReadFile(t.Context(), files.ReadFileIn{Path: kind})
		equal(t, `"`+kind+`" is not a regular file but a `+kind+`; it cannot be read`, text(read))
		_, write := f.WriteFile(t.Context(), files.WriteFileIn{Path: kind, Mode: "overwrite"})
		equal(t, `"`+kind+`" is a `+kind+`; only regular files are written`, text(write))
		info, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: kind})
		must(t, err)
		equal(t, "other", info.Kind)
	}
	found, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "x"}, nil)
	must(t, err)
	equal(t, 1, found.FilesFound)
	drawn, err := f.ListDirectory(t.Context(), files.ListDirectoryIn{Tree: true})
	must(t, err)
	equal(t, "a  1 B\npipe  (special)\nsocket  (special)\n", drawn.Tree)
	_, err = open(t, "/dev").ReadFile(t.Context(), files.ReadFileIn{Path: "null"})
	equal(t, `"null" is not a regular file but a device; it cannot be read`, text(err))
}

// TestKernelFiles reads files that have no size beforehand.
func TestKernelFiles(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("needs procfs")
	}
	f := open(t, "/proc")
	got, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "version"})
	must(t, err)
	if !strings.HasPrefix(got.Text, "Linux version") {
		t.Errorf("version: %q", got.Text)
	}
	tail, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "version", Tail: 1})
	must(t, err)
	equal(t, got.Text, tail.Text)
	_, err = f.ReadFile(t.Context(), files.ReadFileIn{Path: "self/root/etc/passwd"})
	if !errors.Is(err, files.ErrOutside) && !errors.Is(err, files.ErrNotFound) {
		t.Errorf("through the root link: %v", err)
	}
	_, err = f.ReadFile(t.Context(), files.ReadFileIn{Path: "self/cwd/doc.go"})
	if !errors.Is(err, files.ErrOutside) {
		t.Errorf("through the directory link: %v", err)
	}
}

func TestErrors_quoteLittle(t *testing.T) {
	long := strings.Repeat("é", 300)
	f := open(t, tree(t, map[string]string{"f": "a  " + long + "\n"}))
	_, err := f.EditFile(t.Context(), files.EditFileIn{Path: "f", Edits: []files.Edit{{OldText: "a " + long, NewText: "b"}}})
	equal(t, `old_text of edit 1 is not in "f"; line 1 differs only in white space: it is "a  `+strings.Repeat("é", 198)+`"…`, text(err))
	_, err = f.FindFiles(t.Context(), files.FindFilesIn{Kind: long})
	equal(t, `kind must be one of ["any" "file" "directory" "symlink"], not "`+strings.Repeat("é", 40)+`"…`, text(err))
	context, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "x", Path: "f"}, nil)
	must(t, err)
	equal(t, []string{"nothing matches; case counts unless ignore_case is set"}, context.Notes)
}
