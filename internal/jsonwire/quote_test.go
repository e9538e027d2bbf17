package jsonwire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
)

func TestAppendQuote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "abc", `"abc"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"short escapes", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"other control characters", "\x00\x01\x0b\x1f", `"\u0000\u0001\u000b\u001f"`},
		{"delete", "\x7f", "\"\x7f\""},
		{"nothing of HTML", `<a href="x">&</a>`, `"<a href=\"x\">&</a>"`},
		{"slash", "a/b", `"a/b"`},
		{"line separators of JavaScript", "\u2028\u2029", "\"\u2028\u2029\""},
		{"characters of every length", "aé€𝄞", `"aé€𝄞"`},
		{"replacement character", "a\ufffdb", `"a` + "\ufffd" + `b"`},
		{"byte that is not UTF-8", "a\xffb", `"a` + "\ufffd" + `b"`},
		{"each bad byte for itself", "\xff\xfe", `"` + "\ufffd\ufffd" + `"`},
		{"character cut off", "é\xe2\x82", `"é` + "\ufffd\ufffd" + `"`},
		{"character cut off before text", "é\xe2\x82abc", `"é` + "\ufffd\ufffd" + `abc"`},
		{"encoded surrogate", "\xed\xa0\x80", `"` + "\ufffd\ufffd\ufffd" + `"`},
		{"overlong", "\xc0\xaf", `"` + "\ufffd\ufffd" + `"`},
		{"escapes after long runs", "0123456789\n0123456\t01234567\"", `"0123456789\n0123456\t01234567\""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff("x"+tt.want, string(jsonwire.AppendQuote([]byte("x"), tt.in))); diff != "" {
				t.Errorf("AppendQuote (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("x"+tt.want, string(jsonwire.AppendQuoteBytes([]byte("x"), []byte(tt.in)))); diff != "" {
				t.Errorf("AppendQuoteBytes (-want +got):\n%s", diff)
			}
		})
	}
}

// Every character comes back from us and from the standard library, alone and
// behind a run.
func TestQuoteRoundTrip(t *testing.T) {
	check := func(text string) {
		quoted := jsonwire.AppendQuote(nil, text)
		var std string
		if err := json.Unmarshal(quoted, &std); err != nil || std != text {
			t.Errorf("encoding/json reads %q as %q, %v; want %q", quoted, std, err, text)
		}
		if got := jsonwire.Unquote(quoted); got != text {
			t.Errorf("Unquote(%q) = %q, want %q", quoted, got, text)
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 && r < 0xd700 || r > 0x10100 && r < 0x10ff00 {
			continue // more of the same
		}
		if utf8.ValidRune(r) {
			check(string(r))
		}
	}
	for size := range 20 {
		for _, end := range []string{"\n", `"`, `\`, "\x00", "é", "€", "𝄞"} {
			check(strings.Repeat("a", size) + end + strings.Repeat("b", size))
		}
	}
}

func TestUnquote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", `""`, ""},
		{"plain", `"abc é"`, "abc é"},
		{"every short escape", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{"between text", `"a\nb\tc"`, "a\nb\tc"},
		{"unicode", `"\u0041\u00e9\u00E9\u20ac\u0000"`, "Aéé€\x00"},
		{"pair", `"\ud834\udd1e"`, "𝄞"},
		{"pair in capitals", `"\uD834\uDD1E!"`, "𝄞!"},
		{"last character", `"\udbff\udfff"`, "\U0010ffff"},
		{"lone first half", `"a\ud834b"`, "a\ufffdb"},
		{"lone first half at the end", `"\ud834"`, "\ufffd"},
		{"lone second half", `"\udd1e"`, "\ufffd"},
		{"halves the wrong way round", `"\udd1e\ud834"`, "\ufffd\ufffd"},
		{"two first halves and a second", `"\ud834\ud834\udd1e"`, "\ufffd𝄞"},
		{"first half before a short escape", `"\ud834\n"`, "\ufffd\n"},
		{"first half before another character", `"\ud834\u0041"`, "\ufffdA"},
		{"first half before an escaped backslash", `"\ud834\\udd1e"`, "\ufffd\\udd1e"},
		{"replacement character", `"\ufffd"`, "\ufffd"},
		{"escaped backslash before a letter", `"\\n"`, `\n`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n, _, err := jsonwire.ConsumeString([]byte(tt.in)); err != nil || n != len(tt.in) {
				t.Fatalf("ConsumeString(%q) = %d, %v", tt.in, n, err)
			}
			if diff := cmp.Diff(tt.want, jsonwire.Unquote([]byte(tt.in))); diff != "" {
				t.Errorf("Unquote(%q) (-want +got):\n%s", tt.in, diff)
			}
			if diff := cmp.Diff("x"+tt.want, string(jsonwire.AppendUnquote([]byte("x"), []byte(tt.in)))); diff != "" {
				t.Errorf("AppendUnquote(%q) (-want +got):\n%s", tt.in, diff)
			}
			if !jsonwire.EqualString([]byte(tt.in), tt.want) {
				t.Errorf("EqualString(%q, %q) = false", tt.in, tt.want)
			}
			var std string
			if err := json.Unmarshal([]byte(tt.in), &std); err != nil || std != tt.want {
				t.Errorf("encoding/json reads %q, %v; want %q", std, err, tt.want)
			}
		})
	}
}

func TestEqualStrings(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`""`, `""`, true},
		{`"a"`, `"a"`, true},
		{`"a"`, `"A"`, false},
		{`"a"`, `"ab"`, false},
		{`"a"`, `"\u0061"`, true},
		{`"\u0061"`, `"\u0061"`, true},
		{`"\/"`, `"/"`, true},
		{`"\u00e9"`, `"é"`, true},
		{`"e\u0301"`, `"é"`, false}, // no normalisation
		{`"\\u0061"`, `"a"`, false},
		{`"\ud834\udd1e"`, `"𝄞"`, true},
		{`"\n"`, `"\u000A"`, true},
	}
	for _, tt := range tests {
		for _, s := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := jsonwire.EqualStrings([]byte(s[0]), []byte(s[1])); got != tt.want {
				t.Errorf("EqualStrings(%q, %q) = %v, want %v", s[0], s[1], got, tt.want)
			}
			if got := jsonwire.EqualString([]byte(s[0]), jsonwire.Unquote([]byte(s[1]))); got != tt.want {
				t.Errorf("EqualString(%q, Unquote(%q)) = %v, want %v", s[0], s[1], got, tt.want)
			}
		}
	}
}

func TestQuoteAllocations(t *testing.T) {
	dst := make([]byte, 0, 256)
	name := []byte(`"arguments"`)
	if n := testing.AllocsPerRun(100, func() {
		dst = jsonwire.AppendQuote(dst[:0], "line\n\"quoted\" é \xff")
		dst = jsonwire.AppendUnquote(dst, name)
		if !jsonwire.EqualString(name, "arguments") || jsonwire.EqualStrings(name, []byte(`"argument"`)) {
			t.Error("wrong comparison")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
