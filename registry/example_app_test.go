package registry_test

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// A tool with a user interface (MCP Apps): its metadata names a resource of the
// scheme ui, which a host that knows the extension shows beside the result. The
// result is useful by itself, for all other clients. A server that offers such
// tools declares the extension protocol.ExtensionUI.
func Example_app() {
	const page = `<!doctype html><title>Disks</title><div id="chart"></div>`
	reg := registry.New(nil)
	err := reg.AddResource(registry.Resource{
		URI: "ui://host/disks", Name: "disks", MIMEType: "text/html;profile=mcp-app",
		Handler: func(_ context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{
				URI: call.URI, MIMEType: "text/html;profile=mcp-app", Text: page,
				Meta: []byte(`{"ui":{"prefersBorder":true}}`),
			}}}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = reg.AddTool(registry.Tool{
		Name: "show_disks", Description: "Show how full the disks are.",
		InputSchema: []byte(`{"type":"object","properties":{},"additionalProperties":false}`),
		Icons:       []protocol.Icon{{Src: "data:image/svg+xml;base64,PHN2Zy8+", MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
		Meta:        []byte(`{"ui":{"resourceUri":"ui://host/disks","visibility":["model","app"]}}`),
		Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult("/ is 40 % full"), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool := reg.Snapshot().Tool("show_disks")
	fmt.Println(string(tool.AppendDefinition(nil, protocol.V20260728)))
	// Output:
	// {"name":"show_disks","description":"Show how full the disks are.","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false},"icons":[{"src":"data:image/svg+xml;base64,PHN2Zy8+","mimeType":"image/svg+xml","sizes":["any"]}],"_meta":{"ui":{"resourceUri":"ui://host/disks","visibility":["model","app"]}}}
}
