package files_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/registry/catalog/files"
)

func TestSearchText(t *testing.T) {
	needUnix(t)
	f := open(t, tree(t, map[string]string{
		"a.go":       "package a\n\nfunc Run() {}\nfunc run() {}\n",
		"b/b.go":     "// func in a comment\r\nvar x = 1\r\n",
		"b/note.txt": "a func (here)\nlast func",
		"bin":        "func\x00",
		".hidden":    "func",
		"vendor/v":   "func",
		"link":       "-> a.go",
	}))
	lines := func(out files.SearchTextOut) []string {
		list := []string{}
		for _, m := range out.Matches {
			list = append(list, m.Path+":"+strconv.Itoa(m.Line)+":"+strconv.Itoa(m.Column)+":"+m.Text)
		}
		return list
	}
	tests := []struct {
		name string
		in   files.SearchTextIn
		want []string
	}{
		{"regexp", files.SearchTextIn{Pattern: `^func \w+\(`}, []string{"a.go:3:1:func Run() {}", "a.go:4:1:func run() {}"}},
		{"end of a CRLF line", files.SearchTextIn{Pattern: `1$`}, []string{"b/b.go:2:9:var x = 1"}},
		{"literal", files.SearchTextIn{Pattern: "(here)", Literal: true}, []string{"b/note.txt:1:8:a func (here)"}},
		{"literal without case", files.SearchTextIn{Pattern: "RUN()", Literal: true, IgnoreCase: true}, []string{"a.go:3:6:func Run() {}", "a.go:4:6:func run() {}"}},
		{"without case", files.SearchTextIn{Pattern: "FUNC", IgnoreCase: true, Include: []string{"*.txt"}}, []string{"b/note.txt:1:3:a func (here)", "b/note.txt:2:6:last func"}},
		{"exclude", files.SearchTextIn{Pattern: "func", Exclude: []string{"vendor", "*.go"}}, []string{"b/note.txt:1:3:a func (here)", "b/note.txt:2:6:last func"}},
		{"hidden by include", files.SearchTextIn{Pattern: "func", Include: []string{".hid*"}}, []string{".hidden:1:1:func"}},
		{"one file", files.SearchTextIn{Pattern: "func", Path: "b/b.go"}, []string{"b/b.go:1:4:// func in a comment"}},
		{"through a link", files.SearchTextIn{Pattern: "Run", Path: "link"}, []string{"link:3:6:func Run() {}"}},
		{"nothing", files.SearchTextIn{Pattern: "zebra"}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.SearchText(t.Context(), tt.in, nil)
			must(t, err)
			equal(t, tt.want, lines(got))
		})
	}

	counts, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "func", FilesOnly: true}, nil)
	must(t, err)
	equal(t, files.SearchTextOut{
		Path:    ".",
		Matches: []files.Match{},
		Files: []files.FileMatch{
			{Path: "a.go", Lines: 2}, {Path: "b/b.go", Lines: 1}, {Path: "b/note.txt", Lines: 2}, {Path: "vendor/v", Lines: 1},
		},
		FilesSearched: 4, FilesFound: 5, SkippedBinary: 1,
		Notes: []string{"1 hidden entry left out; set hidden to true to include them", "1 file is not text and left out"},
	}, counts)
}

func TestSearchText_context(t *testing.T) {
	f := open(t, tree(t, map[string]string{"a": numbered(9, nil)}))
	got, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "^[159]$", Before: 2, After: 1}, nil)
	must(t, err)
	equal(t, []files.Match{
		{Path: "a", Line: 1, Column: 1, Text: "1", After: []string{"2"}},
		{Path: "a", Line: 5, Column: 1, Text: "5", Before: []string{"3", "4"}, After: []string{"6"}},
		{Path: "a", Line: 9, Column: 1, Text: "9", Before: []string{"7", "8"}},
	}, got.Matches)
}

func TestSearchText_limits(t *testing.T) {
	f := openWith(t, files.Options{
		Roots:              []string{tree(t, map[string]string{"a": numbered(30, nil), "b": numbered(30, nil), "large": strings.Repeat("1\n", 600)})},
		MaxSearchFileBytes: 1000,
	})
	tests := []struct {
		name      string
		in        files.SearchTextIn
		matches   int
		truncated bool
	}{
		{"all", files.SearchTextIn{Pattern: "1"}, 24, false},
		{"per file", files.SearchTextIn{Pattern: "1", MaxPerFile: 5}, 10, true},
		{"in all", files.SearchTextIn{Pattern: "1", Limit: 15}, 15, true},
		{"exactly all", files.SearchTextIn{Pattern: "1", Limit: 24}, 24, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.SearchText(t.Context(), tt.in, nil)
			must(t, err)
			equal(t, tt.matches, len(got.Matches))
			equal(t, tt.truncated, got.Truncated)
			equal(t, 1, got.SkippedLarge)
		})
	}
}

func TestA59_longLine(t *testing.T) {
	f := open(t, tree(t, map[string]string{"min.js": strings.Repeat("é", 3000) + "needle" + strings.Repeat("ü", 3000), "bad": "caf\xe9 needle"}))
	got, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "needle"}, nil)
	must(t, err)
	equal(t, "caf\uFFFD needle", got.Matches[0].Text)
	m := got.Matches[1]
	equal(t, strings.Repeat("é", 50)+"needle"+strings.Repeat("ü", 197), m.Text)
	equal(t, true, m.TextTruncated)
	equal(t, 6001, m.Column)
}

func TestSearchText_progress(t *testing.T) {
	content := map[string]string{}
	for i := range 250 {
		content["d/"+strconv.Itoa(1000+i)] = "x"
	}
	f := open(t, tree(t, content))
	type report struct {
		Done, Total int
		Message     string
	}
	var reports []report
	_, err := f.SearchText(t.Context(), files.SearchTextIn{Pattern: "y"}, func(done, total int, message string) {
		reports = append(reports, report{done, total, message})
	})
	must(t, err)
	equal(t, report{0, 250, "searching d/1000"}, reports[0])
	equal(t, report{250, 250, "searched 250 files"}, reports[len(reports)-1])
	for i := 1; i < len(reports); i++ {
		if reports[i].Done <= reports[i-1].Done {
			t.Errorf("progress goes back:\n%s", cmp.Diff(reports[i-1], reports[i]))
		}
	}
	if len(reports) > 130 {
		t.Errorf("%d reports are too many", len(reports))
	}
}

func TestSearchText_refuses(t *testing.T) {
	f := open(t, tree(t, map[string]string{"a": ""}))
	tests := []struct {
		name string
		in   files.SearchTextIn
		want string
	}{
		{"empty", files.SearchTextIn{}, "pattern must have from 1 to 1024 bytes, not 0"},
		{"not RE2", files.SearchTextIn{Pattern: "a(?=b)"}, "pattern is not valid RE2: error parsing regexp: invalid or unsupported Perl syntax: `(?=`; set literal to true to search for the text as it is"},
		{"two lines", files.SearchTextIn{Pattern: "a\nb"}, "pattern contains a line end, but each line is searched alone; search for one of the lines and set before or after"},
		{"context", files.SearchTextIn{Pattern: "a", Before: 21}, "before and after must be from 0 to 20 lines"},
		{"glob", files.SearchTextIn{Pattern: "a", Include: []string{"["}}, `include has a [ without its ]: "["; put a backslash before a character that stands for itself`},
		{"missing", files.SearchTextIn{Pattern: "a", Path: "b"}, `not found: "b"; list_directory on "." shows what is there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.SearchText(t.Context(), tt.in, nil)
			equal(t, tt.want, text(err))
		})
	}
}

// FuzzFind compares the fast ways to find plain text with the regular expression for it.
func FuzzFind(f *testing.F) {
	f.Add("needle", "a NEEDLE here", true)
	f.Add("k", "\u212a", true)
	f.Add("s.", "xſ.", true)
	f.Add("é", "É", true)
	f.Add("a+", "aa+", false)
	f.Add("\xff", "a\xffb", true)
	f.Fuzz(func(t *testing.T, pattern, line string, ignoreCase bool) {
		if !utf8.ValidString(pattern) || strings.Contains(line, "\n") {
			return
		}
		got, err := files.Find(files.SearchTextIn{Pattern: pattern, Literal: true, IgnoreCase: ignoreCase}, line)
		if err != nil {
			return
		}
		expr := regexp.QuoteMeta(pattern)
		if ignoreCase {
			expr = "(?i)" + expr
		}
		want := -1
		if at := regexp.MustCompile(expr).FindStringIndex(line); at != nil {
			want = at[0]
		}
		// The regular expression takes U+FFFD in a pattern for any bad byte; plain text means itself.
		if got != want && !strings.Contains(pattern, "\uFFFD") {
			t.Fatalf("%q in %q: %d, want %d", pattern, line, got, want)
		}
	})
}

func BenchmarkSearchText(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		body := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 500)
		if err := writeAll(filepath.Join(dir, strconv.Itoa(i)), body); err != nil {
			b.Fatal(err)
		}
	}
	f, err := files.Open(files.Options{Roots: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, in := range []files.SearchTextIn{{Pattern: "zebra", Literal: true}, {Pattern: `z[ea]bra\d+`}, {Pattern: "ZEBRA", IgnoreCase: true}} {
		b.Run(in.Pattern, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(50 * 500 * 44)
			for b.Loop() {
				if _, err := f.SearchText(b.Context(), in, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
