// Command mcpgo drives a server with the client of mcp-go.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"cloudg.dev/cloudg/integration_test/interop/internal/steps"
)

func main() {
	options, err := steps.ParseOptions(os.Args[1:], os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	label := "mcpgo-" + steps.ModuleVersion("github.com/mark3labs/mcp-go") + " " + options.Mode
	report := steps.NewReport(os.Stdout, label)
	run(context.Background(), report, options)
	os.Exit(report.ExitCode())
}

// peer is a client together with the progress that arrives on it, by token.
type peer struct {
	*client.Client
	options steps.Options
	user    steps.User
	tokens  map[string]chan steps.Progress
}

// Progress tokens of the two calls that ask for progress.
const (
	progressToken = "progress-1"
	sleepToken    = "sleep-1"
)

func run(ctx context.Context, report *steps.Report, options steps.Options) {
	p := &peer{options: options, tokens: map[string]chan steps.Progress{
		progressToken: make(chan steps.Progress, 2*steps.ProgressSteps),
		sleepToken:    make(chan steps.Progress, 1),
	}}
	if !report.Step(ctx, "connect", p.connect) {
		return
	}
	report.Step(ctx, "tools", p.listTools)
	report.Step(ctx, "resources", p.listResources)
	report.Step(ctx, "templates", p.listTemplates)
	report.Step(ctx, "prompts", p.listPrompts)
	report.Step(ctx, "call", p.call)
	report.Step(ctx, "read", p.read)
	report.Step(ctx, "prompt", p.prompt)
	report.Step(ctx, "complete", p.complete)
	report.Step(ctx, "progress", p.progress)
	report.Step(ctx, "cancel", p.cancel)
	p.user.Interact(ctx, report, p.textOf)
	report.Step(ctx, "close", func(context.Context) error { return p.Close() })
}

func (p *peer) connect(ctx context.Context) error {
	t, err := p.transport()
	if err != nil {
		return err
	}
	c := client.NewClient(t, client.WithElicitationHandler(p), client.WithSamplingHandler(p), client.WithRootsHandler(p))
	p.Client = c
	c.OnNotification(p.onNotification)
	if err := c.Start(context.WithoutCancel(ctx)); err != nil { // the transport lives longer than this step
		return errors.Join(err, c.Close())
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "interop-mcpgo", Version: "1"}
	if p.options.Mode == steps.Legacy {
		request.Params.ProtocolVersion = p.options.Version()
	}
	result, err := c.Initialize(ctx, request)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return errors.Join(
		steps.Equal("protocol version", result.ProtocolVersion, p.options.Version()),
		steps.Equal("server name", result.ServerInfo.Name, steps.ServerName),
	)
}

func (p *peer) transport() (transport.Interface, error) {
	if p.options.URL == "" {
		command := p.options.Command
		return transport.NewStdioWithOptions(command[0], nil, command[1:], transport.WithCommandStderrWriter(os.Stderr)), nil
	}
	headers := map[string]string{}
	if p.options.Token != "" {
		headers["Authorization"] = "Bearer " + p.options.Token
	}
	t, err := transport.NewStreamableHTTP(p.options.URL, transport.WithHTTPHeaders(headers))
	if err != nil || p.options.Mode != steps.Legacy {
		return t, err
	}
	return telling{t}, nil
}

// telling is the HTTP transport for the handshake era, where a closed connection
// is no cancellation. This SDK leaves telling the server to its user there.
type telling struct{ *transport.StreamableHTTP }

// SendRequest implements transport.Interface.
func (t telling) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := t.StreamableHTTP.SendRequest(ctx, request)
	if ctx.Err() == nil {
		return response, err
	}
	var notification mcp.JSONRPCNotification
	notification.JSONRPC, notification.Method = mcp.JSONRPC_VERSION, "notifications/cancelled"
	notification.Params.AdditionalFields = map[string]any{"requestId": request.ID}
	return response, errors.Join(err, t.SendNotification(context.WithoutCancel(ctx), notification))
}

// Elicit implements client.ElicitationHandler.
func (p *peer) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	action, content, err := p.user.Fill(request.Params.Message)
	if err != nil {
		return nil, err
	}
	response := mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(action)}
	if content != nil {
		response.Content = content
	}
	return &mcp.ElicitationResult{ElicitationResponse: response}, nil
}

// CreateMessage implements client.SamplingHandler.
func (p *peer) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if len(request.Messages) != 1 {
		return nil, fmt.Errorf("the model is given %d messages, want 1", len(request.Messages))
	}
	text, err := steps.Sample(mcp.GetTextFromContent(request.Messages[0].Content))
	if err != nil {
		return nil, err
	}
	message := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(text)}
	return &mcp.CreateMessageResult{SamplingMessage: message, Model: "none", StopReason: "endTurn"}, nil
}

// ListRoots implements client.RootsHandler.
func (p *peer) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := new(mcp.ListRootsResult)
	for _, uri := range steps.Roots() {
		result.Roots = append(result.Roots, mcp.Root{URI: uri})
	}
	return result, nil
}

func (p *peer) onNotification(notification mcp.JSONRPCNotification) {
	if notification.Method != "notifications/progress" {
		return
	}
	params := notification.Params.AdditionalFields
	token, _ := params["progressToken"].(string)
	progress, _ := params["progress"].(float64)
	total, _ := params["total"].(float64)
	select {
	case p.tokens[token] <- steps.Progress{Progress: progress, Total: total}:
	default: // nobody waits for more
	}
}

func names[T any](entries iter.Seq2[T, error], name func(T) string) ([]string, error) {
	var all []string
	for entry, err := range entries {
		if err != nil {
			return nil, err
		}
		all = append(all, name(entry))
	}
	return all, nil
}

func (p *peer) listTools(ctx context.Context) error {
	all, err := names(p.IterTools(ctx, mcp.ListToolsRequest{}), func(t mcp.Tool) string { return t.Name })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Tools()...)
}

func (p *peer) listResources(ctx context.Context) error {
	all, err := names(p.IterResources(ctx, mcp.ListResourcesRequest{}), func(r mcp.Resource) string { return r.URI })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.BenchURI, steps.StaticURI)
}

func (p *peer) listTemplates(ctx context.Context) error {
	all, err := names(p.IterResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{}), func(t mcp.ResourceTemplate) string {
		return t.URITemplate.Raw()
	})
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Template)
}

func (p *peer) listPrompts(ctx context.Context) error {
	all, err := names(p.IterPrompts(ctx, mcp.ListPromptsRequest{}), func(t mcp.Prompt) string { return t.Name })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Prompt)
}

// tool calls a tool, asking for progress unless the token is empty, and
// returns its structured content.
func (p *peer) tool(ctx context.Context, name string, arguments map[string]any, token string) (map[string]any, *mcp.CallToolResult, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = name
	request.Params.Arguments = arguments
	if token != "" {
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	result, err := p.CallTool(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	if result.IsError {
		return nil, nil, fmt.Errorf("%s answers with isError", name)
	}
	structured, _ := result.StructuredContent.(map[string]any)
	return structured, result, nil
}

// onlyText returns the text of a result that has nothing else.
func onlyText(result *mcp.CallToolResult) (string, error) {
	if len(result.Content) != 1 {
		return "", fmt.Errorf("the result has %d content blocks, want 1", len(result.Content))
	}
	text, ok := result.Content[0].(mcp.TextContent)
	if !ok {
		return "", fmt.Errorf("the result has %T, want text", result.Content[0])
	}
	return text.Text, nil
}

// textOf calls a tool without arguments.
func (p *peer) textOf(ctx context.Context, tool string) (string, error) {
	_, result, err := p.tool(ctx, tool, nil, "")
	if err != nil {
		return "", err
	}
	return onlyText(result)
}

func (p *peer) echo(ctx context.Context) error {
	structured, result, err := p.tool(ctx, "echo", map[string]any{"text": steps.EchoText}, "")
	if err != nil {
		return err
	}
	text, err := onlyText(result)
	return errors.Join(
		err,
		steps.Equal("text of echo", text, steps.EchoText),
		steps.Equal[any]("structured text of echo", structured["text"], steps.EchoText),
	)
}

func (p *peer) call(ctx context.Context) error {
	if err := p.echo(ctx); err != nil {
		return err
	}
	structured, _, err := p.tool(ctx, "add", map[string]any{"a": 2, "b": 40}, "")
	if err != nil {
		return err
	}
	return steps.Equal[any]("sum", structured["sum"], 42.0)
}

func (p *peer) text(ctx context.Context, uri string) (string, error) {
	request := mcp.ReadResourceRequest{}
	request.Params.URI = uri
	result, err := p.ReadResource(ctx, request)
	if err != nil {
		return "", err
	}
	if len(result.Contents) != 1 {
		return "", fmt.Errorf("%s has %d contents, want 1", uri, len(result.Contents))
	}
	text, ok := result.Contents[0].(mcp.TextResourceContents)
	if !ok {
		return "", fmt.Errorf("%s is %T, want text", uri, result.Contents[0])
	}
	return text.Text, steps.Equal("uri", text.URI, uri)
}

func (p *peer) read(ctx context.Context) error {
	bench, err := p.text(ctx, steps.BenchURI)
	if err != nil {
		return err
	}
	static, err := p.text(ctx, steps.StaticURI)
	if err != nil {
		return err
	}
	return errors.Join(
		steps.Equal("size of "+steps.BenchURI, len(bench), steps.BenchSize),
		steps.Equal("text of "+steps.StaticURI, static, steps.StaticText),
	)
}

func (p *peer) prompt(ctx context.Context) error {
	request := mcp.GetPromptRequest{}
	request.Params.Name = steps.Prompt
	request.Params.Arguments = map[string]string{"arg1": steps.Arg1, "arg2": steps.Arg2}
	result, err := p.GetPrompt(ctx, request)
	if err != nil {
		return err
	}
	for _, message := range result.Messages {
		text, ok := message.Content.(mcp.TextContent)
		if ok && strings.Contains(text.Text, steps.Arg1) && strings.Contains(text.Text, steps.Arg2) {
			return nil
		}
	}
	return fmt.Errorf("none of %d messages has both arguments", len(result.Messages))
}

func (p *peer) complete(ctx context.Context) error {
	request := mcp.CompleteRequest{}
	request.Params.Ref = mcp.PromptReference{Type: "ref/prompt", Name: steps.Prompt}
	request.Params.Argument = mcp.CompleteArgument{Name: steps.CompleteArgument, Value: steps.CompletePrefix}
	result, err := p.Complete(ctx, request)
	if err != nil {
		return err
	}
	return steps.Completed(result.Completion.Values)
}

func (p *peer) progress(ctx context.Context) error {
	if _, _, err := p.tool(ctx, "progress", map[string]any{"steps": steps.ProgressSteps}, progressToken); err != nil {
		return err
	}
	return steps.ReceiveAll(ctx, p.tokens[progressToken])
}

func (p *peer) cancel(ctx context.Context) error {
	sleep := func(ctx context.Context) error {
		_, _, err := p.tool(ctx, "sleep", map[string]any{"ms": steps.SleepMillis}, sleepToken)
		return err
	}
	after := func(ctx context.Context) error {
		if p.options.Mode == steps.Legacy { // the modern era has no ping
			if err := p.Ping(ctx); err != nil {
				return err
			}
		}
		return p.echo(ctx)
	}
	return steps.Cancel(ctx, sleep, p.tokens[sleepToken], after)
}
