package schema

import (
	"fmt"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A vocabulary set says which keywords of draft 2020-12 have a meaning.
type vocabulary uint8

const (
	vocabApplicator vocabulary = 1 << iota
	vocabUnevaluated
	vocabValidation
	vocabFormatAssertion

	// vocabDefault is what the standard meta-schema declares, as far as it can
	// be seen in a verdict.
	vocabDefault = vocabApplicator | vocabUnevaluated | vocabValidation
)

// A dialect is what a resource is read as.
type dialect struct {
	draft7     bool
	vocabulary vocabulary
}

func (d dialect) has(v vocabulary) bool { return d.vocabulary&v != 0 }

const vocabPrefix = "https://json-schema.org/draft/2020-12/vocab/"

// dialect finds out what a $schema URI means.
func (l *loader) dialect(uri string) (dialect, error) {
	switch Dialect(strings.TrimSuffix(uri, "#")) {
	case Draft2020:
		return dialect{vocabulary: vocabDefault}, nil
	case Draft7, "https://json-schema.org/draft-07/schema":
		return dialect{draft7: true, vocabulary: vocabApplicator | vocabValidation}, nil
	}
	doc, ok := l.opts.Documents[uri]
	if !ok || jsonwire.Valid(doc, 0) != nil {
		return dialect{}, fmt.Errorf("unsupported dialect %q: draft 2020-12 and draft-07 are understood", clip(uri))
	}
	return customDialect(doc)
}

// customDialect reads the vocabularies of a meta-schema.
func customDialect(doc []byte) (dialect, error) {
	doc = doc[jsonwire.SkipSpace(doc):]
	if s := lookupString(doc, "$schema"); s != string(Draft2020) {
		return dialect{}, fmt.Errorf("unsupported meta-schema: its own dialect is %q, want %q", clip(s), Draft2020)
	}
	list := jsonwire.Lookup(doc, "$vocabulary")
	if list == nil {
		return dialect{vocabulary: vocabDefault}, nil
	}
	var d dialect
	for o := jsonwire.Members(list); ; {
		name, required, ok := o.Next()
		if !ok {
			return d, nil
		}
		uri := jsonwire.Unquote(name)
		switch strings.TrimPrefix(uri, vocabPrefix) {
		case "core", "meta-data", "content", "format-annotation":
		case "applicator":
			d.vocabulary |= vocabApplicator
		case "unevaluated":
			d.vocabulary |= vocabUnevaluated
		case "validation":
			d.vocabulary |= vocabValidation
		case "format-assertion":
			d.vocabulary |= vocabFormatAssertion
		default:
			if string(required) == "true" {
				return dialect{}, fmt.Errorf("the meta-schema requires the unknown vocabulary %q", clip(uri))
			}
		}
	}
}

// lookupString returns the text of a member that is a string, or "".
func lookupString(obj []byte, name string) string {
	v := jsonwire.Lookup(obj, name)
	if v == nil || v[0] != '"' {
		return ""
	}
	return jsonwire.Unquote(v)
}

// clip bounds text from outside that goes into a message.
func clip(s string) string { return clipTo(s, 80) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
