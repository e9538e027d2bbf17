package skills_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/skills"
)

// serve registers the skills of a directory and returns a layer over them.
func serve(t *testing.T, o *skills.Options) *layer.Layer {
	t.Helper()
	reg := registry.New(nil)
	if err := open(t, o).Register(reg); err != nil {
		t.Fatal(err)
	}
	return layer.New(&layer.Options{Registry: reg})
}

func request() *layer.Request {
	return &layer.Request{Principal: policy.Local(), Version: protocol.LatestStateless}
}

// read reads a resource; the result is that of resources/read.
func read(t *testing.T, l *layer.Layer, uri string) (string, error) {
	t.Helper()
	res, err := l.ReadResource(t.Context(), request(), uri)
	if err != nil {
		return "", err
	}
	return "{" + string(res.AppendMembers(nil, protocol.LatestStateless)) + "}", nil
}

func TestReads(t *testing.T) {
	l := serve(t, &skills.Options{Dirs: []string{write(t, map[string]string{
		"acme/pdf/SKILL.md": manifest("pdf"), "acme/pdf/refs/a b.md": "line\r\n\u2028<x>\ufeff", "acme/pdf/empty.txt": "", "acme/pdf/data.json": "\xff\x00",
		"acme/pdf/pic.PNG": "\x89PNG\r\n\x1a\n", "acme/pdf/tool": "#!/bin/sh\n", "acme/pdf/nul.md": "a\x00b", "acme/pdf/text.png": "no picture", "acme/pdf/.env": "SECRET=1",
		"acme/pdf/inner/SKILL.md": "no skill",
	})}})
	text := func(uri, mime, quoted string) string {
		return `{"contents":[{"uri":"` + uri + `","mimeType":"` + mime + `","text":"` + quoted + `"}]}`
	}
	blob := func(uri, mime, data string) string {
		return `{"contents":[{"uri":"` + uri + `","mimeType":"` + mime + `","blob":"` + data + `"}]}`
	}
	tests := []struct {
		name, in, want string // empty: not found
	}{
		{"SKILL.md", "skill://acme/pdf/SKILL.md", text("skill://acme/pdf/SKILL.md", "text/markdown", `---\nname: pdf\ndescription: What pdf is for.\n---\n\nDo it.\n`)},
		{"text, byte for byte", "skill://acme/pdf/refs/a%20b.md", text("skill://acme/pdf/refs/a%20b.md", "text/markdown", "line\\r\\n\u2028<x>\ufeff")},
		{"empty", "skill://acme/pdf/empty.txt", text("skill://acme/pdf/empty.txt", "text/plain", "")},
		{"bytes", "skill://acme/pdf/data.json", blob("skill://acme/pdf/data.json", "application/octet-stream", "/wA=")},
		{"picture", "skill://acme/pdf/pic.PNG", blob("skill://acme/pdf/pic.PNG", "image/png", "iVBORw0KGgo=")},
		{"no extension", "skill://acme/pdf/tool", text("skill://acme/pdf/tool", "text/plain", `#!/bin/sh\n`)},
		{"NUL", "skill://acme/pdf/nul.md", blob("skill://acme/pdf/nul.md", "application/octet-stream", "YQBi")},
		{"text by the name of a picture", "skill://acme/pdf/text.png", text("skill://acme/pdf/text.png", "text/plain", "no picture")},
		{"a file that is no skill of its own", "skill://acme/pdf/inner/SKILL.md", text("skill://acme/pdf/inner/SKILL.md", "text/markdown", "no skill")},
		{"hidden", "skill://acme/pdf/.env", ""},
		{"missing", "skill://acme/pdf/missing.md", ""},
		{"directory", "skill://acme/pdf/refs", ""},
		{"skill directory", "skill://acme/pdf", ""},
		{"upwards", "skill://acme/pdf/refs/../SKILL.md", ""},
		{"upwards, encoded", "skill://acme/pdf/%2e%2e/%2e%2e/etc/passwd", ""},
		{"another skill", "skill://acme/doc/SKILL.md", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(t, l, tt.in)
			if tt.want == "" {
				wantError(t, err, protocol.CodeInvalidParams, "Resource not found: "+tt.in, `{"uri":"`+tt.in+`"}`)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, tt.want, got)
		})
	}
}

func TestListed(t *testing.T) {
	m := manifest("pdf")
	l := serve(t, &skills.Options{Dirs: []string{write(t, map[string]string{"acme/pdf/SKILL.md": m, "acme/pdf/x.md": "", "doc/SKILL.md": manifest("doc")})}})
	resources, err := l.AppendList([]byte("{"), policy.Resource, request(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, `{"resources":[`+
		`{"uri":"skill://acme/pdf/SKILL.md","name":"pdf","description":"What pdf is for.","mimeType":"text/markdown","size":56,"_meta":{"dev.cloudg/digest":"`+sum(m)+`"}},`+
		`{"uri":"skill://doc/SKILL.md","name":"doc","description":"What doc is for.","mimeType":"text/markdown","size":56,"_meta":{"dev.cloudg/digest":"`+sum(manifest("doc"))+`"}}]`,
		string(resources))
	templates, err := l.AppendList([]byte("{"), policy.ResourceTemplate, request(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, `{"resourceTemplates":[{"uriTemplate":"skill://acme/pdf/{+path}","name":"pdf files","description":"A file of the skill pdf, by its path in the directory of the skill."}]`,
		string(templates))
}

// TestEveryFileCanBeRead reads whatever an entry names.
func TestEveryFileCanBeRead(t *testing.T) {
	files := map[string]string{"one/SKILL.md": manifest("one"), "one/in/two/SKILL.md": manifest("two"), "one/in/two/x": "in both"}
	for c := rune(1); c < 0x180; c++ {
		if strings.ContainsRune("%\\/\x7f", c) || c < ' ' {
			continue
		}
		files["one/n"+string(c)+"/"+string(c)+"n.md"] = string(c)
	}
	for name := range files {
		if strings.HasPrefix(name, "one/n./.") {
			delete(files, name) // hidden
		}
	}
	dir := write(t, files)
	o := &skills.Options{Dirs: []string{dir}}
	l := serve(t, o)
	got, err := ask(t, open(t, o), "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	entries := decode[listResult](t, got).Skills
	equal(t, len(files), len(entries[0].Resources))
	for _, e := range entries {
		for _, f := range e.Resources {
			res, err := l.ReadResource(t.Context(), request(), f.URI)
			if err != nil {
				t.Errorf("%s: %v", f.URI, err)
				continue
			}
			text := res.Contents[0].Text
			equal(t, f.Digest, sum(text))
			equal(t, f.Size, int64(len(text)))
		}
	}
}

func TestChangedFiles(t *testing.T) {
	const message = "this file of the skill one is not what it was when the server started, so it has no valid digest: the server must be started again to serve it"
	outside := filepath.Join(write(t, map[string]string{"same": "text"}), "same")
	tests := []struct {
		name, file string
		change     func(file string) error
	}{
		{"other text of the same size", "x.md", func(f string) error { return os.WriteFile(f, []byte("Text"), 0o644) }},
		{"more text", "x.md", func(f string) error { return os.WriteFile(f, []byte("text and more"), 0o644) }},
		{"less text", "x.md", func(f string) error { return os.WriteFile(f, []byte("te"), 0o644) }},
		{"removed", "x.md", os.Remove},
		{"a link to the same text", "x.md", func(f string) error { return errors.Join(os.Remove(f), os.Symlink(outside, f)) }},
		{"a directory", "x.md", func(f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o755)) }},
		{"SKILL.md", "SKILL.md", func(f string) error { return os.WriteFile(f, []byte(manifest("one")+"more"), 0o644) }},
		{"its directory is a link", "sub/x.md", func(f string) error {
			d := filepath.Dir(f)
			return errors.Join(os.RemoveAll(d), os.Symlink(filepath.Dir(outside), d))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/x.md": "text", "one/sub/x.md": "text"})
			log, logged := logger()
			o := &skills.Options{Dirs: []string{dir}, Logger: log}
			l := serve(t, o)
			file := filepath.Join(dir, "one", filepath.FromSlash(tt.file))
			if err := tt.change(file); err != nil {
				t.Fatal(err)
			}
			_, err := read(t, l, "skill://one/"+tt.file)
			wantError(t, err, protocol.CodeInternal, message, "")
			if !strings.Contains(logged.String(), file) {
				t.Errorf("the log does not name the file: %s", logged)
			}
		})
	}
	t.Run("put back", func(t *testing.T) {
		dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/x.md": "text"})
		l := serve(t, &skills.Options{Dirs: []string{dir}})
		put(t, dir, map[string]string{"one/x.md": "other"})
		if _, err := read(t, l, "skill://one/x.md"); err == nil {
			t.Error("the changed file was served")
		}
		put(t, dir, map[string]string{"one/x.md": "text"})
		if _, err := read(t, l, "skill://one/x.md"); err != nil {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		dir := write(t, map[string]string{"one/SKILL.md": manifest("one")})
		s, err := skills.Open(&skills.Options{Dirs: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		reg := registry.New(nil)
		if err := errors.Join(s.Register(reg), s.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = read(t, layer.New(&layer.Options{Registry: reg}), "skill://one/SKILL.md")
		wantError(t, err, protocol.CodeInternal, message, "")
	})
}

// TestFilesAddedLater checks that a set is what it was when it was opened.
func TestFilesAddedLater(t *testing.T) {
	dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/x.md": "text"})
	o := &skills.Options{Dirs: []string{dir}}
	s, l := open(t, o), serve(t, o)
	before, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"one/new.md": "new", "two/SKILL.md": manifest("two")})
	after, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, before, after)
	if _, err := read(t, l, "skill://one/new.md"); err == nil {
		t.Error("a file that no entry names was served")
	}
}

func TestCompletion(t *testing.T) {
	files := map[string]string{"one/SKILL.md": manifest("one"), "one/refs/api.md": "", "one/refs/a b.md": "", "one/other.md": ""}
	l := serve(t, &skills.Options{Dirs: []string{write(t, files)}})
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", []string{"other.md", "refs/a%20b.md", "refs/api.md"}},
		{"a directory", "refs/", []string{"refs/a%20b.md", "refs/api.md"}},
		{"encoded", "refs/a%20", []string{"refs/a%20b.md"}},
		{"none", "x", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := l.CompleteResource(t.Context(), request(), "skill://one/{+path}", &layer.CompletionRequest{Argument: "path", Value: tt.in})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, &protocol.Completion{Values: tt.want, Total: len(tt.want)}, got)
		})
	}
	t.Run("many", func(t *testing.T) {
		l := serve(t, &skills.Options{Dirs: []string{write(t, many(150))}})
		got, err := l.CompleteResource(t.Context(), request(), "skill://one/{+path}", &layer.CompletionRequest{Argument: "path"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, protocol.MaxCompletionValues, len(got.Values))
		equal(t, 150, got.Total)
		equal(t, true, got.More)
	})
}

// never is a handler that is not called.
func never(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
	return nil, errors.New("called")
}

func TestRegisterIsAllOrNothing(t *testing.T) {
	s := open(t, &skills.Options{Dirs: []string{write(t, map[string]string{
		"a/SKILL.md": manifest("a"), "a/x": "", "b/SKILL.md": manifest("b"), "b/x": "",
	})}})
	reg := registry.New(nil)
	taken := registry.Template{URITemplate: "skill://b/{+path}", Name: "taken", Handler: never}
	if err := reg.AddTemplate(taken); err != nil {
		t.Fatal(err)
	}
	err := s.Register(reg)
	if err == nil || !strings.Contains(err.Error(), "skill://b/{+path}") {
		t.Errorf("got %v, want an error that names what was taken", err)
	}
	snap := reg.Snapshot()
	equal(t, 0, len(snap.Resources))
	equal(t, 1, len(snap.Templates))
}

func TestParallelUse(t *testing.T) {
	dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/x.md": "text"})
	o := &skills.Options{Dirs: []string{dir}}
	s, l := open(t, o), serve(t, o)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := read(t, l, "skill://one/x.md"); err != nil {
					t.Error(err)
				}
				if _, err := ask(t, s, "skills/get", &skills.Query{URI: quote("skill://one/SKILL.md")}); err != nil {
					t.Error(err)
				}
				if _, err := ask(t, s, "skills/list", &skills.Query{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
