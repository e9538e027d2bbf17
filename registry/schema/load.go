package schema

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A resource is a schema with a URI of its own: a document, or a part of one
// that has an $id.
type resource struct {
	uri     string // absolute where one is known, without fragment
	doc     *document
	root    []byte
	dialect dialect
	err     error             // why the resource cannot be used, told when it is
	anchors map[string][]byte // by name
	dynamic map[string][]byte // those of $dynamicAnchor
	nodes   map[string]*node  // what the dynamic anchors compile to
	used    bool              // something in it has been compiled
}

// A document is a file with one or more resources.
type document struct {
	uri string // of a document that is not the main one
	raw []byte
}

// A loader knows the resources of all documents. A document beside the main one
// is read when a reference leads to it.
type loader struct {
	opts      Options
	resources map[string]*resource // by URI
	roots     map[*byte]*resource  // by the first byte of the root
	loaded    map[string]bool      // the keys of opts.Documents that have been read
	children  map[*byte]children   // of the containers that references lead through
	indexed   int                  // subschemas that have been looked at
	size      int                  // subschemas, names and values that have been compiled
}

func newLoader(opts Options) *loader {
	return &loader{
		opts:      opts,
		resources: map[string]*resource{},
		roots:     map[*byte]*resource{},
		loaded:    map[string]bool{},
		children:  map[*byte]children{},
	}
}

// errTooLarge is the fault of documents that pass Options.MaxSchemas.
var errTooLarge = errors.New("too many subschemas, names and values: raise MaxSchemas to allow more")

// count accounts for n more subschemas, names or values.
func (l *loader) count(n int) error {
	if l.size += n; l.size > l.opts.MaxSchemas {
		return errTooLarge
	}
	return nil
}

// load reads a document and finds its resources. uri is that by which it was
// asked for, and main is false for any but the document that is compiled.
func (l *loader) load(raw []byte, uri string, main bool) (*resource, error) {
	doc := &document{}
	if !main {
		doc.uri = uri
	}
	text, err := readDocument(raw, l.opts.MaxBytes)
	if err != nil {
		return nil, &SchemaError{Document: doc.uri, Err: err}
	}
	doc.raw = bytes.Clone(text)
	d, err := l.dialect(string(l.opts.Dialect))
	if err != nil {
		return nil, &SchemaError{Document: doc.uri, Err: err}
	}
	r := l.add(&resource{uri: uri, doc: doc, root: doc.raw, dialect: d})
	if err := l.index(doc.raw, r, true); err != nil {
		return nil, err
	}
	return r, nil
}

// readDocument checks that a document is valid JSON within bounds, and returns
// it without white space around it.
func readDocument(raw []byte, maxBytes int) ([]byte, error) {
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("the document has %d bytes, more than the %d of MaxBytes", len(raw), maxBytes)
	}
	if err := jsonwire.Valid(raw, 0); err != nil {
		return nil, err
	}
	doc := trim(raw)
	if nesting(doc) > maxNesting*int64(maxBytes) {
		return nil, errors.New("the document is nested too deep for its size: raise MaxBytes to allow more")
	}
	return doc, nil
}

// maxNesting is how many times MaxBytes the objects and arrays of a document
// may have together.
const maxNesting = 4

// add registers a resource under its URI. The first one keeps it.
func (l *loader) add(r *resource) *resource {
	r.anchors, r.dynamic, r.nodes = map[string][]byte{}, map[string][]byte{}, map[string]*node{}
	l.roots[&r.root[0]] = r
	l.name(r, r.uri)
	return r
}

func (l *loader) name(r *resource, uri string) {
	if _, ok := l.resources[uri]; !ok {
		l.resources[uri] = r
	}
}

// index notes the identifiers in raw, a schema of r, and in its subschemas.
// root says that raw is the root of r.
func (l *loader) index(raw []byte, r *resource, root bool) error {
	if raw[0] != '{' {
		return nil
	}
	if l.indexed++; l.indexed > l.opts.MaxSchemas {
		return l.fault(r, raw, "", errTooLarge)
	}
	r, err := l.identify(raw, r, root)
	if err != nil {
		return err
	}
	return eachSubschema(raw, func(s *subschema) error { return l.index(s.raw, r, false) })
}

// identifiers are the keywords by which a schema object can be found, and what
// decides about their meaning. Those that are not strings are left to the
// compiler, which refuses them.
type identifiers struct {
	id, schema, anchor, dynamicAnchor string
	ref                               bool
}

func readIdentifiers(raw []byte) identifiers {
	var ids identifiers
	for o := jsonwire.Members(raw); ; {
		name, value, ok := o.Next()
		if !ok {
			return ids
		}
		if len(name) < 2 || name[1] != '$' {
			continue
		}
		text := ""
		if value[0] == '"' {
			text = jsonwire.Unquote(value)
		}
		switch string(name) {
		case `"$id"`:
			ids.id = text
		case `"$schema"`:
			ids.schema = text
		case `"$anchor"`:
			ids.anchor = text
		case `"$dynamicAnchor"`:
			ids.dynamicAnchor = text
		case `"$ref"`:
			ids.ref = true
		}
	}
}

// identify reads the identifiers of one schema object. It returns the resource
// that the object belongs to, which is a new one if the object has an $id.
func (l *loader) identify(raw []byte, r *resource, root bool) (*resource, error) {
	ids := readIdentifiers(raw)
	// In draft-07 nothing counts beside a $ref, and a mere fragment is an anchor.
	if r.dialect.draft7 && ids.ref {
		ids.id = ""
	}
	base, fragment, _ := strings.Cut(ids.id, "#")
	if base != "" {
		uri, err := resolve(r.uri, base)
		if err != nil {
			return nil, l.fault(r, raw, "$id", err)
		}
		if root {
			r.uri = uri
			l.name(r, uri)
		} else {
			r = l.add(&resource{uri: uri, doc: r.doc, root: raw, dialect: r.dialect, err: r.err})
			root = true
		}
	}
	if ids.schema != "" && root {
		r.dialect, r.err = l.dialect(ids.schema)
	}
	if r.dialect.draft7 {
		if fragment != "" {
			r.anchors[fragment] = raw
		}
		return r, nil
	}
	if ids.dynamicAnchor != "" {
		r.dynamic[ids.dynamicAnchor] = raw
	}
	return r, errors.Join(l.anchor(raw, r, "$anchor", ids.anchor), l.anchor(raw, r, "$dynamicAnchor", ids.dynamicAnchor))
}

// anchor notes an anchor of a schema object.
func (l *loader) anchor(raw []byte, r *resource, keyword, name string) error {
	if name == "" {
		return nil
	}
	if old, ok := r.anchors[name]; ok && &old[0] != &raw[0] {
		return l.fault(r, raw, keyword, fmt.Errorf("the anchor %q is there twice", clip(name)))
	}
	r.anchors[name] = raw
	return nil
}

// fault says where in which document something is wrong.
func (l *loader) fault(r *resource, raw []byte, keyword string, err error) error {
	var inner *SchemaError
	if errors.As(err, &inner) {
		return err
	}
	return &SchemaError{
		Document: r.doc.uri,
		Path:     pointerTo(r.doc.raw, offsetIn(r.doc.raw, raw)),
		Keyword:  keyword,
		Err:      err,
	}
}

// resolve resolves a reference without fragment against a base.
func resolve(base, ref string) (string, error) {
	if ref == "" {
		return base, nil
	}
	u, err := url.Parse(ref)
	if err != nil {
		return "", fmt.Errorf("%q is not a URI reference", clip(ref))
	}
	if base == "" {
		return u.String(), nil
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the base %q is not a URI", clip(base))
	}
	return b.ResolveReference(u).String(), nil
}

// find returns the resource with a URI, reading the document that has it.
func (l *loader) find(uri string) (*resource, error) {
	if r, ok := l.resources[uri]; ok {
		return r, nil
	}
	if doc, ok := l.opts.Documents[uri]; ok && !l.loaded[uri] {
		return l.loadOnce(doc, uri)
	}
	if doc, ok := standardDocument(uri); ok {
		return l.load([]byte(doc), uri, false)
	}
	// It may be the $id of something inside of another document.
	for _, key := range l.unread() {
		if _, err := l.loadOnce(l.opts.Documents[key], key); err != nil {
			return nil, err
		}
		if r, ok := l.resources[uri]; ok {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the reference leads to %q, which is not among the given documents; nothing is fetched", clip(uri))
}

func (l *loader) loadOnce(doc []byte, uri string) (*resource, error) {
	l.loaded[uri] = true
	return l.load(doc, uri, false)
}

func (l *loader) unread() []string {
	var keys []string
	for key := range l.opts.Documents {
		if !l.loaded[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// target finds what a reference in r leads to, and the resource that it lies
// in. The name is that of the anchor, if the fragment is one.
func (l *loader) target(r *resource, ref string) (raw []byte, in *resource, name string, err error) {
	base, fragment, _ := strings.Cut(ref, "#")
	uri, err := resolve(r.uri, base)
	if err != nil {
		return nil, nil, "", err
	}
	in = r
	if uri != r.uri {
		if in, err = l.find(uri); err != nil {
			return nil, nil, "", err
		}
	}
	fragment, err = url.PathUnescape(fragment)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the fragment of %q is not properly escaped", clip(ref))
	}
	switch {
	case fragment == "":
		return in.root, in, "", nil
	case fragment[0] == '/':
		raw, in, err = l.follow(in, fragment)
		return raw, in, "", err
	}
	if raw = in.anchors[fragment]; raw == nil {
		return nil, nil, "", fmt.Errorf("the reference leads to the anchor %q, which is not there", clip(fragment))
	}
	return raw, in, fragment, nil
}

// follow walks along a JSON Pointer from the root of a resource.
func (l *loader) follow(r *resource, pointer string) ([]byte, *resource, error) {
	raw := r.root
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if raw = l.child(raw, unescapeStep(step)); raw == nil {
			return nil, nil, fmt.Errorf("the reference leads to %q, which is not there", clip(pointer))
		}
		if inner, ok := l.roots[&raw[0]]; ok {
			r = inner
		}
	}
	return raw, r, nil
}

// children are the parts of an object or array by the step of a JSON Pointer
// that leads to them.
type children map[string][]byte

// child returns a part of a container, or nil. What a container has is kept,
// since many references lead through the same few.
func (l *loader) child(raw []byte, step string) []byte {
	list, ok := l.children[&raw[0]]
	if !ok {
		list = readChildren(raw)
		l.children[&raw[0]] = list
	}
	return list[step]
}

func readChildren(raw []byte) children {
	list := children{}
	for o := jsonwire.Members(raw); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		if key := jsonwire.Unquote(name); list[key] == nil {
			list[key] = value
		}
	}
	for a, i := jsonwire.Elements(raw), 0; ; i++ {
		value, ok := a.Next()
		if !ok {
			return list
		}
		list[strconv.Itoa(i)] = value
	}
}
