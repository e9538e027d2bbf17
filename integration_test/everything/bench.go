package main

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

type addIn struct {
	A float64 `json:"a" jsonschema:"description=The first number."`
	B float64 `json:"b" jsonschema:"description=The second number."`
}

type addOut struct {
	Sum float64 `json:"sum"`
}

type progressIn struct {
	Steps int `json:"steps" jsonschema:"description=How many notifications to send.,minimum=0,maximum=10000000"`
}

// moreIn is the input of the tools that only make the list long. As elsewhere in
// the benchmark its properties have no bounds, which would only add to the bytes.
type moreIn struct {
	Path      string   `json:"path" jsonschema:"description=File or directory to work on."`
	Limit     int      `json:"limit,omitempty" jsonschema:"description=Largest number of entries to return."`
	Recursive bool     `json:"recursive,omitempty" jsonschema:"description=Whether to descend into subdirectories."`
	Ratio     float64  `json:"ratio,omitempty" jsonschema:"description=Share of the entries to sample\\, between 0 and 1."`
	Tags      []string `json:"tags,omitempty" jsonschema:"description=Labels an entry must carry."`
}

// registerBench registers what the servers of ../shared/bench have, and nothing
// else, so that the comparison is fair: three tools and so many more, a resource
// and a prompt.
func (f *fixtures) registerBench(more int) error {
	if err := typed(f, registry.Tool{Name: "echo", Description: "Return the given text unchanged."}, func(_ context.Context, _ *registry.Call, in echoIn) (string, error) {
		return in.Text, nil
	}); err != nil {
		return err
	}
	if err := f.reg.AddResource(benchText()); err != nil {
		return err
	}
	if err := f.reg.AddPrompt(hello()); err != nil {
		return err
	}
	return f.benchTools(more)
}

// benchTools registers what the benchmark calls besides echo.
func (f *fixtures) benchTools(more int) error {
	if err := typed(f, registry.Tool{Name: "add", Description: "Add two numbers."}, func(_ context.Context, _ *registry.Call, in addIn) (addOut, error) {
		return addOut{Sum: in.A + in.B}, nil
	}); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "progress", Description: "Send the given number of progress notifications, then finish."}, progress); err != nil {
		return err
	}
	for i := range more {
		t := registry.Tool{Name: fmt.Sprintf("tool_%04d", i+1), Description: "A tool that exists only to make tools/list long."}
		if err := typed(f, t, func(context.Context, *registry.Call, moreIn) (string, error) { return "done", nil }); err != nil {
			return err
		}
	}
	return nil
}

func progress(ctx context.Context, call *registry.Call, in progressIn) (*protocol.CallToolResult, error) {
	for i := range in.Steps {
		if err := call.Progress(ctx, float64(i+1), float64(in.Steps), ""); err != nil {
			return nil, err
		}
	}
	return registry.TextResult(fmt.Sprintf("sent %d", in.Steps)), nil
}
