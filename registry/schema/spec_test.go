package schema_test

import (
	"os"
	"testing"

	"cloudg.dev/cloudg/registry/schema"
)

// specDocuments are the documents that the schemas below refer to.
func specDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	docs := map[string][]byte{}
	for uri, file := range map[string]string{
		"http://cyclonedx.org/schema/spdx.schema.json":     "cyclonedx-spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "cyclonedx-jsf-0.82.schema.json",
	} {
		data, err := os.ReadFile(shared(t, "spec", "sbom", file))
		if err != nil {
			t.Fatal(err)
		}
		docs[uri] = data
	}
	return docs
}

func TestSpecificationCompiles(t *testing.T) {
	tests := []struct {
		name string
		in   []string
	}{
		{"2024-11-05", []string{"2024-11-05", "schema.json"}},
		{"2025-03-26", []string{"2025-03-26", "schema.json"}},
		{"2025-06-18", []string{"2025-06-18", "schema.json"}},
		{"2025-11-25", []string{"2025-11-25", "schema.json"}},
		{"2026-07-28", []string{"2026-07-28", "schema.json"}},
		{"ext-tasks", []string{"ext-tasks", "schema.json"}},
		{"cyclonedx", []string{"sbom", "cyclonedx-bom-1.6.schema.json"}},
		{"spdx", []string{"sbom", "spdx-2.3-schema.json"}},
	}
	docs := specDocuments(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := os.ReadFile(shared(t, append([]string{"spec"}, tt.in...)...))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.Compile(data, &schema.Options{Documents: docs}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSpecificationDefinitions checks messages against definitions of the
// specification, each through a document that does nothing but refer to it.
func TestSpecificationDefinitions(t *testing.T) {
	tests := []struct {
		name       string
		version    string
		definition string
		in         string
		want       string // the path of the first violation, or "ok"
	}{
		{"a tool", "2025-11-25", "Tool", `{"name":"a","inputSchema":{"type":"object"}}`, "ok"},
		{"a tool whose schema has no object root", "2025-11-25", "Tool", `{"name":"a","inputSchema":{"type":"array"}}`, "/inputSchema/type"},
		{"a tool without a name", "2025-06-18", "Tool", `{"inputSchema":{"type":"object"}}`, ""},
		{"a result", "2026-07-28", "CallToolResult", `{"resultType":"complete","content":[{"type":"text","text":"x"}],"structuredContent":3}`, "ok"},
		{"a result without its type", "2026-07-28", "CallToolResult", `{"content":[]}`, ""},
		{"a content block without text", "2025-03-26", "CallToolResult", `{"content":[{"type":"text"}]}`, "/content/0"},
		{"a request with a fraction for an id", "2024-11-05", "JSONRPCRequest", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "/id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := os.ReadFile(shared(t, "spec", tt.version, "schema.json"))
			if err != nil {
				t.Fatal(err)
			}
			where := "$defs"
			if tt.version < "2025-11-25" {
				where = "definitions"
			}
			const uri = "https://example.com/mcp.json"
			s, err := schema.Compile([]byte(`{"$ref":"`+uri+`#/`+where+`/`+tt.definition+`"}`),
				&schema.Options{Documents: map[string][]byte{uri: data}})
			if err != nil {
				t.Fatal(err)
			}
			if got := firstPath(s.Validate([]byte(tt.in))); got != tt.want {
				t.Errorf("got a violation at %q, want %q", got, tt.want)
			}
		})
	}
}
