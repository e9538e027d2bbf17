package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// result is what can append its members.
type result interface {
	AppendMembers(dst []byte, v protocol.Version) []byte
}

// object returns the frame that makes a result of its members: who calls adds
// what all results of the version have.
func object(v protocol.Version, definition string) string {
	switch {
	case !v.Stateless():
		return `{%s}`
	case definition == "ReadResourceResult":
		return `{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}`
	}
	return `{"resultType":"complete",%s}`
}

// numbered returns n values v0, v1, … and the JSON array of the first most.
func numbered(n, most int) (values []string, array string) {
	for i := range n {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	return values, `["` + strings.Join(values[:min(n, most)], `","`) + `"]`
}

func TestResults(t *testing.T) {
	exactly, exactlyWant := numbered(100, 100)
	tooMany, tooManyWant := numbered(101, 100)
	text, image := &protocol.Text{Text: "t"}, &protocol.Image{Data: []byte("abc"), MIMEType: "image/png"}
	link := &protocol.ResourceLink{URI: "a:b", Name: "n"}
	const textWant, imageWant = `{"type":"text","text":"t"}`, `{"type":"image","data":"YWJj","mimeType":"image/png"}`
	const linkOld, linkWant = `{"type":"text","text":"[resource n: a:b]"}`, `{"type":"resource_link","uri":"a:b","name":"n"}`
	tests := []struct {
		name       string
		in         result
		definition string
		want       []since
	}{
		{"tool, nothing", &protocol.CallToolResult{}, "CallToolResult", always(`"content":[]`)},
		{"tool, blocks", &protocol.CallToolResult{Content: []protocol.Content{image, link, text}}, "CallToolResult", []since{
			{protocol.Unknown, `"content":[` + imageWant + `,` + linkOld + `,` + textWant + `]`},
			{versionC, `"content":[` + imageWant + `,` + linkWant + `,` + textWant + `]`},
		}},
		{"tool, structured", &protocol.CallToolResult{Content: []protocol.Content{text}, StructuredContent: []byte("{\n\t\"n\": 12345678901234567890\n}\n")}, "CallToolResult", []since{
			{protocol.Unknown, `"content":[` + textWant + `]`},
			{versionC, `"content":[` + textWant + `],"structuredContent":{"n":12345678901234567890}`},
		}},
		{"tool, structured content without bytes", &protocol.CallToolResult{StructuredContent: []byte{}}, "CallToolResult", always(`"content":[]`)},
		{"tool, failure", &protocol.CallToolResult{Content: []protocol.Content{text}, IsError: true}, "CallToolResult", always(`"content":[` + textWant + `],"isError":true`)},
		{"tool, failure with structure", &protocol.CallToolResult{StructuredContent: []byte(`{}`), IsError: true}, "CallToolResult", []since{
			{protocol.Unknown, `"content":[],"isError":true`},
			{versionC, `"content":[],"structuredContent":{},"isError":true`},
		}},
		{"tool, metadata is the caller's", &protocol.CallToolResult{Meta: []byte(`{"a":1}`)}, "CallToolResult", always(`"content":[]`)},

		{"read, nothing", &protocol.ReadResourceResult{}, "ReadResourceResult", always(`"contents":[]`)},
		{"read, parts", &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: "a:b", Text: "t", Meta: []byte(`{"m":1}`)}, {URI: "a:c", Blob: []byte("abc")}}}, "ReadResourceResult", []since{
			{protocol.Unknown, `"contents":[{"uri":"a:b","text":"t"},{"uri":"a:c","blob":"YWJj"}]`},
			{versionC, `"contents":[{"uri":"a:b","text":"t","_meta":{"m":1}},{"uri":"a:c","blob":"YWJj"}]`},
		}},
		{"read, metadata is the caller's", &protocol.ReadResourceResult{Meta: []byte(`{"a":1}`)}, "ReadResourceResult", always(`"contents":[]`)},

		{"prompt, nothing", &protocol.GetPromptResult{}, "GetPromptResult", always(`"messages":[]`)},
		{"prompt, messages", &protocol.GetPromptResult{Description: "a \"d\"", Messages: []protocol.PromptMessage{{Role: protocol.RoleUser, Content: text}, {Role: protocol.RoleAssistant, Content: link}}}, "GetPromptResult", []since{
			{protocol.Unknown, `"messages":[{"role":"user","content":` + textWant + `},{"role":"assistant","content":` + linkOld + `}],"description":"a \"d\""`},
			{versionC, `"messages":[{"role":"user","content":` + textWant + `},{"role":"assistant","content":` + linkWant + `}],"description":"a \"d\""`},
		}},
		{"prompt, metadata is the caller's", &protocol.GetPromptResult{Meta: []byte(`{"a":1}`)}, "GetPromptResult", always(`"messages":[]`)},

		{"completion, nothing", &protocol.Completion{}, "CompleteResult", always(`"completion":{"values":[]}`)},
		{"completion, values", &protocol.Completion{Values: []string{"b", "a\xff"}}, "CompleteResult", always(`"completion":{"values":["b","a` + "\ufffd" + `"]}`)},
		{"completion, more", &protocol.Completion{Values: []string{"a"}, Total: 7, More: true}, "CompleteResult", always(`"completion":{"values":["a"],"total":7,"hasMore":true}`)},
		{"completion, as many as there may be", &protocol.Completion{Values: exactly}, "CompleteResult", always(`"completion":{"values":` + exactlyWant + `}`)},
		{"completion, too many", &protocol.Completion{Values: tooMany}, "CompleteResult", always(`"completion":{"values":` + tooManyWant + `,"total":101,"hasMore":true}`)},
		{"completion, too many of even more", &protocol.Completion{Values: tooMany, Total: 5000}, "CompleteResult", always(`"completion":{"values":` + tooManyWant + `,"total":5000,"hasMore":true}`)},
		{"completion, too many for their total", &protocol.Completion{Values: tooMany, Total: 3}, "CompleteResult", always(`"completion":{"values":` + tooManyWant + `,"total":101,"hasMore":true}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range everyVersion() {
				check(t, v, tt.in.AppendMembers([]byte(prefix), v), in(tt.want, v), tt.definition, object(v, tt.definition))
			}
		})
	}
}

// From 2026-07-28 on structured content is any value; what is older is given
// objects by the layer.
func TestStructuredContentOfAnyKind(t *testing.T) {
	for _, raw := range []string{`null`, `[1,2]`, `"s"`, `-1.50`, `false`} {
		r := protocol.CallToolResult{StructuredContent: []byte(raw)}
		v := protocol.V20260728
		twin := string(jsonwire.AppendQuote(nil, raw))
		check(t, v, r.AppendMembers([]byte(prefix), v), `"content":[{"type":"text","text":`+twin+`}],"structuredContent":`+raw, "CallToolResult", object(v, "CallToolResult"))
	}
}

// Structured content without text is its own text, to every version.
func TestTextTwin(t *testing.T) {
	const twin = `"content":[{"type":"text","text":"{\"a\":\n\"ü\"}"}]`
	r := &protocol.CallToolResult{StructuredContent: []byte("{\"a\":\n\"ü\"}")}
	for _, v := range everyVersion() {
		want := twin
		if v.HasStructuredContent() {
			want += `,"structuredContent":{"a":"ü"}`
		}
		check(t, v, r.AppendMembers([]byte(prefix), v), want, "CallToolResult", object(v, "CallToolResult"))
		check(t, v, r.Explicit().AppendMembers([]byte(prefix), v), want, "CallToolResult", object(v, "CallToolResult"))
	}
	if len(r.Content) != 0 {
		t.Error("Explicit changed the result itself")
	}
	for name, r := range map[string]*protocol.CallToolResult{
		"text":      {Content: []protocol.Content{&protocol.Text{Text: "t"}}, StructuredContent: []byte(`{}`)},
		"a failure": {StructuredContent: []byte(`{}`), IsError: true},
		"nothing":   {},
	} {
		if r.Explicit() != r {
			t.Errorf("a result with %s was given a twin", name)
		}
	}
}
