package registry_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

func sortedKeys(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }

func keysOf(t *testing.T, raw []byte) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return sortedKeys(m)
}

// Each version sees the members that it knows.
func TestOtherDefinitionsInEachVersion(t *testing.T) {
	icons := []protocol.Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"}}
	annotations := &protocol.Annotations{Audience: []string{"user"}, Priority: 0.5, HasPriority: true, LastModified: "2026-01-01T00:00:00Z"}
	r := registry.New(nil)
	if err := r.AddResource(registry.Resource{URI: "test://a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: 7,
		Icons: icons, Annotations: annotations, Meta: []byte(`{"a":1}`), Handler: noResource}); err != nil {
		t.Fatal(err)
	}
	if err := r.AddTemplate(registry.Template{URITemplate: "test://{a}", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain",
		Icons: icons, Annotations: annotations, Meta: []byte(`{"a":1}`), Handler: noResource}); err != nil {
		t.Fatal(err)
	}
	if err := r.AddPrompt(registry.Prompt{Name: "a", Title: "A", Description: "d", Icons: icons, Meta: []byte(`{"a":1}`),
		Arguments: []registry.PromptArgument{{Name: "x", Title: "X"}}, Handler: noPrompt}); err != nil {
		t.Fatal(err)
	}
	s := r.Snapshot()
	tests := map[protocol.Version]struct{ resource, template, prompt string }{
		protocol.V20241105: {"annotations description mimeType name size uri", "annotations description mimeType name uriTemplate", "arguments description name"},
		protocol.V20250326: {"annotations description mimeType name size uri", "annotations description mimeType name uriTemplate", "arguments description name"},
		protocol.V20250618: {"_meta annotations description mimeType name size title uri", "_meta annotations description mimeType name title uriTemplate", "_meta arguments description name title"},
		protocol.V20251125: {"_meta annotations description icons mimeType name size title uri", "_meta annotations description icons mimeType name title uriTemplate", "_meta arguments description icons name title"},
		protocol.V20260728: {"_meta annotations description icons mimeType name size title uri", "_meta annotations description icons mimeType name title uriTemplate", "_meta arguments description icons name title"},
	}
	for v, want := range tests {
		for what, pair := range map[string][2][]string{
			"resource": {strings.Fields(want.resource), keysOf(t, s.Resources[0].AppendDefinition(nil, v))},
			"template": {strings.Fields(want.template), keysOf(t, s.Templates[0].AppendDefinition(nil, v))},
			"prompt":   {strings.Fields(want.prompt), keysOf(t, s.Prompts[0].AppendDefinition(nil, v))},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", what, v, diff)
			}
		}
		prompt := string(s.Prompts[0].AppendDefinition(nil, v))
		if has := strings.Contains(prompt, `"title":"X"`); has != v.HasTitle() {
			t.Errorf("%s: the argument has a title: %v", v, has)
		}
		resource := string(s.Resources[0].AppendDefinition(nil, v))
		if has := strings.Contains(resource, "lastModified"); has != v.HasLastModified() {
			t.Errorf("%s: the annotations have a time: %v", v, has)
		}
	}
}

func TestPromptArgumentsAreNeverNull(t *testing.T) {
	r := registry.New(nil)
	if err := r.AddPrompt(prompt("p")); err != nil {
		t.Fatal(err)
	}
	e := r.Snapshot().Prompt("p")
	if got, want := string(e.AppendDefinition(nil, protocol.LatestStateless)), `{"name":"p","arguments":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if e.Argument("x") != nil {
		t.Error("an argument that is not declared was found")
	}
}
