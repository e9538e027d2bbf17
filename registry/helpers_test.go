package registry_test

import (
	"context"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

const openObject = `{"type":"object"}`

func noTool(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
	return registry.TextResult("done"), nil
}

func noResource(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
	return nil, registry.ErrNotFound
}

func noPrompt(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
	return new(protocol.GetPromptResult), nil
}

func noCompletion(context.Context, *registry.Call, string, map[string]string) (*protocol.Completion, error) {
	return new(protocol.Completion), nil
}

// tool returns a tool that is sound.
func tool(name string) registry.Tool {
	return registry.Tool{Name: name, InputSchema: []byte(openObject), Handler: noTool}
}

func resource(uri string) registry.Resource {
	return registry.Resource{URI: uri, Name: "n", Handler: noResource}
}

func template(uriTemplate string) registry.Template {
	return registry.Template{URITemplate: uriTemplate, Name: "n", Handler: noResource}
}

func prompt(name string) registry.Prompt { return registry.Prompt{Name: name, Handler: noPrompt} }
