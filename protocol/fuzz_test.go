package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// decodedBlock is a block as a client reads it.
type decodedBlock struct {
	Type     string           `json:"type"`
	Text     string           `json:"text"`
	Data     []byte           `json:"data"`
	MIMEType string           `json:"mimeType"`
	URI      string           `json:"uri"`
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Size     int64            `json:"size"`
	Resource *decodedResource `json:"resource"`
}

type decodedResource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob"`
}

// repaired is what a client reads of a string: bytes that are no UTF-8 have
// become U+FFFD, each by itself.
func repaired(s string) string { return string([]rune(s)) }

// FuzzContent holds that whatever a block is made of, what is written is valid
// JSON on one line in every version, and says what the block says.
func FuzzContent(f *testing.F) {
	for kind := range byte(6) {
		f.Add(kind, "text", "name", "a:b", []byte("data"), []byte(`{"m":1}`), 0.5, int64(7))
		f.Add(kind, "\xff\xed\xa0\x80\x00", "\"\\\u2028", "\n\r", []byte{}, []byte("{\r\n\"a\" : [ ]\n}"), math.Copysign(0, -1), int64(-1<<63))
		f.Add(kind, "", "", "", []byte(nil), []byte(`null`), 1e300, int64(0))
	}
	f.Fuzz(func(t *testing.T, kind byte, text, name, uri string, data, meta []byte, priority float64, size int64) {
		const most = 100 // levels of metadata, within those of a frame
		if jsonwire.Valid(meta, most) != nil {
			meta = nil // that it is valid is the author's business
		}
		a := &protocol.Annotations{Audience: []string{name}, Priority: priority, HasPriority: true, LastModified: text}
		for _, v := range everyVersion() {
			block, want := fuzzBlock(kind, text, name, uri, data, size, v)
			setCommon(block, a, meta)
			got := block.Append([]byte(prefix), v)
			got, ok := bytes.CutPrefix(got, []byte(prefix))
			if !ok {
				t.Fatalf("%s: what was in the buffer is gone", v)
			}
			checkBytes(t, v, got)
			var back decodedBlock
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatalf("%s: %v in %s", v, err, got)
			}
			if diff := cmp.Diff(want, back); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", v, got, diff)
			}
			r := protocol.CallToolResult{Content: []protocol.Content{block, block}, StructuredContent: meta}
			checkBytes(t, v, append(r.AppendMembers([]byte{'{'}, v), '}'))
		}
	})
}

// checkBytes fails the test unless a value can be part of a frame.
func checkBytes(t *testing.T, v protocol.Version, got []byte) {
	t.Helper()
	if err := jsonwire.Valid(got, 0); err != nil {
		t.Fatalf("%s: %v in %q", v, err, got)
	}
	if !json.Valid(got) || !utf8.Valid(got) || bytes.ContainsAny(got, "\r\n") {
		t.Fatalf("%s: not JSON, not UTF-8 or not one line: %q", v, got)
	}
}

// fuzzBlock returns a block and what a client of the version is to read.
func fuzzBlock(kind byte, text, name, uri string, data []byte, size int64, v protocol.Version) (protocol.Content, decodedBlock) {
	blob := append([]byte{}, data...) // not nil, which would be a text
	switch kind % 6 {
	case 0:
		return &protocol.Text{Text: text}, decodedBlock{Type: "text", Text: repaired(text)}
	case 1:
		return &protocol.Image{Data: data, MIMEType: name}, decodedBlock{Type: "image", Data: blob, MIMEType: repaired(name)}
	case 2:
		block := &protocol.Audio{Data: data, MIMEType: name}
		if v.HasAudio() {
			return block, decodedBlock{Type: "audio", Data: blob, MIMEType: repaired(name)}
		}
		return block, decodedBlock{Type: "text", Text: repaired(fmt.Sprintf("[audio of type %s left out: this protocol version has no audio content]", name))}
	case 3:
		block := &protocol.ResourceLink{URI: uri, Name: name, Title: text, Size: size, HasSize: true}
		if v.HasResourceLink() {
			return block, decodedBlock{Type: "resource_link", URI: repaired(uri), Name: repaired(name), Title: repaired(text), Size: size}
		}
		return block, decodedBlock{Type: "text", Text: repaired(fmt.Sprintf("[resource %s: %s]", name, uri))}
	case 4:
		return &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: uri, MIMEType: name, Text: text}},
			decodedBlock{Type: "resource", Resource: &decodedResource{URI: repaired(uri), MIMEType: repaired(name), Text: repaired(text)}}
	}
	return &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: uri, MIMEType: name, Text: text, Blob: blob}},
		decodedBlock{Type: "resource", Resource: &decodedResource{URI: repaired(uri), MIMEType: repaired(name), Blob: blob}}
}

// setCommon sets what all blocks have.
func setCommon(block protocol.Content, a *protocol.Annotations, meta []byte) {
	switch b := block.(type) {
	case *protocol.Text:
		b.Annotations, b.Meta = a, meta
	case *protocol.Image:
		b.Annotations, b.Meta = a, meta
	case *protocol.Audio:
		b.Annotations, b.Meta = a, meta
	case *protocol.ResourceLink:
		b.Annotations, b.Meta = a, meta
		b.Icons = []protocol.Icon{{Src: b.URI, MIMEType: b.Name, Sizes: []string{b.Title}}}
	case *protocol.EmbeddedResource:
		b.Annotations, b.Meta, b.Resource.Meta = a, meta, meta
	}
}
