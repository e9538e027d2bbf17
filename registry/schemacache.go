package registry

import (
	"bytes"
	"sync"

	"cloudg.dev/cloudg/registry/schema"
)

// maxCachedSchemas bounds the schemas that are remembered.
const maxCachedSchemas = 1024

// schemaCache remembers compiled schemas by their text: many tools of one server
// have the same one, most of all that for no arguments.
type schemaCache struct {
	mu       sync.Mutex // guards the field below
	compiled map[string]*schema.Schema
}

// input compiles the schema of a tool's arguments, or returns it from before.
// Models write null for what they want to leave out, so that is accepted.
func (c *schemaCache) input(doc []byte) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[string(doc)]; s != nil {
		return s, nil
	}
	s, err := schema.Compile(doc, &schema.Options{NullAsAbsent: true})
	if err != nil {
		return nil, err
	}
	if c.compiled == nil || len(c.compiled) >= maxCachedSchemas {
		c.compiled = make(map[string]*schema.Schema)
	}
	c.compiled[string(doc)] = s
	return s, nil
}

// headersOf returns the header annotations of a schema. Most have none, which a
// look at the text shows unless a name in it is spelled with escapes.
func (c *schemaCache) headersOf(doc []byte) ([]schema.Header, error) {
	if !bytes.Contains(doc, []byte("x-mcp-header")) && bytes.IndexByte(doc, '\\') < 0 {
		return nil, nil
	}
	return schema.Headers(doc)
}
