package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func found(out files.FindFilesOut) []string {
	list := []string{}
	for _, e := range out.Entries {
		list = append(list, e.Path)
	}
	return list
}

func TestFindFiles(t *testing.T) {
	needUnix(t)
	dir := tree(t, map[string]string{
		"main.go": "123", "Main.GO": "1", "empty": "", ".env": "SECRET=1",
		"src/a.go": "12345", "src/a_test.go": "1234567", "src/inner/b.go": "12",
		"node_modules/x/index.go": "x", "docs/read.md": "1",
		"link.go": "-> main.go",
	})
	must(t, os.Chtimes(filepath.Join(dir, "src/a.go"), time.Now(), time.Now().Add(-time.Hour)))
	f := open(t, dir)
	zero, two := int64(0), int64(2)
	tests := []struct {
		name string
		in   files.FindFilesIn
		want []string
	}{
		{"name", files.FindFilesIn{Pattern: "*.go", Kind: "file"}, []string{"main.go", "node_modules/x/index.go", "src/a.go", "src/a_test.go", "src/inner/b.go"}},
		{"path", files.FindFilesIn{Pattern: "src/*.go"}, []string{"src/a.go", "src/a_test.go"}},
		{"any depth", files.FindFilesIn{Pattern: "src/**/*.go"}, []string{"src/a.go", "src/a_test.go", "src/inner/b.go"}},
		{"exclude", files.FindFilesIn{Pattern: "*.go", Exclude: []string{"node_modules", "*_test.go"}}, []string{"link.go", "main.go", "src/a.go", "src/inner/b.go"}},
		{"exclude below", files.FindFilesIn{Exclude: []string{"src/**", "node_modules/**", "*.go"}}, []string{"Main.GO", "docs", "docs/read.md", "empty"}},
		{"case", files.FindFilesIn{Pattern: "MAIN.*", IgnoreCase: true}, []string{"Main.GO", "main.go"}},
		{"directories", files.FindFilesIn{Kind: "directory"}, []string{"docs", "node_modules", "node_modules/x", "src", "src/inner"}},
		{"links", files.FindFilesIn{Kind: "symlink"}, []string{"link.go"}},
		{"empty files", files.FindFilesIn{MaxBytes: &zero}, []string{"empty"}},
		{"sizes", files.FindFilesIn{MinBytes: 2, MaxBytes: &two}, []string{"src/inner/b.go"}},
		{"newer", files.FindFilesIn{NewerThan: "2h", Kind: "file"}, []string{"src/a.go"}},
		{"older", files.FindFilesIn{OlderThan: "30m", Kind: "file", Pattern: "a*"}, []string{"src/a.go", "src/a_test.go"}},
		{"days", files.FindFilesIn{OlderThan: "1d", Kind: "file", Pattern: "a*"}, []string{"src/a_test.go"}},
		{"after a date", files.FindFilesIn{ModifiedAfter: "2020-01-03", Kind: "file"}, []string{"src/a.go"}},
		{"the very time", files.FindFilesIn{ModifiedAfter: oldStamp, ModifiedBefore: "2020-01-02T03:04:06Z", Pattern: "main.go"}, []string{"main.go"}},
		{"before excludes the time", files.FindFilesIn{ModifiedBefore: oldStamp}, []string{}},
		{"hidden by pattern", files.FindFilesIn{Pattern: ".env*"}, []string{".env"}},
		{"below", files.FindFilesIn{Path: "src", Pattern: "inner/*"}, []string{"src/inner/b.go"}},
		{"depth", files.FindFilesIn{Pattern: "*.go", MaxDepth: 1, Kind: "file"}, []string{"main.go"}},
		{"largest", files.FindFilesIn{Sort: "size", Limit: 2, Kind: "file"}, []string{"src/a_test.go", "src/a.go"}},
		{"largest, page 2", files.FindFilesIn{Sort: "size", Limit: 2, Offset: 2, Kind: "file"}, []string{"main.go", "src/inner/b.go"}},
		{"newest", files.FindFilesIn{Sort: "modified", Limit: 1, Kind: "file"}, []string{"src/a.go"}},
		{"page", files.FindFilesIn{Pattern: "*.go", Kind: "file", Limit: 2, Offset: 1}, []string{"node_modules/x/index.go", "src/a.go"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.FindFiles(t.Context(), tt.in)
			must(t, err)
			equal(t, tt.want, found(got))
		})
	}
	page, err := f.FindFiles(t.Context(), files.FindFilesIn{Pattern: "*.go", Kind: "file", Limit: 2})
	must(t, err)
	equal(t, []int{5, 2}, []int{page.Total, page.NextOffset})
}

func TestFindFiles_refuses(t *testing.T) {
	f := open(t, tree(t, map[string]string{"file": ""}))
	one := int64(1)
	tests := []struct {
		name string
		in   files.FindFilesIn
		want string
	}{
		{"duration", files.FindFilesIn{NewerThan: "soon"}, `newer_than must be a duration like 30m or 12h or 7d or 2w, not "soon"`},
		{"negative", files.FindFilesIn{OlderThan: "-1h"}, `older_than must be a duration like 30m or 12h or 7d or 2w, not "-1h"`},
		{"not a number", files.FindFilesIn{OlderThan: "NaNd"}, `older_than must be a duration like 30m or 12h or 7d or 2w, not "NaNd"`},
		{"time", files.FindFilesIn{ModifiedAfter: "yesterday"}, `modified_after must be a time like 2026-01-31T08:00:00Z or a date like 2026-01-31, not "yesterday"`},
		{"sizes", files.FindFilesIn{MinBytes: 2, MaxBytes: &one}, "min_bytes must be at least 0 and max_bytes at least min_bytes"},
		{"kind", files.FindFilesIn{Kind: "socket"}, `kind must be one of ["any" "file" "directory" "symlink"], not "socket"`},
		{"window", files.FindFilesIn{Offset: 99_999, Limit: 2}, "offset and limit together must be at most 100000; narrow the pattern instead"},
		{"file", files.FindFilesIn{Path: "file"}, `"file" is not a directory; read_file reads it and file_info describes it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.FindFiles(t.Context(), tt.in)
			equal(t, tt.want, text(err))
		})
	}
}

// TestFindFiles_topOfMany keeps only the best results while it walks through more than twice the window.
func TestFindFiles_topOfMany(t *testing.T) {
	content := map[string]string{}
	for i := range 50 {
		content[string(rune('a'+i%26))+string(rune('a'+i/26))] = string(make([]byte, (i*37)%50))
	}
	got, err := open(t, tree(t, content)).FindFiles(t.Context(), files.FindFilesIn{Sort: "size", Limit: 3, Offset: 1})
	must(t, err)
	sizes := []int64{}
	for _, e := range got.Entries {
		sizes = append(sizes, e.SizeBytes)
	}
	equal(t, []int64{48, 47, 46}, sizes)
	equal(t, 50, got.Total)
}

// countdown is a context that ends after it has been asked a number of times: cancellation in the middle of a loop.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancellation_middleOfWork(t *testing.T) {
	content := map[string]string{}
	for i := range 40 {
		content["d"+string(rune('a'+i%4))+"/f"+string(rune('a'+i))] = "text\n"
	}
	f := open(t, tree(t, content))
	operations := map[string]func(context.Context) error{
		"list": func(ctx context.Context) error {
			_, err := f.ListDirectory(ctx, files.ListDirectoryIn{Depth: 5})
			return err
		},
		"find": func(ctx context.Context) error {
			_, err := f.FindFiles(ctx, files.FindFilesIn{Pattern: "*"})
			return err
		},
		"search": func(ctx context.Context) error {
			_, err := f.SearchText(ctx, files.SearchTextIn{Pattern: "text"}, nil)
			return err
		},
		"read": func(ctx context.Context) error {
			_, err := f.ReadFiles(ctx, files.ReadFilesIn{Paths: []string{"da/fa", "db/fb", "dc/fc", "dd/fd"}})
			return err
		},
		"hash": func(ctx context.Context) error {
			_, err := f.FileInfo(ctx, files.FileInfoIn{Path: "da/fa", SHA256: true})
			return err
		},
		"complete": func(ctx context.Context) error {
			_, _, err := f.CompletePath(ctx, "d", 0)
			return err
		},
	}
	for name, operation := range operations {
		for calls := 0; ; calls++ {
			err := operation(&countdown{Context: context.Background(), left: calls})
			if err == nil {
				if calls == 0 {
					t.Errorf("%s does not look at its context", name)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
