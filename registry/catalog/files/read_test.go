package files_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"cloudg.dev/cloudg/registry/catalog/files"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestReadFile(t *testing.T) {
	f := open(t, tree(t, map[string]string{
		"ten.txt": numbered(10, nil), "noend.txt": "a\nb", "empty.md": "", "crlf.txt": "a\r\nb\r\n",
		"pic.png": png, "photo.txt": png, "text.png": "not a picture", "draw.svg": "<svg/>", "sound.mp3": "ID3\x04\x00\x00", "utf8.txt": "aéb",
	}))
	base := func(path, mime string, size int64) files.ReadFileOut {
		return files.ReadFileOut{Path: path, MimeType: mime, Encoding: "text", SizeBytes: size, Modified: oldStamp}
	}
	with := func(out files.ReadFileOut, change func(*files.ReadFileOut)) files.ReadFileOut {
		change(&out)
		return out
	}
	ten := base("ten.txt", "text/plain", 21)
	tests := []struct {
		name string
		in   files.ReadFileIn
		want files.ReadFileOut
	}{
		{"whole", files.ReadFileIn{Path: "ten.txt"}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = numbered(10, nil), 1, 10, 10
		})},
		{"range", files.ReadFileIn{Path: "ten.txt", Offset: 4, Limit: 2}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.NextOffset = "4\n5\n", 4, 5, 6
		})},
		{"range to the end", files.ReadFileIn{Path: "ten.txt", Offset: 9}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = "9\n10\n", 9, 10, 10
		})},
		{"range beyond the end", files.ReadFileIn{Path: "ten.txt", Offset: 9, Limit: 5}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = "9\n10\n", 9, 10, 10
		})},
		{"head", files.ReadFileIn{Path: "ten.txt", Head: 2}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.NextOffset = "1\n2\n", 1, 2, 3
		})},
		{"tail", files.ReadFileIn{Path: "ten.txt", Tail: 2}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.ByteOffset = "9\n10\n", 16
		})},
		{"tail of all", files.ReadFileIn{Path: "ten.txt", Tail: 10}, with(ten, func(o *files.ReadFileOut) { o.Text = numbered(10, nil) })},
		{"tail of more", files.ReadFileIn{Path: "ten.txt", Tail: 99}, with(ten, func(o *files.ReadFileOut) { o.Text = numbered(10, nil) })},
		{"tail without newline", files.ReadFileIn{Path: "noend.txt", Tail: 1}, with(base("noend.txt", "text/plain", 3), func(o *files.ReadFileOut) {
			o.Text, o.ByteOffset = "b", 2
		})},
		{"bytes", files.ReadFileIn{Path: "ten.txt", ByteOffset: 2, ByteLength: 4}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.ByteOffset, o.NextByteOffset = "2\n3\n", 2, 6
		})},
		{"bytes cut a rune at the end", files.ReadFileIn{Path: "utf8.txt", ByteLength: 2}, with(base("utf8.txt", "text/plain", 4), func(o *files.ReadFileOut) {
			o.Text, o.NextByteOffset = "a", 1
		})},
		{"bytes cut a rune at the beginning", files.ReadFileIn{Path: "utf8.txt", ByteOffset: 2}, with(base("utf8.txt", "text/plain", 4), func(o *files.ReadFileOut) {
			o.Text, o.ByteOffset = "b", 3
		})},
		{"bound at a line", files.ReadFileIn{Path: "ten.txt", MaxBytes: 5}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.NextOffset, o.Truncated = "1\n2\n", 1, 2, 3, true
			o.Note = "the file goes on; continue with offset 3"
		})},
		{"bound at a limit", files.ReadFileIn{Path: "ten.txt", MaxBytes: 5, Limit: 9}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.NextOffset, o.Truncated = "1\n2\n", 1, 2, 3, true
			o.Note = "the file goes on; continue with offset 3"
		})},
		{"bound of a tail", files.ReadFileIn{Path: "ten.txt", MaxBytes: 6, Tail: 5}, with(ten, func(o *files.ReadFileOut) {
			o.Text, o.ByteOffset, o.Truncated = "9\n10\n", 16, true
			o.Note = "only the last 2 lines fit into the bound; what is before ends at byte 16: read it with byte_offset and byte_length"
		})},
		{"empty", files.ReadFileIn{Path: "empty.md"}, base("empty.md", "text/markdown", 0)},
		{"empty tail", files.ReadFileIn{Path: "empty.md", Tail: 3}, base("empty.md", "text/markdown", 0)},
		{"line ends stay", files.ReadFileIn{Path: "crlf.txt", Offset: 2}, with(base("crlf.txt", "text/plain", 6), func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = "b\r\n", 2, 2, 2
		})},
		{"image", files.ReadFileIn{Path: "pic.png"}, with(base("pic.png", "image/png", 16), func(o *files.ReadFileOut) {
			o.Encoding, o.Media, o.Data = "base64", "image", []byte(png)
		})},
		{"image by its bytes", files.ReadFileIn{Path: "photo.txt"}, with(base("photo.txt", "image/png", 16), func(o *files.ReadFileOut) {
			o.Encoding, o.Media, o.Data = "base64", "image", []byte(png)
		})},
		{"no image", files.ReadFileIn{Path: "text.png"}, with(base("text.png", "text/plain", 13), func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = "not a picture", 1, 1, 1
		})},
		{"svg is text", files.ReadFileIn{Path: "draw.svg"}, with(base("draw.svg", "image/svg+xml", 6), func(o *files.ReadFileOut) {
			o.Text, o.StartLine, o.EndLine, o.TotalLines = "<svg/>", 1, 1, 1
		})},
		{"audio", files.ReadFileIn{Path: "sound.mp3"}, with(base("sound.mp3", "audio/mpeg", 6), func(o *files.ReadFileOut) {
			o.Encoding, o.Media, o.Data = "base64", "audio", []byte("ID3\x04\x00\x00")
		})},
		{"base64", files.ReadFileIn{Path: "pic.png", Encoding: "base64", ByteOffset: 1, ByteLength: 3}, with(base("pic.png", "image/png", 16), func(o *files.ReadFileOut) {
			o.Encoding, o.Data, o.ByteOffset, o.NextByteOffset = "base64", []byte("PNG"), 1, 4
		})},
		{"base64 with a bound", files.ReadFileIn{Path: "pic.png", Encoding: "base64", MaxBytes: 4}, with(base("pic.png", "image/png", 16), func(o *files.ReadFileOut) {
			o.Encoding, o.Data, o.NextByteOffset, o.Truncated = "base64", []byte("\x89PNG"), 4, true
			o.Note = "the file goes on; continue with byte_offset 4"
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.ReadFile(t.Context(), tt.in)
			must(t, err)
			equal(t, tt.want, got)
		})
	}
}

func TestReadFile_refuses(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{
		"ten.txt": numbered(10, nil), "latin.txt": "caf\xe9 au lait, encore une fois", "data.bin": "a\x00b", "pic.png": png,
	})
	mkfifo(t, filepath.Join(dir, "pipe"))
	f := open(t, dir)
	tests := []struct {
		name string
		in   files.ReadFileIn
		want string
	}{
		{"two ways", files.ReadFileIn{Path: "ten.txt", Head: 1, Tail: 1}, "use only one of offset with limit, head, tail, and byte_offset with byte_length"},
		{"negative", files.ReadFileIn{Path: "ten.txt", Tail: -1}, "offset, limit, head, tail, byte_offset and byte_length must not be negative; tail counts from the end"},
		{"bound", files.ReadFileIn{Path: "ten.txt", MaxBytes: 11 << 20}, "max_bytes must be from 1 to 10485760, not 11534336"},
		{"encoding", files.ReadFileIn{Path: "ten.txt", Encoding: "latin1"}, `encoding must be one of ["auto" "text" "base64"], not "latin1"`},
		{"lines of base64", files.ReadFileIn{Path: "ten.txt", Encoding: "base64", Head: 1}, "with encoding base64 a part is chosen by byte_offset and byte_length, not by lines"},
		{"after the end", files.ReadFileIn{Path: "ten.txt", Offset: 11}, `offset 11 is after the end: "ten.txt" has 10 lines`},
		{"A18 bad bytes", files.ReadFileIn{Path: "latin.txt"}, `"latin.txt" is not valid UTF-8; set encoding to text to read it with the bad bytes replaced, or to base64 to get the exact bytes`},
		{"binary", files.ReadFileIn{Path: "data.bin"}, `"data.bin" is not text but application/octet-stream of 3 B; set encoding to base64 to get its bytes, or use file_info to describe it`},
		{"binary as text", files.ReadFileIn{Path: "data.bin", Encoding: "text"}, `"data.bin" is not text but application/octet-stream of 3 B; set encoding to base64 to get its bytes, or use file_info to describe it`},
		{"large image", files.ReadFileIn{Path: "pic.png", MaxBytes: 15}, `"pic.png" is image/png of 16 B, more than the 15 B that are returned whole; set encoding to base64 and use byte_offset to read it in parts`},
		{"pipe", files.ReadFileIn{Path: "pipe"}, `"pipe" is not a regular file but a pipe; it cannot be read`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.ReadFile(t.Context(), tt.in)
			equal(t, tt.want, text(err))
		})
	}
}

func TestA18_badBytesAsText(t *testing.T) {
	f := open(t, tree(t, map[string]string{"latin.txt": "caf\xe9 au lait, encore une fois"}))
	got, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "latin.txt", Encoding: "text"})
	must(t, err)
	equal(t, "caf\uFFFD au lait, encore une fois", got.Text)
	equal(t, true, got.InvalidUTF8)
	encoded, err := json.Marshal(got)
	must(t, err)
	if !utf8.Valid(encoded) {
		t.Error("the output is not UTF-8")
	}
}

func TestReadFile_longLine(t *testing.T) {
	f := open(t, tree(t, map[string]string{"long.txt": "short\n" + strings.Repeat("é", 100) + "\nlast\n"}))
	got, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "long.txt", Offset: 2, MaxBytes: 51})
	must(t, err)
	equal(t, strings.Repeat("é", 25), got.Text)
	equal(t, int64(56), got.NextByteOffset)
	equal(t, "line 2 is longer than the bound; continue with byte_offset 56", got.Note)
	rest, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "long.txt", ByteOffset: got.NextByteOffset})
	must(t, err)
	equal(t, strings.Repeat("é", 75)+"\nlast\n", rest.Text)
}

func TestReadFile_scanBound(t *testing.T) {
	f := openWith(t, files.Options{Roots: []string{tree(t, map[string]string{"log": numbered(1000, nil)})}, MaxScanBytes: 1000})
	_, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "log", Offset: 900, Limit: 1})
	equal(t, `line 900 of "log" lies beyond the first 1000 B, which is as far as lines are counted; use tail, or byte_offset with byte_length`, text(err))
	tail, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "log", Tail: 1})
	must(t, err)
	equal(t, "1000\n", tail.Text)
}

// FuzzReadParts reads a file by lines and by bytes in small pieces: following the hints gives exactly the file.
func FuzzReadParts(f *testing.F) {
	f.Add("a\nbb\n\nccc", uint8(4))
	f.Add("éü€😀\n\nx", uint8(5))
	f.Add("\n\n\n", uint8(4))
	f.Add("long line without end", uint8(6))
	dir := f.TempDir()
	opened, err := files.Open(files.Options{Roots: []string{dir}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = opened.Close() })
	f.Fuzz(func(t *testing.T, body string, bound uint8) {
		if !utf8.ValidString(body) || strings.ContainsRune(body, 0) || len(body) > 2000 {
			return
		}
		must(t, writeAll(filepath.Join(dir, "file.txt"), body))
		in := files.ReadFileIn{Path: "file.txt", MaxBytes: max(4, int64(bound)), Encoding: "text"}
		var got strings.Builder
		for range len(body) + 2 {
			out, err := opened.ReadFile(t.Context(), in)
			if errors.Is(err, files.ErrKind) {
				return // too many control characters for a text
			}
			must(t, err)
			if int64(len(out.Text)) > in.MaxBytes {
				t.Fatalf("%d bytes, more than %d", len(out.Text), in.MaxBytes)
			}
			got.WriteString(out.Text)
			in.Offset, in.ByteOffset = out.NextOffset, out.NextByteOffset
			if in.Offset == 0 && in.ByteOffset == 0 {
				break
			}
		}
		equal(t, body, got.String())
	})
}

func TestReadFiles(t *testing.T) {
	f := open(t, tree(t, map[string]string{"a": "aaaa", "b": "bb\nbb\n", "c": "cc", "pic.png": png}))
	got, err := f.ReadFiles(t.Context(), files.ReadFilesIn{Paths: []string{"a", "missing", "pic.png", "b", "c"}, MaxBytes: 24})
	must(t, err)
	equal(t, files.ReadFilesOut{
		Files: []files.ReadResult{
			{Path: "a", MimeType: "text/plain", Encoding: "text", SizeBytes: 4, Text: "aaaa"},
			{Path: "missing", Error: `not found: "missing"; list_directory on "." shows what is there`},
			{Path: "pic.png", MimeType: "image/png", Encoding: "base64", Media: "image", SizeBytes: 16, Data: []byte(png)},
			{Path: "b", MimeType: "text/plain", Encoding: "text", SizeBytes: 6, Text: "bb\n", Truncated: true, NextOffset: 2, Note: "the file goes on; continue with offset 2"},
			{Path: "c", MimeType: "text/plain", Encoding: "text", SizeBytes: 2, Text: "c", Truncated: true, Note: "line 1 is longer than the bound; continue with byte_offset 1"},
		},
		Failed: 1, SizeBytes: 24,
	}, got)
	got, err = f.ReadFiles(t.Context(), files.ReadFilesIn{Paths: []string{"a", "c"}, MaxBytes: 4})
	must(t, err)
	equal(t, "not read: the files before it used up max_bytes; read it with another call", got.Files[1].Error)
	_, err = f.ReadFiles(t.Context(), files.ReadFilesIn{Paths: make([]string, 51)})
	equal(t, "paths must name from 1 to 50 files, not 51", text(err))
}

// TestReadFile_exchanged exchanges a file for a pipe and a link while it is read: reading neither blocks nor leaves.
func TestReadFile_exchanged(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"root/file": "inside", "root/spare": "inside", "secret": "SECRET"})
	root := filepath.Join(base, "root")
	mkfifo(t, filepath.Join(root, "pipe"))
	must(t, os.Symlink("../secret", filepath.Join(root, "link")))
	f := open(t, root)
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() { // stopped below
			defer close(done)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Link(filepath.Join(root, []string{"pipe", "link", "spare"}[i%3]), filepath.Join(root, "next"))
				_ = os.Rename(filepath.Join(root, "next"), filepath.Join(root, "file"))
				_ = os.Remove(filepath.Join(root, "next"))
			}
		}()
		for range 3000 {
			got, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: "file"})
			refused := slices.ContainsFunc([]error{files.ErrKind, files.ErrOutside, files.ErrNotFound, files.ErrInvalid}, func(kind error) bool {
				return errors.Is(err, kind)
			})
			if !refused && (err != nil || got.Text != "inside") {
				t.Errorf("got %q %v", got.Text, err)
				break
			}
		}
		close(stop)
		<-done
	})
}
