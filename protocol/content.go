package protocol

import (
	"encoding/base64"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Content is one block of a tool result or a prompt message: [Text], [Image],
// [Audio], [ResourceLink] or [EmbeddedResource].
type Content interface {
	// Append appends the block for a receiver that speaks the given version. A
	// block that the version does not know is replaced by a text that says what
	// is there.
	Append(dst []byte, v Version) []byte
}

// Text is a text block.
type Text struct {
	Text        string
	Annotations *Annotations
	Meta        []byte // raw JSON object, or nil
}

// Append appends the block.
func (t *Text) Append(dst []byte, v Version) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	dst = jsonwire.AppendQuote(dst, t.Text)
	return closeBlock(dst, t.Annotations, t.Meta, v)
}

// Image is a picture. Data is the file itself, not yet base64.
type Image struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations
	Meta        []byte
}

// Append appends the block.
func (m *Image) Append(dst []byte, v Version) []byte {
	dst = append(dst, `{"type":"image","data":`...)
	dst = appendBase64(dst, m.Data)
	dst = append(dst, `,"mimeType":`...)
	dst = jsonwire.AppendQuote(dst, m.MIMEType)
	return closeBlock(dst, m.Annotations, m.Meta, v)
}

// Audio is a recording. Data is the file itself, not yet base64.
type Audio struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations
	Meta        []byte
}

// Append appends the block, or a text in its place for 2024-11-05.
func (a *Audio) Append(dst []byte, v Version) []byte {
	if !v.HasAudio() {
		t := Text{Text: "[audio of type " + a.MIMEType + " left out: this protocol version has no audio content]", Annotations: a.Annotations}
		return t.Append(dst, v)
	}
	dst = append(dst, `{"type":"audio","data":`...)
	dst = appendBase64(dst, a.Data)
	dst = append(dst, `,"mimeType":`...)
	dst = jsonwire.AppendQuote(dst, a.MIMEType)
	return closeBlock(dst, a.Annotations, a.Meta, v)
}

// ResourceLink points to a resource, which need not be listed.
type ResourceLink struct {
	URI, Name                    string
	Title, Description, MIMEType string
	Size                         int64 // bytes; sent only if HasSize
	HasSize                      bool
	Icons                        []Icon
	Annotations                  *Annotations
	Meta                         []byte
}

// Append appends the block, or a text in its place before 2025-06-18.
func (l *ResourceLink) Append(dst []byte, v Version) []byte {
	if !v.HasResourceLink() {
		t := Text{Text: "[resource " + l.Name + ": " + l.URI + "]", Annotations: l.Annotations}
		return t.Append(dst, v)
	}
	dst = append(dst, `{"type":"resource_link","uri":`...)
	dst = jsonwire.AppendQuote(dst, l.URI)
	dst = append(dst, `,"name":`...)
	dst = jsonwire.AppendQuote(dst, l.Name)
	dst = AppendText(dst, "title", l.Title)
	dst = AppendText(dst, "description", l.Description)
	dst = AppendText(dst, "mimeType", l.MIMEType)
	if l.HasSize {
		dst = appendInt(dst, "size", l.Size)
	}
	if v.HasIcons() {
		dst = AppendIcons(dst, l.Icons)
	}
	return closeBlock(dst, l.Annotations, l.Meta, v)
}

// EmbeddedResource is the content of a resource inside another result.
type EmbeddedResource struct {
	Resource    ResourceContents
	Annotations *Annotations
	Meta        []byte
}

// Append appends the block.
func (e *EmbeddedResource) Append(dst []byte, v Version) []byte {
	dst = append(dst, `{"type":"resource","resource":`...)
	dst = e.Resource.Append(dst, v)
	return closeBlock(dst, e.Annotations, e.Meta, v)
}

// closeBlock appends what all blocks have in common and ends the object.
func closeBlock(dst []byte, a *Annotations, meta []byte, v Version) []byte {
	dst = AppendAnnotations(dst, a, v)
	dst = AppendMeta(dst, meta, v)
	return append(dst, '}')
}

// ResourceContents is what a resource holds: a text, or bytes if Blob is not
// nil.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte
	Meta     []byte
}

// Append appends the JSON object.
func (c *ResourceContents) Append(dst []byte, v Version) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, c.URI)
	dst = AppendText(dst, "mimeType", c.MIMEType)
	if c.Blob != nil {
		dst = append(dst, `,"blob":`...)
		dst = appendBase64(dst, c.Blob)
	} else {
		dst = append(dst, `,"text":`...)
		dst = jsonwire.AppendQuote(dst, c.Text)
	}
	dst = AppendMeta(dst, c.Meta, v)
	return append(dst, '}')
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}

// AppendContents appends an array of blocks.
func AppendContents(dst []byte, blocks []Content, v Version) []byte {
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = b.Append(dst, v)
	}
	return append(dst, ']')
}
