package protocol

import (
	"encoding/base64"
	"slices"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// CallToolResult is the outcome of a tool. A failure of the tool itself is a
// result too, with IsError set and a text that a model can act on.
type CallToolResult struct {
	// Content is what the model reads. If it is empty and there is structured
	// content, that is sent as a text block too, for clients that read only one
	// of the two.
	Content []Content
	// StructuredContent is raw JSON, or nil. Before 2026-07-28 only objects are
	// sent; the layer wraps other values.
	StructuredContent []byte
	IsError           bool
	Meta              []byte // raw JSON object, or nil
}

// AppendMembers appends the members of the result object, the first one without
// a comma before it and without _meta, which the caller merges with its own.
func (r *CallToolResult) AppendMembers(dst []byte, v Version) []byte {
	dst = r.grow(dst, v)
	dst = append(dst, `"content":`...)
	if r.hasTwin() {
		dst = append(dst, `[{"type":"text","text":`...)
		dst = jsonwire.AppendQuoteBytes(dst, r.StructuredContent)
		dst = append(dst, `}]`...)
	} else {
		dst = AppendContents(dst, r.Content, v)
	}
	if len(r.StructuredContent) > 0 && v.HasStructuredContent() {
		dst = append(dst, `,"structuredContent":`...)
		dst = jsonwire.AppendLine(dst, r.StructuredContent)
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return dst
}

// hasTwin reports whether the structured content is the text as well.
func (r *CallToolResult) hasTwin() bool {
	return len(r.Content) == 0 && len(r.StructuredContent) > 0 && !r.IsError
}

// Explicit returns the result with the text block that stands for structured
// content written out, if there is one; the result itself is not changed.
func (r *CallToolResult) Explicit() *CallToolResult {
	if !r.hasTwin() {
		return r
	}
	out := *r
	out.Content = []Content{&Text{Text: string(r.StructuredContent)}}
	return &out
}

// grow makes room for a large result at once, instead of doubling a buffer on
// the way. What the version leaves out needs none; escapes may still make it
// grow.
func (r *CallToolResult) grow(dst []byte, v Version) []byte {
	size := 0
	if v.HasStructuredContent() {
		size = len(r.StructuredContent)
	}
	if r.hasTwin() {
		size += len(r.StructuredContent)
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *Text:
			size += len(c.Text)
		case *Image:
			size += base64.StdEncoding.EncodedLen(len(c.Data))
		case *Audio:
			if v.HasAudio() {
				size += base64.StdEncoding.EncodedLen(len(c.Data))
			}
		case *EmbeddedResource:
			size += len(c.Resource.Text) + base64.StdEncoding.EncodedLen(len(c.Resource.Blob))
		}
	}
	if size < largeResult {
		return dst
	}
	return slices.Grow(dst, size+size/16)
}

// largeResult is the size from which room is made at once.
const largeResult = 4 << 10

// ReadResourceResult is what a resource holds, in one or more parts.
type ReadResourceResult struct {
	Contents []ResourceContents
	Meta     []byte
}

// AppendMembers is as for [CallToolResult.AppendMembers].
func (r *ReadResourceResult) AppendMembers(dst []byte, v Version) []byte {
	dst = append(dst, `"contents":[`...)
	for i := range r.Contents {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.Contents[i].Append(dst, v)
	}
	return append(dst, ']')
}

// Role says who speaks in a prompt message.
type Role string

// The roles of prompt messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// PromptMessage is one message of a prompt; its content is a single block.
type PromptMessage struct {
	Role    Role
	Content Content
}

// GetPromptResult is an expanded prompt.
type GetPromptResult struct {
	Description string
	Messages    []PromptMessage
	Meta        []byte
}

// AppendMembers is as for [CallToolResult.AppendMembers].
func (r *GetPromptResult) AppendMembers(dst []byte, v Version) []byte {
	dst = append(dst, `"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"role":`...)
		dst = jsonwire.AppendQuote(dst, string(m.Role))
		dst = append(dst, `,"content":`...)
		dst = m.Content.Append(dst, v)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	return AppendText(dst, "description", r.Description)
}

// Completion is a list of suggestions, best first.
type Completion struct {
	Values []string // at most MaxCompletionValues are sent
	Total  int      // number of matches; sent only if greater than zero
	More   bool
}

// AppendMembers is as for [CallToolResult.AppendMembers].
func (c *Completion) AppendMembers(dst []byte, _ Version) []byte {
	values, total, more := c.Values, c.Total, c.More
	if len(values) > MaxCompletionValues {
		total, more = max(total, len(values)), true
		values = values[:MaxCompletionValues]
	}
	dst = append(dst, `"completion":{"values":`...)
	dst = AppendStrings(dst, values)
	if total > 0 {
		dst = appendInt(dst, "total", int64(total))
	}
	if more {
		dst = append(dst, `,"hasMore":true`...)
	}
	return append(dst, '}')
}
