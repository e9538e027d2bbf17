package protocol_test

import (
	"fmt"

	"cloudg.dev/cloudg/protocol"
)

// A result is written for the version that its receiver speaks: one that knows
// no links is told in a text what there is, and gets no title.
func Example() {
	result := protocol.CallToolResult{Content: []protocol.Content{
		&protocol.ResourceLink{URI: "file:///srv/app.log", Name: "app.log", Title: "Log of the application", MIMEType: "text/plain"},
	}}
	for _, v := range []protocol.Version{protocol.V20241105, protocol.LatestStateless} {
		fmt.Printf("%s\n%s\n", v, result.AppendMembers(nil, v))
	}
	// Output:
	// 2024-11-05
	// "content":[{"type":"text","text":"[resource app.log: file:///srv/app.log]"}]
	// 2026-07-28
	// "content":[{"type":"resource_link","uri":"file:///srv/app.log","name":"app.log","title":"Log of the application","mimeType":"text/plain"}]
}

func ExampleErrorf() {
	err := protocol.Errorf(protocol.CodeInvalidParams, "params.%s must be a string", "name")
	fmt.Println(err)
	// Output:
	// params.name must be a string (-32602)
}
