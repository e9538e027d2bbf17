package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestEditFile(t *testing.T) {
	tests := []struct {
		name   string
		before string
		edits  []files.Edit
		after  string
		count  int
	}{
		{"one", "a\nb\nc\n", []files.Edit{{OldText: "b\n", NewText: "B\n"}}, "a\nB\nc\n", 1},
		{"delete", "a\nb\nc\n", []files.Edit{{OldText: "b\n"}}, "a\nc\n", 1},
		{"in order", "a\n", []files.Edit{{OldText: "a", NewText: "b"}, {OldText: "b", NewText: "c"}}, "c\n", 2},
		{"all", "x x x", []files.Edit{{OldText: "x", NewText: "yx", ReplaceAll: true}}, "yx yx yx", 3},
		{"all of one", "x", []files.Edit{{OldText: "x", NewText: "y", ReplaceAll: true}}, "y", 1},
		{"CRLF is kept", "a\r\nb\r\nc\r\n", []files.Edit{{OldText: "a\nb\n", NewText: "a\nnew\nb\n"}}, "a\r\nnew\r\nb\r\nc\r\n", 1},
		{"LF is kept", "a\nb\n", []files.Edit{{OldText: "a\r\nb", NewText: "a\r\nc"}}, "a\nc\n", 1},
		{"mixed is exact", "a\r\nb\nc", []files.Edit{{OldText: "\r\nb\n", NewText: "\n"}}, "a\nc", 1},
		{"other bytes stay", "caf\xe9 a", []files.Edit{{OldText: "a", NewText: "b", ReplaceAll: true}}, "cbf\xe9 b", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"f": tt.before})
			must(t, os.Chmod(filepath.Join(dir, "f"), 0o600))
			f := open(t, dir)
			dry, err := f.EditFile(t.Context(), files.EditFileIn{Path: "f", Edits: tt.edits, DryRun: true})
			must(t, err)
			equal(t, tt.before, content(t, dir, "f"))
			got, err := f.EditFile(t.Context(), files.EditFileIn{Path: "f", Edits: tt.edits, ExpectedSHA256: sha(tt.before)})
			must(t, err)
			equal(t, tt.after, content(t, dir, "f"))
			equal(t, true, got.Written)
			got.Written = false
			equal(t, dry, got)
			equal(t, tt.count, got.Replacements)
			equal(t, sha(tt.after), got.SHA256)
			info, err := os.Stat(filepath.Join(dir, "f"))
			must(t, err)
			if info.Mode() != fs.FileMode(0o600) && filepath.Separator == '/' {
				t.Errorf("mode %v", info.Mode())
			}
			equal(t, []string{"f"}, snapshot(t, dir))
		})
	}
}

func TestEditFile_diff(t *testing.T) {
	f := open(t, tree(t, map[string]string{"d/f.txt": numbered(9, nil)}))
	got, err := f.EditFile(t.Context(), files.EditFileIn{Path: "d/f.txt", DryRun: true, Edits: []files.Edit{{OldText: "5\n", NewText: "five\n"}}})
	must(t, err)
	equal(t, "--- a/d/f.txt\n+++ b/d/f.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n", got.Diff)
}

func TestEditFile_refuses(t *testing.T) {
	body := "func main() {\n\tfmt.Println(\"a\")\n\treturn\n}\n\nfunc other() {\n\treturn\n}\n"
	dir := tree(t, map[string]string{"f": body, "bin": "a\x00", "large": strings.Repeat("x", 1001), "d/": ""})
	f := openWith(t, files.Options{Roots: []string{dir}, AllowWrite: true, MaxFileBytes: 1000})
	tests := []struct {
		name string
		path string
		in   []files.Edit
		want string
	}{
		{"none", "f", nil, "edits must hold from 1 to 100 replacements, not 0"},
		{"empty", "f", []files.Edit{{NewText: "x"}}, "old_text of edit 1 is empty; write_file creates a file or replaces all of it"},
		{"same", "f", []files.Edit{{OldText: "main", NewText: "main"}}, "new_text of edit 1 is the same as its old_text"},
		{"twice", "f", []files.Edit{{OldText: "\treturn\n", NewText: ""}}, `old_text of edit 1 is in "f" 2 times (lines 3, 7); add lines around it to make it unique, or set replace_all`},
		{"white space, one line", "f", []files.Edit{{OldText: "    fmt.Println(\"a\")", NewText: ""}}, `old_text of edit 1 is not in "f"; line 2 differs only in white space: it is "\tfmt.Println(\"a\")"`},
		{"white space, two lines", "f", []files.Edit{{OldText: "main", NewText: "Main"}, {OldText: "    return\n}\n\nfunc  other() {", NewText: ""}}, `old_text of edit 2 is not in "f"; the text of lines 3 to 6 differs only in white space: it is "\treturn\n}\n\nfunc other() {"`},
		{"first line only", "f", []files.Edit{{OldText: "func other() {\n\tpanic(1)\n", NewText: ""}}, `old_text of edit 1 is not in "f"; its first line is line 6, but what follows differs; read the file again from there`},
		{"nothing like it", "f", []files.Edit{{OldText: "zebra", NewText: ""}}, `old_text of edit 1 is not in "f"; nothing like it is there; read the file again and copy the text exactly`},
		{"grows too much", "f", []files.Edit{{OldText: "main", NewText: strings.Repeat("x", 1000)}}, `the content has 1.0 KiB, more than the 1000 B that are written at once`},
		{"binary", "bin", []files.Edit{{OldText: "a", NewText: "b"}}, `"bin" is not text; write_file with encoding base64 replaces it as a whole`},
		{"large", "large", []files.Edit{{OldText: "a", NewText: "b"}}, `"large" has 1001 B, more than the 1000 B that can be edited`},
		{"directory", "d", []files.Edit{{OldText: "a", NewText: "b"}}, `"d" is a directory; name a file in it`},
		{"missing", "x", []files.Edit{{OldText: "a", NewText: "b"}}, `not found: "x"; list_directory on "." shows what is there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.EditFile(t.Context(), files.EditFileIn{Path: tt.path, Edits: tt.in})
			equal(t, tt.want, text(err))
		})
	}
	_, err := f.EditFile(t.Context(), files.EditFileIn{Path: "f", Edits: []files.Edit{{OldText: "main", NewText: "x"}}, ExpectedSHA256: sha("else")})
	if !errors.Is(err, files.ErrConflict) {
		t.Errorf("stale: %v", err)
	}
	equal(t, body, content(t, dir, "f"))
}
