package main

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"sync"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// Files that the suite knows, in base64.
const (
	pngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wavBase64 = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// fixtures is what this server offers.
type fixtures struct {
	reg      *registry.Registry
	hub      *notify.Hub
	log      *slog.Logger
	sideFile string
	side     sync.Mutex // held while the side file is written
	png, wav []byte
}

// register registers everything, and so many tools more.
func (f *fixtures) register(more int) error {
	var err error
	if f.png, err = base64.StdEncoding.DecodeString(pngBase64); err != nil {
		return err
	}
	if f.wav, err = base64.StdEncoding.DecodeString(wavBase64); err != nil {
		return err
	}
	for _, add := range []func() error{f.contentTools, f.fieldTools, f.changeTools, f.schemaTools, f.askTools, f.inputTools, f.streamTools, f.taskTools, f.resources, f.prompts} {
		if err := add(); err != nil {
			return err
		}
	}
	return f.benchTools(more)
}

// noInput is the schema of a tool without arguments.
const noInput = `{"type":"object","properties":{},"additionalProperties":false}`

// tool registers a tool whose schemas are given as text.
func (f *fixtures) tool(name, description, input string, h registry.ToolHandler) error {
	return f.reg.AddTool(registry.Tool{Name: name, Description: description, InputSchema: []byte(input), Handler: h})
}

// typed registers a tool made from a function.
func typed[In, Out any](f *fixtures, t registry.Tool, fn handler[In, Out]) error {
	t, err := registry.Typed(t, fn)
	if err != nil {
		return err
	}
	return f.reg.AddTool(t)
}

// contents returns a result with the given blocks.
func contents(blocks ...protocol.Content) *protocol.CallToolResult {
	return &protocol.CallToolResult{Content: blocks}
}

func text(format string, args ...any) *protocol.Text {
	return &protocol.Text{Text: fmt.Sprintf(format, args...)}
}
