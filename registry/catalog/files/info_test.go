package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestFileInfo(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a b.md": "one\ntwo", "sub/": "", "link": "-> a b.md", "out": "-> /etc/passwd", "dangling": "-> nowhere"})
	must(t, os.Chmod(filepath.Join(dir, "a b.md"), 0o640))
	must(t, os.Chmod(filepath.Join(dir, "sub"), 0o1755|os.ModeSticky))
	f := open(t, dir)
	two := 2
	tests := []struct {
		name string
		in   files.FileInfoIn
		want files.FileInfoOut
	}{
		{"file", files.FileInfoIn{Path: "a b.md"}, files.FileInfoOut{
			Path: "a b.md", AbsolutePath: dir + "/a b.md", URI: "file://" + dir + "/a%20b.md", Kind: "file", SizeBytes: 7,
			Mode: "-rw-r-----", Permissions: "0640", MimeType: "text/markdown",
		}},
		{"asked for more", files.FileInfoIn{Path: "a b.md", SHA256: true, Lines: true}, files.FileInfoOut{
			Path: "a b.md", AbsolutePath: dir + "/a b.md", URI: "file://" + dir + "/a%20b.md", Kind: "file", SizeBytes: 7,
			Mode: "-rw-r-----", Permissions: "0640", MimeType: "text/markdown",
			SHA256: "21066d108d5319ecb5a1fc4454f42ef22fc5f1c7df49c31d90294950e0ea8b2c", Lines: &two,
		}},
		{"directory", files.FileInfoIn{Path: "sub"}, files.FileInfoOut{
			Path: "sub", AbsolutePath: dir + "/sub", URI: "file://" + dir + "/sub", Kind: "directory", Mode: "dtrwxr-xr-x", Permissions: "1755",
		}},
		{"root", files.FileInfoIn{Path: dir}, files.FileInfoOut{
			Path: ".", AbsolutePath: dir, URI: "file://" + dir, Kind: "directory", Mode: "drwxr-xr-x", Permissions: "0755",
		}},
		{"link", files.FileInfoIn{Path: "link"}, files.FileInfoOut{
			Path: "link", AbsolutePath: dir + "/link", URI: "file://" + dir + "/link", Kind: "symlink", Mode: "Lrwxrwxrwx", Permissions: "0777",
			Target: "a b.md", TargetKind: "file",
		}},
		{"link out", files.FileInfoIn{Path: "out"}, files.FileInfoOut{
			Path: "out", AbsolutePath: dir + "/out", URI: "file://" + dir + "/out", Kind: "symlink", Mode: "Lrwxrwxrwx", Permissions: "0777",
			Target: "/etc/passwd",
		}},
		{"dangling link", files.FileInfoIn{Path: "dangling"}, files.FileInfoOut{
			Path: "dangling", AbsolutePath: dir + "/dangling", URI: "file://" + dir + "/dangling", Kind: "symlink", Mode: "Lrwxrwxrwx", Permissions: "0777",
			Target: "nowhere",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.FileInfo(t.Context(), tt.in)
			must(t, err)
			if got.Kind == "file" && got.Modified != oldStamp {
				t.Errorf("modified %s", got.Modified)
			}
			got.Modified, got.Accessed, got.Changed = "", "", "" // when the test ran
			equal(t, tt.want, got)
		})
	}
}

func TestFileInfo_bounds(t *testing.T) {
	f := openWith(t, files.Options{Roots: []string{tree(t, map[string]string{"large": strings.Repeat("x", 101), "d/": "", "bin": "\x00"})}, MaxHashBytes: 100})
	_, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: "large", SHA256: true})
	equal(t, `"large" has 101 B, more than the 100 B that are read for sha256 and lines`, text(err))
	_, err = f.FileInfo(t.Context(), files.FileInfoIn{Path: "d", SHA256: true})
	equal(t, `"d" is a directory; sha256 and lines are for regular files`, text(err))
	_, err = f.FileInfo(t.Context(), files.FileInfoIn{Path: "bin", Lines: true})
	if !errors.Is(err, files.ErrKind) {
		t.Errorf("lines of a binary file: %v", err)
	}
}

func TestClassify(t *testing.T) {
	tests := []struct {
		name string
		head string
		mime string
		text bool
	}{
		{"a.go", "package a", "text/x-go", true},
		{"a.JSON", "{}", "application/json", true},
		{"noext", "hello", "text/plain", true},
		{"a.unknown", "hello", "text/plain", true},
		{"a.png", "hello", "text/plain", true},
		{"a.gif", "GIF89a\x01\x00", "image/gif", false},
		{"a.bin", "\x00\x01\x02", "application/octet-stream", false},
		{"a.docx", "PK\x03\x04\x00\x00", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
		{"a.zip", "PK\x03\x04\x00\x00", "application/zip", false},
		{"a.flac", "fLaC\x00\x00", "audio/flac", false},
		{"a.wav", "RIFF\x00\x00\x00\x00WAVE", "audio/wav", false},
		{"a.go", "\x00\x01", "application/octet-stream", false},
		{"a.pdf", "%PDF-1.7\n\x00", "application/pdf", false},
		{"color.log", "\x1b[31mred\x1b[0m", "text/plain", true},
		{"cut.txt", "caf\xc3", "text/plain", true},
		{"utf16.txt", "\xff\xfeh\x00i\x00", "application/octet-stream", false},
	}
	for _, tt := range tests {
		mime, isText := files.Classify(tt.name, []byte(tt.head))
		if mime != tt.mime || isText != tt.text {
			t.Errorf("%s: %s %v, want %s %v", tt.name, mime, isText, tt.mime, tt.text)
		}
	}
}
