package catalog_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/schema"
)

// TestDefinitions_A61_A62_A63_A64_A65_A66_A68_A69 holds every definition against
// what clients are known to refuse.
func TestDefinitions_A61_A62_A63_A64_A65_A66_A68_A69(t *testing.T) {
	r := writable(t, nil)
	snap := r.reg.Snapshot()
	for _, e := range snap.Tools {
		report(t, e.Name, lintTool(&e.Tool))
		if e.Sensitivity == policy.Unrated || e.Capabilities == 0 || e.Category == "" {
			t.Errorf("%s: sensitivity, capabilities and category must be there", e.Name)
		}
	}
	for _, e := range snap.Prompts {
		faults := lintText(e.Name, e.Title, e.Description)
		for _, a := range e.Arguments {
			if a.Title == "" || !strings.HasSuffix(a.Description, ".") {
				faults = append(faults, a.Name+": needs a title and a description that ends with a period")
			}
		}
		report(t, e.Name, faults)
	}
	for _, e := range snap.Resources {
		report(t, e.URI, lintText(e.Name, e.Title, e.Description))
	}
	for _, e := range snap.Templates {
		report(t, e.URITemplate, lintText(e.Name, e.Title, e.Description))
	}
}

func report(t *testing.T, name string, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Errorf("%s: %s", name, fault)
	}
}

// TestLint shows that the lint sees what it is for.
func TestLint(t *testing.T) {
	const good, text = `{"type":"object","properties":{},"additionalProperties":false}`, "This text is long enough, and it ends as it should."
	tests := []struct {
		name string
		in   registry.Tool
		want string
	}{
		{"sound", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(good), OutputSchema: []byte(good)}, ""},
		{"name", registry.Tool{Name: "a.tool", Title: "A", Description: text, InputSchema: []byte(good), OutputSchema: []byte(good)}, "name"},
		{"description", registry.Tool{Name: "a_tool", Title: "A", Description: "Short.", InputSchema: []byte(good), OutputSchema: []byte(good)}, "description"},
		{"properties", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"type":"object","additionalProperties":false}`), OutputSchema: []byte(good)}, "properties"},
		{"open", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"type":"object","properties":{}}`), OutputSchema: []byte(good)}, "additionalProperties"},
		{"combinator", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"type":"object","properties":{},"additionalProperties":false,"anyOf":[{}]}`), OutputSchema: []byte(good)}, "anyOf"},
		{"items", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"array","description":"A"}},"additionalProperties":false}`), OutputSchema: []byte(good)}, "items"},
		{"undescribed", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`), OutputSchema: []byte(good)}, "description"},
		{"dialect", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(`{"$schema":"x","type":"object","properties":{},"additionalProperties":false}`), OutputSchema: []byte(good)}, "$schema"},
		{"output", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(good), OutputSchema: []byte(`{"type":"string"}`)}, "object"},
		{"no output", registry.Tool{Name: "a_tool", Title: "A", Description: text, InputSchema: []byte(good)}, "output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(lintTool(&tt.in), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("want a complaint about %q, got %q", tt.want, got)
			}
		})
	}
}

func lintTool(tool *registry.Tool) []string {
	faults := lintText(tool.Name, tool.Title, tool.Description)
	faults = append(faults, lintSchema("input", tool.InputSchema)...)
	return append(faults, lintSchema("output", tool.OutputSchema)...)
}

func lintText(name, title, description string) []string {
	var faults []string
	if !regexp.MustCompile(`^[a-z_]{1,64}$`).MatchString(name) {
		faults = append(faults, "the name is not portable")
	}
	if title == "" {
		faults = append(faults, "there is no title")
	}
	if len(description) < 40 || !strings.HasSuffix(description, ".") {
		faults = append(faults, "the description needs 40 characters and a period at its end")
	}
	return faults
}

// lintSchema looks at the schema of an object and all schemas in it.
func lintSchema(which string, doc []byte) []string {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return []string{which + " schema: " + err.Error()}
	}
	var faults []string
	if root["type"] != "object" {
		faults = append(faults, which+" schema: the root is no object")
	}
	if root["additionalProperties"] != false {
		faults = append(faults, which+" schema: additionalProperties is not false")
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "if", "$ref", "$schema", "$defs"} {
		if _, ok := root[keyword]; ok {
			faults = append(faults, which+" schema: "+keyword+" at the root")
		}
	}
	return append(faults, lintNode(which+" schema", root)...)
}

func lintNode(at string, node map[string]any) []string {
	var faults []string
	switch node["type"] {
	case "array":
		items, ok := node["items"].(map[string]any)
		if !ok {
			return []string{at + ": an array without items"}
		}
		return lintNode(at+"/items", items)
	case "object":
		properties, ok := node["properties"].(map[string]any)
		if !ok {
			return []string{at + ": an object without properties"}
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p := properties[name].(map[string]any)
			if p["description"] == nil {
				faults = append(faults, fmt.Sprintf("%s/%s: no description", at, name))
			}
			if p["type"] == nil {
				faults = append(faults, fmt.Sprintf("%s/%s: no type", at, name))
			}
			faults = append(faults, lintNode(at+"/"+name, p)...)
		}
	}
	return faults
}

// TestDefinitions_compile shows that the schemas hold in a strict compiler too.
func TestDefinitions_compile(t *testing.T) {
	for _, e := range writable(t, nil).reg.Snapshot().Tools {
		for _, doc := range [][]byte{e.InputSchema, e.OutputSchema} {
			if _, err := schema.Compile(doc, nil); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	}
}

// TestHints pins what the definitions say about what a tool does.
func TestHints(t *testing.T) {
	r := writable(t, nil)
	const reads = `"readOnlyHint":true,"openWorldHint":false`
	tests := []struct {
		name, want  string
		sensitivity policy.Sensitivity
		writes      bool
	}{
		{"host_status", reads, policy.Internal, false},
		{"list_processes", reads, policy.Confidential, false},
		{"list_listeners", reads, policy.Confidential, false},
		{"list_interfaces", reads, policy.Internal, false},
		{"list_roots", reads, policy.Confidential, false},
		{"list_directory", reads, policy.Confidential, false},
		{"find_files", reads, policy.Confidential, false},
		{"search_text", reads, policy.Confidential, false},
		{"file_info", reads, policy.Confidential, false},
		{"read_file", reads, policy.Confidential, false},
		{"read_files", reads, policy.Confidential, false},
		{"write_file", `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false`, policy.Confidential, true},
		{"edit_file", `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false`, policy.Confidential, true},
		{"make_directory", `"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false`, policy.Confidential, true},
		{"move_file", `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false`, policy.Confidential, true},
		{"delete_file", `"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false`, policy.Confidential, true},
		{"server_info", reads, policy.Public, false},
	}
	equal(t, len(tests), len(r.reg.Snapshot().Tools))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := r.reg.Snapshot().Tool(tt.name)
			contains(t, string(e.AppendDefinition(nil, r.req.Version)), `"annotations":{`+tt.want+`}`)
			equal(t, tt.sensitivity, e.Sensitivity)
			equal(t, tt.writes, e.Capabilities.Any(policy.WriteFS|policy.WriteState|policy.Exec))
		})
	}
}
