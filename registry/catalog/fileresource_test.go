package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
)

func TestFileResource(t *testing.T) {
	r := writable(t, map[string]string{"a b.txt": "one\n", "blob.bin": "\x00\x01", "pic.png": png, "sub/c": "x"})
	base := "file://" + uriPath(r.dir)
	tests := []struct {
		name, in string
		want     protocol.ResourceContents
	}{
		{"text", base + "/a%20b.txt", protocol.ResourceContents{MIMEType: "text/plain", Text: "one\n"}},
		{"bytes", base + "/blob.bin", protocol.ResourceContents{MIMEType: "application/octet-stream", Blob: []byte("\x00\x01")}},
		{"image", base + "/pic.png", protocol.ResourceContents{MIMEType: "image/png", Blob: []byte(png)}},
		{"directory", base + "/sub", protocol.ResourceContents{MIMEType: "inode/directory", Text: base + "/sub/c\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.layer.ReadResource(t.Context(), r.req, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.URI = tt.in
			equal(t, []protocol.ResourceContents{tt.want}, got.Contents)
		})
	}
}

// TestFileResource_notFound shows that all that cannot be read has one answer:
// that of a URI which nothing serves.
func TestFileResource_notFound(t *testing.T) {
	r := writable(t, map[string]string{"a.txt": "x"})
	outside := tree(t, map[string]string{"secret": "x"})
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(r.dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	base, away := "file://"+uriPath(r.dir), "file://"+uriPath(outside)
	for _, uri := range []string{
		base + "/missing", base + "/a.txt/below", base + "/link", away + "/secret", away + "/missing",
		base + "/../" + filepath.Base(outside) + "/secret", base + "/%2e%2e/x", base + "/a.txt%00", "file:///", "file:///etc/passwd",
	} {
		_, err := r.layer.ReadResource(t.Context(), r.req, uri)
		var wire *protocol.Error
		if !errors.As(err, &wire) {
			t.Errorf("%s: want an error for the peer, got %v", uri, err)
			continue
		}
		var want *protocol.Error
		errors.As(r.layer.NotFound(r.req, uri), &want)
		equal(t, want, wire)
	}
}

func TestFileResource_tooLarge(t *testing.T) {
	r := writable(t, map[string]string{"big": strings.Repeat("x", 10<<20+1)})
	_, err := r.layer.ReadResource(t.Context(), r.req, "file://"+uriPath(r.dir)+"/big")
	if err == nil {
		t.Fatal("there is no error")
	}
	contains(t, err.Error(), "read_file reads it in parts")
}

func TestFileResource_completion(t *testing.T) {
	r := writable(t, map[string]string{"docs/a b.txt": "", "docs/100%#?.txt": "", "docs/sub/x": "", "data": ""})
	dir := strings.TrimPrefix(uriPath(r.dir), "/")
	tests := []struct {
		name, in string
		want     []string
	}{
		{"to the root", dir[:len(dir)-1], []string{dir + "/"}},
		{"in the root", dir + "/d", []string{dir + "/data", dir + "/docs/"}},
		{"encoded", dir + "/docs/", []string{dir + "/docs/100%25%23%3F.txt", dir + "/docs/a%20b.txt", dir + "/docs/sub/"}},
		{"typed encoded", dir + "/docs/a%20", []string{dir + "/docs/a%20b.txt"}},
		{"typed plain", dir + "/docs/a ", []string{dir + "/docs/a%20b.txt"}},
		{"a percent sign", dir + "/docs/100%", []string{dir + "/docs/100%25%23%3F.txt"}},
		{"outside", "etc/pass", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.layer.CompleteResource(t.Context(), r.req, "file:///{+path}", &layer.CompletionRequest{Argument: "path", Value: tt.in})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, tt.want, got.Values)
			for _, v := range got.Values {
				if _, err := r.layer.ReadResource(t.Context(), r.req, "file:///"+v); err != nil {
					t.Errorf("%s cannot be read: %v", v, err)
				}
			}
		})
	}
}
