package schema

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A Dialect is the URI of a version of JSON Schema, as it stands in $schema.
type Dialect string

// The dialects that [Compile] understands. Any other $schema is an error,
// unless it names one of [Options.Documents] that is itself a meta-schema of
// draft 2020-12 and lists its vocabularies.
const (
	Draft2020 Dialect = "https://json-schema.org/draft/2020-12/schema"
	Draft7    Dialect = "http://json-schema.org/draft-07/schema"
)

// Options say how a schema is compiled and what checking against it may cost.
// Nil and the zero value are the defaults.
type Options struct {
	// Documents are further schema documents that a reference may lead to, by
	// their absolute URI. Nothing is ever fetched: a reference to anything else
	// is an error.
	Documents map[string][]byte
	// BaseURI is the URI of the document itself, against which its $id and its
	// references are resolved. Empty means that it has none.
	BaseURI string
	// Dialect is what a document without $schema is read as. Empty means
	// [Draft2020].
	Dialect Dialect
	// AssertFormat turns format from an annotation into a check.
	AssertFormat bool
	// NullAsAbsent reads a null as if the member were not there, for a member
	// that is declared by properties and not required. Models write null for
	// what they want to leave out.
	NullAsAbsent bool
	// Noun is what an error calls a member of the outermost object. Empty means
	// "argument".
	Noun string
	// MaxErrors bounds the violations that one validation reports. Zero means
	// 10.
	MaxErrors int
	// MaxDepth bounds how deep the evaluation of subschemas may nest, which
	// grows with the value and with references. Zero means 4096.
	MaxDepth int
	// MaxWork bounds the steps of one validation, to which one is added for each
	// byte of the value. A step is the application of one subschema to one value,
	// or something that takes about as long. Zero means 500,000.
	MaxWork int
	// MaxSchemas bounds the subschemas of all documents together; the names and
	// values that they list, and the size of patterns, count as well. Zero means
	// 30,000.
	MaxSchemas int
	// MaxBytes bounds the size of each document. Its objects and arrays together,
	// those inside of others counted again, may have four times as much. Zero
	// means 4 MiB.
	MaxBytes int
}

// withDefaults returns a copy of o in which every bound is set.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.Dialect, Draft2020)
	setDefault(&out.Noun, "argument")
	setDefault(&out.MaxErrors, 10)
	setDefault(&out.MaxDepth, 4096)
	setDefault(&out.MaxWork, 500_000)
	setDefault(&out.MaxSchemas, 30_000)
	setDefault(&out.MaxBytes, 4<<20)
	return out
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// A Schema is a compiled schema document. It is immutable and may be used by
// any number of goroutines.
type Schema struct {
	raw    []byte
	root   *node
	limits limits
	noun   string
	null   bool   // Options.NullAsAbsent
	hasher hasher // for comparing arrays and objects

	pool sync.Pool // of *scratch, for schemas that need more than the stack
}

// limits are the bounds of one evaluation.
type limits struct{ depth, work, errors int }

// Compile compiles a schema document, which is copied. The error is a
// [*SchemaError], or a syntax error in one, when the document is not
// a valid schema of its dialect, when a reference leads nowhere, or when a
// bound of the options is passed.
func Compile(doc []byte, o *Options) (*Schema, error) {
	opts := o.withDefaults()
	s := &Schema{
		limits: limits{depth: opts.MaxDepth, work: opts.MaxWork, errors: opts.MaxErrors},
		noun:   opts.Noun,
		null:   opts.NullAsAbsent,
		hasher: newHasher(),
	}
	c, root, err := newCompiler(doc, opts, &s.hasher)
	if err != nil {
		return nil, err
	}
	s.raw = root.root
	s.root, err = c.compile(root)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Raw returns the document as it was given, without white space around it. It
// must not be modified.
func (s *Schema) Raw() []byte { return s.raw }

// Validate checks one JSON value against the schema. The value must be valid
// JSON, as the scanner of messages sees to; white space
// around it is accepted. Nothing is allocated for a value that conforms.
//
// The error is a [*ValidationError], also when the bounds of the options do not
// let the value be checked: then it wraps [ErrLimit].
//
// A member that the schema names may appear only once in an object, since
// readers disagree on which of two would count.
func (s *Schema) Validate(value []byte) error {
	value = trim(value)
	if len(value) == 0 {
		return &ValidationError{noun: s.noun, Violations: []Violation{{Keyword: "type", Message: "expected a value, found nothing"}}}
	}
	e := evaluation{schema: s, doc: value, nullAbsent: s.null, budget: s.limits.budget(value)}
	_, ok := e.value(s.root, 0, noMarks)
	e.release()
	if ok {
		return nil
	}
	return s.explain(value, s.null, e.exhausted)
}

// budget is the work allowed for a value.
func (l limits) budget(value []byte) int { return l.work + len(value) }

// explain evaluates a value that does not conform once more, now to say why.
// Where that took too much the first time, there is nothing more to say.
func (s *Schema) explain(value []byte, nullAbsent, exhausted bool) *ValidationError {
	r := report{doc: value, noun: s.noun, max: s.limits.errors}
	if exhausted {
		return r.result(true)
	}
	e := evaluation{schema: s, doc: value, nullAbsent: nullAbsent, budget: s.limits.budget(value), report: &r}
	e.value(s.root, 0, noMarks)
	e.release()
	return r.result(e.exhausted)
}

// ErrLimit is wrapped by the error for a value that cannot be checked within
// the bounds of [Options].
var ErrLimit = errors.New("the value takes too much work to check against the schema")

// A Violation is one way in which a value breaks its schema.
type Violation struct {
	// Path is the JSON Pointer of the offending value; for a member that is
	// missing or unknown, that of the object. Empty means the whole value. Names
	// that would make it longer than 1 KiB are cut off at the end.
	Path string `json:"path"`
	// Message says what was expected and what was found: types and names, never
	// a value.
	Message string `json:"message"`
	// Keyword is the keyword of the schema that was broken: or "false" for the
	// schema of that name, "duplicate" for a name that is there twice, and "limit"
	// if the value could not be checked within the bounds.
	Keyword string `json:"keyword"`
}

// A ValidationError says why a value does not conform to a schema.
type ValidationError struct {
	Violations []Violation // at least one, in the order of the value
	Truncated  bool        // there are more than the bound allows

	noun    string // what a member of the outermost object is called
	limited bool   // a bound of the evaluation was passed
}

// maxErrorText bounds the text of a ValidationError, in bytes.
const maxErrorText = 4096

// Error describes the violations for a model to act on.
func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, v := range e.Violations {
		text := v.Message
		if v.Path != "" {
			text = fmt.Sprintf("%s %q: %s", e.noun, clipTo(dotted(v.Path), 240), v.Message)
		}
		if i > 0 && b.Len()+len(text) > maxErrorText {
			b.WriteString("; and more")
			return b.String()
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
	if e.Truncated {
		b.WriteString("; and more")
	}
	return b.String()
}

// Unwrap returns [ErrLimit] if the value could not be checked within the
// bounds.
func (e *ValidationError) Unwrap() error {
	if e.limited {
		return ErrLimit
	}
	return nil
}

// A SchemaError says why a schema document cannot be compiled.
type SchemaError struct {
	// Document is the URI of the document if it is not the main one.
	Document string
	// Path is the JSON Pointer of the schema object in its document.
	Path string
	// Keyword is the keyword at fault, if there is one.
	Keyword string
	// Err says what is wrong.
	Err error
}

func (e *SchemaError) Error() string {
	var b strings.Builder
	b.WriteString("schema")
	if e.Document != "" {
		fmt.Fprintf(&b, " %q", e.Document)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, " at %q", e.Path)
	}
	if e.Keyword != "" {
		fmt.Fprintf(&b, ", keyword %q", e.Keyword)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *SchemaError) Unwrap() error { return e.Err }
