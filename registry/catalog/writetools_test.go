package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// content reads a file of the first root, "" if it is not there.
func (r *rig) content(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(b)
}

func TestWriteFile(t *testing.T) {
	r := writable(t, nil)
	contains(t, r.fails("write_file", `{"path":"new/a.txt","content":"x"}`), "make_directory")
	r.ok("make_directory", `{"path":"new"}`)
	equal(t, any(true), structured(t, r.ok("write_file", `{"path":"new/a.txt","content":"one\n"}`))["created"])
	equal(t, "one\n", r.content("new/a.txt"))
	contains(t, r.fails("write_file", `{"path":"new/a.txt","content":"two\n"}`), "overwrite")
	equal(t, "one\n", r.content("new/a.txt"))
	equal(t, any(false), structured(t, r.ok("write_file", `{"path":"new/a.txt","content":"dHdv","encoding":"base64","mode":"overwrite"}`))["created"])
	equal(t, "two", r.content("new/a.txt"))
}

func TestEditFile(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	const edit = `"path":"a.txt","edits":[{"old_text":"two","new_text":"2"}]`
	got := structured(t, r.ok("edit_file", `{`+edit+`,"dry_run":true}`))
	equal(t, any(false), got["written"])
	contains(t, got["diff"].(string), "-two\n+2\n")
	equal(t, "one\ntwo\nthree\n", r.content("a.txt"))

	equal(t, any(true), structured(t, r.ok("edit_file", `{`+edit+`}`))["written"])
	equal(t, "one\n2\nthree\n", r.content("a.txt"))
	contains(t, r.fails("edit_file", `{`+edit+`}`), "old_text of edit 1", "read the file again")
}

// TestEditFile_largeDiff shows that an edit that was made is not reported as a
// failure because its diff is long.
func TestEditFile_largeDiff(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": strings.Repeat("x\n", 40<<10)})
	got := structured(t, r.ok("edit_file", `{"path":"a.txt","edits":[{"old_text":"x","new_text":"y","replace_all":true}]}`))
	equal(t, any(true), got["written"])
	if n := len(got["diff"].(string)); n < 200_000 {
		t.Errorf("the diff has %d bytes, which is too short to show anything", n)
	}
}

func TestMoveFile(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "a", "b.txt": "b"})
	contains(t, r.fails("move_file", `{"source":"a.txt","destination":"b.txt"}`), "overwrite")
	r.ok("move_file", `{"source":"a.txt","destination":"c.txt"}`)
	equal(t, "a", r.content("c.txt"))
	equal(t, any(true), structured(t, r.ok("move_file", `{"source":"c.txt","destination":"b.txt","overwrite":true}`))["replaced"])
	equal(t, "a", r.content("b.txt"))
}

func TestDeleteFile(t *testing.T) {
	r := writable(t, map[string]string{"d/a.txt": "a", "d/b.txt": "b"})
	contains(t, r.fails("delete_file", `{"path":"d"}`), "recursive")
	equal(t, any(3.0), structured(t, r.ok("delete_file", `{"path":"d","recursive":true}`))["removed"])
	contains(t, r.fails("delete_file", `{"path":"d"}`), "not found")
	contains(t, r.fails("delete_file", `{"path":"."}`), "root")
}
