package speccheck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/schema"
)

// Spec holds the schemas of all protocol versions and of the tasks extension. Its methods may be called by
// several goroutines.
type Spec struct {
	folder string

	mu       sync.Mutex           // guards the fields below
	docs     map[string]*document // by folder
	compiled map[definition]*schema.Schema
}

// document is the schema file of one version, or of an extension.
type document struct {
	open    []byte          // as it is published
	closed  []byte          // the same, refusing members that it does not declare
	keyword string          // under which the definitions are
	names   map[string]bool // of the definitions
}

type definition struct {
	folder string // of the schema file
	name   string
	closed bool
}

// tasksFolder has the schema of the tasks extension.
const tasksFolder = "ext-tasks"

// New returns the schemas in folder, which has one folder per version.
func New(folder string) *Spec {
	return &Spec{folder: folder, docs: make(map[string]*document), compiled: make(map[definition]*schema.Schema)}
}

// Find returns the schemas in ../shared/spec, seen from the repository whose root
// is the given path, or an error that says where they should be.
func Find(root string) (*Spec, error) {
	folder := filepath.Join(root, "..", "shared", "spec")
	if _, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("the schemas of the specification are not here: %w", err)
	}
	return New(folder), nil
}

// Open is [Find] for a test that is about nothing else: where the schemas are
// missing it is skipped. On a machine that has CI=true in its environment it
// fails.
func Open(t testing.TB, root string) *Spec {
	t.Helper()
	spec, err := Find(root)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return spec
}

// Validate checks a value against a definition of a version. The revisions of
// the handshake era are taken as closed: a member that the definition does not
// declare is an error, although it would be tolerated, since it means that
// something of a later revision was not left out. A nil Spec accepts everything.
func (s *Spec) Validate(v protocol.Version, name string, value []byte) error {
	return s.validate(definition{v.String(), name, v.HasHandshake()}, value)
}

// ValidateTasks checks a value against a definition of the tasks extension.
func (s *Spec) ValidateTasks(name string, value []byte) error {
	return s.validate(definition{tasksFolder, name, false}, value)
}

func (s *Spec) validate(d definition, value []byte) error {
	if s == nil {
		return nil
	}
	compiled, err := s.definition(d)
	if err != nil {
		return err
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("%s of %s: %w", d.name, d.folder, err)
	}
	return nil
}

// Has reports whether a version has a definition. A nil Spec has none.
func (s *Spec) Has(v protocol.Version, name string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	doc, err := s.documentLocked(v.String())
	return err == nil && doc.names[name]
}

func (s *Spec) definition(d definition) (*schema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if compiled := s.compiled[d]; compiled != nil {
		return compiled, nil
	}
	doc, err := s.documentLocked(d.folder)
	if err != nil {
		return nil, err
	}
	if !doc.names[d.name] {
		return nil, fmt.Errorf("the schema of %s does not define %s", d.folder, d.name)
	}
	const uri = "https://spec.invalid/schema.json"
	raw := doc.open
	if d.closed {
		raw = doc.closed
	}
	compiled, err := schema.Compile(fmt.Appendf(nil, `{"$ref":"%s#/%s/%s"}`, uri, doc.keyword, d.name), &schema.Options{
		Documents:    map[string][]byte{uri: raw},
		AssertFormat: true,
		Noun:         "member",
		MaxWork:      1 << 28, // lists are long, and messages of tests are no attack
	})
	if err != nil {
		return nil, err
	}
	s.compiled[d] = compiled
	return compiled, nil
}

func (s *Spec) documentLocked(folder string) (*document, error) {
	if doc := s.docs[folder]; doc != nil {
		return doc, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.folder, folder, "schema.json"))
	if err != nil {
		return nil, err
	}
	doc, err := newDocument(raw)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", folder, err)
	}
	s.docs[folder] = doc
	return doc, nil
}

func newDocument(raw []byte) (*document, error) {
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	doc := &document{open: raw, keyword: "$defs", names: make(map[string]bool)}
	if root["definitions"] != nil {
		doc.keyword = "definitions"
	}
	definitions, _ := root[doc.keyword].(map[string]any)
	for name, d := range definitions {
		doc.names[name] = true
		if name != "Result" && name != "EmptyResult" && name != "JSONRPCNotification" && name != "JSONRPCRequest" { // what every one may be
			closeObjects(d)
			declareEnvelope(d)
		}
	}
	var err error
	doc.closed, err = json.Marshal(root)
	return doc, err
}

// closeObjects makes a schema and those inside of it refuse members that they do
// not declare, unless they say what others may be. Schemas that describe schemas
// stay open.
func closeObjects(node any) {
	o, ok := node.(map[string]any)
	if !ok {
		return
	}
	if properties, ok := o["properties"].(map[string]any); ok {
		if o["additionalProperties"] == nil {
			o["additionalProperties"] = false
		}
		for name, p := range properties {
			if name != "inputSchema" && name != "outputSchema" && name != "_meta" {
				closeObjects(p)
			}
		}
	}
	closeObjects(o["items"])
	if any, ok := o["anyOf"].([]any); ok {
		for _, branch := range any {
			closeObjects(branch)
		}
	}
}

// declareEnvelope makes a message accept the members that all of its kind have:
// until 2025-06-18 the definitions leave them to that of the envelope.
func declareEnvelope(node any) {
	o, _ := node.(map[string]any)
	if properties, ok := o["properties"].(map[string]any); ok && properties["method"] != nil && properties["jsonrpc"] == nil {
		properties["jsonrpc"] = map[string]any{"const": "2.0"}
		properties["id"] = map[string]any{"type": []string{"string", "integer"}}
	}
}
