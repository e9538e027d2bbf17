// Command gosdk drives a server with the client of the official Go SDK.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cloudg.dev/cloudg/integration_test/interop/internal/steps"
)

func main() {
	options, err := steps.ParseOptions(os.Args[1:], os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	label := "gosdk-" + steps.ModuleVersion("github.com/modelcontextprotocol/go-sdk") + " " + options.Mode
	report := steps.NewReport(os.Stdout, label)
	run(context.Background(), report, options)
	os.Exit(report.ExitCode())
}

// peer is a session together with the progress that arrives on it, by token.
type peer struct {
	*mcp.ClientSession
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
	client := mcp.NewClient(&mcp.Implementation{Name: "interop-gosdk", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: p.onProgress,
		ElicitationHandler:          p.elicit,
		CreateMessageHandler:        sample,
	})
	for _, uri := range steps.Roots() {
		client.AddRoots(&mcp.Root{URI: uri})
	}
	var opts mcp.ClientSessionOptions
	if p.options.Mode == steps.Legacy {
		opts.ProtocolVersion = p.options.Version()
	}
	session, err := client.Connect(ctx, p.transport(), &opts)
	if err != nil {
		return err
	}
	p.ClientSession = session
	init := session.InitializeResult()
	if init.ServerInfo == nil {
		return errors.New("the server did not name itself")
	}
	return errors.Join(
		steps.Equal("protocol version", init.ProtocolVersion, p.options.Version()),
		steps.Equal("server name", init.ServerInfo.Name, steps.ServerName),
	)
}

func (p *peer) transport() mcp.Transport {
	if p.options.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: p.options.URL, HTTPClient: &http.Client{Transport: bearer(p.options.Token)}}
	}
	command := exec.Command(p.options.Command[0], p.options.Command[1:]...)
	command.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: command}
}

// bearer is a token that goes with every request, unless it is empty.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if b != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(req)
}

func (p *peer) elicit(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	action, content, err := p.user.Fill(req.Params.Message)
	if err != nil {
		return nil, err
	}
	return &mcp.ElicitResult{Action: action, Content: content}, nil
}

func sample(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if len(req.Params.Messages) != 1 {
		return nil, fmt.Errorf("the model is given %d messages, want 1", len(req.Params.Messages))
	}
	prompt, ok := req.Params.Messages[0].Content.(*mcp.TextContent)
	if !ok {
		return nil, fmt.Errorf("the model is given %T, want text", req.Params.Messages[0].Content)
	}
	text, err := steps.Sample(prompt.Text)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: text}, Model: "none", Role: "assistant", StopReason: "endTurn"}, nil
}

func (p *peer) onProgress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	select {
	case p.tokens[token] <- steps.Progress{Progress: req.Params.Progress, Total: req.Params.Total}:
	default: // nobody waits for more
	}
}

func names[T any](entries iter.Seq2[*T, error], name func(*T) string) ([]string, error) {
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
	all, err := names(p.Tools(ctx, nil), func(t *mcp.Tool) string { return t.Name })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Tools()...)
}

func (p *peer) listResources(ctx context.Context) error {
	all, err := names(p.Resources(ctx, nil), func(r *mcp.Resource) string { return r.URI })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.BenchURI, steps.StaticURI)
}

func (p *peer) listTemplates(ctx context.Context) error {
	all, err := names(p.ResourceTemplates(ctx, nil), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Template)
}

func (p *peer) listPrompts(ctx context.Context) error {
	all, err := names(p.Prompts(ctx, nil), func(t *mcp.Prompt) string { return t.Name })
	if err != nil {
		return err
	}
	return steps.Listed(all, steps.Prompt)
}

// tool calls a tool and returns its structured content.
func (p *peer) tool(ctx context.Context, params *mcp.CallToolParams) (map[string]any, *mcp.CallToolResult, error) {
	result, err := p.CallTool(ctx, params)
	if err != nil {
		return nil, nil, err
	}
	if result.IsError {
		return nil, nil, fmt.Errorf("%s answers with isError", params.Name)
	}
	structured, _ := result.StructuredContent.(map[string]any)
	return structured, result, nil
}

// onlyText returns the text of a result that has nothing else.
func onlyText(result *mcp.CallToolResult) (string, error) {
	if len(result.Content) != 1 {
		return "", fmt.Errorf("the result has %d content blocks, want 1", len(result.Content))
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", fmt.Errorf("the result has %T, want text", result.Content[0])
	}
	return text.Text, nil
}

// textOf calls a tool without arguments.
func (p *peer) textOf(ctx context.Context, tool string) (string, error) {
	_, result, err := p.tool(ctx, &mcp.CallToolParams{Name: tool})
	if err != nil {
		return "", err
	}
	return onlyText(result)
}

func (p *peer) echo(ctx context.Context) error {
	structured, result, err := p.tool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": steps.EchoText}})
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
	structured, _, err := p.tool(ctx, &mcp.CallToolParams{Name: "add", Arguments: map[string]any{"a": 2, "b": 40}})
	if err != nil {
		return err
	}
	return steps.Equal[any]("sum", structured["sum"], 42.0)
}

func (p *peer) text(ctx context.Context, uri string) (string, error) {
	result, err := p.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(result.Contents) != 1 {
		return "", fmt.Errorf("%s has %d contents, want 1", uri, len(result.Contents))
	}
	return result.Contents[0].Text, steps.Equal("uri", result.Contents[0].URI, uri)
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
	result, err := p.GetPrompt(ctx, &mcp.GetPromptParams{
		Name: steps.Prompt, Arguments: map[string]string{"arg1": steps.Arg1, "arg2": steps.Arg2},
	})
	if err != nil {
		return err
	}
	for _, message := range result.Messages {
		text, ok := message.Content.(*mcp.TextContent)
		if ok && strings.Contains(text.Text, steps.Arg1) && strings.Contains(text.Text, steps.Arg2) {
			return nil
		}
	}
	return fmt.Errorf("none of %d messages has both arguments", len(result.Messages))
}

func (p *peer) complete(ctx context.Context) error {
	result, err := p.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: steps.Prompt},
		Argument: mcp.CompleteParamsArgument{Name: steps.CompleteArgument, Value: steps.CompletePrefix},
	})
	if err != nil {
		return err
	}
	return steps.Completed(result.Completion.Values)
}

func (p *peer) progress(ctx context.Context) error {
	params := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"steps": steps.ProgressSteps}}
	params.Meta = mcp.Meta{"progressToken": progressToken}
	if _, _, err := p.tool(ctx, params); err != nil {
		return err
	}
	return steps.ReceiveAll(ctx, p.tokens[progressToken])
}

func (p *peer) cancel(ctx context.Context) error {
	sleep := func(ctx context.Context) error {
		params := &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"ms": steps.SleepMillis}}
		params.Meta = mcp.Meta{"progressToken": sleepToken}
		_, _, err := p.tool(ctx, params)
		return err
	}
	after := func(ctx context.Context) error {
		if p.options.Mode == steps.Legacy { // the modern era has no ping
			if err := p.Ping(ctx, nil); err != nil {
				return err
			}
		}
		return p.echo(ctx)
	}
	return steps.Cancel(ctx, sleep, p.tokens[sleepToken], after)
}
