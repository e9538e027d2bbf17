package integration_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"cloudg.dev/cloudg/protocol"
)

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// initialize returns the request of a handshake; its id is "i".
func initialize(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, version)
}

// newest is the newest version with a handshake, stateless the one without.
var (
	newest    = protocol.LatestHandshake.String()
	stateless = protocol.LatestStateless.String()
)

// meta is the metadata that every request of the stateless era has, as a member
// of params.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request returns a request. Params are the members of the params object.
func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

// modern returns a request of the stateless era.
func modern(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return request(id, method, meta+params)
}

// inVersion returns a request as the version wants it.
func inVersion(version, id, method, params string) string {
	if protocol.ParseVersion(version).Stateless() {
		return modern(id, method, params)
	}
	return request(id, method, params)
}

// call returns a request that calls a tool. Args is a JSON object.
func call(id, tool, args string) string {
	return request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args))
}

// ping returns a request that every version with a handshake answers.
func ping(id string) string { return request(id, "ping", "") }

// startIn starts a server and does the handshake if the version has one.
func startIn(t *testing.T, version string, args ...string) *server {
	t.Helper()
	s := start(t, args...)
	if protocol.ParseVersion(version).HasHandshake() {
		s.handshake(version)
	}
	return s
}

// versions returns the names of all versions.
func versions() []string {
	var names []string
	for _, v := range protocol.Versions() {
		names = append(names, v.String())
	}
	return names
}

// toolResult is the result of a tool.
type toolResult struct {
	Content           []map[string]any
	StructuredContent json.RawMessage
	IsError           bool
}

// tool waits for the answer to a call and returns the result.
func (s *server) tool(id string) toolResult {
	s.t.Helper()
	var r toolResult
	if err := json.Unmarshal(s.result(id), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// text returns the text of the first block.
func (r toolResult) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	text, _ := r.Content[0]["text"].(string)
	return text
}

// decode decodes JSON that a test knows the shape of.
func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}
