package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestA55MissingAndNullArguments(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			s.send(inVersion(version, "1", "tools/call", `"name":"noargs"`),
				inVersion(version, "2", "tools/call", `"name":"noargs","arguments":null`),
				inVersion(version, "3", "tools/call", `"name":"noargs","arguments":{}`),
				inVersion(version, "4", "tools/call", `"name":"echo","arguments":{"text":5}`),
				inVersion(version, "5", "tools/call", `"name":"echo"`),
				inVersion(version, "6", "tools/call", `"name":"echo","arguments":[]`))
			for _, id := range []string{"1", "2", "3"} {
				if r := s.tool(id); r.IsError {
					t.Errorf("call %s failed: %s", id, r.text())
				}
			}
			for id, words := range map[string][]string{"4": {"text", "string"}, "5": {"text"}} {
				r := s.tool(id)
				for _, word := range words {
					if !r.IsError || !strings.Contains(r.text(), word) || strings.Contains(r.text(), "Go ") {
						t.Errorf("call %s: isError %v, %q; want a failure that names %q", id, r.IsError, r.text(), word)
					}
				}
			}
			if got := s.refusal("6").Code; got != protocol.CodeInvalidParams {
				t.Errorf("arguments that are no object were refused with %d, want %d", got, protocol.CodeInvalidParams)
			}
		})
	}
}

func TestA57NullForOptionalArguments(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "labels", `{"labels":null}`), call("2", "labels", `{"labels":["a","b"]}`), call("3", "labels", `{"labels":[null]}`),
		call("4", "json_schema_2020_12_tool", `{"name":null,"phone":"1","email":"e"}`))
	for id, want := range map[string]string{"1": "0 labels", "2": "2 labels", "4": "ok"} {
		if r := s.tool(id); r.IsError || r.text() != want {
			t.Errorf("call %s: isError %v, %q; want %q", id, r.IsError, r.text(), want)
		}
	}
	if r := s.tool("3"); !r.IsError || !strings.Contains(r.text(), "labels") {
		t.Errorf("a null within an array was accepted: %q", r.text())
	}
}

func TestA59OutputIsCapped(t *testing.T) {
	s := startIn(t, newest, "-max-output", "1000")
	s.send(call("1", "big", `{"n":2000000}`),
		call("2", "echo", `{"text":"`+strings.Repeat("é", 800)+`"}`),
		call("3", "rawbytes", `{"b64":"`+strings.Repeat("w6nDqcOp", 200)+`"}`), // é, two bytes each
		call("4", "big", `{"n":1000}`))
	for _, id := range []string{"1", "3"} {
		r := s.tool(id)
		if n := len(r.text()); n > 1000 || n < 990 || !utf8.ValidString(r.text()) || strings.ContainsRune(r.text(), utf8.RuneError) {
			t.Errorf("call %s returned %d bytes of text, valid %v; want 1000 at most, cut between characters", id, n, utf8.ValidString(r.text()))
		}
		if last := r.Content[len(r.Content)-1]["text"].(string); len(r.Content) != 2 || !strings.Contains(last, "Truncated") {
			t.Errorf("call %s does not say that it is cut: %q", id, last)
		}
	}
	// Structured content that is cut would be broken.
	if r := s.tool("2"); !r.IsError || r.StructuredContent != nil {
		t.Errorf("too much structured content: isError %v, %.100s", r.IsError, r.StructuredContent)
	}
	if r := s.tool("4"); len(r.Content) != 1 || len(r.text()) != 1000 {
		t.Errorf("what is no longer than the cap was cut to %d bytes in %d blocks", len(r.text()), len(r.Content))
	}
}

// toolDefinition is a tool in tools/list.
type toolDefinition struct {
	Name                      string
	InputSchema, OutputSchema json.RawMessage
}

// definitions lists the tools.
func (s *server) definitions(version string) map[string]toolDefinition {
	s.t.Helper()
	s.send(inVersion(version, `"list"`, "tools/list", ""))
	list := decode[struct{ Tools []toolDefinition }](s.t, s.result(`"list"`))
	m := make(map[string]toolDefinition)
	for _, d := range list.Tools {
		m[d.Name] = d
	}
	return m
}

func TestA63NoArgumentsHaveProperties(t *testing.T) {
	for _, version := range versions() {
		s := startIn(t, version)
		const want = `{"type":"object","properties":{},"additionalProperties":false}`
		if got := string(s.definitions(version)["noargs"].InputSchema); got != want {
			t.Errorf("%s: the schema of noargs is %s, want %s", version, got, want)
		}
	}
}

func TestA64ArraysHaveItems(t *testing.T) {
	s := startIn(t, newest)
	for name, d := range s.definitions(newest) {
		for _, doc := range []json.RawMessage{d.InputSchema, d.OutputSchema} {
			if path := arrayWithoutItems(decode[any](t, orObject(doc))); path != "" {
				t.Errorf("%s: an array without items at %s of %s", name, path, doc)
			}
		}
	}
}

func orObject(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// arrayWithoutItems returns the path of an array schema that does not say what
// is in it, or "".
func arrayWithoutItems(v any) string {
	o, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	if o["type"] == "array" && o["items"] == nil {
		return "."
	}
	for k, e := range o {
		if path := arrayWithoutItems(e); path != "" {
			return "." + k + path
		}
	}
	return ""
}

func TestA65OutputSchemasAreObjects(t *testing.T) {
	for _, version := range []string{"2025-06-18", newest} {
		s := startIn(t, version)
		for name, d := range s.definitions(version) {
			if d.OutputSchema != nil && decode[struct{ Type string }](t, d.OutputSchema).Type != "object" {
				t.Errorf("%s: the output schema of %s has another type than object: %s", version, name, d.OutputSchema)
			}
		}
	}
}

func TestA66UnknownArguments(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "echo", `{"text":"a","txet":"b"}`))
	if r := s.tool("1"); !r.IsError || !strings.Contains(r.text(), "txet") {
		t.Errorf("isError %v, %q; want a failure that names txet", r.IsError, r.text())
	}
}

func TestA76OutputMatchesItsSchema(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "broken_output", `{}`), call("2", "add", `{"a":1,"b":2}`))
	if r := s.tool("1"); !r.IsError || r.StructuredContent != nil {
		t.Errorf("a result that breaks its schema: isError %v, structured content %s", r.IsError, r.StructuredContent)
	}
	s.saidTimes("broken_output", 1) // it is a fault of the server, so its operator is told
	if r := s.tool("2"); r.IsError || string(r.StructuredContent) != `{"sum":3}` {
		t.Errorf("add: isError %v, structured content %s", r.IsError, r.StructuredContent)
	}
}

func TestA77StructuredContentHasATextTwin(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			s.send(inVersion(version, "1", "tools/call", `"name":"add","arguments":{"a":1,"b":2}`))
			r := s.tool("1")
			if r.text() != `{"sum":3}` {
				t.Errorf("the text is %q, want the structured content", r.text())
			}
			if has := r.StructuredContent != nil; has != protocol.ParseVersion(version).HasStructuredContent() {
				t.Errorf("structured content is there: %v", has)
			}
		})
	}
}

func TestA78ErrorsNeedNoStructure(t *testing.T) {
	s := startIn(t, newest)
	s.send(call("1", "fail", `{}`))
	want := toolResult{IsError: true, Content: []map[string]any{{"type": "text", "text": "this tool always fails; call another one"}}}
	if diff := cmp.Diff(want, s.tool("1")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestFaultsOfTheServerAreNotToldToClients(t *testing.T) {
	s := startIn(t, newest)
	for i, tool := range []string{"internal_error", "panics"} {
		id := fmt.Sprint(i)
		s.send(call(id, tool, `{}`))
		e := s.refusal(id)
		if e.Code != protocol.CodeInternal || strings.Contains(e.Message, "hunter2") {
			t.Errorf("%s was answered with %d %q", tool, e.Code, e.Message)
		}
		_, incident, ok := strings.Cut(strings.TrimSuffix(e.Message, ")"), "incident ")
		if !ok {
			t.Fatalf("the error has no incident id: %q", e.Message)
		}
		s.saidTimes(incident, 1) // the log has the rest
	}
	s.saidTimes("hunter2", 2)
}

func TestUnknownNames(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			notFound := protocol.ParseVersion(version).ResourceNotFound()
			tests := []struct {
				method, params string
				want           int
			}{
				{"tools/call", `"name":"nope"`, protocol.CodeInvalidParams},
				{"tools/call", `"name":5`, protocol.CodeInvalidParams},
				{"prompts/get", `"name":"nope"`, protocol.CodeInvalidParams},
				{"prompts/get", `"name":"hello"`, protocol.CodeInvalidParams},
				{"prompts/get", `"name":"hello","arguments":{"name":1}`, protocol.CodeInvalidParams},
				{"prompts/get", `"name":"hello","arguments":{"name":"x","other":"y"}`, protocol.CodeInvalidParams},
				{"resources/read", `"uri":"test://nope"`, notFound},
				{"resources/read", ``, protocol.CodeInvalidParams},
				{"resources/read", `"uri":7`, protocol.CodeInvalidParams},
				{"completion/complete", `"ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"a","value":""}`, protocol.CodeInvalidParams},
				{"completion/complete", `"ref":{"type":"ref/resource","uri":"test://nope/{x}"},"argument":{"name":"a","value":""}`, protocol.CodeInvalidParams},
				{"completion/complete", `"ref":{"type":"ref/other","name":"hello"},"argument":{"name":"a","value":""}`, protocol.CodeInvalidParams},
				{"completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"nope","value":""}`, protocol.CodeInvalidParams},
				{"completion/complete", `"ref":{"type":"ref/prompt","name":"hello"}`, protocol.CodeInvalidParams},
				{"tools/list", `"cursor":"forged"`, protocol.CodeInvalidParams},
				{"tools/list", `"cursor":""`, protocol.CodeInvalidParams},
				{"tools/list", `"cursor":5`, protocol.CodeInvalidParams},
			}
			for i, tt := range tests {
				id := fmt.Sprint(i)
				s.send(inVersion(version, id, tt.method, tt.params))
				if got := s.refusal(id).Code; got != tt.want {
					t.Errorf("%s {%s} was refused with %d, want %d", tt.method, tt.params, got, tt.want)
				}
			}
			s.send(inVersion(version, `"read"`, "resources/read", `"uri":"test://nope"`))
			if got := string(s.refusal(`"read"`).Data); got != `{"uri":"test://nope"}` {
				t.Errorf("the data of the refusal is %s", got)
			}
		})
	}
}

func TestPaging(t *testing.T) {
	for _, version := range []string{"2024-11-05", newest, stateless} {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version, "-page-size", "7", "-more", "20")
			all := startIn(t, version, "-more", "20")
			all.send(inVersion(version, "0", "tools/list", ""))
			want := decode[struct{ Tools []json.RawMessage }](t, all.result("0")).Tools
			var got []json.RawMessage
			cursor := ""
			for page := 0; page == 0 || cursor != ""; page++ {
				id, params := fmt.Sprint(page), ""
				if cursor != "" {
					params = fmt.Sprintf(`"cursor":%q`, cursor)
				}
				s.send(inVersion(version, id, "tools/list", params))
				r := decode[struct {
					Tools      []json.RawMessage
					NextCursor string
				}](t, s.result(id))
				if len(r.Tools) > 7 || len(r.Tools) == 0 {
					t.Fatalf("a page has %d entries", len(r.Tools))
				}
				got, cursor = append(got, r.Tools...), r.NextCursor
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the pages together (-one page +pages):\n%s", diff)
			}
		})
	}
	t.Run("a cursor of another list", func(t *testing.T) {
		s := startIn(t, newest, "-page-size", "1")
		s.send(request("1", "tools/list", ""))
		cursor := decode[struct{ NextCursor string }](t, s.result("1")).NextCursor
		s.send(request("2", "prompts/list", fmt.Sprintf(`"cursor":%q`, cursor)), request("3", "tools/list", fmt.Sprintf(`"cursor":%q`, cursor)))
		if got := s.refusal("2").Code; got != protocol.CodeInvalidParams {
			t.Errorf("the cursor of tools was refused for prompts with %d, want %d", got, protocol.CodeInvalidParams)
		}
		s.result("3")
		s.send(call("4", "test_trigger_tool_change", `{}`)) // not before, since requests overtake each other
		s.result("4")
		s.send(request("5", "tools/list", fmt.Sprintf(`"cursor":%q`, cursor)))
		if got := s.refusal("5").Code; got != protocol.CodeInvalidParams {
			t.Errorf("the cursor of a list that has changed was refused with %d, want %d", got, protocol.CodeInvalidParams)
		}
	})
}

func TestContentInEachVersion(t *testing.T) {
	tools := []string{"test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types"}
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s := startIn(t, version)
			for i, tool := range tools {
				id := fmt.Sprint(i)
				s.send(inVersion(version, id, "tools/call", fmt.Sprintf(`"name":%q`, tool)))
				s.result(id) // the schema of the version says what may be in it
			}
			kind := s.tool("2").Content[0]["type"]
			if want := map[bool]string{true: "audio", false: "text"}[protocol.ParseVersion(version).HasAudio()]; kind != want {
				t.Errorf("audio came as %v, want %v", kind, want)
			}
			s.send(inVersion(version, `"png"`, "resources/read", `"uri":"test://static-binary"`),
				inVersion(version, `"template"`, "resources/read", `"uri":"test://template/a%20b/data"`),
				inVersion(version, `"prompt"`, "prompts/get", `"name":"test_prompt_with_image"`),
				inVersion(version, `"embedded"`, "prompts/get", `"name":"test_prompt_with_embedded_resource","arguments":{"resourceUri":"test://x"}`))
			if !bytes.Contains(s.result(`"png"`), []byte(`"blob":"iVBORw0KGgo`)) {
				t.Error("the binary resource has no blob")
			}
			if got := decode[struct{ Contents []struct{ Text string } }](t, s.result(`"template"`)).Contents[0].Text; !strings.Contains(got, "a b") {
				t.Errorf("the variable was not decoded: %s", got)
			}
			s.result(`"prompt"`)
			s.result(`"embedded"`)
		})
	}
}
