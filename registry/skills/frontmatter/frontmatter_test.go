package frontmatter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/registry/skills/frontmatter"
)

// file puts a block where it stands in a file.
func file(block string) []byte { return []byte("---\n" + block + "---\n\nText.\n") }

func TestValues(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"plain text", "a: some text\n", `{"a":"some text"}`},
		{"white space around", "a:   some text  \t\n", `{"a":"some text"}`},
		{"windows line ends", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", `{"a":1,"b":"x\ny\n"}`},
		{"indented as a whole", "  a: 1\n  b: 2\n", `{"a":1,"b":2}`},
		{"comments", "# one\na: 1 # two\n  # three\nb: x#y\n", `{"a":1,"b":"x#y"}`},
		{"characters beyond ASCII", "ä: ☃ 😀\n", `{"ä":"☃ 😀"}`},
		{"marks inside of text", "a: x:y\nb: http://h/p?q#f\nc: -x\nd: ?y\ne: a,b\n", `{"a":"x:y","b":"http://h/p?q#f","c":"-x","d":"?y","e":"a,b"}`},
		{"no HTML escapes", "a: <b> & c\n", `{"a":"<b> & c"}`},

		{"null", "a:\nb: ~\nc: null\nd: NULL\ne: # nothing\n", `{"a":null,"b":null,"c":null,"d":null,"e":null}`},
		{"booleans", "a: true\nb: False\nc: TRUE\n", `{"a":true,"b":false,"c":true}`},
		{"strings that YAML 1.1 took for something else", "a: yes\nb: no\nc: on\nd: 2026-11-30\ne: 1:30\nf: 1_000\ng: y\n",
			`{"a":"yes","b":"no","c":"on","d":"2026-11-30","e":"1:30","f":"1_000","g":"y"}`},
		{"integers", "a: 0\nb: -7\nc: +7\nd: 012\ne: 0x1F\nf: 0o17\n", `{"a":0,"b":-7,"c":7,"d":12,"e":31,"f":15}`},
		{"large integers keep their digits", "a: 123456789012345678901234567890\nb: 0xffffffffffffffffff\n",
			`{"a":123456789012345678901234567890,"b":4722366482869645213695}`},
		{"fractions", "a: 1.50\nb: .5\nc: 3.\nd: -0.0\ne: 1e3\nf: 2.5E-3\n", `{"a":1.50,"b":0.5,"c":3.0,"d":-0.0,"e":1e3,"f":2.5E-3}`},
		{"texts like numbers", "a: 1.2.3\nb: 0x\nc: 1e\nd: '1'\nf: .\ng: 0x-1\nh: e3\n",
			`{"a":"1.2.3","b":"0x","c":"1e","d":"1","f":".","g":"0x-1","h":"e3"}`},

		{"single quotes", "a: 'it''s: #1'\n", `{"a":"it's: #1"}`},
		{"double quotes", `a: "q\"b\\s\/t\tn\nu\u00e9x\x41U\U0001F600p\uD83D\uDE00z\0"` + "\n", `{"a":"q\"b\\s/t\tn\nuéxAU😀p😀z\u0000"}`},
		{"quotes over lines", "a: \"one\n  two\n\n  three \\\n  four\"\nb: 'x\n\n\n  y'\n", `{"a":"one two\nthree four","b":"x\n\ny"}`},
		{"quoted text is a string", "a: \"true\"\nb: '7'\nc: ''\n", `{"a":"true","b":"7","c":""}`},
		{"quoted keys", "\"a b\": 1\n'c: d' : 2\n", `{"a b":1,"c: d":2}`},

		{"text over lines", "a: one\n  two\n\n  three\nb: 1\n", `{"a":"one two\nthree","b":1}`},
		{"numbers over lines are text", "a: 1\n  2\n", `{"a":"1 2"}`},
		{"text below its key", "a:\n  one\n  two\n", `{"a":"one two"}`},
		{"a comment ends text", "a: one # c\nb: 2\n", `{"a":"one","b":2}`},

		{"literal", "a: |\n  one\n    two\n\n  three: # 3\n\nb: 1\n", `{"a":"one\n  two\n\nthree: # 3\n","b":1}`},
		{"literal stripped", "a: |-\n  one\n\n", `{"a":"one"}`},
		{"literal kept", "a: |+\n  one\n\nb: 1\n", `{"a":"one\n\n","b":1}`},
		{"literal with indentation", "a: |2\n    one\n  two\n", `{"a":"  one\ntwo\n"}`},
		{"literal, both indicators", "a: |-1 # c\n  one\n", `{"a":" one"}`},
		{"literal without text", "a: |\nb: |+\n\nc: 1\n", `{"a":"","b":"\n","c":1}`},
		{"folded", "a: >\n  one\n  two\n\n  three\n\n\n  four\n", `{"a":"one two\nthree\n\nfour\n"}`},
		{"folded, lines indented more", "a: >-\n  one\n    two\n    three\n  four\n  five\n", `{"a":"one\n  two\n  three\nfour five"}`},
		{"folded, empty at the top", "a: >\n\n  one\n", `{"a":"\none\n"}`},

		{"mapping in a mapping", "a:\n  b:\n      c: 1\n  d: 2\ne: 3\n", `{"a":{"b":{"c":1},"d":2},"e":3}`},
		{"list", "a:\n  - 1\n  - x y\n  -\n  - - p\n    - q\n", `{"a":[1,"x y",null,["p","q"]]}`},
		{"list in the column of its key", "a:\n- 1\n- 2\nb: 3\n", `{"a":[1,2],"b":3}`},
		{"mappings in a list", "a:\n  - b: 1\n    c: 2\n  - b: 3\n", `{"a":[{"b":1,"c":2},{"b":3}]}`},
		{"list in a list of mappings", "a:\n- b:\n  - 1\n  c: 2\n", `{"a":[{"b":[1],"c":2}]}`},
		{"block in a list", "a:\n  - |\n    x\n  - >-\n    y\n    z\n", `{"a":["x\n","y z"]}`},

		{"brackets", "a: [1, b c, 'd, e', \"f\", null, ]\nb: []\n", `{"a":[1,"b c","d, e","f",null],"b":[]}`},
		{"braces", "a: {b: 1, \"c\":2, d, e: , 'f' : [x]}\nb: {}\n", `{"a":{"b":1,"c":2,"d":null,"e":null,"f":["x"]},"b":{}}`},
		{"brackets over lines", "a: [1, # one\n  {b: 2,\n   c: 3}\n  ]\n", `{"a":[1,{"b":2,"c":3}]}`},
		{"all in braces", "{a: 1, b: http://h}\n", `{"a":1,"b":"http://h"}`},
		{"JSON", `{"a":{"b":[1,2.5,"x\u0041",true,null]}}` + "\n", `{"a":{"b":[1,2.5,"xA",true,null]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := frontmatter.Parse(file(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(f.JSON)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"no frontmatter", "# Title\n", "line 1: the file must begin with a line --- and the frontmatter behind it"},
		{"empty file", "", "line 1: the file must begin with a line --- and the frontmatter behind it"},
		{"byte order mark", "\ufeff---\na: 1\n---\n", "line 1: the file begins with a byte order mark: save it without one"},
		{"no end", "---\na: 1\n", "line 1: the frontmatter has no end: a line --- is missing"},
		{"nothing in it", "---\n# c\n---\n", "line 1: the frontmatter is empty"},
		{"no mapping", "---\n- a\n---\n", "line 2: the frontmatter must be a mapping: lines of the form key: value"},
		{"just text", "---\nsome text\n---\n", "line 2: the frontmatter must be a mapping: lines of the form key: value"},
		{"not UTF-8", "---\na: 1\nb: x\xff\n---\n", "line 3: byte 5 is not UTF-8"},
		{"control character", "---\na: x\x01\n---\n", "line 2: byte 5 begins the control character U+0001: write it as an escape in double quotes"},
		{"key twice", "---\na: 1\nb: 2\na: 3\n---\n", `line 4: the key "a" is there already, on line 2`},
		{"key twice in braces", "---\na: {b: 1, b: 2}\n---\n", `line 2: the key "b" is there already, on line 2`},
		{"a colon in the value", "---\na: Use this: now\n---\n", "line 2: a colon in Use this: now: quote the whole value"},
		{"a colon at the end", "---\na: one\n  two:\n---\n", "line 3: a colon in two:: quote the whole value"},
		{"no key", "---\na: 1\ntext\n---\n", "line 3: this is not of the form key: value: text"},
		{"tab", "---\na:\n\tb: 1\n---\n", "line 3: the line is indented with a tab: use spaces"},
		{"indented more", "---\na: 'x'\n  b: 1\n---\n", "line 3: this line is indented more than the keys before it"},
		{"indented less", "---\n  a: 1\n b: 1\n---\n", "line 3: this line is indented differently from those before it"},
		{"list entry indented more", "---\na:\n  - 'x'\n    - y\n---\n", "line 4: this line is indented more than the entries of the list before it"},
		{"list among keys", "---\na: 1\n- b\n---\n", "line 3: an entry of a list among the keys of a mapping"},
		{"list behind its key", "---\na: - b\n---\n", "line 2: a list begins on a line of its own, below its key"},
		{"tab behind a dash", "---\na:\n  -\tb: 1\n---\n", "line 3: a tab behind the dash: use a space"},
		{"anchor", "---\na: &x 1\n---\n", "line 2: anchors (&name) are not supported; quote the value if it is text"},
		{"alias", "---\na: *x\n---\n", "line 2: aliases (*name) are not supported; quote the value if it is text"},
		{"tag", "---\na: !!str 1\n---\n", "line 2: tags (!type) are not supported; quote the value if it is text"},
		{"merge key", "---\na: 1\n<<: {b: 2}\n---\n", "line 3: merge keys (<<) are not supported"},
		{"explicit key", "---\n? a\n: b\n---\n", "line 2: explicit keys (? key) are not supported"},
		{"collection as a key", "---\na: {[b]: 1}\n---\n", "line 2: a collection cannot be a key"},
		{"reserved mark", "---\na: @b\n---\n", "line 2: a value cannot begin with '@': quote it"},
		{"percent sign", "---\na: %b\n---\n", "line 2: a value cannot begin with '%': quote it"},
		{"infinity", "---\na: 1\nb: .inf\n---\n", "line 3: .inf is a number that JSON does not have: quote it if it is text"},
		{"not a number in brackets", "---\na: [.nan]\n---\n", "line 2: .nan is a number that JSON does not have: quote it if it is text"},
		{"quotes not closed", "---\na: \"x\n  y\n---\n", "line 2: the quotes are not closed"},
		{"quotes closed too late", "---\na: 'x\nb: y'\n---\n", "line 3: the quotes that were opened on line 2 are not closed, or this line must be indented more"},
		{"text behind quotes", "---\na: 'x' y\n---\n", "line 2: the quoted text is followed by text: y"},
		{"text behind brackets", "---\na: [x] y\n---\n", "line 2: the closing bracket is followed by text: y"},
		{"unknown escape", "---\na: \"C:\\dir\"\n---\n", `line 2: the escape \d is not known in double quotes: write \\ for a backslash`},
		{"short escape", "---\na: \"\\u12\"\n---\n", `line 2: the escape \u needs 4 hexadecimal digits that stand for a character`},
		{"half a pair", "---\na: \"\\uD83D x\"\n---\n", `line 2: the escape \u needs 4 hexadecimal digits that stand for a character`},
		{"beyond the last character", "---\na: \"\\U00110000\"\n---\n", `line 2: the escape \U needs 8 hexadecimal digits that stand for a character`},
		{"bracket not closed", "---\na: [x,\n---\n", "line 2: the bracket is not closed"},
		{"bracket closed too far left", "---\na: [x,\n]\n---\n", "line 3: the bracket before it is not closed, or this line must be indented more"},
		{"nothing between commas", "---\na: [x,,y]\n---\n", "line 2: a value cannot begin with ',': quote it"},
		{"wrong bracket", "---\na: [x}\n---\n", "line 2: '}' in a collection in brackets: want ',' or ']'"},
		{"pair in brackets", "---\na: [x: y]\n---\n", "line 2: a key in [ ]: put the pair in { }"},
		{"text over lines in brackets", "---\na: [x\n  y]\n---\n", "line 2: text in brackets goes on on the next line: quote it, or put a comma between"},
		{"dash in brackets", "---\na: [-]\n---\n", "line 2: a value in brackets cannot begin with '-': quote it"},
		{"text behind the mark of a block", "---\na: |x\n---\n", "line 2: 'x' behind | or >: the text of the block begins on the next line"},
		{"text behind the mark of a block, spaced", "---\na: > x\n---\n", "line 2: the mark of the block is followed by text: x"},
		{"block with too many spaces at the top", "---\na: |\n     \n  x\n---\n", "line 3: an empty line at the beginning of the block has more spaces than its first line of text"},
		{"block with white space at the end", "---\na: |\n  x\n    \n---\n", "line 4: the block ends with a line of white space only: remove that"},
		{"too deep", "---\na: " + strings.Repeat("[", frontmatter.MaxDepth) + "\n---\n", "line 2: more than 32 collections in each other"},
		{"too deep in blocks", "---\n" + nested(frontmatter.MaxDepth+1) + "---\n", "line 34: more than 32 collections in each other"},
		{"too long", "---\na: " + strings.Repeat("x", frontmatter.MaxBytes) + "\n---\n", "line 2: the frontmatter has more than 65536 bytes"},
		{"long text is cut", "---\na: 1\n" + strings.Repeat("ä", 41) + "\n---\n",
			"line 3: this is not of the form key: value: " + strings.Repeat("ä", 40) + "…"},
		{"dash and nothing else", "---\na: -\n---\n", "line 2: a list begins on a line of its own, below its key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := frontmatter.Parse([]byte(tt.in))
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var e *frontmatter.Error
			if !errors.As(err, &e) {
				t.Errorf("%T is not an *Error", err)
			}
		})
	}
}

// nested returns so many mappings in each other.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestLine(t *testing.T) {
	f, err := frontmatter.Parse(file("# c\na: 1\n\nb:\n  c: 2\nd: |\n  x\ne: 3\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		got[key] = f.Line(key)
	}
	want := map[string]int{"a": 3, "b": 5, "c": 1, "d": 7, "e": 9}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzParse checks that whatever is accepted becomes an object in JSON, and that
// this object, which is YAML as well, is read as itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a: 1\n", "a: |\n  x\n\n  y\n", "a: >-\n  x\n   y\n", "a: \"\\u00e9\n  x\"\n", "a: 'x''y'\n", "a: [1, {b: c}]\n",
		"a:\n  - b: 1\n    c: ~\n  - - x\n", "a: x # c\n  y\n", "? a\n", "<<: *x\n", "a: 0x1F\nb: 1.50\n", "a: {\"b\":1,\n  c}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, block string) {
		got, err := frontmatter.Parse(file(block))
		if err != nil {
			return
		}
		if err := jsonwire.Valid(got.JSON, 0); err != nil || got.JSON[0] != '{' {
			t.Fatalf("%q became %s: %v", block, got.JSON, err)
		}
		if len(got.JSON) > frontmatter.MaxBytes-1 || strings.ContainsFunc(string(got.JSON), unprintable) {
			return
		}
		again, err := frontmatter.Parse(file(string(got.JSON) + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", got.JSON, err)
		}
		if diff := cmp.Diff(string(got.JSON), string(again.JSON)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// unprintable reports whether JSON may hold a character plainly that YAML may
// not.
func unprintable(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == '\ufffe' || r == '\uffff' || r == '\ufeff'
}
