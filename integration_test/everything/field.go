package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

type echoIn struct {
	Text string `json:"text" jsonschema:"description=The text to return."`
}

type anyIn struct {
	V json.RawMessage `json:"v"`
}

type sleepIn struct {
	MS int `json:"ms" jsonschema:"description=How long to sleep\\, in milliseconds.,minimum=0,maximum=3600000"`
}

type bigIn struct {
	N int `json:"n" jsonschema:"description=Bytes of text to return.,minimum=0,maximum=67108864"`
}

type rawIn struct {
	B64 string `json:"b64" jsonschema:"description=The bytes to return\\, in base64."`
}

type labelsIn struct {
	Labels []string `json:"labels,omitempty"`
}

type nothing struct{}

// fieldTools registers the fixtures of the field cases.
func (f *fixtures) fieldTools() error {
	if err := typed(f, registry.Tool{Name: "echo", Description: "Return the given text unchanged."}, echo); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "echo_any", Description: "Return the given value, byte for byte."}, echoAny); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "noargs", Description: "Take no arguments."}, func(context.Context, *registry.Call, nothing) (string, error) {
		return "no arguments", nil
	}); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "labels", Description: "Count optional labels."}, func(_ context.Context, _ *registry.Call, in labelsIn) (string, error) {
		return fmt.Sprintf("%d labels", len(in.Labels)), nil
	}); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "sleep", Description: "Sleep, with progress every 50 ms."}, f.sleep); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "big", Description: "Return so many bytes of text."}, func(_ context.Context, _ *registry.Call, in bigIn) (string, error) {
		return strings.Repeat("0123456789abcde\n", in.N/16+1)[:in.N], nil
	}); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "rawbytes", Description: "Return the given bytes as text, as a careless program would."}, rawBytes); err != nil {
		return err
	}
	return f.failureTools()
}

// failureTools registers tools that fail or leave a trace.
func (f *fixtures) failureTools() error {
	fail := registry.Tool{
		Name: "fail", Description: "Fail on purpose; a success would be structured.",
		InputSchema:  []byte(noInput),
		OutputSchema: []byte(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`),
		Handler: func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, registry.Failf("this tool always fails; call another one")
		},
	}
	broken := fail
	broken.Name, broken.Description = "broken_output", "Return what its own output schema forbids."
	broken.Handler = func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		return registry.StructuredResult([]byte(`{"ok":"yes"}`)), nil
	}
	if err := f.reg.AddTool(fail, broken); err != nil {
		return err
	}
	if err := f.tool("internal_error", "Fail with an error that must not reach the client.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		return nil, fmt.Errorf("connecting to db: password hunter2 was refused")
	}); err != nil {
		return err
	}
	if err := f.tool("panics", "Panic.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		panic("password hunter2")
	}); err != nil {
		return err
	}
	return f.tool("side", "Append one line to a file.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		if err := f.appendLine("side"); err != nil {
			return nil, registry.Failf("cannot write the side file: %w", err)
		}
		return contents(text("appended")), nil
	})
}

func echo(_ context.Context, call *registry.Call, in echoIn) (*protocol.CallToolResult, error) {
	res := registry.TextResult(in.Text)
	res.StructuredContent = call.Arguments // {"text":…} is just what was sent
	return res, nil
}

func echoAny(_ context.Context, _ *registry.Call, in anyIn) (*protocol.CallToolResult, error) {
	raw := append(append([]byte(`{"v":`), in.V...), '}')
	return registry.StructuredResult(raw), nil
}

// sleep sleeps and says on standard error what became of it.
func (f *fixtures) sleep(ctx context.Context, call *registry.Call, in sleepIn) (string, error) {
	fmt.Fprintln(os.Stderr, "sleep started")
	const step = 50 * time.Millisecond
	end := time.Now().Add(time.Duration(in.MS) * time.Millisecond)
	for n := 1.0; ; n++ {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		if err := pause(ctx, min(left, step)); err != nil {
			fmt.Fprintln(os.Stderr, "sleep cancelled")
			return "", err
		}
		if err := call.Progress(ctx, n, 0, ""); err != nil {
			return "", err
		}
	}
	fmt.Fprintln(os.Stderr, "sleep finished")
	return fmt.Sprintf("slept %d ms", in.MS), nil
}

func rawBytes(_ context.Context, _ *registry.Call, in rawIn) (string, error) {
	b, err := base64.StdEncoding.DecodeString(in.B64)
	if err != nil {
		return "", registry.Failf("argument b64 is not base64: %w", err)
	}
	return string(b), nil
}

// appendLine appends a line to the side file.
func (f *fixtures) appendLine(line string) error {
	if f.sideFile == "" {
		return fmt.Errorf("the server was started without -side FILE")
	}
	f.side.Lock()
	defer f.side.Unlock()
	file, err := os.OpenFile(f.sideFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}
