package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
)

// call calls a tool. A result with isError is printed like any other and makes
// the command fail.
func (inv *invocation) call(ctx context.Context) (err error) {
	args, err := inv.readArguments(ctx)
	if err != nil {
		return err
	}
	c, err := inv.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	name := inv.operands[0]
	params := jsonwire.AppendQuote([]byte(`"name":`), name)
	params = append(append(params, `,"arguments":`...), args...)
	raw, err := c.request(ctx, protocol.MethodToolsCall, params)
	if err != nil {
		return c.explainTool(ctx, name, err)
	}
	return inv.printResult(raw)
}

// readArguments returns the arguments of the call, a JSON object.
func (inv *invocation) readArguments(ctx context.Context) ([]byte, error) {
	text := inv.set.arguments
	raw, err := []byte(text), error(nil)
	switch path, isFile := strings.CutPrefix(text, "@"); {
	case text == "":
		return []byte("{}"), nil
	case text == "-":
		raw, err = inv.readStdin(ctx)
	case isFile:
		raw, err = inv.readFile(ctx, path)
	}
	switch {
	case ctx.Err() != nil:
		return nil, interrupted(ctx)
	case err != nil:
		return nil, usagef("--args: %v", err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if err := jsonwire.Valid(raw, 0); err != nil {
		return nil, usagef("--args: not JSON: %v: want an object such as {\"path\":\"notes.txt\"}", err)
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return nil, usagef("--args: want a JSON object such as {\"path\":\"notes.txt\"}")
	}
	return raw, nil
}

// readStdin reads standard input, but not longer than ctx lasts. A read of a
// terminal cannot be interrupted: it is left behind for the end of the process.
func (inv *invocation) readStdin(ctx context.Context) ([]byte, error) {
	return unless(ctx, func() ([]byte, error) { return inv.readAll(inv.env.Stdin) })
}

func (inv *invocation) readFile(ctx context.Context, path string) ([]byte, error) {
	return unless(ctx, func() ([]byte, error) { // opening a pipe waits for who writes to it
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return inv.readAll(f)
	})
}

// unless reads something that may make us wait for ever, unless ctx ends.
func unless(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	done := make(chan struct{})
	var got []byte
	var gotErr error
	go func() { // ends with the input
		got, gotErr = read()
		close(done)
	}()
	select {
	case <-done:
		return got, gotErr
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
}

// readAll reads what a message may have and no more.
func (inv *invocation) readAll(r io.Reader) ([]byte, error) {
	most, option := inv.set.maxMessage()
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(b) > most {
		return nil, fmt.Errorf("there are more than %d bytes: allow more with %s", most, option)
	}
	return b, err
}

// explainTool adds to the error for an unknown tool what may have been meant.
func (c *local) explainTool(ctx context.Context, name string, err error) error {
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || c.snapshot.Tool(name) != nil {
		return err
	}
	var names []string
	listErr := c.pages(ctx, protocol.MethodToolsList, func(page []byte) error {
		for a := jsonwire.Elements(jsonwire.Lookup(page, "tools")); ; {
			t, ok := a.Next()
			if !ok {
				return nil
			}
			names = append(names, jsonwire.Unquote(jsonwire.Lookup(t, "name")))
		}
	})
	if listErr != nil {
		return err
	}
	return fmt.Errorf("%w%s: 'cloudg tools' with the same options lists what there is", err, didYouMean(name, names))
}

// toolResult is the result of a tool.
type toolResult struct {
	Content           []contentBlock
	StructuredContent json.RawMessage
	IsError           bool
}

// contentBlock is a block of any type.
type contentBlock struct {
	Type, Text, MIMEType, URI, Name string
	Data                            []byte
	Resource                        resourceContents
}

// resourceContents is a part of what a resource holds; Blob is nil for text.
type resourceContents struct {
	URI, MIMEType, Text string
	Blob                []byte
}

// printResult prints the result of a tool.
func (inv *invocation) printResult(raw []byte) error {
	var res toolResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	if inv.set.raw {
		inv.out.Write(raw)
		inv.out.WriteByte('\n')
	} else {
		inv.printContent(&res)
	}
	if res.IsError {
		return errFailed
	}
	return nil
}

// printContent prints the blocks, and the structured content if no text says
// what is in it.
func (inv *invocation) printContent(res *toolResult) {
	hasText := false
	for i := range res.Content {
		b := &res.Content[i]
		hasText = hasText || b.Type == "text"
		inv.printLine(b.String())
	}
	if !hasText && res.StructuredContent != nil {
		inv.printLine(string(res.StructuredContent))
	}
}

// printLine prints a text and sees to it that the next one starts on a line of
// its own.
func (inv *invocation) printLine(text string) {
	inv.out.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		inv.out.WriteByte('\n')
	}
}

// String returns a text block as it is and a description of any other.
func (b *contentBlock) String() string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return fmt.Sprintf("[resource %s: %s]", b.Name, b.URI)
	case "resource":
		if b.Resource.Blob == nil {
			return b.Resource.Text
		}
		return describe(b.Resource.MIMEType, b.Resource.Blob)
	}
	return describe(b.MIMEType, b.Data)
}

func describe(mimeType string, data []byte) string {
	if mimeType == "" {
		mimeType = "application/octet-stream"
	}
	return fmt.Sprintf("[%s, %d bytes]", mimeType, len(data))
}
