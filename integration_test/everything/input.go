package main

import (
	"context"
	"errors"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// question asks for one text field.
func question(message, field string) *registry.Elicitation {
	return &registry.Elicitation{Message: message, Form: &registry.Form{Fields: []registry.Field{{Name: field, Required: true}}}}
}

func confirmation() *registry.Elicitation {
	return &registry.Elicitation{Message: "Please confirm.", Form: &registry.Form{Fields: []registry.Field{{Name: "ok", Kind: registry.FieldBoolean, Required: true}}}}
}

func capitalQuestion(prompt string) *registry.Sampling {
	return &registry.Sampling{Messages: []registry.SampleMessage{{Role: protocol.RoleUser, Content: text("%s", prompt)}}, MaxTokens: 100}
}

// inputTools registers the tools of the suite that need input in the course of a
// call.
func (f *fixtures) inputTools() error {
	for _, t := range []struct {
		name, description string
		handler           registry.ToolHandler
	}{
		{"test_input_required_result_elicitation", "Ask for a name.", greetByName},
		{"test_input_required_result_sampling", "Ask the model for a capital.", askCapital},
		{"test_input_required_result_list_roots", "Ask for the roots.", countRoots},
		{"test_input_required_result_request_state", "Ask for a confirmation, with state.", confirm},
		{"test_input_required_result_tampered_state", "Ask for a confirmation; the state must come back as it was.", confirm},
		{"test_input_required_result_multiple_inputs", "Ask for three things at once.", askThree},
		{"test_input_required_result_multi_round", "Ask twice, one question after the other.", askTwice},
		{"test_input_required_result_capabilities", "Ask only for what the client can do.", askWhatIsPossible},
	} {
		if err := f.tool(t.name, t.description, noInput, t.handler); err != nil {
			return err
		}
	}
	return f.reg.AddPrompt(registry.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that needs input.",
		Handler: func(ctx context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
			res, err := call.Elicit(ctx, "user_context", question("What is the context?", "context"))
			if err != nil {
				return nil, err
			}
			return userPrompt(text("Context: %s", res.Text("context"))), nil
		}})
}

func greetByName(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	res, err := call.Elicit(ctx, "user_name", question("What is your name?", "name"))
	if err != nil {
		return nil, err
	}
	if !res.Accepted() {
		return contents(text("No name was given (%s).", res.Action)), nil
	}
	return contents(text("Hello, %s!", res.Text("name"))), nil
}

func askCapital(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	res, err := call.Sample(ctx, "capital_question", capitalQuestion("What is the capital of France?"))
	if err != nil {
		return nil, err
	}
	return contents(text("The model says: %s", res.Text())), nil
}

func countRoots(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	roots, err := call.Roots(ctx, "client_roots")
	if err != nil {
		return nil, err
	}
	return contents(text("%d roots", len(roots))), nil
}

func confirm(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	seen, err := registry.Once(ctx, call, "seen", func(context.Context) (string, error) { return "state-ok", nil })
	if err != nil {
		return nil, err
	}
	res, err := call.Elicit(ctx, "confirm", confirmation())
	if err != nil {
		return nil, err
	}
	return contents(text("%s: %s %s", seen, res.Action, res.Field("ok"))), nil
}

func askThree(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	name, err1 := call.Elicit(ctx, "user_name", question("What is your name?", "name"))
	greeting, err2 := call.Sample(ctx, "greeting", capitalQuestion("Write a greeting."))
	roots, err3 := call.Roots(ctx, "client_roots")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return contents(text("%s, %s; %d roots", greeting.Text(), name.Text("name"), len(roots))), nil
}

func askTwice(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	name, err := call.Elicit(ctx, "step1", question("What is your name?", "name"))
	if err != nil {
		return nil, err
	}
	color, err := call.Elicit(ctx, "step2", question("What is your favourite colour?", "color"))
	if err != nil {
		return nil, err
	}
	return contents(text("%s likes %s.", name.Text("name"), color.Text("color"))), nil
}

func askWhatIsPossible(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	_, err := call.Elicit(ctx, "user_name", question("What is your name?", "name"))
	var missing *registry.MissingAbilityError
	if errors.As(err, &missing) {
		return askCapital(ctx, call)
	}
	if err != nil {
		return nil, err
	}
	return contents(text("The user was asked.")), nil
}
