package files_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// TestA107_confinement nails down that nothing outside the roots can be reached or told apart (servers#1845).
func TestA107_confinement(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{
		"root/in.txt":           "inside",
		"root/sub/deep.txt":     "deep",
		"root/with space.txt":   "space",
		"root/%2e%2e":           "a literal name",
		"root/good":             "-> sub/deep.txt",
		"root/gooddir":          "-> sub",
		"root/up":               "-> ../secret.txt",
		"root/updir":            "-> ..",
		"root/self":             "-> /proc/self/root",
		"root/loop":             "-> loop",
		"root/dangling":         "-> nowhere",
		"root/sub/back":         "-> ../in.txt",
		"secret.txt":            "secret",
		"root-sibling/file.txt": "secret",
	})
	root := filepath.Join(base, "root")
	must(t, os.Symlink(filepath.Join(base, "secret.txt"), filepath.Join(root, "abs")))
	must(t, os.Symlink(filepath.Join(root, "in.txt"), filepath.Join(root, "absinside")))
	f := open(t, root)

	tests := []struct {
		name string
		in   string
		want string
		err  error
	}{
		{"relative", "in.txt", "inside", nil},
		{"absolute", root + "/in.txt", "inside", nil},
		{"uri", "file://" + root + "/in.txt", "inside", nil},
		{"uri with localhost", "FILE://localhost" + root + "/in.txt", "inside", nil},
		{"uri with one slash", "file:" + root + "/in.txt", "inside", nil},
		{"uri encoded", "file://" + root + "/with%20space.txt", "space", nil},
		{"dots inside", "sub/../in.txt", "inside", nil},
		{"out and in again", "../root/in.txt", "inside", nil},
		{"double slash", "sub//deep.txt", "deep", nil},
		{"link inside", "good", "deep", nil},
		{"directory link inside", "gooddir/deep.txt", "deep", nil},
		{"link up but inside", "sub/back", "inside", nil},
		{"encoded dots are a name in a path", "%2e%2e", "a literal name", nil},
		{"proc alias of the root", "/proc/self/root" + root + "/in.txt", "", files.ErrOutside},
		{"parent", "../secret.txt", "", files.ErrOutside},
		{"parent of a child", "sub/../../secret.txt", "", files.ErrOutside},
		{"many parents", strings.Repeat("../", 60) + "etc/passwd", "", files.ErrOutside},
		{"absolute outside", "/etc/passwd", "", files.ErrOutside},
		{"sibling with the same beginning", base + "/root-sibling/file.txt", "", files.ErrOutside},
		{"encoded dots in a uri", "file://" + root + "/%2e%2e/secret.txt", "", files.ErrOutside},
		{"encoded slash in a uri", "file://" + root + "/..%2fsecret.txt", "", files.ErrOutside},
		{"doubly encoded dots are a name", "file://" + root + "/%252e%252e/secret.txt", "", files.ErrKind},
		{"link out", "up", "", files.ErrOutside},
		{"absolute link out", "abs", "", files.ErrOutside},
		{"absolute link inside", "absinside", "", files.ErrOutside},
		{"directory link out", "updir/secret.txt", "", files.ErrOutside},
		{"directory link out, nothing there", "updir/nothing.txt", "", files.ErrOutside},
		{"directory link to proc", "self/etc/passwd", "", files.ErrOutside},
		{"loop", "loop", "", files.ErrInvalid},
		{"dangling", "dangling", "", files.ErrNotFound},
		{"missing", "nothing.txt", "", files.ErrNotFound},
		{"below a file", "in.txt/x", "", files.ErrKind},
		{"NUL", "in.txt\x00", "", files.ErrInvalid},
		{"NUL in a uri", "file://" + root + "/in.txt%00", "", files.ErrInvalid},
		{"long path", strings.Repeat("a/", 3000), "", files.ErrInvalid},
		{"long name", strings.Repeat("a", 300), "", files.ErrInvalid},
		{"backslash is a character here", `..\secret.txt`, "", files.ErrNotFound},
		{"drive is a name here", `C:\Windows\win.ini`, "", files.ErrNotFound},
		{"device name is a name here", "CON", "", files.ErrNotFound},
		{"other host", "file://host" + root + "/in.txt", "", files.ErrInvalid},
		{"query", "file://" + root + "/in.txt?x", "", files.ErrInvalid},
		{"fragment", "file://" + root + "/in.txt#x", "", files.ErrInvalid},
		{"bad escape", "file://" + root + "/%zz", "", files.ErrInvalid},
		{"other scheme is a name", "http://example.com/x", "", files.ErrNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.ReadFile(t.Context(), files.ReadFileIn{Path: tt.in})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			equal(t, tt.want, got.Text)
			if err != nil && strings.Contains(err.Error(), "secret\n") {
				t.Errorf("the error shows content: %v", err)
			}
		})
	}
}

// TestConfinement_everyOperation sends the same paths through every operation: none may succeed or change anything.
func TestConfinement_everyOperation(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{
		"root/in.txt":       "inside",
		"root/up":           "-> ..",
		"root/leak":         "-> ../outside/file.txt",
		"outside/file.txt":  "secret",
		"outside/empty/":    "",
		"outside/more/x.md": "secret",
	})
	f := open(t, filepath.Join(base, "root"))
	before := snapshot(t, base)
	operations := map[string]func(ctx context.Context, p string) error{
		"list": func(ctx context.Context, p string) error {
			_, err := f.ListDirectory(ctx, files.ListDirectoryIn{Path: p})
			return err
		},
		"find": func(ctx context.Context, p string) error {
			_, err := f.FindFiles(ctx, files.FindFilesIn{Path: p})
			return err
		},
		"search": func(ctx context.Context, p string) error {
			_, err := f.SearchText(ctx, files.SearchTextIn{Path: p, Pattern: "."}, nil)
			return err
		},
		"read": func(ctx context.Context, p string) error {
			_, err := f.ReadFile(ctx, files.ReadFileIn{Path: p, Encoding: "base64"})
			return err
		},
		"info": func(ctx context.Context, p string) error {
			_, err := f.FileInfo(ctx, files.FileInfoIn{Path: p})
			return err
		},
		"create": func(ctx context.Context, p string) error {
			_, err := f.WriteFile(ctx, files.WriteFileIn{Path: p, Content: "x"})
			return err
		},
		"overwrite": func(ctx context.Context, p string) error {
			_, err := f.WriteFile(ctx, files.WriteFileIn{Path: p, Content: "x", Mode: "overwrite"})
			return err
		},
		"edit": func(ctx context.Context, p string) error {
			_, err := f.EditFile(ctx, files.EditFileIn{Path: p, Edits: []files.Edit{{OldText: "secret", NewText: "x"}}})
			return err
		},
		"mkdir": func(ctx context.Context, p string) error {
			_, err := f.MakeDirectory(ctx, files.MakeDirectoryIn{Path: p + "/new"})
			return err
		},
		"move away": func(ctx context.Context, p string) error {
			_, err := f.MoveFile(ctx, files.MoveFileIn{Source: p, Destination: "stolen"})
			return err
		},
		"move there": func(ctx context.Context, p string) error {
			_, err := f.MoveFile(ctx, files.MoveFileIn{Source: "in.txt", Destination: p, Overwrite: true})
			return err
		},
		"delete": func(ctx context.Context, p string) error {
			_, err := f.DeleteFile(ctx, files.DeleteFileIn{Path: p, Recursive: true})
			return err
		},
		"resource": func(ctx context.Context, p string) error {
			_, err := f.ReadURI(ctx, "file://"+path.Join(base, "root", p))
			return err
		},
	}
	paths := []string{"../outside", "../outside/file.txt", "../outside/missing", "up/outside/file.txt", "up/outside/empty", "up/outside/missing"}
	for name, operation := range operations {
		for _, p := range paths {
			err := operation(t.Context(), p)
			if !errors.Is(err, files.ErrOutside) {
				t.Errorf("%s of %q: error %v, want ErrOutside", name, p, err)
			}
		}
	}
	equal(t, before, snapshot(t, base))
	equal(t, "secret", content(t, base, "outside/file.txt"))
}

// TestOutside_sameAnswer compares the answers for what exists outside and what does not.
func TestOutside_sameAnswer(t *testing.T) {
	needUnix(t)
	base := tree(t, map[string]string{"root/updir": "-> ../there", "there/aaaa": "x", "there/dddd/": ""})
	f := open(t, filepath.Join(base, "root"))
	for _, prefix := range []string{"../there/", base + "/there/", "file://" + base + "/there/", "updir/"} {
		answers := map[string]bool{}
		for _, name := range []string{"aaaa", "zzzz", "dddd"} {
			_, err := f.FileInfo(t.Context(), files.FileInfoIn{Path: prefix + name})
			answers[strings.ReplaceAll(text(err), name, "NAME")] = true
			completions, more, err := f.CompletePath(t.Context(), prefix+name[:1], 0)
			if len(completions) != 0 || more || err != nil {
				t.Errorf("completion outside: %q %v %v", completions, more, err)
			}
		}
		if len(answers) != 1 {
			t.Errorf("answers for %q differ: %v", prefix, answers)
		}
	}
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name    string
		windows bool
		base    string
		in      string
		want    string
		err     bool
	}{
		{"unix relative", false, "/r", "a/../b", "/r/b", false},
		{"unix root", false, "/", "x", "/x", false},
		{"unix absolute", false, "/r", "/x//y/.", "/x/y", false},
		{"unix uri", false, "/r", "file:///a%20b", "/a b", false},
		{"relative name like a uri", false, "/r", "file:x", "/r/file:x", false},
		{"windows relative", true, "C:/r", `a\b`, "C:/r/a/b", false},
		{"windows dots", true, "C:/r", `..\..\..\x`, "C:/x", false},
		{"windows absolute", true, "C:/r", `c:\X\y`, "c:/X/y", false},
		{"windows uri", true, "C:/r", "file:///c:/x%20y", "c:/x y", false},
		{"windows share", true, "C:/r", `\\srv\share\x`, "//srv/share/x", false},
		{"windows share uri", true, "C:/r", "file://srv/share/x", "//srv/share/x", false},
		{"windows verbatim", true, "C:/r", `\\?\C:\r\x`, "C:/r/x", false},
		{"windows drive without slash", true, "C:/r", "C:x", "", true},
		{"windows rooted", true, "C:/r", `\x`, "/x", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := files.Resolve(tt.windows, tt.base, tt.in)
			if (err != nil) != tt.err {
				t.Fatalf("error %v", err)
			}
			equal(t, tt.want, got)
		})
	}
}

func TestUnder(t *testing.T) {
	tests := []struct {
		name    string
		windows bool
		dir, in string
		want    string
		ok      bool
	}{
		{"itself", false, "/r", "/r", ".", true},
		{"child", false, "/r", "/r/a/b", "a/b", true},
		{"file system root", false, "/", "/a", "a", true},
		{"longer name", false, "/r", "/rr", "", false},
		{"case counts", false, "/r", "/R/a", "", false},
		{"A107 drive case", true, "C:/r", "c:/R/Ab", "Ab", true},
		{"other drive", true, "C:/r", "D:/r/a", "", false},
		{"share is no path", true, "//srv/share", "/srv/share/x", "", false},
		{"share", true, "//srv/share", "//SRV/share/x", "x", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := files.Under(tt.windows, tt.dir, tt.in)
			equal(t, tt.want, got)
			equal(t, tt.ok, ok)
		})
	}
}

func TestFileURI(t *testing.T) {
	equal(t, "file:///a%20b/%23%3F%25", files.FileURI(false, "/a b/#?%"))
	equal(t, "file:///C:/x", files.FileURI(true, "C:/x"))
	equal(t, "file://srv/share/x", files.FileURI(true, "//srv/share/x"))
}

// FuzzResolve: whatever comes in, what comes out is clean and absolute, and a URI made of it leads back.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"a", "../..", "/etc", "file:///x%2e%2e", `C:\x`, `\\?\C:\..`, "file:////x", "//a/b", "c:/", "%00", strings.Repeat("\xc1", 2000)} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, input string, windows bool) {
		base := "/base/dir"
		if windows {
			base = "C:/base/dir"
		}
		abs, err := files.Resolve(windows, base, input)
		if err != nil {
			return
		}
		rel, inside := files.Under(windows, base, abs)
		if !inside {
			return
		}
		if rel != path.Clean(rel) || rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, "/") {
			t.Fatalf("%q resolves to %q, which is not clean below the root", input, rel)
		}
		again, err := files.Resolve(windows, base, files.FileURI(windows, base+"/"+rel))
		want := path.Join(base, rel)
		if len(want) > 4096 {
			return // the root's name made it too long
		}
		if err != nil || again != want {
			t.Fatalf("%q: the URI of %q leads to %q (%v)", input, want, again, err)
		}
	})
}

// FuzzConfinement reads through arbitrary paths in a real tree with links of every kind: the secret never comes out.
func FuzzConfinement(f *testing.F) {
	for _, seed := range []string{"in.txt", "up", "updir/secret.txt", "../secret.txt", "sub/../updir/./secret.txt", "file:///%2e%2e"} {
		f.Add(seed)
	}
	base := f.TempDir()
	root := filepath.Join(base, "root")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(root, "sub"), 0o755),
		os.WriteFile(filepath.Join(root, "in.txt"), []byte("inside"), 0o644),
		os.WriteFile(filepath.Join(base, "secret.txt"), []byte("SECRET"), 0o644),
	); err != nil {
		f.Fatal(err)
	}
	for link, target := range map[string]string{"up": "../secret.txt", "updir": "..", "sub/abs": base} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			f.Skip("needs symbolic links")
		}
	}
	opened, err := files.Open(files.Options{Roots: []string{root}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = opened.Close() })
	f.Fuzz(func(t *testing.T, input string) {
		for _, p := range []string{input, root + "/" + input, "file://" + (&url.URL{Path: root + "/" + input}).EscapedPath()} {
			got, err := opened.ReadFile(t.Context(), files.ReadFileIn{Path: p})
			if err == nil && got.Text != "inside" {
				t.Fatalf("%q reads %q", p, got.Text)
			}
			if info, err := opened.FileInfo(t.Context(), files.FileInfoIn{Path: p}); err == nil && info.SizeBytes == int64(len("SECRET")) && info.Path != "in.txt" {
				t.Fatalf("%q describes %q", p, info.Path)
			}
		}
	})
}
