package main

import (
	"context"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// handler is the shape of a typed tool.
type handler[In, Out any] = func(context.Context, *registry.Call, In) (Out, error)

// contentTools registers the tools of the suite that answer with each kind of
// content.
func (f *fixtures) contentTools() error {
	image := &protocol.Image{Data: f.png, MIMEType: "image/png"}
	audio := &protocol.Audio{Data: f.wav, MIMEType: "audio/wav"}
	embedded := func(uri, mime, text string) protocol.Content {
		return &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
	}
	fixed := []struct {
		name, description string
		result            *protocol.CallToolResult
	}{
		{"test_simple_text", "Return one text block.", contents(text("This is a simple text response for testing."))},
		{"test_image_content", "Return one image.", contents(image)},
		{"test_audio_content", "Return one recording.", contents(audio)},
		{"test_embedded_resource", "Return one embedded resource.",
			contents(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))},
		{"test_multiple_content_types", "Return a text, an image and a resource.",
			contents(text("Multiple content types test:"), image, embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))},
	}
	for _, t := range fixed {
		if err := f.tool(t.name, t.description, noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return t.result, nil
		}); err != nil {
			return err
		}
	}
	if err := f.tool("test_error_handling", "Fail on purpose.", noInput, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
		return nil, registry.Failf("This tool intentionally returns an error for testing")
	}); err != nil {
		return err
	}
	if err := f.tool("test_tool_with_progress", "Report progress three times, then answer.", noInput, withProgress); err != nil {
		return err
	}
	if err := f.tool("test_tool_with_logging", "Send three log messages, then answer.", noInput, withLogging); err != nil {
		return err
	}
	return f.tool("test_logging_tool", "Try to send a log message.", noInput, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		if err := call.Log(ctx, protocol.LogInfo, "everything", "a log message"); err != nil {
			return nil, err
		}
		return contents(text("logged")), nil
	})
}

func withProgress(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	for i, at := range []float64{0, 50, 100} {
		if i > 0 {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if err := call.Progress(ctx, at, 100, ""); err != nil {
			return nil, err
		}
	}
	return contents(text("Progress reported.")), nil
}

func withLogging(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if err := call.Log(ctx, protocol.LogInfo, "everything", line); err != nil {
			return nil, err
		}
	}
	return contents(text("Logged three times.")), nil
}

// pause waits, unless the call ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
