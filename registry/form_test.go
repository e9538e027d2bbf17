package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/speccheck"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

func pointer(f float64) *float64 { return &f }

var (
	untitled = []registry.Choice{{Value: "a"}, {Value: "b"}}
	titled   = []registry.Choice{{Value: "a", Title: "A"}, {Value: "b", Title: "B"}}
)

// Each kind of field, as the newest version shows it and as 2025-06-18 does;
// "-" leaves it out.
func TestFormFields(t *testing.T) {
	tests := []struct {
		name     string
		in       registry.Field
		want     string
		wantPast string // empty: the same
	}{
		{"text", registry.Field{}, `{"type":"string"}`, ``},
		{"text with everything", registry.Field{Title: "T", Description: "D <&>", Format: "email", MinLength: 1, MaxLength: 9, Default: []byte(" \"x\"\n")},
			`{"type":"string","title":"T","description":"D <&>","format":"email","minLength":1,"maxLength":9,"default":"x"}`,
			`{"type":"string","title":"T","description":"D <&>","format":"email","minLength":1,"maxLength":9}`},
		{"number", registry.Field{Kind: registry.FieldNumber, Minimum: pointer(-0.5), Maximum: pointer(1e30), Default: []byte(`95.5`)},
			`{"type":"number","minimum":-0.5,"maximum":1e+30,"default":95.5}`, `{"type":"number","minimum":-0.5,"maximum":1e+30}`},
		{"integer", registry.Field{Kind: registry.FieldInteger, Minimum: pointer(0), Default: []byte(`3`)},
			`{"type":"integer","minimum":0,"default":3}`, `{"type":"integer","minimum":0}`},
		{"boolean", registry.Field{Kind: registry.FieldBoolean, Default: []byte(`false`)}, `{"type":"boolean","default":false}`, ``},
		{"choice", registry.Field{Kind: registry.FieldChoice, Choices: untitled, Default: []byte(`"a"`)},
			`{"type":"string","enum":["a","b"],"default":"a"}`, `{"type":"string","enum":["a","b"]}`},
		{"choice with titles", registry.Field{Kind: registry.FieldChoice, Choices: titled, Default: []byte(`"a"`)},
			`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"a"}`,
			`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`},
		{"choice with some titles", registry.Field{Kind: registry.FieldChoice, Choices: []registry.Choice{{Value: "a", Title: "A"}, {Value: "b"}}},
			`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}`,
			`{"type":"string","enum":["a","b"],"enumNames":["A","b"]}`},
		{"choice in the older form", registry.Field{Kind: registry.FieldChoice, Choices: titled, EnumNames: true},
			`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, ``},
		{"choice in the older form without titles", registry.Field{Kind: registry.FieldChoice, Choices: untitled, EnumNames: true}, `{"type":"string","enum":["a","b"]}`, ``},
		{"choices", registry.Field{Kind: registry.FieldChoices, Choices: untitled, MinItems: 1, MaxItems: 2, Default: []byte(`["a"]`)},
			`{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]},"default":["a"]}`, `-`},
		{"choices with titles", registry.Field{Kind: registry.FieldChoices, Choices: titled, EnumNames: true},
			`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}`, `-`},
	}
	spec := speccheck.Open(t, "..")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Name = "f"
			past := tt.wantPast
			if past == "" {
				past = tt.want
			}
			form := func(field string) string {
				if field == "-" {
					return `{"type":"object","properties":{}}`
				}
				return `{"type":"object","properties":{"f":` + field + `}}`
			}
			for version, want := range map[protocol.Version]string{protocol.V20250618: past, protocol.V20251125: tt.want, protocol.V20260728: tt.want} {
				got := shown(t, version, &registry.Form{Fields: []registry.Field{tt.in}})
				if diff := cmp.Diff(form(want), got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", version, diff)
				}
				mode := ""
				if version.HasURLElicitation() {
					mode = `"mode":"form",`
				}
				if err := spec.Validate(version, "ElicitRequest", []byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{`+mode+`"message":"","requestedSchema":`+got+`}}`)); err != nil {
					t.Errorf("%v: %v", version, err)
				}
			}
		})
	}
}

// shown returns the form that a client of a version is shown.
func shown(t *testing.T, v protocol.Version, f *registry.Form) string {
	t.Helper()
	client := &interviewer{can: everything, answer: `{"action":"cancel"}`}
	if _, err := client.call(v).Elicit(context.Background(), "k", &registry.Elicitation{Form: f}); err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	_, rest, _ := strings.Cut(string(client.asked[0].Params), `"requestedSchema":`)
	return strings.TrimSuffix(rest, "}")
}

func TestFormAppend(t *testing.T) {
	f := &registry.Form{Fields: []registry.Field{{Name: `a"`, Required: true}, {Name: "b"}, {Name: "c", Kind: registry.FieldBoolean, Required: true}}}
	want := `x{"type":"object","properties":{"a\"":{"type":"string"},"b":{"type":"string"},"c":{"type":"boolean"}},"required":["a\"","c"]}`
	if diff := cmp.Diff(want, string(f.Append([]byte("x")))); diff != "" {
		t.Errorf("the form (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"type":"object","properties":{}}`, string(new(registry.Form).Append(nil))); diff != "" {
		t.Errorf("an empty form (-want +got):\n%s", diff)
	}
}

// A field that is required and that a client cannot show is a failure that a
// model can read.
func TestFormThatCannotBeShown(t *testing.T) {
	client := &interviewer{can: everything, answer: `{"action":"cancel"}`}
	form := &registry.Form{Fields: []registry.Field{{Name: "f", Kind: registry.FieldChoices, Choices: untitled, Required: true}}}
	_, err := client.call(protocol.V20250618).Elicit(context.Background(), "k", &registry.Elicitation{Form: form})
	var failure *registry.Failure
	if want := "the form cannot be shown to a client that speaks 2025-06-18: it has a field with several choices"; !errors.As(err, &failure) || failure.Text != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if form.Fields[0].EnumNames {
		t.Error("the form of the handler was changed")
	}
}
