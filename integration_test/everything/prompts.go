package main

import (
	"context"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// userPrompt returns a prompt whose messages are all the user's.
func userPrompt(blocks ...protocol.Content) *protocol.GetPromptResult {
	res := new(protocol.GetPromptResult)
	for _, b := range blocks {
		res.Messages = append(res.Messages, protocol.PromptMessage{Role: protocol.RoleUser, Content: b})
	}
	return res
}

// hello greets somebody.
func hello() registry.Prompt {
	return registry.Prompt{Name: "hello", Description: "Greet somebody by name.",
		Arguments: []registry.PromptArgument{{Name: "name", Description: "Whom to greet.", Required: true}},
		Handler: func(_ context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
			return userPrompt(text("Hello, %s!", call.Strings["name"])), nil
		}}
}

// prompts registers the prompts.
func (f *fixtures) prompts() error {
	return f.reg.AddPrompt(
		registry.Prompt{Name: "test_simple_prompt", Description: "A prompt without arguments.",
			Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
				return userPrompt(text("This is a simple prompt for testing.")), nil
			}},
		registry.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with two arguments.",
			Arguments: []registry.PromptArgument{
				{Name: "arg1", Description: "The first.", Required: true, Complete: suggest("testValue1", "testValue2", "other")},
				{Name: "arg2", Description: "The second.", Required: true},
			},
			Handler: func(_ context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
				return userPrompt(text("Prompt with arguments: arg1='%s', arg2='%s'", call.Strings["arg1"], call.Strings["arg2"])), nil
			}},
		registry.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource.",
			Arguments: []registry.PromptArgument{{Name: "resourceUri", Description: "The resource to embed.", Required: true}},
			Handler: func(_ context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
				return userPrompt(&protocol.EmbeddedResource{Resource: protocol.ResourceContents{
					URI: call.Strings["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
					text("Please process the embedded resource above.")), nil
			}},
		registry.Prompt{Name: "test_prompt_with_image", Description: "A prompt with a picture.",
			Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
				return userPrompt(&protocol.Image{Data: f.png, MIMEType: "image/png"}, text("Please analyze the image above.")), nil
			}},
		hello(),
	)
}
