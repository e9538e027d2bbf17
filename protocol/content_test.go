package protocol_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
)

const (
	versionB = protocol.V20250326
	versionC = protocol.V20250618
	versionD = protocol.V20251125
)

// everything returns annotations that say all there is to say.
func everything() *protocol.Annotations {
	return &protocol.Annotations{Audience: []string{"user", "assistant"}, Priority: 0.25, HasPriority: true, LastModified: "2026-01-02T03:04:05Z"}
}

// What everything is on the wire, before and after it had a time.
const (
	everythingOld = `,"annotations":{"audience":["user","assistant"],"priority":0.25}`
	everythingNew = `,"annotations":{"audience":["user","assistant"],"priority":0.25,"lastModified":"2026-01-02T03:04:05Z"}`
)

// metadata is written by its author as he likes; it is sent on one line.
const metadata = "{\"com.example/n\": 12345678901234567890,\r\n\"list\": [ ]}\n"

func TestContent(t *testing.T) {
	icons := []protocol.Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"48x48", "any"}, Theme: "dark"}, {Src: "data:,x"}}
	const iconsWant = `,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"},{"src":"data:,x"}]`
	const metaWant = `,"_meta":{"com.example/n":12345678901234567890,"list":[]}`
	tests := []struct {
		name string
		in   protocol.Content
		want []since
	}{
		{"text", &protocol.Text{Text: "a"}, always(`{"type":"text","text":"a"}`)},
		{"empty text", &protocol.Text{}, always(`{"type":"text","text":""}`)},
		{"text with escapes", &protocol.Text{Text: "\"\\/\x00\x1f\b\f\n\r\t<&>\u2028é𝄞\x7f"}, always(`{"type":"text","text":"\"\\/\u0000\u001f\b\f\n\r\t<&>` + "\u2028é𝄞\x7f" + `"}`)},
		{"text that is not UTF-8", &protocol.Text{Text: "a\xff\xc3(\xed\xa0\x80"}, always(`{"type":"text","text":"a` + "\ufffd\ufffd(\ufffd\ufffd\ufffd" + `"}`)},
		{"text with everything", &protocol.Text{Text: "a", Annotations: everything(), Meta: []byte(metadata)}, []since{
			{protocol.Unknown, `{"type":"text","text":"a"` + everythingOld + `}`},
			{versionC, `{"type":"text","text":"a"` + everythingNew + metaWant + `}`},
		}},

		{"image", &protocol.Image{Data: []byte{0xfb, 0xff, 0}, MIMEType: "image/png"}, always(`{"type":"image","data":"+/8A","mimeType":"image/png"}`)},
		{"empty image", &protocol.Image{}, always(`{"type":"image","data":"","mimeType":""}`)},
		{"padding", &protocol.Image{Data: []byte("a"), MIMEType: "image/svg+xml"}, always(`{"type":"image","data":"YQ==","mimeType":"image/svg+xml"}`)},
		{"image with everything", &protocol.Image{Data: []byte("ab"), MIMEType: "image/png", Annotations: everything(), Meta: []byte(metadata)}, []since{
			{protocol.Unknown, `{"type":"image","data":"YWI=","mimeType":"image/png"` + everythingOld + `}`},
			{versionC, `{"type":"image","data":"YWI=","mimeType":"image/png"` + everythingNew + metaWant + `}`},
		}},

		{"audio", &protocol.Audio{Data: []byte("abc"), MIMEType: "audio/wav"}, []since{
			{protocol.Unknown, `{"type":"text","text":"[audio of type audio/wav left out: this protocol version has no audio content]"}`},
			{versionB, `{"type":"audio","data":"YWJj","mimeType":"audio/wav"}`},
		}},
		{"audio with everything", &protocol.Audio{Data: []byte("abc"), MIMEType: "audio/wav", Annotations: everything(), Meta: []byte(metadata)}, []since{
			{protocol.Unknown, `{"type":"text","text":"[audio of type audio/wav left out: this protocol version has no audio content]"` + everythingOld + `}`},
			{versionB, `{"type":"audio","data":"YWJj","mimeType":"audio/wav"` + everythingOld + `}`},
			{versionC, `{"type":"audio","data":"YWJj","mimeType":"audio/wav"` + everythingNew + metaWant + `}`},
		}},

		{"link", &protocol.ResourceLink{URI: "file:///a", Name: "a"}, []since{
			{protocol.Unknown, `{"type":"text","text":"[resource a: file:///a]"}`},
			{versionC, `{"type":"resource_link","uri":"file:///a","name":"a"}`},
		}},
		{"link without a known size", &protocol.ResourceLink{URI: "file:///a", Name: "a", Size: 7}, []since{
			{protocol.Unknown, `{"type":"text","text":"[resource a: file:///a]"}`},
			{versionC, `{"type":"resource_link","uri":"file:///a","name":"a"}`},
		}},
		{"link to something empty", &protocol.ResourceLink{URI: "file:///a", Name: "a", HasSize: true}, []since{
			{protocol.Unknown, `{"type":"text","text":"[resource a: file:///a]"}`},
			{versionC, `{"type":"resource_link","uri":"file:///a","name":"a","size":0}`},
		}},
		{"link to something large", &protocol.ResourceLink{URI: "file:///a", Name: "a", HasSize: true, Size: 1<<63 - 1}, []since{
			{protocol.Unknown, `{"type":"text","text":"[resource a: file:///a]"}`},
			{versionC, `{"type":"resource_link","uri":"file:///a","name":"a","size":9223372036854775807}`},
		}},
		{"link with everything", &protocol.ResourceLink{
			URI: "file:///a", Name: "a", Title: "A", Description: "the \"a\"", MIMEType: "text/plain", Size: 1, HasSize: true,
			Icons: icons, Annotations: everything(), Meta: []byte(metadata),
		}, []since{
			{protocol.Unknown, `{"type":"text","text":"[resource a: file:///a]"` + everythingOld + `}`},
			{versionC, `{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"the \"a\"","mimeType":"text/plain","size":1` + everythingNew + metaWant + `}`},
			{versionD, `{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"the \"a\"","mimeType":"text/plain","size":1` + iconsWant + everythingNew + metaWant + `}`},
		}},

		{"embedded text", &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "file:///a", Text: "t"}},
			always(`{"type":"resource","resource":{"uri":"file:///a","text":"t"}}`)},
		{"embedded bytes", &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "file:///a", MIMEType: "a/b", Blob: []byte("t")}},
			always(`{"type":"resource","resource":{"uri":"file:///a","mimeType":"a/b","blob":"dA=="}}`)},
		{"embedded with everything", &protocol.EmbeddedResource{
			Resource:    protocol.ResourceContents{URI: "file:///a", Text: "t", Meta: []byte(`{"inner":1}`)},
			Annotations: everything(), Meta: []byte(metadata),
		}, []since{
			{protocol.Unknown, `{"type":"resource","resource":{"uri":"file:///a","text":"t"}` + everythingOld + `}`},
			{versionC, `{"type":"resource","resource":{"uri":"file:///a","text":"t","_meta":{"inner":1}}` + everythingNew + metaWant + `}`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				// The message of a prompt judges whether the version has the block.
				check(t, v, tt.in.Append([]byte(prefix), v), in(tt.want, v), "PromptMessage", `{"role":"user","content":%s}`)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	priority := func(p float64) *protocol.Annotations {
		return &protocol.Annotations{Priority: p, HasPriority: true}
	}
	tests := []struct {
		name string
		in   *protocol.Annotations
		want []since
	}{
		{"none", nil, always(``)},
		{"empty", &protocol.Annotations{}, always(`,"annotations":{}`)},
		{"no audience", &protocol.Annotations{Audience: []string{}}, always(`,"annotations":{}`)},
		{"audience", &protocol.Annotations{Audience: []string{"assistant"}}, always(`,"annotations":{"audience":["assistant"]}`)},
		{"least priority", priority(0), always(`,"annotations":{"priority":0}`)},
		{"most priority", priority(1), always(`,"annotations":{"priority":1}`)},
		{"tiny priority", priority(1e-9), always(`,"annotations":{"priority":1e-09}`)},
		{"priority that is not set", &protocol.Annotations{Priority: 0.5}, always(`,"annotations":{}`)},
		{"priority below the bounds", priority(-0.1), always(`,"annotations":{}`)},
		{"priority above the bounds", priority(1.5), always(`,"annotations":{}`)},
		{"priority that is no number", priority(math.NaN()), always(`,"annotations":{}`)},
		{"time alone", &protocol.Annotations{LastModified: "2026-01-02"}, []since{
			{protocol.Unknown, `,"annotations":{}`},
			{versionC, `,"annotations":{"lastModified":"2026-01-02"}`},
		}},
		{"everything", everything(), []since{{protocol.Unknown, everythingOld}, {versionC, everythingNew}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				check(t, v, protocol.AppendAnnotations([]byte(prefix), tt.in, v), in(tt.want, v), "TextContent", `{"type":"text","text":""%s}`)
			}
		})
	}
}

func TestResourceContents(t *testing.T) {
	tests := []struct {
		name       string
		in         protocol.ResourceContents
		definition string
		want       []since
	}{
		{"text", protocol.ResourceContents{URI: "a:b", MIMEType: "text/plain", Text: "t\n"}, "TextResourceContents", always(`{"uri":"a:b","mimeType":"text/plain","text":"t\n"}`)},
		{"nothing is a text", protocol.ResourceContents{URI: "a:b"}, "TextResourceContents", always(`{"uri":"a:b","text":""}`)},
		{"bytes", protocol.ResourceContents{URI: "a:b", Blob: []byte{0}}, "BlobResourceContents", always(`{"uri":"a:b","blob":"AA=="}`)},
		{"no bytes", protocol.ResourceContents{URI: "a:b", Blob: []byte{}}, "BlobResourceContents", always(`{"uri":"a:b","blob":""}`)},
		{"bytes win over a text", protocol.ResourceContents{URI: "a:b", Text: "t", Blob: []byte{0}}, "BlobResourceContents", always(`{"uri":"a:b","blob":"AA=="}`)},
		{"metadata", protocol.ResourceContents{URI: "a:b", Meta: []byte(`{"m":1}`)}, "TextResourceContents", []since{
			{protocol.Unknown, `{"uri":"a:b","text":""}`},
			{versionC, `{"uri":"a:b","text":"","_meta":{"m":1}}`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				check(t, v, tt.in.Append([]byte(prefix), v), in(tt.want, v), tt.definition, "%s")
			}
		})
	}
}

func TestAppendContents(t *testing.T) {
	text := func(s string) protocol.Content { return &protocol.Text{Text: s} }
	tests := []struct {
		name string
		in   []protocol.Content
		want string
	}{
		{"nil", nil, `[]`},
		{"none", []protocol.Content{}, `[]`},
		{"one", []protocol.Content{text("a")}, `[{"type":"text","text":"a"}]`},
		{"in order", []protocol.Content{text("b"), text("a")}, `[{"type":"text","text":"b"},{"type":"text","text":"a"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				if diff := cmp.Diff(prefix+tt.want, string(protocol.AppendContents([]byte(prefix), tt.in, v))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
		})
	}
}
