package jsonwire_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
)

// undecided are the documents for which the grammar leaves the choice to the
// parser, with what we chose.
var undecided = []struct {
	name   string
	accept bool
	reason string
}{
	{"i_number_double_huge_neg_exp", true, "a number stays text here; its range is the reader's business"},
	{"i_number_huge_exp", true, "as above"},
	{"i_number_neg_int_huge_exp", true, "as above"},
	{"i_number_pos_double_huge_exp", true, "as above"},
	{"i_number_real_neg_overflow", true, "as above"},
	{"i_number_real_pos_overflow", true, "as above"},
	{"i_number_real_underflow", true, "as above"},
	{"i_number_too_big_neg_int", true, "as above"},
	{"i_number_too_big_pos_int", true, "as above"},
	{"i_number_very_big_negative_int", true, "as above"},
	{"i_object_key_lone_2nd_surrogate", true, "a lone surrogate escape is grammatical; decoded it is U+FFFD"},
	{"i_string_1st_surrogate_but_2nd_missing", true, "as above"},
	{"i_string_1st_valid_surrogate_2nd_invalid", true, "as above"},
	{"i_string_incomplete_surrogate_and_escape_valid", true, "as above"},
	{"i_string_incomplete_surrogate_pair", true, "as above"},
	{"i_string_incomplete_surrogates_escape_valid", true, "as above"},
	{"i_string_invalid_lonely_surrogate", true, "as above"},
	{"i_string_invalid_surrogate", true, "as above"},
	{"i_string_inverted_surrogates_U+1D11E", true, "as above"},
	{"i_string_lone_second_surrogate", true, "as above"},
	{"i_string_UTF-8_invalid_sequence", false, "bytes that are not UTF-8 are never passed on"},
	{"i_string_UTF8_surrogate_U+D800", false, "as above"},
	{"i_string_invalid_utf-8", false, "as above"},
	{"i_string_iso_latin_1", false, "as above"},
	{"i_string_lone_utf8_continuation_byte", false, "as above"},
	{"i_string_not_in_unicode_range", false, "as above"},
	{"i_string_overlong_sequence_2_bytes", false, "as above"},
	{"i_string_overlong_sequence_6_bytes", false, "as above"},
	{"i_string_overlong_sequence_6_bytes_null", false, "as above"},
	{"i_string_truncated-utf-8", false, "as above"},
	{"i_string_UTF-16LE_with_BOM", false, "only UTF-8 is read"},
	{"i_string_utf16BE_no_BOM", false, "as above"},
	{"i_string_utf16LE_no_BOM", false, "as above"},
	{"i_structure_500_nested_arrays", true, "DefaultDepth is above 500"},
	{"i_structure_UTF-8_BOM_empty_object", false, "a byte-order mark is no white space; transports take it off"},
}

// readSuite reads the documents of the public suite for parsers, by name without
// the extension. There are none if the suite is not there.
func readSuite(tb testing.TB) map[string][]byte {
	tb.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "suites", "json-parsing", "test_parsing")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	docs := make(map[string][]byte, len(files))
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		docs[strings.TrimSuffix(filepath.Base(file), ".json")] = doc
	}
	return docs
}

// suite is readSuite for a test that cannot do without.
func suite(t *testing.T) map[string][]byte {
	t.Helper()
	docs := readSuite(t)
	if len(docs) == 0 {
		const missing = "the folder shared, which holds the public suites, is not beside the repository"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return docs
}

func TestSuite(t *testing.T) {
	decided := make(map[string]bool)
	for _, u := range undecided {
		decided[u.name] = u.accept
	}
	counts := map[byte]int{}
	for name, doc := range suite(t) {
		counts[name[0]]++
		want := name[0] == 'y'
		if name[0] == 'i' {
			accept, ok := decided[name]
			if !ok {
				t.Errorf("%s: nobody has decided whether it is accepted", name)
			}
			delete(decided, name)
			want = accept
		}
		err := jsonwire.Valid(doc, 0)
		if got := err == nil; got != want {
			t.Errorf("%s: accepted = %v (%v), want %v", name, got, err, want)
		}
		// The standard library reads bytes that are not UTF-8 and repairs them.
		if std := json.Valid(doc); std != want && utf8.Valid(doc) {
			t.Errorf("%s: encoding/json says %v and we want %v", name, std, want)
		}
	}
	for name := range decided {
		t.Errorf("%s: decided, but not in the suite", name)
	}
	// The size of the suite, lest a broken copy makes the test empty.
	if diff := cmp.Diff(map[byte]int{'y': 95, 'n': 188, 'i': 35}, counts); diff != "" {
		t.Errorf("documents by kind (-want +got):\n%s", diff)
	}
}

// What the suite accepts is read alike by the functions that check and by those
// that rely on the check.
func TestSuiteSkips(t *testing.T) {
	for name, doc := range suite(t) {
		if jsonwire.Valid(doc, 0) != nil {
			continue
		}
		value := doc[jsonwire.SkipSpace(doc):]
		want, err := jsonwire.ConsumeValue(value, jsonwire.DefaultDepth)
		if err != nil {
			t.Errorf("%s: ConsumeValue: %v", name, err)
		}
		if got := jsonwire.SkipValue(value); got != want {
			t.Errorf("%s: SkipValue = %d, ConsumeValue = %d", name, got, want)
		}
	}
}
