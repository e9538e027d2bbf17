package files_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestReadURI(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{"a b.md": "# hi", "pic.png": png, "latin.txt": "caf\xe9 au lait, encore", "d/x": "", "d/.y": "", "d/sub/": "", "large": strings.Repeat("x", 101)})
	f := openWith(t, files.Options{Roots: []string{dir}, MaxFileBytes: 100})
	uri := "file://" + dir
	tests := []struct {
		name string
		in   string
		want files.Resource
		err  error
	}{
		{"text", uri + "/a%20b.md", files.Resource{URI: uri + "/a%20b.md", MimeType: "text/markdown", IsText: true, Text: "# hi"}, nil},
		{"not encoded", uri + "/a b.md", files.Resource{URI: uri + "/a%20b.md", MimeType: "text/markdown", IsText: true, Text: "# hi"}, nil},
		{"binary", uri + "/pic.png", files.Resource{URI: uri + "/pic.png", MimeType: "image/png", Data: []byte(png)}, nil},
		{"A18 bad bytes", uri + "/latin.txt", files.Resource{URI: uri + "/latin.txt", MimeType: "text/plain", Data: []byte("caf\xe9 au lait, encore")}, nil},
		{"directory", uri + "/d/", files.Resource{URI: uri + "/d", MimeType: "inode/directory", IsText: true, Text: uri + "/d/sub/\n" + uri + "/d/.y\n" + uri + "/d/x\n"}, nil},
		{"large", uri + "/large", files.Resource{}, files.ErrTooLarge},
		{"missing", uri + "/missing", files.Resource{}, files.ErrNotFound},
		{"outside", "file:///etc/passwd", files.Resource{}, files.ErrOutside},
		{"traversal", uri + "/%2e%2e/%2e%2e/etc/passwd", files.Resource{}, files.ErrOutside},
		{"path", dir + "/a b.md", files.Resource{}, files.ErrInvalid},
		{"other scheme", "http://localhost" + dir, files.Resource{}, files.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.ReadURI(t.Context(), tt.in)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			equal(t, tt.want, got)
		})
	}
}

func TestCompletePath(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"one/doc/a.md": "", "one/doc/b.md": "", "one/double": "", "one/.env": "", "two/x": "", "one/inner/": "", "secret": ""})
	f := open(t, base+"/one", base+"/two", base+"/one/inner")
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"nothing yet", "", []string{"doc/", "double", "inner/"}},
		{"name", "do", []string{"doc/", "double"}},
		{"in a directory", "doc/", []string{"doc/a.md", "doc/b.md"}},
		{"in a directory, name", "doc/b", []string{"doc/b.md"}},
		{"hidden", ".", []string{".env"}},
		{"top", "/", []string{base + "/one/", base + "/two/", base + "/one/inner/"}},
		{"towards a root", base + "/t", []string{base + "/two/"}},
		{"root without slash", base + "/two", []string{base + "/two/"}},
		{"in a root", base + "/two/", []string{base + "/two/x"}},
		{"inner root once", base + "/one/i", []string{base + "/one/inner/"}},
		{"outside", base + "/sec", []string{}},
		{"traversal", "../sec", []string{}},
		{"missing", "none/x", []string{}},
		{"below a file", "double/", []string{}},
		{"NUL", "do\x00", []string{}},
		{"uri", "file:///", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, more, err := f.CompletePath(t.Context(), tt.in, 0)
			must(t, err)
			equal(t, tt.want, got)
			equal(t, false, more)
		})
	}
	got, more, err := f.CompletePath(t.Context(), "do", 1)
	must(t, err)
	equal(t, []string{"doc/"}, got)
	equal(t, true, more)
}

func TestCompletePath_bound(t *testing.T) {
	content := map[string]string{}
	for i := range 150 {
		content["f"+strconv.Itoa(1000+i)] = ""
	}
	got, more, err := open(t, tree(t, content)).CompletePath(t.Context(), "f", 1000)
	must(t, err)
	equal(t, 100, len(got))
	equal(t, true, more)
}
