package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"unicode"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/session"
)

// local is a client in this process: it speaks to a session of its own, as the
// principal that started the process. It is the [jsonrpc.Peer] of that session.
type local struct {
	*assembly
	session *session.Session
	decoder jsonrpc.Decoder
	version protocol.Version
	level   protocol.LogLevel // from which messages of handlers are wanted
	info    protocol.Implementation
	log     *slog.Logger
	events  io.Writer // progress and messages of handlers
	sent    int       // requests
}

// dial assembles the server and opens a session with it. The caller closes it.
func (inv *invocation) dial(ctx context.Context) (*local, error) {
	a, err := inv.assemble(nil)
	if err != nil {
		return nil, err
	}
	c := &local{
		assembly: a, session: a.sessions.NewSession(policy.Local()), decoder: a.sessions.Decoder(),
		version: inv.set.version, level: inv.set.logLevel.mcp, info: inv.env.implementation(),
		log: inv.log, events: inv.env.Stderr,
	}
	if err := c.shakeHands(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the session and closes the server.
func (c *local) Close() error {
	c.session.Drain()
	return c.assembly.Close()
}

// shakeHands begins a session if the version has such a thing.
func (c *local) shakeHands(ctx context.Context) error {
	if !c.version.HasHandshake() {
		return nil
	}
	params := append([]byte(`"protocolVersion":"`), c.version.String()...)
	params = append(params, `","capabilities":{},"clientInfo":`...)
	params = c.info.Append(params, c.version)
	if _, err := c.request(ctx, protocol.MethodInitialize, params); err != nil {
		return err
	}
	params = append([]byte(`"level":"`), c.level.String()...)
	_, err := c.request(ctx, protocol.MethodSetLevel, append(params, '"'))
	return err
}

// request sends a request and returns the result, raw JSON. Params is raw
// members, without the metadata that this adds. An error is a
// [*jsonrpc.Error], or says that ctx ended.
func (c *local) request(ctx context.Context, method string, params []byte) ([]byte, error) {
	req, err := c.build(method, params)
	if err != nil {
		return nil, err
	}
	result, err := c.session.Handle(ctx, req, c, nil)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, interrupted(ctx)
	}
	return nil, jsonrpc.WireError(ctx, c.log, method, err)
}

// interrupted is the error for a context that ended too early.
func interrupted(ctx context.Context) error {
	return fmt.Errorf("interrupted: %w", context.Cause(ctx))
}

// build makes a request by decoding its frame, as a transport does.
func (c *local) build(method string, params []byte) (*jsonrpc.Request, error) {
	c.sent++
	id := jsonrpc.ID(strconv.Itoa(c.sent))
	body := append([]byte{'{'}, params...)
	if len(params) > 0 {
		body = append(body, ',')
	}
	body = append(c.appendMeta(body, id), '}')
	m, err := c.decoder.Decode(jsonrpc.AppendRequest(nil, id, method, body))
	if err != nil {
		return nil, err
	}
	req, ok := m.(*jsonrpc.Request)
	if !ok {
		panic("cli: internal error: a request was decoded as something else")
	}
	return req, nil
}

// appendMeta appends the metadata of a request: the wish for progress, and what
// the stateless era wants in every one. A request is named by its id.
func (c *local) appendMeta(dst []byte, id jsonrpc.ID) []byte {
	dst = append(dst, `"_meta":{"`+protocol.MetaProgressToken+`":`...)
	dst = append(dst, id...)
	if c.version.Stateless() {
		dst = protocol.AppendText(dst, protocol.MetaProtocolVersion, c.version.String())
		dst = protocol.AppendText(dst, protocol.MetaLogLevel, c.level.String())
		dst = append(dst, `,"`+protocol.MetaClientCapabilities+`":{},"`+protocol.MetaClientInfo+`":`...)
		dst = c.info.Append(dst, c.version)
	}
	return append(dst, '}')
}

// Send implements [jsonrpc.Peer]: progress and messages of a handler are shown
// as a line each.
func (c *local) Send(_ context.Context, frame []byte) error {
	params := jsonwire.Lookup(frame, "params")
	line := ""
	switch jsonwire.Unquote(jsonwire.Lookup(frame, "method")) {
	case protocol.NotifyProgress:
		line = progressLine(params)
	case protocol.NotifyMessage:
		line = messageLine(params)
	default:
		return nil
	}
	_, err := io.WriteString(c.events, line+"\n")
	return err
}

// Call implements [jsonrpc.Peer]. There is nobody to ask.
func (c *local) Call(_ context.Context, method string, _ []byte) ([]byte, error) {
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the command line cannot answer %s", method)
}

// Cancel implements [jsonrpc.Peer]. Requests end with their context instead.
func (c *local) Cancel(jsonrpc.ID, error) bool { return false }

func progressLine(params []byte) string {
	line := "progress " + string(jsonwire.Lookup(params, "progress"))
	if total := jsonwire.Lookup(params, "total"); total != nil {
		line += "/" + string(total)
	}
	if message := jsonwire.Lookup(params, "message"); message != nil {
		line += " " + printable(jsonwire.Unquote(message))
	}
	return line
}

func messageLine(params []byte) string {
	line := jsonwire.Unquote(jsonwire.Lookup(params, "level"))
	if logger := jsonwire.Lookup(params, "logger"); logger != nil {
		line += " " + printable(jsonwire.Unquote(logger))
	}
	data := jsonwire.Lookup(params, "data")
	if len(data) > 0 && data[0] == '"' {
		return line + ": " + printable(jsonwire.Unquote(data))
	}
	return line + ": " + printable(string(data))
}

// printable replaces what would not stay on its line, or would command a
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
