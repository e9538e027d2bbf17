package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"cloudg.dev/cloudg/integration_test/interop/internal/steps"
)

// sleepMillis is how long a call lasts, which sends progress every 50 ms.
const sleepMillis = 1000

// client makes requests by hand, so that nothing stands between a notification
// and the note of when it came.
type client struct {
	options steps.Options
	url     string
	host    string // for the header Host, empty for that of the URL
	session string
}

func newClient(options steps.Options, address, host string) *client {
	return &client{options: options, url: "http://" + address + "/mcp", host: host}
}

// isProgress reports whether a line of an event stream is a progress notification.
func isProgress(line []byte) bool {
	return bytes.HasPrefix(line, []byte("data:")) && bytes.Contains(line, []byte(`"notifications/progress"`))
}

// post sends a message. name is the tool's for calls.
func (c *client) post(ctx context.Context, method, name, message string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Host = c.host
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.options.Mode == steps.Modern {
		req.Header.Set("Mcp-Method", method)
		req.Header.Set("Mcp-Name", name)
	}
	if c.options.Mode == steps.Modern || c.session != "" {
		req.Header.Set("Mcp-Protocol-Version", c.options.Version())
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	return http.DefaultClient.Do(req)
}

// open makes a new session, if the era has sessions, and returns the status of that.
func (c *client) open(ctx context.Context) (int, error) {
	c.session = ""
	if c.options.Mode == steps.Modern {
		return http.StatusOK, nil
	}
	for _, step := range []struct{ method, message string }{
		{"initialize", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + c.options.Version() + `","capabilities":{},"clientInfo":{"name":"interop-nginx","version":"1"}}}`},
		{"notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
	} {
		res, err := c.post(ctx, step.method, "", step.message)
		if err != nil {
			return 0, err
		}
		_, copyErr := io.Copy(io.Discard, res.Body)
		if err := errors.Join(copyErr, res.Body.Close()); err != nil {
			return 0, err
		}
		if res.StatusCode >= http.StatusBadRequest {
			return res.StatusCode, nil
		}
		if c.session == "" {
			c.session = res.Header.Get("Mcp-Session-Id")
		}
	}
	return http.StatusOK, nil
}

// call calls a tool and asks for progress. The caller closes the body.
func (c *client) call(ctx context.Context, tool, arguments string) (*http.Response, error) {
	meta := `"progressToken":1`
	if c.options.Mode == steps.Modern {
		meta += `,"io.modelcontextprotocol/protocolVersion":"` + c.options.Version() + `","io.modelcontextprotocol/clientInfo":{"name":"interop-nginx","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`
	}
	return c.post(ctx, "tools/call", tool, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{`+meta+`}}}`)
}

// echo makes a short call, in a session of its own, and returns the status.
func (c *client) echo(ctx context.Context) (int, error) {
	if status, err := c.open(ctx); err != nil || status != http.StatusOK {
		return status, err
	}
	res, err := c.call(ctx, "echo", `{"text":"through nginx"}`)
	if err != nil {
		return 0, err
	}
	body, readErr := io.ReadAll(res.Body)
	if err := errors.Join(readErr, res.Body.Close()); err != nil {
		return 0, err
	}
	if res.StatusCode == http.StatusOK && !bytes.Contains(body, []byte("through nginx")) {
		return 0, fmt.Errorf("echo answers %.200s", body)
	}
	return res.StatusCode, nil
}

// sleep makes a call with progress and returns when each notification came.
func (c *client) sleep(ctx context.Context) (arrived []time.Time, err error) {
	if status, err := c.open(ctx); err != nil || status != http.StatusOK {
		return nil, errors.Join(err, steps.Equal("status of the handshake", status, http.StatusOK))
	}
	res, err := c.call(ctx, "sleep", fmt.Sprintf(`{"ms":%d}`, sleepMillis))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if form := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(form, "text/event-stream") {
		return nil, fmt.Errorf("the call answers %s with content type %q, want 200 and an event stream", res.Status, form)
	}
	answered := false
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		switch line := lines.Bytes(); {
		case isProgress(line):
			arrived = append(arrived, time.Now())
		case bytes.HasPrefix(line, []byte("data:")) && bytes.Contains(line, []byte(`"result"`)):
			answered = true
		}
	}
	if !answered {
		return nil, errors.Join(lines.Err(), errors.New("the stream has no result"))
	}
	return arrived, lines.Err()
}
