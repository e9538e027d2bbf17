package catalog_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/catalog"
)

func TestListRoots(t *testing.T) {
	r := writable(t, nil)
	got := structured(t, r.ok("list_roots", `{}`))
	equal(t, any(true), got["writable"])
	equal(t, any(filepath.ToSlash(r.dir)), got["roots"].([]any)[0].(map[string]any)["path"])
}

func TestListRoots_none(t *testing.T) {
	r := start(t, &catalog.Options{})
	res := r.ok("list_roots", `{}`)
	got := structured(t, res)
	equal(t, any([]any{}), got["roots"])
	equal(t, any(false), got["writable"])
	contains(t, text(res), "--root DIR")
}

func TestListDirectory(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "hello", "sub/b.txt": "1", "sub/new\nline": ""})
	res := r.ok("list_directory", `{"depth":2}`)
	contains(t, text(res), ".: 1 directory, 3 files, 6 B in files\n", "5 B  a.txt\n", "  sub/\n", `"sub/new\nline"`)
	equal(t, 4, len(structured(t, res)["entries"].([]any)))

	res = r.ok("list_directory", `{"depth":2,"tree":true,"limit":2}`)
	contains(t, text(res), "sub/\n  b.txt  1 B\n", "[there is more: call again with offset 2]")
	equal(t, 1, len(res.Content))
}

func TestListDirectory_link(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	r := writable(t, nil)
	if err := os.Symlink("/etc", filepath.Join(r.dir, "out")); err != nil {
		t.Fatal(err)
	}
	contains(t, text(r.ok("list_directory", `{}`)), "out -> /etc\n")
	contains(t, r.fails("list_directory", `{"path":"out"}`), "symbolic link that leaves its root")
}

// TestListDirectory_largePage shows that a page which the schema allows is not
// refused for its size.
func TestListDirectory_largePage(t *testing.T) {
	content := map[string]string{}
	for i := range 1500 {
		content[strings.Repeat("long", 20)+"/"+strings.Repeat("n", 80)+strconv.Itoa(i)] = ""
	}
	r := writable(t, content)
	res := r.ok("list_directory", `{"depth":2,"limit":5000}`)
	equal(t, 1501, len(structured(t, res)["entries"].([]any)))
}

func TestFindFiles(t *testing.T) {
	r := writable(t, map[string]string{"a.go": "12345", "sub/b.go": "1", "sub/c.txt": "1", "sub/d.go": "123"})
	res := r.ok("find_files", `{"pattern":"*.go","sort":"size","limit":2}`)
	contains(t, text(res), ".: 3 entries match\n", "a.go\n", "sub/d.go\n", "[there is more: call again with offset 2]")
	contains(t, text(r.ok("find_files", `{"pattern":"*.go","sort":"size","limit":2,"offset":2}`)), "sub/b.go\n")
	contains(t, r.fails("find_files", `{"pattern":"[z"}`), "pattern")
}

func TestSearchText(t *testing.T) {
	r := writable(t, map[string]string{
		"a.txt":     "one\ntwo\nthree needle\nneedle four\nfive\nsix\nseven\neight\nneedle\n",
		"sub/b.txt": "nothing\nneedle",
		"c.bin":     "needle\x00",
	})
	res := r.ok("search_text", `{"pattern":"needle","before":1,"after":1}`)
	want := `.: 4 lines match in 2 files, 2 files searched
a.txt
     2- two
     3: three needle
     4: needle four
     5- five
    --
     8- eight
     9: needle
sub/b.txt
     1- nothing
     2: needle
[1 file is not text and left out]
`
	equal(t, want, text(res))
	equal(t, 4, len(structured(t, res)["matches"].([]any)))

	res = r.ok("search_text", `{"pattern":"NEEDLE","ignore_case":true,"files_only":true}`)
	contains(t, text(res), "     3  a.txt\n", "     1  sub/b.txt\n")
	contains(t, r.fails("search_text", `{"pattern":"(?=x)"}`), "RE2", "literal")
}

func TestSearchText_progress(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "1", "b.txt": "2", "c.txt": "3"})
	client := new(recorder)
	r.req.Client = client
	r.ok("search_text", `{"pattern":"2"}`)
	equal(t, []string{"searching a.txt", "searching b.txt", "searching c.txt", "searched 3 files"}, client.progress)
}

func TestSearchText_cancelled(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "1", "b.txt": "2", "c.txt": "3"})
	ctx, cancel := context.WithCancel(t.Context())
	client := &recorder{onReport: cancel}
	r.req.Client = client
	_, err := r.layer.CallTool(ctx, r.req, []byte(`"search_text"`), []byte(`{"pattern":"2"}`))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want the end of the context, got %v", err)
	}
	equal(t, 1, len(client.progress))
}

func TestReadFile(t *testing.T) {
	r := writable(t, map[string]string{
		"a.txt": "one\ntwo\nthree\nfour\n", "empty": "", "pic.png": png, "snd.wav": wav, "blob.bin": "\x00\x01\x02", "html": "<a&b>\u2028",
	})
	tests := []struct {
		name, in string
		want     []protocol.Content
		members  map[string]any // of the structured content
	}{
		{"whole text", `{"path":"a.txt"}`, []protocol.Content{&protocol.Text{Text: "one\ntwo\nthree\nfour\n"}},
			map[string]any{"text": "one\ntwo\nthree\nfour\n", "encoding": "text", "truncated": false}},
		{"some lines", `{"path":"a.txt","offset":2,"limit":2}`,
			[]protocol.Content{&protocol.Text{Text: "two\nthree\n"}, &protocol.Text{Text: "[a.txt: lines 2 to 3; the next line is offset 4]"}},
			map[string]any{"start_line": 2.0, "end_line": 3.0, "next_offset": 4.0}},
		{"the end", `{"path":"a.txt","tail":1}`,
			[]protocol.Content{&protocol.Text{Text: "four\n"}, &protocol.Text{Text: "[a.txt: from byte 14 of a file of 19 B]"}},
			map[string]any{"byte_offset": 14.0, "truncated": false}},
		{"some bytes", `{"path":"a.txt","byte_offset":4,"byte_length":3}`,
			[]protocol.Content{&protocol.Text{Text: "two"}, &protocol.Text{Text: "[a.txt: from byte 4 of a file of 19 B; the next byte is byte_offset 7]"}},
			map[string]any{"byte_offset": 4.0, "next_byte_offset": 7.0}},
		{"empty", `{"path":"empty"}`, []protocol.Content{&protocol.Text{}, &protocol.Text{Text: "[empty: the file is empty]"}},
			map[string]any{"size_bytes": 0.0}},
		{"not escaped", `{"path":"html"}`, []protocol.Content{&protocol.Text{Text: "<a&b>\u2028"}}, map[string]any{"text": "<a&b>\u2028"}},
		{"image", `{"path":"pic.png"}`,
			[]protocol.Content{&protocol.Image{Data: []byte(png), MIMEType: "image/png"}, &protocol.Text{Text: "[pic.png: image/png, 24 B]"}},
			map[string]any{"media": "image", "mime_type": "image/png", "data": nil}},
		{"audio", `{"path":"snd.wav"}`,
			[]protocol.Content{&protocol.Audio{Data: []byte(wav), MIMEType: "audio/wav"}, &protocol.Text{Text: "[snd.wav: audio/wav, 20 B]"}},
			map[string]any{"media": "audio", "data": nil}},
		{"bytes", `{"path":"blob.bin","encoding":"base64"}`, []protocol.Content{&protocol.Text{Text: "AAEC"}},
			map[string]any{"data": "AAEC", "encoding": "base64"}},
		{"image as bytes", `{"path":"pic.png","encoding":"base64"}`, []protocol.Content{&protocol.Text{Text: base64.StdEncoding.EncodeToString([]byte(png))}},
			map[string]any{"media": nil}},
		{"by URI", `{"path":"file://` + uriPath(r.dir) + `/a.txt","head":1}`,
			[]protocol.Content{&protocol.Text{Text: "one\n"}, &protocol.Text{Text: "[a.txt: lines 1 to 1; the next line is offset 2]"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := r.ok("read_file", tt.in)
			equal(t, tt.want, res.Content)
			got := structured(t, res)
			for name, want := range tt.members {
				equal(t, want, got[name])
			}
		})
	}
}

// uriPath is a folder as it stands in a file URI.
func uriPath(dir string) string {
	return "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

// TestReadFile_large shows the bound, how to go on, and that a caller who asks
// for much gets it although it is more than other tools may return.
func TestReadFile_large(t *testing.T) {
	r := writable(t, map[string]string{
		"big.txt": strings.Repeat("0123456789abcde\n", 1<<15),
		"big.png": png + strings.Repeat("\x00", 3<<20),
	})
	res := r.ok("read_file", `{"path":"big.txt"}`)
	equal(t, 128<<10, len(res.Content[0].(*protocol.Text).Text))
	contains(t, text(res), "continue with offset 8193")
	res = r.ok("read_file", `{"path":"big.txt","max_bytes":1000000}`)
	equal(t, 512<<10, len(res.Content[0].(*protocol.Text).Text))
	equal(t, 1, len(res.Content))
	res = r.ok("read_file", `{"path":"big.png"}`)
	equal(t, 3<<20+len(png), len(res.Content[0].(*protocol.Image).Data))
}

func TestReadFile_refused(t *testing.T) {
	r := writable(t, map[string]string{"blob.bin": "\x00\x01", "latin1.txt": "caf\xe9 au lait", "docs/a.txt": "x"})
	outside := tree(t, map[string]string{"secret": "x"})
	tests := []struct {
		name, in string
		want     []string
	}{
		{"missing", `{"path":"docs/b.txt"}`, []string{`not found: "docs/b.txt"`, `list_directory on "docs"`}},
		{"directory", `{"path":"docs"}`, []string{"docs", "list_directory"}},
		{"binary", `{"path":"blob.bin"}`, []string{"is not text", "base64"}},
		{"no UTF-8", `{"path":"latin1.txt"}`, []string{"not valid UTF-8", "encoding"}},
		{"two parts", `{"path":"docs/a.txt","head":1,"tail":1}`, []string{"use only one of"}},
		{"unknown argument", `{"path":"docs/a.txt","ofset":1}`, []string{"Invalid arguments for read_file", "ofset"}},
		{"out of bounds", `{"path":"docs/a.txt","max_bytes":10485761}`, []string{"max_bytes"}},
		{"no path", `{}`, []string{"path"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { contains(t, r.fails("read_file", tt.in), tt.want...) })
	}
	there := r.fails("read_file", `{"path":`+quote(filepath.Join(outside, "secret"))+`}`)
	absent := r.fails("read_file", `{"path":`+quote(filepath.Join(outside, "nobody"))+`}`)
	equal(t, strings.ReplaceAll(there, "secret", "nobody"), absent)
	contains(t, there, "list_roots")
}

func TestReadFiles(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "one\n", "pic.png": png, "big.txt": strings.Repeat("x\n", 100<<10)})
	res := r.ok("read_files", `{"paths":["a.txt","missing","pic.png","big.txt","a.txt"]}`)
	equal(t, protocol.Content(&protocol.Text{Text: "==> a.txt <==\none\n"}), res.Content[0])
	equal(t, protocol.Content(&protocol.Image{Data: []byte(png), MIMEType: "image/png"}), res.Content[3])
	contains(t, text(res), "==> missing <==\n[error: not found", "==> pic.png <==\n[image/png, 24 B]", "==> big.txt <==\nx\n", "[big.txt: ", "used up max_bytes")
	got := structured(t, res)
	equal(t, any(2.0), got["failed"])
	equal(t, any(nil), got["files"].([]any)[2].(map[string]any)["data"])
}

func TestFileInfo(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "one\ntwo\n"})
	got := structured(t, r.ok("file_info", `{"path":"a.txt","sha256":true,"lines":true}`))
	equal(t, any(2.0), got["lines"])
	equal(t, any(fmt.Sprintf("%x", sha256.Sum256([]byte("one\ntwo\n")))), got["sha256"])
	contains(t, r.fails("file_info", `{"path":"b.txt"}`), "not found", "list_directory")
}
