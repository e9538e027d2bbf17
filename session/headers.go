package session

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// checkHeaders compares the headers of a request with its body: R4.62 to R4.70.
func (x *exchange) checkHeaders(version []byte) error {
	h := x.headers
	if h == nil {
		return nil
	}
	if err := match("MCP-Protocol-Version", h.Version, jsonwire.Unquote(version), false); err != nil {
		return err
	}
	if err := match("Mcp-Method", h.Method, x.req.Method, false); err != nil {
		return err
	}
	name := x.named()
	if name == nil {
		return nil
	}
	return match("Mcp-Name", h.Name, jsonwire.Unquote(name), true)
}

// named returns the parameter, a raw JSON string, that the Mcp-Name header
// repeats. It is nil for a method without one, and for a request that has none:
// the method itself refuses that.
func (x *exchange) named() []byte {
	var member string
	switch x.req.Method {
	case protocol.MethodToolsCall, protocol.MethodPromptsGet:
		member = "name"
	case protocol.MethodResourcesRead:
		member = "uri"
	case protocol.MethodTasksGet, protocol.MethodTasksUpdate, protocol.MethodTasksCancel:
		if !x.server.tasks.offered() {
			return nil // a method that there is not
		}
		member = "taskId"
	default:
		return nil
	}
	if raw := x.req.Params.Get(member); len(raw) > 0 && raw[0] == '"' {
		return raw
	}
	return nil
}

// CheckHeaders compares the headers of a request of the handshake era with its
// body. It needs none, but what is there must be right: something in between may
// have judged the request by it.
func (s *Server) CheckHeaders(req *jsonrpc.Request, h *protocol.Headers) error {
	x := exchange{server: s, req: req}
	if len(h.Method) > 0 {
		if err := match("Mcp-Method", h.Method, req.Method, false); err != nil {
			return err
		}
	}
	if name := x.named(); len(h.Name) > 0 && name != nil {
		return match("Mcp-Name", h.Name, jsonwire.Unquote(name), true)
	}
	return nil
}

// match checks that a header was sent once and says want.
func match(header string, values []string, want string, encoded bool) error {
	got, err := headerValue(header, values, encoded)
	if err != nil {
		return err
	}
	if got != want {
		return headerMismatch("the %s header does not match the body", header)
	}
	return nil
}

func headerMismatch(format string, args ...any) error {
	e := protocol.Errorf(protocol.CodeHeaderMismatch, format, args...)
	e.Status = 400
	return e
}

// headerValue returns what a header says, decoded from its base64 form if it
// has that and may have it.
func headerValue(header string, values []string, encoded bool) (string, error) {
	switch len(values) {
	case 0:
		return "", headerMismatch("the %s header is missing", header)
	case 1:
	default:
		return "", headerMismatch("the %s header was sent %d times", header, len(values))
	}
	v := strings.Trim(values[0], " \t")
	if encoded {
		if inner, ok := strings.CutPrefix(v, "=?base64?"); ok {
			if inner, ok = strings.CutSuffix(inner, "?="); ok {
				return decodeHeader(header, inner)
			}
		}
	}
	for i := range len(v) {
		if c := v[i]; (c < 0x20 || c > 0x7e) && c != '\t' {
			return "", headerMismatch("the %s header has a character that must be sent in the base64 form", header)
		}
	}
	return v, nil
}

// decodeHeader decodes the base64 form of a header.
func decodeHeader(header, inner string) (string, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || strings.ContainsAny(inner, "\r\n") || !utf8.Valid(b) {
		return "", headerMismatch("the base64 form of the %s header is broken: want padded base64 of UTF-8", header)
	}
	return string(b), nil
}

// checkParamHeaders compares the headers that mirror arguments of a tool with
// the arguments: R4.71 to R4.73.
func (x *exchange) checkParamHeaders(e *registry.ToolEntry, args []byte) error {
	if x.headers == nil || e == nil {
		return nil
	}
	if bytes.Equal(args, []byte("null")) {
		args = nil
	}
	headers := e.Headers()
	for i := range headers {
		h := &headers[i]
		name := "Mcp-Param-" + h.Name
		values := x.headers.Param(h.Name)
		var want []byte
		if len(args) > 0 && args[0] == '{' {
			want = h.Value(args)
		}
		if want == nil {
			if len(values) > 0 {
				return headerMismatch("the %s header was sent although the argument is absent", name)
			}
			continue
		}
		got, err := headerValue(name, values, true)
		if err != nil {
			return err
		}
		if !h.Matches(got, want) {
			return headerMismatch("the %s header does not match the argument", name)
		}
	}
	return nil
}
