package main

import (
	"context"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// changeTools registers tools whose call changes what the server offers.
func (f *fixtures) changeTools() error {
	extra := registry.Tool{
		Name: "test_dynamic_tool", Description: "Appears when test_trigger_tool_change is called.",
		InputSchema: []byte(noInput),
		Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return contents(text("dynamic")), nil
		},
	}
	if err := f.tool("test_trigger_tool_change", "Register a tool, again if it is there.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		if err := f.reg.ReplaceTool(extra); err != nil {
			return nil, err
		}
		return contents(text("tools changed")), nil
	}); err != nil {
		return err
	}
	prompt := registry.Prompt{
		Name: "test_dynamic_prompt", Description: "Appears when test_trigger_prompt_change is called.",
		Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
			return userPrompt(text("dynamic")), nil
		},
	}
	if err := f.tool("test_trigger_prompt_change", "Register a prompt, again if it is there.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		if err := f.reg.ReplacePrompt(prompt); err != nil {
			return nil, err
		}
		return contents(text("prompts changed")), nil
	}); err != nil {
		return err
	}
	return f.tool("test_trigger_resource_update", "Announce an update of test://watched-resource.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		f.hub.Publish(notify.Event{Kind: notify.ResourceUpdated, URI: watchedURI})
		return contents(text("resource updated")), nil
	})
}
