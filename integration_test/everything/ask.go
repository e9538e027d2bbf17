package main

import (
	"context"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// askTools registers the tools of the suite that ask a client of the handshake
// era. They serve the stateless era just as well.
func (f *fixtures) askTools() error {
	if err := typed(f, registry.Tool{Name: "test_sampling", Description: "Let the client's model answer a prompt."}, sampling); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "test_elicitation", Description: "Ask the user for a name and an address."}, elicitation); err != nil {
		return err
	}
	if err := f.tool("test_elicitation_sep1034_defaults", "Ask with a default for each kind of field.", noInput, elicit("defaults", defaultsForm())); err != nil {
		return err
	}
	if err := f.tool("test_elicitation_sep1330_enums", "Ask with each kind of choice.", noInput, elicit("enums", enumsForm())); err != nil {
		return err
	}
	if err := f.tool("test_missing_capability", "Need a client that can sample.", noInput, func(_ context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		if err := call.Require(registry.CanSample); err != nil {
			return nil, err
		}
		return contents(text("the client can sample")), nil
	}); err != nil {
		return err
	}
	return f.tool("test_streaming_elicitation", "Ask the user for a name.", noInput, elicit("name", &registry.Form{Fields: []registry.Field{{Name: "name", Required: true}}}))
}

type samplingIn struct {
	Prompt string `json:"prompt" jsonschema:"description=What to ask."`
}

func sampling(ctx context.Context, call *registry.Call, in samplingIn) (*protocol.CallToolResult, error) {
	res, err := call.Sample(ctx, "answer", &registry.Sampling{
		Messages:  []registry.SampleMessage{{Role: protocol.RoleUser, Content: text("%s", in.Prompt)}},
		MaxTokens: 100,
	})
	if err != nil {
		return nil, err
	}
	return contents(text("LLM response: %s", res.Text())), nil
}

type elicitationIn struct {
	Message string `json:"message" jsonschema:"description=What to tell the user."`
}

func elicitation(ctx context.Context, call *registry.Call, in elicitationIn) (*protocol.CallToolResult, error) {
	res, err := call.Elicit(ctx, "user", &registry.Elicitation{Message: in.Message, Form: &registry.Form{Fields: []registry.Field{
		{Name: "username", Description: "User's response", Required: true},
		{Name: "email", Description: "User's email address", Required: true},
	}}})
	if err != nil {
		return nil, err
	}
	return contents(text("User response: action=%s, content=%s", res.Action, res.Content)), nil
}

// elicit returns a handler that shows a form and tells what came of it.
func elicit(key string, form *registry.Form) registry.ToolHandler {
	return func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		res, err := call.Elicit(ctx, key, &registry.Elicitation{Message: "Please fill in the form.", Form: form})
		if err != nil {
			return nil, err
		}
		return contents(text("Elicitation completed: action=%s, content=%s", res.Action, res.Content)), nil
	}
}

func defaultsForm() *registry.Form {
	return &registry.Form{Fields: []registry.Field{
		{Name: "name", Description: "User name", Default: []byte(`"John Doe"`)},
		{Name: "age", Kind: registry.FieldInteger, Description: "User age", Default: []byte(`30`)},
		{Name: "score", Kind: registry.FieldNumber, Description: "User score", Default: []byte(`95.5`)},
		{Name: "status", Kind: registry.FieldChoice, Description: "User status", Choices: choices("active", "inactive", "pending"), Default: []byte(`"active"`)},
		{Name: "verified", Kind: registry.FieldBoolean, Description: "Verification status", Default: []byte(`true`)},
	}}
}

func enumsForm() *registry.Form {
	titled := []registry.Choice{{Value: "value1", Title: "First Option"}, {Value: "value2", Title: "Second Option"}, {Value: "value3", Title: "Third Option"}}
	return &registry.Form{Fields: []registry.Field{
		{Name: "untitledSingle", Kind: registry.FieldChoice, Choices: choices("option1", "option2", "option3")},
		{Name: "titledSingle", Kind: registry.FieldChoice, Choices: titled},
		{Name: "legacyEnum", Kind: registry.FieldChoice, EnumNames: true, Choices: []registry.Choice{{Value: "opt1", Title: "Option One"}, {Value: "opt2", Title: "Option Two"}, {Value: "opt3", Title: "Option Three"}}},
		{Name: "untitledMulti", Kind: registry.FieldChoices, Choices: choices("option1", "option2", "option3")},
		{Name: "titledMulti", Kind: registry.FieldChoices, Choices: titled},
	}}
}

func choices(values ...string) (list []registry.Choice) {
	for _, v := range values {
		list = append(list, registry.Choice{Value: v})
	}
	return list
}

// streamTools registers the tool that lets go of its stream.
func (f *fixtures) streamTools() error {
	return f.tool("test_reconnection", "Close the stream early, so that the client comes back for the answer.", noInput, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		call.Detach(10 * time.Millisecond)
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		return contents(text("Reconnection test completed.")), nil
	})
}
