package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"cloudg.dev/cloudg/cli"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

// result is what a run of the command leaves behind.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the command with the fake catalog.
func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return runEnv(t, cli.Env{Args: args, Stdin: strings.NewReader(stdin)})
}

// runEnv runs the command in an environment whose outputs it takes over.
func runEnv(t *testing.T, env cli.Env) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if env.Stdout == nil {
		env.Stdout = &stdout
	}
	env.Stderr = &stderr
	if env.Register == nil {
		env.Register = (&fake{}).register
	}
	code := cli.Run(t.Context(), env)
	return result{code, stdout.String(), stderr.String()}
}

// fake is a small catalog.
type fake struct {
	options catalog.Options // that it was registered with
	closed  int
	fail    error         // of register
	started chan struct{} // told when the tool wait begins, if not nil
	release chan struct{} // ends it
	more    []registry.Tool
}

func (f *fake) register(reg *registry.Registry, o *catalog.Options) (io.Closer, error) {
	f.options = *o
	if f.fail != nil {
		return nil, f.fail
	}
	for _, t := range f.tools() {
		if o.Accept(&policy.Subject{Kind: policy.Tool, Name: t.Name, Category: t.Category}) {
			if err := reg.AddTool(t); err != nil {
				return nil, err
			}
		}
	}
	return f, errors.Join(f.addResources(reg, o), f.addPrompt(reg, o))
}

func (f *fake) Close() error { f.closed++; return nil }

func (f *fake) tools() []registry.Tool {
	list := []registry.Tool{
		{Name: "echo", Category: "talk", Description: "Gives the arguments back. Nothing more.", Handler: echo},
		{Name: "shape", Category: "talk", Description: "Structured content\nand a picture. Two", Capabilities: policy.ReadState | policy.Network, Sensitivity: policy.Internal, Handler: shape},
		{Name: "blocks", Category: "talk", Handler: blocks},
		{Name: "fail", Category: "faults", Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, registry.Failf("no luck: try echo")
		}},
		{Name: "crash", Category: "faults", Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, errors.New("the detail")
		}},
		{Name: "report", Category: "talk", Handler: report},
		{Name: "wait", Category: "faults", Handler: f.wait},
	}
	for i := range list {
		list[i].InputSchema = []byte(`{"type":"object","properties":{}}`)
	}
	return append(list, f.more...)
}

func echo(_ context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	return registry.TextResult(string(call.Arguments)), nil
}

func shape(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
	return &protocol.CallToolResult{
		Content:           []protocol.Content{&protocol.Image{Data: make([]byte, 12345), MIMEType: "image/png"}},
		StructuredContent: []byte(`{"edges":4}`),
	}, nil
}

func blocks(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
	return &protocol.CallToolResult{Content: []protocol.Content{
		&protocol.Text{Text: "with a line end\n"},
		&protocol.Audio{Data: []byte("1234567"), MIMEType: "audio/wav"},
		&protocol.ResourceLink{URI: "test://text", Name: "text"},
		&protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "test://a", Text: "embedded"}},
		&protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "test://b", Blob: []byte{1, 2}}},
		&protocol.Text{Text: "without <one>"},
	}}, nil
}

func report(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	return registry.TextResult("reported"), errors.Join(
		call.Progress(ctx, 1, 2, "half\x1b[2Jway"),
		call.Progress(ctx, 2.5, 0, ""),
		call.Log(ctx, protocol.LogDebug, "fake", "details"),
		call.Log(ctx, protocol.LogInfo, "fake", "a\nsentence"),
		call.Log(ctx, protocol.LogWarning, "", map[string]int{"n": 1}),
	)
}

// wait waits for its release or for the end of the call.
func (f *fake) wait(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
	if f.started != nil {
		f.started <- struct{}{}
	}
	select {
	case <-f.release:
		return registry.TextResult("released"), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *fake) addResources(reg *registry.Registry, o *catalog.Options) error {
	resource := registry.Resource{URI: "test://text", Name: "text", Category: "talk", Description: "A text.",
		Handler: func(_ context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{
				{URI: call.URI, Text: "no line end"}, {URI: call.URI, Blob: []byte{0, 0xff, '\n'}},
			}}, nil
		}}
	template := registry.Template{URITemplate: "test://{id}/data", Name: "data", Sensitivity: policy.Public,
		Handler: func(_ context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			if call.Var("id") != "1" {
				return nil, registry.ErrNotFound
			}
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: call.URI, Text: "one\n"}}}, nil
		},
		Complete: map[string]registry.Completer{"id": suggest}}
	var err error
	if o.Accept(&policy.Subject{Kind: policy.Resource, Name: resource.URI, Category: "talk"}) {
		err = reg.AddResource(resource)
	}
	if o.Accept(&policy.Subject{Kind: policy.ResourceTemplate, Name: template.URITemplate}) {
		err = errors.Join(err, reg.AddTemplate(template))
	}
	return err
}

func (f *fake) addPrompt(reg *registry.Registry, o *catalog.Options) error {
	if !o.Accept(&policy.Subject{Kind: policy.Prompt, Name: "ask", Category: "talk"}) {
		return nil
	}
	return reg.AddPrompt(registry.Prompt{Name: "ask", Category: "talk", Description: "Asks. Politely.",
		Arguments: []registry.PromptArgument{{Name: "what", Complete: suggest}, {Name: "how"}},
		Handler: func(context.Context, *registry.Call) (*protocol.GetPromptResult, error) {
			return new(protocol.GetPromptResult), nil
		}})
}

// suggest suggests what was typed, and what is given of another argument.
func suggest(_ context.Context, _ *registry.Call, value string, given map[string]string) (*protocol.Completion, error) {
	if value == "many" {
		return &protocol.Completion{Values: []string{"a"}, Total: 7, More: true}, nil
	}
	return &protocol.Completion{Values: []string{value + "1", value + given["how"]}}, nil
}
