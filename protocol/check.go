package protocol

import (
	"errors"
	"fmt"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Results and blocks carry raw JSON that comes from handlers. It is written as it
// is, so something that is no JSON would break the message around it, or be a
// message of its own. Check finds that out before anything is written.

// Check reports the first part of the result that cannot be sent: raw JSON that
// is none, or a block that is nil.
func (r *CallToolResult) Check() error {
	if len(r.StructuredContent) > 0 {
		if err := jsonwire.Valid(r.StructuredContent, 0); err != nil {
			return fmt.Errorf("structuredContent: %w", err)
		}
	}
	for i, c := range r.Content {
		if err := checkContent(c); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return checkMeta(r.Meta)
}

// Check is as for [CallToolResult.Check].
func (r *ReadResourceResult) Check() error {
	for i := range r.Contents {
		if err := checkMeta(r.Contents[i].Meta); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
	}
	return checkMeta(r.Meta)
}

// Check is as for [CallToolResult.Check].
func (r *GetPromptResult) Check() error {
	for i, m := range r.Messages {
		if err := checkContent(m.Content); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return checkMeta(r.Meta)
}

func checkContent(c Content) error {
	switch c := c.(type) {
	case nil:
		return errors.New("the block is nil")
	case *Text:
		return checkMeta(c.Meta)
	case *Image:
		return checkMeta(c.Meta)
	case *Audio:
		return checkMeta(c.Meta)
	case *ResourceLink:
		return checkMeta(c.Meta)
	case *EmbeddedResource:
		if err := checkMeta(c.Resource.Meta); err != nil {
			return fmt.Errorf("resource: %w", err)
		}
		return checkMeta(c.Meta)
	}
	return nil
}

// checkMeta accepts nothing or a JSON object.
func checkMeta(meta []byte) error {
	if len(meta) == 0 {
		return nil
	}
	if err := jsonwire.Valid(meta, 0); err != nil {
		return fmt.Errorf("_meta: %w", err)
	}
	if !isObject(meta) {
		return errors.New("_meta: it must be a JSON object")
	}
	return nil
}
