package schemabench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/registry/schema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// shared returns the path of a part of the folder with the references, which
// is beside the repository on the machines where this project is built.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the folder shared is not beside the repository, and this test needs it")
		}
		t.Skip("the folder shared is not beside the repository, so there is nothing to compare with")
	}
	return filepath.Join(append([]string{root}, elem...)...)
}

// A subject is a schema of the suite, compiled by both engines, with what its
// tests and itself are made of, as material for random documents.
type subject struct {
	name  string
	raw   []byte
	ours  *schema.Schema
	other *santhosh.Schema
	atoms []any    // values
	names []string // of members
}

// subjects compiles the schemas of the suite that both engines understand.
func subjects(t testing.TB) []*subject {
	t.Helper()
	remotes := remoteDocuments(t)
	var list []*subject
	for _, dialect := range []string{"draft2020-12", "draft7"} {
		files, err := filepath.Glob(filepath.Join(shared(t, "suites", "json-schema", "tests", dialect), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal("no tests of the suite for ", dialect)
		}
		for _, file := range files {
			list = append(list, fileSubjects(t, dialect, file, remotes)...)
		}
	}
	return list
}

func remoteDocuments(t testing.TB) map[string][]byte {
	t.Helper()
	root := shared(t, "suites", "json-schema", "remotes")
	docs := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		docs["http://localhost:1234/"+filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func fileSubjects(t testing.TB, dialect, file string, remotes map[string][]byte) []*subject {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct{ Data json.RawMessage }
	}
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	var list []*subject
	for _, g := range groups {
		s := &subject{name: dialect + "/" + filepath.Base(file) + "/" + g.Description, raw: g.Schema}
		options := &schema.Options{Documents: remotes}
		if dialect == "draft7" {
			options.Dialect = schema.Draft7
		}
		if s.ours, err = schema.Compile(g.Schema, options); err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if s.other, err = compileOther(dialect, g.Schema, remotes); err != nil {
			t.Logf("%s: the other engine does not compile it: %v", s.name, err)
			continue
		}
		s.harvest(g.Schema)
		for _, tt := range g.Tests {
			s.harvest(tt.Data)
		}
		list = append(list, s)
	}
	return list
}

func compileOther(dialect string, doc []byte, remotes map[string][]byte) (*santhosh.Schema, error) {
	c := santhosh.NewCompiler()
	if dialect == "draft7" {
		c.DefaultDraft(santhosh.Draft7)
	}
	// The other engine checks formats in draft-07, where ours takes them for
	// annotations unless it is told otherwise.
	for _, name := range []string{
		"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference",
		"uri-template", "uuid", "json-pointer", "relative-json-pointer", "regex", "period", "semver", "idn-email", "idn-hostname",
	} {
		c.RegisterFormat(&santhosh.Format{Name: name, Validate: func(any) error { return nil }})
	}
	c.AssertVocabs()
	c.UseLoader(mapLoader(remotes))
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	if err := c.AddResource("https://example.com/root.json", v); err != nil {
		return nil, err
	}
	return c.Compile("https://example.com/root.json")
}

type mapLoader map[string][]byte

func (m mapLoader) Load(url string) (any, error) {
	doc, ok := m[url]
	if !ok {
		return nil, fmt.Errorf("no document %q", url)
	}
	return santhosh.UnmarshalJSON(bytes.NewReader(doc))
}

// harvest takes a document apart into values and names.
func (s *subject) harvest(doc []byte) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		s.take(v)
	}
}

func (s *subject) take(v any) {
	s.atoms = append(s.atoms, v)
	switch v := v.(type) {
	case []any:
		for _, elem := range v {
			s.take(elem)
		}
	case map[string]any:
		for name, elem := range v {
			s.names = append(s.names, name)
			s.take(elem)
		}
		slices.Sort(s.names)
	}
}

// document makes a random document from the material of a subject.
func (s *subject) document(r *rand.Rand, depth int) any {
	if depth == 0 || r.IntN(4) == 0 {
		return s.atom(r)
	}
	switch r.IntN(3) {
	case 0:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = s.document(r, depth-1)
		}
		return list
	case 1:
		m := map[string]any{}
		for range r.IntN(5) {
			m[s.member(r)] = s.document(r, depth-1)
		}
		return m
	}
	return s.change(r, s.atoms[r.IntN(len(s.atoms))], depth)
}

// change makes a value a little different.
func (s *subject) change(r *rand.Rand, v any, depth int) any {
	switch v := v.(type) {
	case []any:
		out := slices.Clone(v)
		for i := range out {
			if r.IntN(4) == 0 {
				out[i] = s.document(r, depth-1)
			}
		}
		if r.IntN(3) == 0 {
			out = append(out, s.document(r, depth-1))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, elem := range v {
			switch r.IntN(6) {
			case 0:
			case 1:
				out[name] = s.document(r, depth-1)
			default:
				out[name] = elem
			}
		}
		if r.IntN(3) == 0 {
			out[s.member(r)] = s.document(r, depth-1)
		}
		return out
	}
	return v
}

func (s *subject) member(r *rand.Rand) string {
	if len(s.names) == 0 || r.IntN(5) == 0 {
		return []string{"", "a", "foo", "bar", "é", "a/b", "~", "\"", "$ref", "x"}[r.IntN(10)]
	}
	return s.names[r.IntN(len(s.names))]
}

func (s *subject) atom(r *rand.Rand) any {
	if r.IntN(3) > 0 {
		return s.atoms[r.IntN(len(s.atoms))]
	}
	return []any{
		nil, true, false, "", "a", "foo", "ab\n", "é", "😀", "\u2028",
		json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("1.0"), json.Number("-1.5"), json.Number("1e2"),
		json.Number("100"), json.Number("9007199254740993"), json.Number("0.1"), json.Number("123456789012345678901234567890"),
		[]any{}, map[string]any{},
	}[r.IntN(22)]
}

// hugeExponent matches numbers that the other engine, which has rationals,
// takes minutes for.
func hugeExponent(doc []byte) bool {
	return regexp.MustCompile(`[0-9][eE][+-]?[0-9]{4,}`).Match(doc)
}

// compare checks a document with both engines.
func (s *subject) compare(t *testing.T, doc []byte) {
	t.Helper()
	if hugeExponent(doc) {
		return
	}
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return
	}
	ours, theirs := s.ours.Validate(doc), s.other.Validate(v)
	if (ours == nil) != (theirs == nil) {
		t.Errorf("%s\nschema: %s\ndocument: %s\nours: %v\ntheirs: %v", s.name, s.raw, doc, ours, theirs)
	}
}

func (s *subject) random(t *testing.T, r *rand.Rand) {
	t.Helper()
	doc, err := json.Marshal(s.document(r, 1+r.IntN(4)))
	if err != nil {
		t.Fatal(err)
	}
	s.compare(t, doc)
}

// TestDifferential compares the verdicts about random documents for each schema
// of the suite.
func TestDifferential(t *testing.T) {
	each := 200
	if testing.Short() {
		each = 20
	}
	list := subjects(t)
	for i, s := range list {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for range each {
			s.random(t, r)
		}
	}
	t.Logf("%d schemas, %d documents each", len(list), each)
}

// FuzzDifferential does the same without end, and also with the documents that
// the fuzzing engine makes.
func FuzzDifferential(f *testing.F) {
	list := subjects(f)
	for i := range list {
		f.Add(uint16(i), uint64(i), []byte(`{"foo":[1,"a",null]}`))
	}
	f.Fuzz(func(t *testing.T, index uint16, seed uint64, doc []byte) {
		s := list[int(index)%len(list)]
		r := rand.New(rand.NewPCG(seed, uint64(index)))
		for range 10 {
			s.random(t, r)
		}
		if jsonwire.Valid(doc, 0) == nil && !duplicates(doc) {
			s.compare(t, doc)
		}
	})
}

// duplicates reports whether an object has a name twice. There the verdicts may
// differ: our engine checks each member, and refuses a declared one that is
// there twice, while a map keeps the last one.
func duplicates(doc []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(doc))
	var open []map[string]bool // nil for an array
	name := false
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		top := func() map[string]bool {
			if len(open) == 0 {
				return nil
			}
			return open[len(open)-1]
		}
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '{':
				open = append(open, map[string]bool{})
				name = true
				continue
			case '[':
				open = append(open, nil)
				name = false
				continue
			}
			open = open[:len(open)-1]
		case string:
			if m := top(); name && m != nil {
				if m[tok] {
					return true
				}
				m[tok] = true
				name = false
				continue
			}
		}
		name = top() != nil
	}
}
