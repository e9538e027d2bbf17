package jsonwire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
)

// seedWithSuite adds the documents of the public suite that are not very long.
func seedWithSuite(f *testing.F) {
	for _, doc := range readSuite(f) {
		if len(doc) < 4096 {
			f.Add(doc)
		}
	}
}

// FuzzValid: we accept exactly what encoding/json accepts, without bytes that
// are not UTF-8 and without depth; the place of a fault is within the document;
// and what is accepted fails when its end is missing.
func FuzzValid(f *testing.F) {
	seedWithSuite(f)
	for _, doc := range corpus {
		f.Add([]byte(doc))
		f.Add([]byte(doc[:len(doc)/2]))
	}
	f.Add([]byte("\"\xff\""))
	f.Add([]byte("[1,]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := jsonwire.Valid(doc, 0)
		if err != nil {
			var se *jsonwire.SyntaxError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(doc) {
				t.Fatalf("Valid(%q) = %#v, want a SyntaxError within the document", doc, err)
			}
			if json.Valid(doc) && utf8.Valid(doc) && !errors.Is(err, jsonwire.ErrDepth) {
				t.Fatalf("Valid(%q) = %v, but encoding/json accepts it", doc, err)
			}
			return
		}
		if !json.Valid(doc) || !utf8.Valid(doc) {
			t.Fatalf("Valid(%q) accepts what encoding/json or utf8 does not", doc)
		}
		value := bytes.TrimSpace(doc)
		if last := value[len(value)-1]; last == '"' || last == ']' || last == '}' {
			if err := jsonwire.Valid(value[:len(value)-1], 0); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("Valid(%q) without its end = %v, want io.ErrUnexpectedEOF", doc, err)
			}
		}
		checkCopies(t, doc)
	})
}

// checkCopies compares the copies of a document without line ends and without
// white space with the one that encoding/json makes.
func checkCopies(t *testing.T, doc []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, doc); err != nil {
		t.Fatalf("json.Compact(%q): %v", doc, err)
	}
	compact := jsonwire.AppendCompact(nil, doc)
	if diff := cmp.Diff(want.String(), string(compact)); diff != "" {
		t.Fatalf("AppendCompact(%q) (-want +got):\n%s", doc, diff)
	}
	line := jsonwire.AppendLine(nil, doc)
	if bytes.ContainsAny(line, "\r\n") {
		t.Fatalf("AppendLine(%q) = %q, which has a line end", doc, line)
	}
	if got := jsonwire.AppendCompact(nil, line); !bytes.Equal(got, compact) {
		t.Fatalf("AppendLine(%q) = %q, which is another document", doc, line)
	}
}

// FuzzQuote: every text comes back from us and from encoding/json, with U+FFFD
// for each byte that is not UTF-8, and nothing is escaped without need.
func FuzzQuote(f *testing.F) {
	for _, doc := range corpus {
		f.Add(doc)
	}
	f.Add("a\x00\x1f\x7f\"\\/<>&\u2028é€𝄞")
	f.Add("\xff\xe2\x82 \xed\xa0\x80")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := jsonwire.AppendQuote(nil, text)
		if got := jsonwire.AppendQuoteBytes(nil, []byte(text)); !bytes.Equal(got, quoted) {
			t.Fatalf("AppendQuoteBytes(%q) = %q, AppendQuote = %q", text, got, quoted)
		}
		if n, _, err := jsonwire.ConsumeString(quoted); err != nil || n != len(quoted) {
			t.Fatalf("ConsumeString(%q) = %d, %v", quoted, n, err)
		}
		want := string([]rune(text)) // which repairs in the same way
		if got := jsonwire.Unquote(quoted); got != want {
			t.Fatalf("Unquote(%q) = %q, want %q", quoted, got, want)
		}
		var std string
		if err := json.Unmarshal(quoted, &std); err != nil || std != want {
			t.Fatalf("encoding/json reads %q as %q, %v; want %q", quoted, std, err, want)
		}
		if !jsonwire.EqualString(quoted, want) {
			t.Fatalf("EqualString(%q, %q) = false", quoted, want)
		}
		if !strings.ContainsAny(text, "\"\\") && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) &&
			string(quoted) != `"`+want+`"` {
			t.Fatalf("AppendQuote(%q) = %q, which escapes without need", text, quoted)
		}
	})
}

// FuzzUnquote: a string that we accept means what encoding/json says it does.
func FuzzUnquote(f *testing.F) {
	f.Add([]byte(`"\ud834\ud834\udd1e\u0041\n"`))
	f.Add([]byte(`"\udd1e\\ud834\/"`))
	f.Fuzz(func(t *testing.T, quoted []byte) {
		n, escaped, err := jsonwire.ConsumeString(quoted)
		if err != nil {
			return
		}
		quoted = quoted[:n]
		if got := jsonwire.SkipString(quoted); got != n {
			t.Fatalf("SkipString(%q) = %d, ConsumeString = %d", quoted, got, n)
		}
		if want := bytes.IndexByte(quoted, '\\') >= 0; escaped != want {
			t.Fatalf("ConsumeString(%q): escaped = %v", quoted, escaped)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", quoted, err)
		}
		if got := jsonwire.Unquote(quoted); got != want {
			t.Fatalf("Unquote(%q) = %q, want %q", quoted, got, want)
		}
	})
}

// FuzzSkip: on a document that was accepted, skipping finds the same ends as
// consuming, with anything behind it, and the iterators find the members and
// elements that encoding/json does.
func FuzzSkip(f *testing.F) {
	seedWithSuite(f)
	for _, doc := range corpus {
		f.Add([]byte(doc))
	}
	f.Add([]byte(`{"}":"]","a\"}":{"[":"{"},"\u0061\"}":[[],{}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if jsonwire.Valid(doc, 0) != nil {
			return
		}
		value := doc[jsonwire.SkipSpace(doc):]
		n, err := jsonwire.ConsumeValue(value, jsonwire.DefaultDepth)
		if err != nil {
			t.Fatalf("ConsumeValue(%q): %v", value, err)
		}
		value = value[:n:n]
		for _, tail := range []string{"", ",1", "]", "}", " ]", "\n"} {
			if got := jsonwire.SkipValue(append(value, tail...)); got != n {
				t.Fatalf("SkipValue(%q with %q behind it) = %d, ConsumeValue = %d", value, tail, got, n)
			}
		}
		checkValue(t, value)
	})
}

// checkValue walks through a value and compares each container with what
// encoding/json makes of it.
func checkValue(t *testing.T, value []byte) {
	t.Helper()
	switch value[0] {
	case '{':
		want := make(map[string]json.RawMessage)
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatalf("json.Unmarshal(%q): %v", value, err)
		}
		got := make(map[string]json.RawMessage)
		for o := jsonwire.Members(value); ; {
			name, v, ok := o.Next()
			if !ok {
				break
			}
			got[jsonwire.Unquote(name)] = v // of duplicates the last, as there
			checkValue(t, v)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Members(%q) (-want +got):\n%s", value, diff)
		}
		for name := range want {
			if jsonwire.Lookup(value, name) == nil {
				t.Fatalf("Lookup(%q, %q) = nil", value, name)
			}
		}
	case '[':
		want, got := []json.RawMessage{}, []json.RawMessage{}
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatalf("json.Unmarshal(%q): %v", value, err)
		}
		for a := jsonwire.Elements(value); ; {
			v, ok := a.Next()
			if !ok {
				break
			}
			got = append(got, v)
			checkValue(t, v)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Elements(%q) (-want +got):\n%s", value, diff)
		}
	}
}
