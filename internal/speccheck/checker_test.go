package speccheck_test

import (
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/speccheck"
	"cloudg.dev/cloudg/protocol"
)

const (
	meta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	serverInfo = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`
	ready      = `-> {"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// handshake is the start of a conversation in a version.
func handshake(version string) []string {
	return []string{
		fmt.Sprintf(`-> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, version),
		fmt.Sprintf(`<- {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, version),
		ready,
	}
}

// A conversation has lines "-> message" and "<- message"; the checker must
// accept all of them but the last, which it must refuse if want says why.
func TestChecker(t *testing.T) {
	list := `-> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	modernList := `-> {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	call := `-> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t"}}}`
	listen := `-> {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + meta + `}}`
	ack := `<- {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	changed := `<- {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`
	tests := []struct {
		name    string
		version string // of the handshake; empty for none
		in      []string
		want    string // in the error about the last line; empty for none
	}{
		{"not json", "", []string{`<- {`}, "ends"},
		{"an answer", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`}, ""},
		{"null for an array", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":null}}`}, "ListToolsResult"},
		{"another id", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":"1","result":{"tools":[]}}`}, "not in flight"},
		{"an answer twice", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`}, "not in flight"},
		{"a title before its time", "2025-03-26", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","title":"X","inputSchema":{"type":"object"}}]}}`}, "title"},
		{"a title in time", "2025-06-18", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","title":"X","inputSchema":{"type":"object","additionalProperties":false}}]}}`}, ""},
		{"icons before their time", "2025-06-18", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","icons":[],"inputSchema":{"type":"object"}}]}}`}, "icons"},
		{"a result of the other era", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete"}}`}, "resultType"},
		{"server info in the handshake era", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"result":{"tools":[],` + serverInfo + `}}`}, "server info"},
		{"a stateless answer", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public",` + serverInfo + `}}`}, ""},
		{"no caching hints", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],` + serverInfo + `}}`}, "ListToolsResult"},
		{"no server info", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}`}, "server info"},
		{"an old code in the stateless era", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"m"}}`}, "handshake era"},
		{"a new code in the handshake era", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}`}, "stateless era"},
		{"an unsupported version without data", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}`}, "UnsupportedProtocolVersionError"},
		{"ping with a member", "2025-11-25", []string{`-> {"jsonrpc":"2.0","id":1,"method":"ping"}`, `<- {"jsonrpc":"2.0","id":1,"result":{"x":1}}`}, "{}"},
		{"null id before the handshake", "", []string{`-> {`, `<- {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`}, ""},
		{"no id before the handshake", "", []string{`-> {`, `<- {"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`}, "null before"},
		{"null id in the newest", "2025-11-25", []string{`-> {`, `<- {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`}, "left out"},
		{"a batch of answers", "2025-03-26", []string{`-> [{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `<- [{"jsonrpc":"2.0","id":1,"result":{}}]`}, ""},
		{"a batch in the newest", "2025-11-25", []string{list, `<- [{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}]`}, "batch"},
		{"progress", "2025-11-25", []string{call, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`}, ""},
		{"progress that does not grow", "2025-11-25", []string{call, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`}, "progress 1 after 1"},
		{"progress for nobody", "2025-11-25", []string{call, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"u","progress":1}}`}, "no request"},
		{"progress after the answer", "2025-11-25", []string{call, `<- {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`}, "no request"},
		{"progress message before its time", "2024-11-05", []string{call, `<- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":"m"}}`}, "message"},
		{"an acknowledgement", "", []string{listen, fmt.Sprintf(ack, "1"), changed}, ""},
		{"no acknowledgement", "", []string{listen, changed}, "out of order"},
		{"acknowledged twice", "", []string{listen, fmt.Sprintf(ack, "1"), fmt.Sprintf(ack, "1")}, "out of order"},
		{"a subscription id of another type", "", []string{listen, fmt.Sprintf(ack, `"1"`)}, "not open"},
		{"a change before the session is ready", "", []string{`<- {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}, "before the session is ready"},
		{"a change", "2024-11-05", []string{`<- {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}, ""},
		{"a log message that nobody wants", "", []string{modernList, `<- {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`}, "asked"},
		{"a question to a client that cannot answer", "2025-11-25", []string{`<- {"jsonrpc":"2.0","id":1,"method":"roots/list"}`}, "did not declare roots"},
		{"a question without a handshake", "", []string{`<- {"jsonrpc":"2.0","id":1,"method":"roots/list"}`}, "without a handshake"},
		{"a ping of the server", "2025-03-26", []string{`<- {"jsonrpc":"2.0","id":1,"method":"ping"}`}, ""},
		{"an id of the server twice", "2025-11-25", []string{`<- {"jsonrpc":"2.0","id":1,"method":"ping"}`, `<- {"jsonrpc":"2.0","id":1,"method":"ping"}`}, "again"},
		{"a request that no server sends", "2025-11-25", []string{`<- {"jsonrpc":"2.0","id":1,"method":"tools/list"}`}, "no server sends"},
		{"a cancellation of what is not its own", "2025-11-25", []string{list, `<- {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, "not its own"},
		{"a call that needs input", "", []string{`-> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + meta + `}}`, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s",` + serverInfo + `}}`}, ""},
		{"a list that needs input", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s",` + serverInfo + `}}`}, "ListToolsResult"},
		{"a missing capability", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}}`}, ""},
		{"a missing capability that is not named", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m"}}`}, "MissingRequiredClientCapabilityError"},
		{"a header mismatch on a stream", "", []string{modernList, `<- {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"m"}}`}, "no headers"},
		{"a task that is no task", "", []string{`-> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + meta + `}}`, `<- {"jsonrpc":"2.0","id":1,"result":{"resultType":"task","status":"working",` + serverInfo + `}}`}, "CreateTaskResult"},
		{"an unknown notification", "2025-11-25", []string{`<- {"jsonrpc":"2.0","method":"notifications/x"}`}, "no server sends"},
	}
	spec := speccheck.Open(t, "../..")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.in
			if tt.version != "" {
				in = append(handshake(tt.version), in...)
			}
			err := converse(t, speccheck.NewChecker(spec), in)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && err == nil:
				t.Errorf("accepted %s, want an error with %q", in[len(in)-1], tt.want)
			case err != nil && !strings.Contains(err.Error(), tt.want):
				t.Errorf("refused because of %v, want %q", err, tt.want)
			}
		})
	}
}

// converse plays a conversation and returns what is wrong with its last line.
func converse(t *testing.T, c *speccheck.Checker, lines []string) error {
	t.Helper()
	for i, line := range lines {
		if sent, ok := strings.CutPrefix(line, "-> "); ok {
			c.Sent([]byte(sent))
			continue
		}
		err := c.Received([]byte(strings.TrimPrefix(line, "<- ")))
		if i == len(lines)-1 {
			return err
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

func TestUnanswered(t *testing.T) {
	c := speccheck.NewChecker(nil)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
	} {
		c.Sent([]byte(line))
	}
	if err := c.Received([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Unanswered(), ";"); got != "3 tools/list" {
		t.Errorf("unanswered is %q, want 3 tools/list", got)
	}
}

// Every definition that is asked for must be there.
func TestSpecHasDefinitions(t *testing.T) {
	spec := speccheck.Open(t, "../..")
	for _, v := range protocol.Versions() {
		for _, name := range []string{"ListToolsResult", "CallToolResult", "ProgressNotification", "Tool"} {
			if !spec.Has(v, name) {
				t.Errorf("%s does not have %s", v, name)
			}
		}
	}
	if err := spec.Validate(protocol.LatestHandshake, "NoSuchThing", []byte(`{}`)); err == nil {
		t.Error("a definition that is not there accepted something")
	}
}
