package registry_test

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// A tool is made from a function of Go types, which its schemas come from.
// Arguments that break the input schema never reach the function.
func ExampleTyped() {
	type order struct {
		Item  string `json:"item" jsonschema:"what to order,minLength=1"`
		Count int    `json:"count" jsonschema:"default=1,minimum=1,maximum=9"`
	}
	type receipt struct {
		Total int `json:"total"`
	}
	tool, err := registry.Typed(registry.Tool{Name: "order", Description: "Order something."},
		func(_ context.Context, _ *registry.Call, in order) (receipt, error) {
			if in.Item == "moon" {
				return receipt{}, registry.Failf("%q is sold out: order something else", in.Item)
			}
			return receipt{Total: 3 * in.Count}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	reg := registry.New(nil)
	if err := reg.AddTool(tool); err != nil {
		fmt.Println(err)
		return
	}

	entry := reg.Snapshot().Tool("order")
	fmt.Printf("%s\n", entry.InputSchema)
	for _, arguments := range []string{`{"item":"tea","count":2}`, `{"item":"moon"}`, `{"item":"tea","count":10}`} {
		result, err := entry.Handler(context.Background(), &registry.Call{Arguments: []byte(arguments), Version: protocol.LatestStateless})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s\n", result.StructuredContent)
	}
	// Output:
	// {"type":"object","properties":{"item":{"type":"string","description":"what to order","minLength":1},"count":{"type":"integer","default":1,"minimum":1,"maximum":9}},"required":["item"],"additionalProperties":false}
	// {"total":6}
	// "moon" is sold out: order something else
	// argument "count": must be at most 9
}
