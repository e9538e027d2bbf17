package skills_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/skills"
)

// sum returns a digest as entries have it.
func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(s[:])
}

// wantError checks a protocol error.
func wantError(t *testing.T, err error, code int, message, data string) {
	t.Helper()
	var e *protocol.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a protocol error", err)
	}
	equal(t, code, e.Code)
	equal(t, message, e.Message)
	equal(t, data, string(e.Data))
}

func TestEntry(t *testing.T) {
	head := "---\nname: pdf-tools\ndescription: |-\n  Text <out> of\n  PDF.\nmetadata:\n  version: \"1.20\"\n  list: [1, 2.50, ~, yes]\n---\nText.\n"
	dir := write(t, map[string]string{
		"acme/pdf-tools/SKILL.md":            head,
		"acme/pdf-tools/references/api.md":   "# API\n",
		"acme/pdf-tools/a file (1)+ä.txt":    "",
		"acme/pdf-tools/scripts/.hidden":     "x",
		"acme/pdf-tools/scripts/nested/x.sh": "#!/bin/sh\n",
	})
	s := open(t, &skills.Options{Dirs: []string{dir}})
	want := `{"uri":"skill://acme/pdf-tools/SKILL.md",` +
		`"frontmatter":{"name":"pdf-tools","description":"Text <out> of\nPDF.","metadata":{"version":"1.20","list":[1,2.50,null,"yes"]}},` +
		`"resources":[` +
		`{"uri":"skill://acme/pdf-tools/SKILL.md","digest":"` + sum(head) + `","size":` + strconv.Itoa(len(head)) + `},` +
		`{"uri":"skill://acme/pdf-tools/a%20file%20%281%29%2B%C3%A4.txt","digest":"` + sum("") + `","size":0},` +
		`{"uri":"skill://acme/pdf-tools/references/api.md","digest":"` + sum("# API\n") + `","size":6},` +
		`{"uri":"skill://acme/pdf-tools/scripts/nested/x.sh","digest":"` + sum("#!/bin/sh\n") + `","size":10}]}`
	list, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, `{"skills":[`+want+`]}`, list)
	for _, uri := range []string{"skill://acme/pdf-tools/SKILL.md", "skill://acme/pdf%2dtools/SKILL%2emd"} {
		one, err := ask(t, s, "skills/get", &skills.Query{URI: quote(uri)})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, `{"skill":`+want+`}`, one)
	}
}

func TestNestedSkillBelongsToBoth(t *testing.T) {
	dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/parts/two/SKILL.md": manifest("two"), "one/parts/two/x/y.md": "y", "one/z.md": ""})
	s := open(t, &skills.Options{Dirs: []string{dir}})
	got, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]string)
	for _, e := range decode[listResult](t, got).Skills {
		for _, r := range e.Resources {
			files[e.URI] = append(files[e.URI], r.URI)
		}
	}
	equal(t, map[string][]string{
		"skill://one/SKILL.md":           {"skill://one/SKILL.md", "skill://one/parts/two/SKILL.md", "skill://one/parts/two/x/y.md", "skill://one/z.md"},
		"skill://one/parts/two/SKILL.md": {"skill://one/parts/two/SKILL.md", "skill://one/parts/two/x/y.md"},
	}, files)
}

func TestGetErrors(t *testing.T) {
	s := open(t, &skills.Options{Dirs: []string{write(t, map[string]string{"one/SKILL.md": manifest("one"), "one/x/SKILL.md": "no skill"})}})
	long := "skill://" + strings.Repeat("ä", 150)
	tests := []struct {
		name, in, message, data string
	}{
		{"none", "", "skills/get: params.uri must be a string", ""},
		{"no string", "7", "skills/get: params.uri must be a string", ""},
		{"unknown", `"skill://two/SKILL.md"`, "No skill is served at skill://two/SKILL.md", `{"uri":"skill://two/SKILL.md"}`},
		{"the directory", `"skill://one"`, "No skill is served at skill://one", `{"uri":"skill://one"}`},
		{"no skill of its own", `"skill://one/x/SKILL.md"`, "No skill is served at skill://one/x/SKILL.md", `{"uri":"skill://one/x/SKILL.md"}`},
		{"another scheme", `"file://one/SKILL.md"`, "No skill is served at file://one/SKILL.md", `{"uri":"file://one/SKILL.md"}`},
		{"dots", `"skill://one/../one/SKILL.md"`, "No skill is served at skill://one/../one/SKILL.md", `{"uri":"skill://one/../one/SKILL.md"}`},
		{"slash that is encoded", `"skill://one%2FSKILL.md"`, "No skill is served at skill://one%2FSKILL.md", `{"uri":"skill://one%2FSKILL.md"}`},
		{"broken escape", `"skill://one/%zz"`, "No skill is served at skill://one/%zz", `{"uri":"skill://one/%zz"}`},
		{"nothing in it", `""`, "No skill is served at ", `{"uri":""}`},
		{"long", `"` + long + `"`, "No skill is served at skill://" + strings.Repeat("ä", 96) + "…", `{"uri":"` + long + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ask(t, s, "skills/get", &skills.Query{URI: []byte(tt.in)})
			wantError(t, err, protocol.CodeInvalidParams, tt.message, tt.data)
		})
	}
}

func TestDirectories(t *testing.T) {
	dir := write(t, map[string]string{
		"acme/pdf/SKILL.md": manifest("pdf"), "acme/pdf/refs/api.md": "api", "acme/pdf/refs/deep/x.png": "\x89PNG\x00", "acme/pdf/empty/": "",
		"acme/more/doc/SKILL.md": manifest("doc"), "acme/pdf/inner/SKILL.md": manifest("inner"), "acme/readme.txt": "not part of a skill",
	})
	s := open(t, &skills.Options{Dirs: []string{dir}})
	child := func(uri, name, mime, text string) string {
		return `{"uri":"` + uri + `","name":"` + name + `","mimeType":"` + mime + `","size":` + strconv.Itoa(len(text)) + `,"_meta":{"dev.cloudg/digest":"` + sum(text) + `"}}`
	}
	folder := func(uri, name string) string {
		return `{"uri":"` + uri + `","name":"` + name + `","mimeType":"inode/directory"}`
	}
	skill := func(uri, name string) string {
		text := manifest(name)
		return `{"uri":"` + uri + `","name":"` + name + `","description":"What ` + name + ` is for.","mimeType":"text/markdown","size":` + strconv.Itoa(len(text)) + `,"_meta":{"dev.cloudg/digest":"` + sum(text) + `"}}`
	}
	tests := []struct {
		name, in string
		want     []string // nil: there is no such directory
	}{
		{"a skill", "skill://acme/pdf", []string{skill("skill://acme/pdf/SKILL.md", "pdf"), folder("skill://acme/pdf/empty", "empty"), folder("skill://acme/pdf/inner", "inner"), folder("skill://acme/pdf/refs", "refs")}},
		{"a directory in it", "skill://acme/pdf/refs", []string{child("skill://acme/pdf/refs/api.md", "api.md", "text/markdown", "api"), folder("skill://acme/pdf/refs/deep", "deep")}},
		{"deeper", "skill://acme/pdf/refs/deep", []string{child("skill://acme/pdf/refs/deep/x.png", "x.png", "image/png", "\x89PNG\x00")}},
		{"empty", "skill://acme/pdf/empty", []string{}},
		{"a skill in a skill", "skill://acme/pdf/inner", []string{skill("skill://acme/pdf/inner/SKILL.md", "inner")}},
		{"above skills", "skill://acme", []string{folder("skill://acme/more", "more"), folder("skill://acme/pdf", "pdf")}},
		{"above one skill", "skill://acme/more", []string{folder("skill://acme/more/doc", "doc")}},
		{"spelt otherwise", "skill://acme/%70df/empty", []string{}},
		{"a file", "skill://acme/pdf/refs/api.md", nil},
		{"a SKILL.md", "skill://acme/pdf/SKILL.md", nil},
		{"slash at the end", "skill://acme/pdf/", nil},
		{"unknown", "skill://acme/pdf/none", nil},
		{"beginning of a name", "skill://acm", nil},
		{"the scheme", "skill://", nil},
		{"dots", "skill://acme/pdf/refs/..", nil},
		{"dots, encoded", "skill://acme/pdf/refs/%2e%2e", nil},
		{"another scheme", "file:///etc", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ask(t, s, "resources/directory/read", &skills.Query{URI: quote(tt.in)})
			if tt.want == nil {
				wantError(t, err, protocol.CodeInvalidParams, "There is no directory "+tt.in, `{"uri":"`+tt.in+`"}`)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, `{"resources":[`+strings.Join(tt.want, ",")+`]}`, got)
		})
	}
}

// pages follows the cursors of a list and returns the URIs of each page.
func pages(t *testing.T, s *skills.Set, method string, q skills.Query) [][]string {
	t.Helper()
	var all [][]string
	for {
		got, err := ask(t, s, method, &q)
		if err != nil {
			t.Fatal(err)
		}
		page := []string{}
		for _, e := range decode[listResult](t, got).Skills {
			page = append(page, e.URI)
		}
		for _, r := range decode[directoryResult](t, got).Resources {
			page = append(page, r.URI)
		}
		all = append(all, page)
		cursor := jsonwire.Lookup([]byte(got), "nextCursor")
		if cursor == nil {
			return all
		}
		q.Cursor = cursor
	}
}

func TestPages(t *testing.T) {
	dir := write(t, map[string]string{
		"a/SKILL.md": manifest("a"), "b/SKILL.md": manifest("b"), "c/SKILL.md": manifest("c"),
		"a/one": "", "a/two": "",
	})
	s := open(t, &skills.Options{Dirs: []string{dir}, PageSize: 2})
	equal(t, [][]string{{"skill://a/SKILL.md", "skill://b/SKILL.md"}, {"skill://c/SKILL.md"}}, pages(t, s, "skills/list", skills.Query{}))
	equal(t, [][]string{{"skill://a/SKILL.md", "skill://a/one"}, {"skill://a/two"}}, pages(t, s, "resources/directory/read", skills.Query{URI: quote("skill://a")}))
	equal(t, [][]string{{"skill://b/SKILL.md"}}, pages(t, s, "resources/directory/read", skills.Query{URI: quote("skill://b")}))
}

// TestLargePages checks that a page ends before it gets too large, but never
// without an entry.
func TestLargePages(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 200)+"/", 3)
	files := make(map[string]string)
	for i := range 8 {
		name := "s" + strconv.Itoa(i)
		files[name+"/SKILL.md"] = manifest(name)
		for j := range 200 {
			files[name+"/"+long+strconv.Itoa(j)] = ""
		}
	}
	s := open(t, &skills.Options{Dirs: []string{write(t, files)}})
	all := pages(t, s, "skills/list", skills.Query{})
	n := 0
	for _, page := range all {
		if len(page) == 0 {
			t.Error("a page is empty")
		}
		n += len(page)
	}
	equal(t, 8, n)
	equal(t, 2, len(all))
}

func TestCursors(t *testing.T) {
	dir := write(t, map[string]string{"a/SKILL.md": manifest("a"), "b/SKILL.md": manifest("b"), "c/SKILL.md": manifest("c"), "a/x": "", "b/x": "", "b/y": ""})
	key := make([]byte, 32)
	o := &skills.Options{Dirs: []string{dir}, PageSize: 1, CursorKey: key}
	s := open(t, o)
	first, err := ask(t, s, "skills/list", &skills.Query{})
	if err != nil {
		t.Fatal(err)
	}
	cursor := decode[listResult](t, first).NextCursor
	second, err := ask(t, s, "skills/list", &skills.Query{Cursor: quote(cursor)})
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(cursor)
	changed[len(changed)/2] ^= 1
	const invalid = "invalid cursor: start again without one"
	tests := []struct {
		name, method string
		in           skills.Query
		want         string
	}{
		{"changed", "skills/list", skills.Query{Cursor: quote(string(changed))}, invalid},
		{"empty", "skills/list", skills.Query{Cursor: []byte(`""`)}, invalid},
		{"no string", "skills/list", skills.Query{Cursor: []byte(`1`)}, "params.cursor must be a string"},
		{"of another principal", "skills/list", skills.Query{Cursor: quote(cursor), Principal: &policy.Principal{ID: "other"}}, invalid},
		{"of another list", "resources/directory/read", skills.Query{Cursor: quote(cursor), URI: quote("skill://a")}, invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ask(t, s, tt.method, &tt.in)
			wantError(t, err, protocol.CodeInvalidParams, tt.want, "")
		})
	}
	t.Run("null is none", func(t *testing.T) {
		got, err := ask(t, s, "skills/list", &skills.Query{Cursor: []byte("null")})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, first, got)
	})
	t.Run("of a replica", func(t *testing.T) {
		got, err := ask(t, open(t, o), "skills/list", &skills.Query{Cursor: quote(cursor)})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, second, got)
	})
	t.Run("of a replica with other skills", func(t *testing.T) {
		put(t, dir, map[string]string{"a/z": "new"})
		_, err := ask(t, open(t, o), "skills/list", &skills.Query{Cursor: quote(cursor)})
		wantError(t, err, protocol.CodeInvalidParams, invalid, "")
	})
}

// TestHiddenIsMissing checks that nothing tells a skill that may not be seen
// from one that does not exist.
func TestHiddenIsMissing(t *testing.T) {
	files := map[string]string{
		"a/SKILL.md": manifest("a"), "a/x/y.md": "", "z/SKILL.md": manifest("z"),
		"acme/open/SKILL.md": manifest("open"),
	}
	without := write(t, files)
	secret := map[string]string{"hidden/SKILL.md": manifest("hidden"), "hidden/x/y.md": "", "acme/inner/SKILL.md": manifest("inner"), "closed/deep/SKILL.md": manifest("deep")}
	with := write(t, files)
	put(t, with, secret)
	visible := func(p *policy.Principal, s *policy.Subject) bool {
		return p.ID == "admin" || !strings.Contains(s.Name, "hidden") && !strings.Contains(s.Name, "inner") && !strings.Contains(s.Name, "closed")
	}
	key := make([]byte, 32)
	a := open(t, &skills.Options{Dirs: []string{without}, PageSize: 2, CursorKey: key})
	b := open(t, &skills.Options{Dirs: []string{with}, PageSize: 2, CursorKey: key, Visible: visible})

	type answer struct{ Result, Error string }
	all := func(s *skills.Set, who string) []answer {
		p := &policy.Principal{ID: who}
		var list []answer
		do := func(method string, q skills.Query) []byte {
			q.Principal = p
			got, err := ask(t, s, method, &q)
			a := answer{Result: got}
			var e *protocol.Error
			if errors.As(err, &e) {
				a.Error = e.Error() + string(e.Data)
			}
			list = append(list, a)
			return jsonwire.Lookup([]byte(got+" "), "nextCursor")
		}
		if cursor := do("skills/list", skills.Query{}); cursor != nil {
			do("skills/list", skills.Query{Cursor: cursor})
		}
		for _, dir := range []string{"a", "a/x", "hidden", "hidden/x", "acme", "acme/open", "acme/inner", "closed", "closed/deep", "nothing"} {
			do("resources/directory/read", skills.Query{URI: quote("skill://" + dir)})
			do("skills/get", skills.Query{URI: quote("skill://" + dir + "/SKILL.md")})
		}
		return list
	}
	equal(t, all(a, "somebody"), all(b, "somebody"))
	if cmp.Equal(all(a, "admin"), all(b, "admin")) {
		t.Error("the administrator does not see more: this test shows nothing")
	}
}

func TestDirectoriesOfSeveralSources(t *testing.T) {
	dir := write(t, map[string]string{"x/acme/tools/one/SKILL.md": manifest("one"), "y/other/SKILL.md": manifest("other"), "z/acme/tools/two/SKILL.md": manifest("two")})
	s := open(t, &skills.Options{Dirs: []string{filepath.Join(dir, "x"), filepath.Join(dir, "y"), filepath.Join(dir, "z")}})
	equal(t, [][]string{{"skill://acme/tools"}}, pages(t, s, "resources/directory/read", skills.Query{URI: quote("skill://acme")}))
	equal(t, [][]string{{"skill://acme/tools/one", "skill://acme/tools/two"}}, pages(t, s, "resources/directory/read", skills.Query{URI: quote("skill://acme/tools")}))
}
