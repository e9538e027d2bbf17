package jsonwire_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// consumed is what a consume function says about its input.
type consumed struct {
	N   int
	Err error
}

func TestConsumeValue(t *testing.T) {
	eof := io.ErrUnexpectedEOF
	tests := []struct {
		name  string
		in    string
		depth int // 0 means 8
		want  consumed
	}{
		{"empty", ``, 0, consumed{0, eof}},
		{"null", `null`, 0, consumed{4, nil}},
		{"true and more", `true]`, 0, consumed{4, nil}},
		{"false", `false`, 0, consumed{5, nil}},
		{"literal cut off", `fals`, 0, consumed{4, eof}},
		{"literal misspelled", `nulL`, 0, consumed{3, jsonwire.ErrLiteral}},
		{"literal of JavaScript", `NaN`, 0, consumed{0, jsonwire.ErrValue}},
		{"literal in capitals", `True`, 0, consumed{0, jsonwire.ErrValue}},
		{"white space is the caller's", ` 1`, 0, consumed{0, jsonwire.ErrValue}},
		{"bare word", `x`, 0, consumed{0, jsonwire.ErrValue}},
		{"single quotes", `'a'`, 0, consumed{0, jsonwire.ErrValue}},
		{"closing bracket", `]`, 0, consumed{0, jsonwire.ErrValue}},
		{"byte-order mark", "\ufeff1", 0, consumed{0, jsonwire.ErrValue}},

		{"empty object", `{}`, 0, consumed{2, nil}},
		{"empty object with space", "{ \t\r\n}x", 0, consumed{6, nil}},
		{"object", `{"a":1,"b":[2]} `, 0, consumed{15, nil}},
		{"object with space", "{ \"a\" :\t1 ,\n\"b\" : 2\r} ", 0, consumed{21, nil}},
		{"duplicates are grammatical", `{"a":1,"a":2}`, 0, consumed{13, nil}},
		{"object without colon", `{"a" 1}`, 0, consumed{5, jsonwire.ErrColon}},
		{"object without value", `{"a":}`, 0, consumed{5, jsonwire.ErrValue}},
		{"object without comma", `{"a":1 "b":2}`, 0, consumed{7, jsonwire.ErrComma}},
		{"object with two commas", `{"a":1,,"b":2}`, 0, consumed{7, jsonwire.ErrName}},
		{"object with a comma at the end", `{"a":1, }`, 0, consumed{8, jsonwire.ErrName}},
		{"object with a comma at the start", `{,"a":1}`, 0, consumed{1, jsonwire.ErrName}},
		{"object closed like an array", `{"a":1]`, 0, consumed{6, jsonwire.ErrComma}},
		{"number as a name", `{1:2}`, 0, consumed{1, jsonwire.ErrName}},
		{"bare name", `{a:2}`, 0, consumed{1, jsonwire.ErrName}},
		{"broken name", `{"\a":2}`, 0, consumed{3, jsonwire.ErrEscape}},
		{"broken value within", `{"a":{"b":[01]}}`, 0, consumed{12, jsonwire.ErrComma}},

		{"empty array", `[]]`, 0, consumed{2, nil}},
		{"array", `[1, "a" ,null]`, 0, consumed{14, nil}},
		{"array without comma", `[1 2]`, 0, consumed{3, jsonwire.ErrComma}},
		{"array with a comma at the end", `[1,]`, 0, consumed{3, jsonwire.ErrValue}},
		{"array with a comma at the start", `[,1]`, 0, consumed{1, jsonwire.ErrValue}},
		{"array closed like an object", `[1}`, 0, consumed{2, jsonwire.ErrComma}},
		{"array with a colon", `[1:2]`, 0, consumed{2, jsonwire.ErrComma}},

		{"depth met by arrays", `[[1]]`, 2, consumed{5, nil}},
		{"depth exceeded by arrays", `[[[1]]]`, 2, consumed{2, jsonwire.ErrDepth}},
		{"depth exceeded by an empty array", `[[[]]]`, 2, consumed{2, jsonwire.ErrDepth}},
		{"depth met by objects", `{"a":{}}`, 2, consumed{8, nil}},
		{"depth exceeded by an object", `{"a":{"b":{}}}`, 2, consumed{10, jsonwire.ErrDepth}},
		{"depth counts levels, not values", `[[],[],[],{}]`, 2, consumed{13, nil}},
		{"scalars have no depth", `"a"`, -1, consumed{3, nil}},
		{"no depth, no array", `[]`, -1, consumed{0, jsonwire.ErrDepth}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			depth := tt.depth
			if depth == 0 {
				depth = 8
			}
			n, err := jsonwire.ConsumeValue([]byte(tt.in), depth)
			if diff := cmp.Diff(tt.want, consumed{n, err}, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("ConsumeValue(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestConsumeNumber(t *testing.T) {
	eof := io.ErrUnexpectedEOF
	tests := []struct {
		in   string
		want consumed
	}{
		{``, consumed{0, eof}},
		{`0`, consumed{1, nil}},
		{`-0`, consumed{2, nil}},
		{`-`, consumed{1, eof}},
		{`--1`, consumed{1, jsonwire.ErrNumber}},
		{`+1`, consumed{0, jsonwire.ErrNumber}},
		{`.5`, consumed{0, jsonwire.ErrNumber}},
		{`-.5`, consumed{1, jsonwire.ErrNumber}},
		{`00`, consumed{1, nil}}, // what follows is the caller's business
		{`-01`, consumed{2, nil}},
		{`0x1`, consumed{1, nil}},
		{`10`, consumed{2, nil}},
		{`9007199254740993`, consumed{16, nil}},
		{`1.`, consumed{2, eof}},
		{`1.,`, consumed{2, jsonwire.ErrNumber}},
		{`1.e1`, consumed{2, jsonwire.ErrNumber}},
		{`1.50`, consumed{4, nil}},
		{`1.5.5`, consumed{3, nil}},
		{`1e`, consumed{2, eof}},
		{`1e+`, consumed{3, eof}},
		{`1E-`, consumed{3, eof}},
		{`1e+-1`, consumed{3, jsonwire.ErrNumber}},
		{`1ee1`, consumed{2, jsonwire.ErrNumber}},
		{`1e1.5`, consumed{3, nil}},
		{`0E+007`, consumed{6, nil}},
		{`-12.50e-3]`, consumed{9, nil}},
		{`a`, consumed{0, jsonwire.ErrNumber}},
	}
	for _, tt := range tests {
		n, err := jsonwire.ConsumeNumber([]byte(tt.in))
		if diff := cmp.Diff(tt.want, consumed{n, err}, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("ConsumeNumber(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestConsumeString(t *testing.T) {
	type result struct {
		N       int
		Escaped bool
		Err     error
	}
	eof := io.ErrUnexpectedEOF
	tests := []struct {
		name string
		in   string
		want result
	}{
		{"nothing", ``, result{0, false, eof}},
		{"no string", `a`, result{0, false, jsonwire.ErrString}},
		{"empty", `""`, result{2, false, nil}},
		{"and more", `"a"b`, result{3, false, nil}},
		{"quote alone", `"`, result{1, false, eof}},
		{"cut off", `"ab`, result{3, false, eof}},
		{"every short escape", `"\"\\\/\b\f\n\r\t"`, result{18, true, nil}},
		{"escaped quote at the end", `"a\"`, result{4, true, eof}},
		{"backslash at the end", `"a\`, result{3, true, eof}},
		{"unknown escape", `"a\x"`, result{3, true, jsonwire.ErrEscape}},
		{"escape in capitals", `"\N"`, result{2, true, jsonwire.ErrEscape}},
		{"unicode escape", `"\u00e9\uABCD"`, result{14, true, nil}},
		{"unicode escape cut off", `"\u00`, result{5, true, eof}},
		{"unicode escape closed early", `"\u00"`, result{5, true, jsonwire.ErrEscape}},
		{"unicode escape with a bad digit", `"\u00g0"`, result{5, true, jsonwire.ErrEscape}},
		{"escape in capitals for unicode", `"\U0000"`, result{2, true, jsonwire.ErrEscape}},
		{"surrogate pair", `"\ud834\udd1e"`, result{14, true, nil}},
		{"lone surrogates", `"\udd1e\ud834"`, result{14, true, nil}},
		{"newline", "\"a\n\"", result{2, false, jsonwire.ErrControl}},
		{"zero byte", "\"\x00\"", result{1, false, jsonwire.ErrControl}},
		{"last control character", "\"abcdefghijk\x1f\"", result{12, false, jsonwire.ErrControl}},
		{"delete is no control character here", "\"\x7f\"", result{3, false, nil}},
		{"two, three and four bytes", `"é€𝄞"`, result{11, false, nil}},
		{"text behind characters above ASCII", `"é plain text that is long enough é"`, result{38, false, nil}},
		{"first and last of each length", "\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"", result{26, false, nil}},
		{"continuation byte alone", "\"\x80\"", result{1, false, jsonwire.ErrUTF8}},
		{"overlong with two bytes", "\"\xc1\xbf\"", result{1, false, jsonwire.ErrUTF8}},
		{"overlong with three bytes", "\"\xe0\x9f\xbf\"", result{1, false, jsonwire.ErrUTF8}},
		{"overlong with four bytes", "\"\xf0\x8f\xbf\xbf\"", result{1, false, jsonwire.ErrUTF8}},
		{"encoded surrogate", "\"a\xed\xa0\x80\"", result{2, false, jsonwire.ErrUTF8}},
		{"above the last character", "\"\xf4\x90\x80\x80\"", result{1, false, jsonwire.ErrUTF8}},
		{"byte that never occurs", "\"\xff\"", result{1, false, jsonwire.ErrUTF8}},
		{"character closed early", "\"é\xe2\x82\"", result{3, false, jsonwire.ErrUTF8}},
		{"character cut off", "\"é\xe2\x82", result{3, false, eof}},
		{"fault behind an escape", "\"\\n\xff\"", result{3, true, jsonwire.ErrUTF8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, escaped, err := jsonwire.ConsumeString([]byte(tt.in))
			if diff := cmp.Diff(tt.want, result{n, escaped, err}, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("ConsumeString(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// Strings are searched eight bytes at a time. Every byte that ends a run must be
// found at every place, whatever is around it.
func TestConsumeStringRuns(t *testing.T) {
	for size := range 20 {
		for _, filler := range []string{"a", " ", "\x7f", "!", "#", "[", "]", "\x5e", "~", "é"} {
			plain := strings.Repeat(filler, size)
			for _, tt := range []struct {
				ending string
				n      int // beyond the run
				err    error
			}{
				{`"`, 1, nil},
				{`" "`, 1, nil},
				{"\x1f", 0, jsonwire.ErrControl},
				{"\x00", 0, jsonwire.ErrControl},
				{"\xff", 0, jsonwire.ErrUTF8},
				{`\q`, 1, jsonwire.ErrEscape},
			} {
				in := `"` + plain + tt.ending + "zzzzzzzz"
				n, _, err := jsonwire.ConsumeString([]byte(in))
				want := consumed{1 + len(plain) + tt.n, tt.err}
				if diff := cmp.Diff(want, consumed{n, err}, cmpopts.EquateErrors()); diff != "" {
					t.Fatalf("ConsumeString(%q) (-want +got):\n%s", in, diff)
				}
			}
		}
	}
}

// What is well-formed UTF-8 is decided here and not by the standard library, so
// the two are compared on every start of a character.
func TestConsumeStringUTF8(t *testing.T) {
	tails := []byte{0x00, 0x22, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xe0, 0xff}
	check := func(s ...byte) {
		for _, c := range s {
			if c < 0x20 || c == '"' {
				return // ends the string for another reason
			}
		}
		in := append(append([]byte{'"'}, s...), '"')
		_, _, err := jsonwire.ConsumeString(in)
		if got, want := err == nil, utf8.Valid(s); got != want {
			t.Errorf("ConsumeString(%q) = %v, but utf8.Valid = %v", in, err, want)
		}
		cut := in[:len(in)-1]
		if _, _, err = jsonwire.ConsumeString(cut); err == nil {
			t.Errorf("ConsumeString(%q) has no error", cut)
		}
	}
	for a := 0x80; a < 0x100; a++ {
		check(byte(a))
		for b := range 0x100 {
			check(byte(a), byte(b))
			for _, c := range tails {
				check(byte(a), byte(b), c)
				for _, d := range tails {
					check(byte(a), byte(b), c, d)
				}
			}
		}
	}
}

func TestConsumeMemberName(t *testing.T) {
	type result struct {
		N, Name int
		Escaped bool
		Err     error
	}
	eof := io.ErrUnexpectedEOF
	tests := []struct {
		in   string
		want result
	}{
		{``, result{0, 0, false, eof}},
		{`}`, result{0, 0, false, jsonwire.ErrName}},
		{`a`, result{0, 0, false, jsonwire.ErrName}},
		{`"a`, result{2, 2, false, eof}},
		{`"a"`, result{3, 3, false, eof}},
		{`"a" `, result{4, 3, false, eof}},
		{`"a"  1`, result{5, 3, false, jsonwire.ErrColon}},
		{`"a":`, result{4, 3, false, nil}},
		{`"a":1`, result{4, 3, false, nil}},
		{"\"a\" \t:\r\n1", result{8, 3, false, nil}},
		{`"\u0061":1`, result{9, 8, true, nil}},
		{`"\u006":1`, result{6, 6, true, jsonwire.ErrEscape}},
	}
	for _, tt := range tests {
		n, name, escaped, err := jsonwire.ConsumeMemberName([]byte(tt.in))
		if diff := cmp.Diff(tt.want, result{n, name, escaped, err}, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("ConsumeMemberName(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestConsumeNext(t *testing.T) {
	type result struct {
		N   int
		End bool
		Err error
	}
	tests := []struct {
		in      string
		closing byte
		want    result
	}{
		{``, ']', result{0, false, io.ErrUnexpectedEOF}},
		{` `, ']', result{1, false, io.ErrUnexpectedEOF}},
		{`,`, ']', result{1, false, nil}},
		{` , 2`, ']', result{3, false, nil}},
		{` ] `, ']', result{2, true, nil}},
		{`}`, '}', result{1, true, nil}},
		{` }`, ']', result{1, false, jsonwire.ErrComma}},
		{`:`, '}', result{0, false, jsonwire.ErrComma}},
	}
	for _, tt := range tests {
		n, end, err := jsonwire.ConsumeNext([]byte(tt.in), tt.closing)
		if diff := cmp.Diff(tt.want, result{n, end, err}, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("ConsumeNext(%q, %q) (-want +got):\n%s", tt.in, tt.closing, diff)
		}
	}
}

func TestSkipSpace(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"", 0}, {"a ", 0}, {" ", 1}, {" \t\r\n\"", 4}, {"\v", 0}, {"\f", 0}, {"\x00", 0}, {" \u00a0", 1}, {"\ufeff", 0},
	}
	for _, tt := range tests {
		if got := jsonwire.SkipSpace([]byte(tt.in)); got != tt.want {
			t.Errorf("SkipSpace(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestValid(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		depth int
		want  string // of the error
	}{
		{"value", ` {"a":[1,2.5e3,"é\n",null]} `, 0, ""},
		{"nothing", ``, 0, "the input ends inside a value at byte 0"},
		{"white space", " \n", 0, "the input ends inside a value at byte 2"},
		{"cut off", ` [1,`, 0, "the input ends inside a value at byte 4"},
		{"two values", `{} {}`, 0, "unexpected data after the value at byte 3"},
		{"number with a leading zero", `01`, 0, "unexpected data after the value at byte 1"},
		{"fault far inside", `[1,{"a":tru}]`, 0, "invalid literal: want true, false or null at byte 11"},
		{"space counts", "\n\n[x]", 0, "a value was expected at byte 3"},
		{"depth met", `[[[]]]`, 3, ""},
		{"depth exceeded", `[[[]]]`, 2, "nesting is too deep at byte 2"},
		{"default depth met", strings.Repeat("[", 512) + strings.Repeat("]", 512), 0, ""},
		{"default depth exceeded", strings.Repeat("[", 513) + strings.Repeat("]", 513), 0, "nesting is too deep at byte 512"},
		{"nested without end", strings.Repeat("[", 100_000), 0, "nesting is too deep at byte 512"},
		{"objects nested without end", strings.Repeat(`{"a":`, 100_000), -1, "nesting is too deep at byte 2560"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			if err := jsonwire.Valid([]byte(tt.in), tt.depth); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Valid (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSyntaxError(t *testing.T) {
	err := jsonwire.Valid([]byte(`[1 2]`), 0)
	var se *jsonwire.SyntaxError
	if !errors.As(err, &se) || se.Offset != 3 || !errors.Is(err, jsonwire.ErrComma) {
		t.Errorf("Valid = %#v, want a SyntaxError at 3 that wraps ErrComma", err)
	}
	if err = jsonwire.Valid([]byte(`[`), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Valid = %v, want io.ErrUnexpectedEOF", err)
	}
}

// corpus is one of everything, with every kind of token at the very end of some
// document.
var corpus = []string{
	`null`, `true`, `false`, `0`, `-0`, `12`, `-12.50e-3`, `1E+9`, `""`, `"a"`, `[]`, `{}`,
	`"plain text that is longer than a word of the machine"`,
	`"\"\\\/\b\f\n\r\t\u00e9\uD834\uDD1E\ud800 lone"`,
	`"é€𝄞 mixed with ASCII é"`,
	`[1,"a",[true,[],{}],{"a":null}]`,
	`{"a":1,"b":{"c":[1.5,-2e7,"x"]},"\u0061":"twice","":{}}`,
	" [ 1 , 2 ] ",
	"\t{ \"a\" :\r\n{ } , \"é\" : [ ] }\n",
	`{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"echo","arguments":{"text":"a\nb"}}}`,
}

// Wherever a document is cut, the fault is that it ends too early, and its place
// is within what is left.
func TestTruncation(t *testing.T) {
	for _, doc := range corpus {
		if err := jsonwire.Valid([]byte(doc), 0); err != nil {
			t.Errorf("Valid(%q): %v", doc, err)
		}
		for i := range len(doc) {
			cut := []byte(doc[:i])
			if json.Valid(cut) {
				continue // a shorter number, or white space cut off
			}
			err := jsonwire.Valid(cut, 0)
			var se *jsonwire.SyntaxError
			if !errors.As(err, &se) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("Valid(%q) = %v, want io.ErrUnexpectedEOF", cut, err)
				continue
			}
			if start := i - utf8.UTFMax; se.Offset > i || se.Offset <= start {
				t.Errorf("Valid(%q): offset %d, want one near the end, %d", cut, se.Offset, i)
			}
		}
	}
}

// A byte that is changed anywhere never makes us accept what the standard
// library refuses.
func TestMutation(t *testing.T) {
	replacements := []byte("\x00\n \"\\{}[]:,0-.eEu\x7f\x80\xc3\xff")
	for _, doc := range corpus {
		for i := range len(doc) {
			for _, c := range replacements {
				changed := []byte(doc)
				changed[i] = c
				err := jsonwire.Valid(changed, 0)
				if want := json.Valid(changed) && utf8.Valid(changed); (err == nil) != want {
					t.Errorf("Valid(%q) = %v, encoding/json and utf8 say %v", changed, err, want)
				}
				var se *jsonwire.SyntaxError
				if errors.As(err, &se) && (se.Offset < 0 || se.Offset > len(changed)) {
					t.Errorf("Valid(%q): offset %d is outside the document", changed, se.Offset)
				}
			}
		}
	}
}

func TestConsumeDoesNotAllocate(t *testing.T) {
	doc := []byte(corpus[len(corpus)-1])
	if n := testing.AllocsPerRun(100, func() {
		if jsonwire.Valid(doc, 0) != nil {
			t.Error("not valid")
		}
	}); n != 0 {
		t.Errorf("Valid allocates %v times, want 0", n)
	}
}
