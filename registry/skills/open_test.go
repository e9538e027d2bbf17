package skills_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry/skills"
)

func TestWhereSkillsAre(t *testing.T) {
	tests := []struct {
		name string
		in   map[string]string
		dirs []string // below the one with the files
		want []string
	}{
		{"nothing", map[string]string{"a.txt": "", "b/c/d.md": ""}, []string{"."}, []string{}},
		{"a folder of skills", map[string]string{"one/SKILL.md": manifest("one"), "two/SKILL.md": manifest("two"), "README.md": "x"},
			[]string{"."}, []string{"skill://one/SKILL.md", "skill://two/SKILL.md"}},
		{"one skill", map[string]string{"one/SKILL.md": manifest("one"), "two/SKILL.md": manifest("two")},
			[]string{"two"}, []string{"skill://two/SKILL.md"}},
		{"several directories, in their order", map[string]string{"x/b/SKILL.md": manifest("b"), "y/a/SKILL.md": manifest("a"), "z/SKILL.md": manifest("z")},
			[]string{"z", "y", "x"}, []string{"skill://z/SKILL.md", "skill://a/SKILL.md", "skill://b/SKILL.md"}},
		{"directories above", map[string]string{"acme/billing/refunds/SKILL.md": manifest("refunds"), "acme/Help.Desk/refunds/SKILL.md": manifest("refunds")},
			[]string{"."}, []string{"skill://acme/Help.Desk/refunds/SKILL.md", "skill://acme/billing/refunds/SKILL.md"}},
		{"hidden directories", map[string]string{".git/one/SKILL.md": "no skill", "two/SKILL.md": manifest("two"), "two/.cache/SKILL.md": "no skill"},
			[]string{"."}, []string{"skill://two/SKILL.md"}},
		{"a skill in a skill", map[string]string{"one/SKILL.md": manifest("one"), "one/parts/inner/SKILL.md": manifest("inner")},
			[]string{"."}, []string{"skill://one/SKILL.md", "skill://one/parts/inner/SKILL.md"}},
		{"a skill in a skill that was given", map[string]string{"one/SKILL.md": manifest("one"), "one/inner/SKILL.md": manifest("inner")},
			[]string{"one"}, []string{"skill://one/SKILL.md", "skill://one/inner/SKILL.md"}},
		{"what is no skill inside of one", map[string]string{"one/SKILL.md": manifest("one"), "one/template/SKILL.md": "---\nname: {{name}}\n---\n"},
			[]string{"."}, []string{"skill://one/SKILL.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := write(t, tt.in)
			var o skills.Options
			for _, d := range tt.dirs {
				o.Dirs = append(o.Dirs, filepath.Join(root, d))
			}
			s := open(t, &o)
			equal(t, tt.want, uris(t, s))
			equal(t, len(tt.want), s.Len())
		})
	}
}

func TestRefusals(t *testing.T) {
	head := func(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n---\nText.\n" }
	tests := []struct {
		name string
		in   map[string]string
		want string // {} is the directory
	}{
		{"no frontmatter", map[string]string{"one/SKILL.md": "# One\n"}, "{}/one/SKILL.md:1: the file must begin with a line --- and the frontmatter behind it"},
		{"broken YAML", map[string]string{"one/SKILL.md": head("name: one", "description: Use when: never")},
			"{}/one/SKILL.md:3: a colon in Use when: never: quote the whole value"},
		{"no name", map[string]string{"one/SKILL.md": head("description: x")}, "{}/one/SKILL.md:1: the frontmatter has no name"},
		{"no description", map[string]string{"one/SKILL.md": head("name: one")}, "{}/one/SKILL.md:1: the frontmatter has no description"},
		{"empty description", map[string]string{"one/SKILL.md": head("name: one", "description: ' '")}, "{}/one/SKILL.md:3: description is empty"},
		{"description too long", map[string]string{"one/SKILL.md": head("name: one", "description: "+strings.Repeat("ä", 1025))},
			"{}/one/SKILL.md:3: description has 1025 characters, at most 1024 are allowed"},
		{"a number as description", map[string]string{"one/SKILL.md": head("name: one", "description: 7")},
			"{}/one/SKILL.md:3: description must be text: quote it if it looks like something else"},
		{"name of another directory", map[string]string{"one/SKILL.md": head("# c", "name: two", "description: x")},
			`{}/one/SKILL.md:3: the name is "two" but the directory is called "one": they must be the same`},
		{"capital letters", map[string]string{"One/SKILL.md": head("name: One", "description: x")},
			`{}/One/SKILL.md:2: the name "One" may have the letters a to z, digits and hyphens only`},
		{"two hyphens", map[string]string{"a--b/SKILL.md": head("name: a--b", "description: x")},
			`{}/a--b/SKILL.md:2: the name "a--b" must not begin or end with a hyphen or have two in a row`},
		{"hyphen at the end", map[string]string{"a-/SKILL.md": head("name: a-", "description: x")},
			`{}/a-/SKILL.md:2: the name "a-" must not begin or end with a hyphen or have two in a row`},
		{"name too long", map[string]string{"one/SKILL.md": head("name: "+strings.Repeat("x", 65), "description: x")},
			"{}/one/SKILL.md:2: name has 65 characters, at most 64 are allowed"},
		{"metadata", map[string]string{"one/SKILL.md": head("name: one", "description: x", "metadata: [x]")}, "{}/one/SKILL.md:4: metadata must be a mapping"},
		{"compatibility", map[string]string{"one/SKILL.md": head("name: one", "description: x", "compatibility: "+strings.Repeat("x", 501))},
			"{}/one/SKILL.md:4: compatibility has 501 characters, at most 500 are allowed"},
		{"license", map[string]string{"one/SKILL.md": head("name: one", "description: x", "license: {spdx: MIT}")},
			"{}/one/SKILL.md:4: license must be text: quote it if it looks like something else"},
		{"not UTF-8", map[string]string{"one/SKILL.md": manifest("one") + "\xff"}, "{}/one/SKILL.md: the file is not text in UTF-8"},
		{"the name in small letters", map[string]string{"one/skill.md": manifest("one")}, "{}/one/skill.md: the file must be called SKILL.md"},
		{"a directory called SKILL.md", map[string]string{"one/SKILL.md/x": ""}, "{}/one/SKILL.md: SKILL.md is not a file"},
		{"directory above", map[string]string{"a b/one/SKILL.md": manifest("one")},
			`{}/a b/one/SKILL.md: the directory "a b" above the skill begins its URI: its name may have letters, digits and - . _ ~ only`},
		{"percent sign", map[string]string{"one/SKILL.md": manifest("one"), "one/50%.md": ""}, "{}/one/50%.md: the name must not have the character '%'"},
		{"control character", map[string]string{"one/SKILL.md": manifest("one"), "one/a\nb": ""}, "{}/one/a\nb: the name must not have the character '\\n'"},
		{"several faults", map[string]string{"a/SKILL.md": "", "b/SKILL.md": manifest("b"), "c/SKILL.md": manifest("x")},
			"{}/a/SKILL.md:1: the file must begin with a line --- and the frontmatter behind it\n" +
				`{}/c/SKILL.md:2: the name is "x" but the directory is called "c": they must be the same`},
		{"manifest too large", map[string]string{"one/SKILL.md": manifest("one") + strings.Repeat("x", skills.MaxManifest)}, "{}/one/SKILL.md: the file has more than 1048576 bytes"},
		{"too deep", map[string]string{strings.Repeat("d/", 17) + "x": ""}, "{}/" + strings.Repeat("d/", 16) + "d: more than 16 directories in each other"},
		{"too large", map[string]string{"one/SKILL.md": manifest("one"), "one/a.bin": strings.Repeat("x", 9<<20), "one/b.bin": strings.Repeat("x", 8<<20)},
			"{}/one/b.bin: the files of the skill have more than 16777216 bytes together"},
		{"too many files", many(skills.MaxFiles), "{}/one/f511: the skill has more than 512 files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.in)
			_, err := skills.Open(&skills.Options{Dirs: []string{dir}})
			if err == nil {
				t.Fatal("accepted")
			}
			equal(t, strings.ReplaceAll(tt.want, "{}", dir), err.Error())
		})
	}
}

// many returns a skill with so many files besides SKILL.md.
func many(n int) map[string]string {
	files := map[string]string{"one/SKILL.md": manifest("one")}
	for i := range n {
		files["one/f"+strconv.Itoa(i + 1000)[1:]] = ""
	}
	return files
}

func TestBoundsAreReached(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		s := open(t, &skills.Options{Dirs: []string{write(t, many(skills.MaxFiles-1))}})
		got, err := ask(t, s, "skills/list", &skills.Query{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, skills.MaxFiles, len(decode[listResult](t, got).Skills[0].Resources))
	})
	t.Run("bytes", func(t *testing.T) {
		m := manifest("one")
		s := open(t, &skills.Options{Dirs: []string{write(t, map[string]string{
			"one/SKILL.md": m, "one/a.bin": strings.Repeat("x", skills.MaxBytes-len(m)),
		})}})
		equal(t, 1, s.Len())
	})
}

func TestManyFaults(t *testing.T) {
	files := make(map[string]string)
	for i := range 25 {
		files["s"+strconv.Itoa(i+10)+"/SKILL.md"] = ""
	}
	_, err := skills.Open(&skills.Options{Dirs: []string{write(t, files)}})
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	equal(t, 21, len(lines))
	equal(t, "and 5 more", lines[len(lines)-1])
}

func TestTooManySkills(t *testing.T) {
	files := make(map[string]string)
	for i := range skills.MaxSkills + 1 {
		name := "s" + strconv.Itoa(i+1000)
		files[name+"/SKILL.md"] = manifest(name)
	}
	dir := write(t, files)
	_, err := skills.Open(&skills.Options{Dirs: []string{dir}})
	if err == nil {
		t.Fatal("accepted")
	}
	equal(t, filepath.Join(dir, "s2000")+": more than 1000 skills", err.Error())
}

func TestConflicts(t *testing.T) {
	files := map[string]string{
		"x/one/SKILL.md":       manifest("one"),
		"y/one/SKILL.md":       manifest("one"),
		"z/one/two/SKILL.md":   manifest("two"),
		"n/other/one/SKILL.md": manifest("one"),
	}
	dir := write(t, files)
	in := func(names ...string) *skills.Options {
		o := new(skills.Options)
		for _, n := range names {
			o.Dirs = append(o.Dirs, filepath.Join(dir, n))
		}
		return o
	}
	tests := []struct {
		name string
		in   *skills.Options
		want string
	}{
		{"the same place", in("x", "y"), "{}/y/one: skill://one/SKILL.md is a skill already, from {}/x/one"},
		{"inside of another one", in("x", "z"),
			"{}/z/one/two: skill://one/two/SKILL.md and skill://one/SKILL.md, from {}/x/one, would be inside each other without being so on disk"},
		{"around another one", in("z", "x"),
			"{}/x/one: skill://one/SKILL.md and skill://one/two/SKILL.md, from {}/z/one/two, would be inside each other without being so on disk"},
		{"no directory", in("missing"), "{}/missing: this is not a directory that can be read: no such file or directory"},
		{"a file", in("x/one/SKILL.md"), "{}/x/one/SKILL.md: this is not a directory that can be read: not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := skills.Open(tt.in)
			if err == nil {
				t.Fatal("accepted")
			}
			equal(t, strings.ReplaceAll(tt.want, "{}", dir), err.Error())
		})
	}
	t.Run("the same name elsewhere", func(t *testing.T) {
		o := in("x", "n")
		log, logged := logger()
		o.Logger = log
		equal(t, []string{"skill://one/SKILL.md", "skill://other/one/SKILL.md"}, uris(t, open(t, o)))
		equal(t, "level=WARN msg=\"two skills have the same name\" name=one first=skill://one/SKILL.md second=skill://other/one/SKILL.md\n", logged.String())
	})
}

func TestAccept(t *testing.T) {
	dir := write(t, map[string]string{"one/SKILL.md": manifest("one"), "two/SKILL.md": manifest("two")})
	var asked []policy.Subject
	s := open(t, &skills.Options{Dirs: []string{dir}, Accept: func(s *policy.Subject) bool {
		asked = append(asked, *s)
		return s.Name == "skill://two/SKILL.md"
	}})
	equal(t, []string{"skill://two/SKILL.md"}, uris(t, s))
	subject := policy.Subject{Kind: policy.Resource, Name: "skill://one/SKILL.md", Category: skills.Category, Sensitivity: policy.Internal, Capabilities: policy.ReadFS}
	other := subject
	other.Name = "skill://two/SKILL.md"
	equal(t, []policy.Subject{subject, other}, asked)
}

func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making a symbolic link needs a privilege on Windows")
	}
	secret := write(t, map[string]string{"secret.md": "x", "one/SKILL.md": manifest("one")})
	link := func(t *testing.T, to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("out of a skill", func(t *testing.T) {
		dir := write(t, map[string]string{"two/SKILL.md": manifest("two")})
		link(t, filepath.Join(secret, "secret.md"), filepath.Join(dir, "two", "notes.md"))
		_, err := skills.Open(&skills.Options{Dirs: []string{dir}})
		if err == nil {
			t.Fatal("accepted")
		}
		equal(t, filepath.Join(dir, "two", "notes.md")+": a symbolic link in a skill is not followed: put a copy of the file here", err.Error())
	})
	t.Run("as SKILL.md", func(t *testing.T) {
		dir := write(t, map[string]string{"one/x.md": ""})
		link(t, filepath.Join(secret, "one", "SKILL.md"), filepath.Join(dir, "one", "SKILL.md"))
		_, err := skills.Open(&skills.Options{Dirs: []string{dir}})
		if err == nil {
			t.Fatal("accepted")
		}
		equal(t, filepath.Join(dir, "one", "SKILL.md")+": a symbolic link in a skill is not followed: put a copy of the file here", err.Error())
	})
	t.Run("beside skills", func(t *testing.T) {
		dir := write(t, map[string]string{"two/SKILL.md": manifest("two")})
		link(t, filepath.Join(secret, "one"), filepath.Join(dir, "one"))
		log, logged := logger()
		equal(t, []string{"skill://two/SKILL.md"}, uris(t, open(t, &skills.Options{Dirs: []string{dir}, Logger: log})))
		equal(t, "level=WARN msg=\"symbolic link left out: give the directory that it leads to as one of the skills\" link="+filepath.Join(dir, "one")+"\n", logged.String())
	})
	t.Run("to a skill, given", func(t *testing.T) {
		dir := write(t, nil)
		link(t, filepath.Join(secret, "one"), filepath.Join(dir, "one"))
		equal(t, []string{"skill://one/SKILL.md"}, uris(t, open(t, &skills.Options{Dirs: []string{filepath.Join(dir, "one")}})))
	})
}

func TestSystems(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	t.Run("beside a directory", func(t *testing.T) {
		s := open(t, &skills.Options{
			Systems: []fs.FS{fstest.MapFS{"acme/one/SKILL.md": text(manifest("one")), "acme/one/x.md": text("x"), ".hidden/SKILL.md": text("")}},
			Dirs:    []string{write(t, map[string]string{"two/SKILL.md": manifest("two")})},
		})
		equal(t, []string{"skill://two/SKILL.md", "skill://acme/one/SKILL.md"}, uris(t, s))
	})
	tests := []struct {
		name string
		in   fstest.MapFS
		want string
	}{
		{"broken", fstest.MapFS{"one/SKILL.md": text("---\nname: one\n---\n")}, "one/SKILL.md:1: the frontmatter has no description"},
		{"at the top", fstest.MapFS{"SKILL.md": text(manifest("one"))}, "SKILL.md: a skill at the top of a file system has no directory with its name: move it into one"},
		{"a link", fstest.MapFS{"one/SKILL.md": text(manifest("one")), "one/x": {Data: []byte("SKILL.md"), Mode: fs.ModeSymlink}},
			"one/x: a symbolic link in a skill is not followed: put a copy of the file here"},
		{"a pipe", fstest.MapFS{"one/SKILL.md": text(manifest("one")), "one/x": {Mode: fs.ModeNamedPipe}},
			"one/x: a skill has files and directories only, and this is neither"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := skills.Open(&skills.Options{Systems: []fs.FS{tt.in}})
			if err == nil {
				t.Fatal("accepted")
			}
			equal(t, tt.want, err.Error())
		})
	}
	t.Run("changed", func(t *testing.T) {
		m := fstest.MapFS{"one/SKILL.md": text(manifest("one")), "one/x.md": text("x")}
		l := serve(t, &skills.Options{Systems: []fs.FS{m}})
		if got, err := read(t, l, "skill://one/x.md"); err != nil {
			t.Error(err)
		} else {
			equal(t, `{"contents":[{"uri":"skill://one/x.md","mimeType":"text/markdown","text":"x"}]}`, got)
		}
		m["one/x.md"] = text("y")
		if got, err := read(t, l, "skill://one/x.md"); err == nil {
			t.Errorf("the changed file was served: %s", got)
		}
	})
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name string
		in   map[string]string
		want string
	}{
		{"nothing found", map[string]string{"x.md": ""}, "level=WARN msg=\"no skill found: there is no SKILL.md below this directory\" directory={}\n"},
		{"no skill inside of one", map[string]string{"one/SKILL.md": manifest("one"), "one/t/SKILL.md": "x"},
			"level=WARN msg=\"not served as a skill of its own\" reason=\"{}/one/t/SKILL.md:1: the file must begin with a line --- and the frontmatter behind it\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.in)
			log, logged := logger()
			open(t, &skills.Options{Dirs: []string{dir}, Logger: log})
			equal(t, strings.ReplaceAll(tt.want, "{}", dir), logged.String())
		})
	}
}
