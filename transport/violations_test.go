package transport_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/transport"
)

// refusal is what an answer that refuses says.
type refusal struct {
	status int
	code   int    // of the JSON-RPC error; 0: there is no JSON-RPC body
	id     string // raw; empty: absent
	allow  string
	retry  string // Retry-After
	auth   string // WWW-Authenticate
	closes bool   // the connection
}

func refusalOf(t *testing.T, a answer, closes bool) refusal {
	t.Helper()
	got := refusal{
		status: a.status, allow: a.header.Get("Allow"), retry: a.header.Get("Retry-After"),
		auth: a.header.Get("WWW-Authenticate"), closes: closes,
	}
	if a.header.Get("Content-Type") != "application/json" || a.body == "" { // the answer to HEAD has none
		return got
	}
	var body struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || body.JSONRPC != "2.0" {
		t.Errorf("the body is no JSON-RPC error: %v: %s", err, a.body)
	}
	got.code, got.id = body.Error.Code, string(body.ID)
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control: %q", a.header.Get("Cache-Control"))
	}
	return got
}

// violation is one row of the tables of rules.
type violation struct {
	name    string
	method  string // empty: POST
	path    string // empty: /mcp
	body    string // empty and POST: a tools/list
	header  header
	session string // version of a session that the request belongs to; empty: none
	chunked bool   // the body is sent without its length
	opts    siteOptions
	want    refusal
	says    string // part of the body
}

func (v *violation) run(t *testing.T) {
	s := startSite(t, &v.opts)
	h := v.header
	if v.session != "" {
		h = s.open(v.session, nil).with(h)
	}
	method, path, body := v.method, v.path, v.body
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/mcp"
	}
	if body == "" && method == http.MethodPost {
		body = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	}
	req := s.request(method, path, body, h)
	if v.chunked {
		req.ContentLength = -1
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	a := readAnswer(t, resp)
	if diff := cmp.Diff(v.want, refusalOf(t, a, resp.Close), cmp.AllowUnexported(refusal{})); diff != "" {
		t.Errorf("refusal (-want +got):\n%s%s", diff, a.body)
	}
	if !strings.Contains(a.body, v.says) {
		t.Errorf("the body does not say %q: %s", v.says, a.body)
	}
	if n := s.sideRuns(); n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
}

const (
	parseError     = -32700
	invalidRequest = -32600
	notFound       = -32601
	invalidParams  = -32602
	internal       = -32603
	headerMismatch = -32020
	badVersion     = -32022
)

func tokens(t *testing.T, specs ...string) *policy.Tokens {
	t.Helper()
	var list []policy.Token
	for _, secret := range specs {
		token, err := policy.NewToken(secret, "user-"+secret)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, token)
	}
	set, err := policy.NewTokens(list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func guard(t *testing.T, o policy.GuardOptions) *policy.Guard {
	t.Helper()
	g, err := policy.NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestViolations has one row for each refusal of the HTTP border and of the
// handshake era: BEHAVIOUR.md 3.2 and PROTOCOL.md 4.1 to 4.7.
func TestViolations(t *testing.T) {
	withTokens := siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "sesame")}}
	denied := siteOptions{http: transport.HTTPOptions{Resolver: func(policy.RequestInfo) (*policy.Principal, error) { return nil, nil }}}
	small := siteOptions{http: transport.HTTPOptions{MaxBody: 100}}
	sse := siteOptions{http: transport.HTTPOptions{LegacySSE: true}}
	listOnly := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	side := call("7", "side", "{}")
	const bearer = `Bearer`
	tests := []violation{
		{name: "Host of somebody else", header: header{"Host": "mcp.corp.example"}, body: side, want: refusal{421, invalidRequest, "null", "", "", "", true}, says: "--allowed-host mcp.corp.example"},
		{name: "Origin of somebody else", header: header{"Origin": "https://evil.example"}, body: side, want: refusal{403, invalidRequest, "null", "", "", "", true}, says: "--allowed-origin https://evil.example"},
		{name: "Origin null", header: header{"Origin": "null"}, body: side, want: refusal{403, invalidRequest, "null", "", "", "", true}, says: "--allowed-origin"},
		{name: "Origin on GET", method: "GET", header: header{"Origin": "https://evil.example", "Accept": "text/event-stream"}, session: "2025-11-25", want: refusal{403, invalidRequest, "", "", "", "", false}},
		{name: "Origin on DELETE", method: "DELETE", header: header{"Origin": "https://evil.example"}, session: "2025-06-18", want: refusal{403, invalidRequest, "null", "", "", "", false}},
		{name: "Origin on health", method: "GET", path: "/healthz", header: header{"Origin": "https://evil.example"}, want: refusal{403, invalidRequest, "null", "", "", "", false}},
		{name: "preflight without a grant", method: "OPTIONS", header: header{"Origin": "http://localhost:1", "Access-Control-Request-Method": "POST"}, want: refusal{405, invalidRequest, "null", "GET, POST, DELETE, OPTIONS", "", "", false}},
		{name: "OPTIONS elsewhere", method: "OPTIONS", path: "/nothing", want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "body on GET", method: "GET", body: "{}", want: refusal{400, invalidRequest, "null", "", "", "", true}, says: "no body"},
		{name: "body on DELETE", method: "DELETE", body: "{}", session: "2025-06-18", want: refusal{400, invalidRequest, "null", "", "", "", true}},

		{name: "no token", opts: withTokens, body: side, want: refusal{401, invalidRequest, "null", "", "", bearer, true}, says: "no Authorization header"},
		{name: "wrong token", opts: withTokens, header: header{"Authorization": "Bearer open"}, body: side, want: refusal{401, invalidRequest, "null", "", "", `Bearer error="invalid_token"`, true}},
		{name: "wrong scheme", opts: withTokens, header: header{"Authorization": "Basic c2VzYW1l"}, want: refusal{401, invalidRequest, "null", "", "", bearer, true}},
		{name: "no token on GET", opts: withTokens, method: "GET", want: refusal{401, invalidRequest, "null", "", "", bearer, false}},
		{name: "no token before 415", opts: withTokens, header: header{"Content-Type": "text/plain"}, want: refusal{401, invalidRequest, "null", "", "", bearer, true}},
		{name: "resolver without a principal", opts: denied, body: side, want: refusal{401, invalidRequest, "null", "", "", bearer, true}, says: "not allowed"},

		{name: "unknown path", path: "/other", want: refusal{404, invalidRequest, "null", "", "", "", true}, says: "/mcp"},
		{name: "unknown path needs no token", opts: withTokens, method: "GET", path: "/.well-known/oauth-protected-resource/mcp", want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "PUT", method: "PUT", want: refusal{405, invalidRequest, "null", "GET, POST, DELETE, OPTIONS", "", "", false}},
		{name: "PATCH with a body", method: "PATCH", body: "{}", want: refusal{400, invalidRequest, "null", "", "", "", true}},
		{name: "HEAD", method: "HEAD", want: refusal{405, 0, "", "GET, POST, DELETE, OPTIONS", "", "", false}},
		{name: "POST to health", path: "/healthz", want: refusal{405, invalidRequest, "null", "GET, HEAD, OPTIONS", "", "", true}},
		{name: "no legacy transport", method: "GET", path: "/sse", want: refusal{404, invalidRequest, "null", "", "", "", false}},

		{name: "text/plain", header: header{"Content-Type": "text/plain"}, body: side, want: refusal{415, invalidRequest, "null", "", "", "", true}, says: "application/json"},
		{name: "no content type", header: header{"Content-Type": ""}, body: side, want: refusal{415, invalidRequest, "null", "", "", "", true}},
		{name: "compressed", header: header{"Content-Encoding": "gzip"}, want: refusal{415, invalidRequest, "null", "", "", "", true}},
		{name: "Accept with neither", header: header{"Accept": "text/html"}, body: side, want: refusal{406, invalidRequest, "null", "", "", "", true}},
		{name: "Accept excludes both", header: header{"Accept": "*/*, application/json;q=0, text/*;q=0"}, want: refusal{406, invalidRequest, "null", "", "", "", true}},
		{name: "body over the limit, announced", opts: small, body: strings.Repeat(" ", 101), want: refusal{413, invalidRequest, "null", "", "", "", true}},
		{name: "body over the limit, chunked", opts: small, body: strings.Repeat(" ", 101), chunked: true, want: refusal{413, invalidRequest, "null", "", "", "", true}},

		{name: "no JSON", body: `{"jsonrpc":`, want: refusal{400, parseError, "null", "", "", "", false}},
		{name: "no JSON, later version", body: `{"jsonrpc":`, header: header{"Mcp-Protocol-Version": "2025-11-25"}, want: refusal{400, parseError, "", "", "", "", false}},
		{name: "empty body", body: " ", want: refusal{400, parseError, "null", "", "", "", false}},
		{name: "no object", body: `"x"`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "no version of JSON-RPC", body: `{"id":7,"method":"ping"}`, want: refusal{400, invalidRequest, "7", "", "", "", false}},
		{name: "id null", body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "duplicate key", body: `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "too deep", body: strings.Repeat("[", 100_000), want: refusal{400, parseError, "null", "", "", "", false}},

		{name: "no session id", want: refusal{400, invalidRequest, "7", "", "", "", false}, says: "Mcp-Session-Id"},
		{name: "no session id, id a string", body: `{"jsonrpc":"2.0","id":"é","method":"ping"}`, want: refusal{400, invalidRequest, `"é"`, "", "", "", false}},
		{name: "no session id, notification", body: initialized, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "unknown session", header: header{"Mcp-Session-Id": "nope"}, want: refusal{404, invalidRequest, "7", "", "", "", false}},
		{name: "unknown session, notification", header: header{"Mcp-Session-Id": "nope"}, body: initialized, want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "unknown session, response", header: header{"Mcp-Session-Id": "nope"}, body: `{"jsonrpc":"2.0","id":1,"result":{}}`, want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "unknown session, GET", method: "GET", header: header{"Mcp-Session-Id": "nope", "Accept": "text/event-stream"}, want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "unknown session, DELETE", method: "DELETE", header: header{"Mcp-Session-Id": "nope"}, want: refusal{404, invalidRequest, "null", "", "", "", false}},
		{name: "DELETE without a session", method: "DELETE", want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "response without a session", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "version of another session", session: "2025-06-18", header: header{"Mcp-Protocol-Version": "2025-11-25"}, want: refusal{400, invalidRequest, "7", "", "", "", false}, says: "2025-06-18"},
		{name: "unknown version in a session", session: "2025-06-18", header: header{"Mcp-Protocol-Version": "1900-01-01"}, want: refusal{400, invalidRequest, "7", "", "", "", false}},
		{name: "version of another session, GET", method: "GET", session: "2025-06-18", header: header{"Mcp-Protocol-Version": "2025-03-26", "Accept": "text/event-stream"}, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "version of another session, DELETE", method: "DELETE", session: "2025-06-18", header: header{"Mcp-Protocol-Version": "2025-03-26"}, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "second initialize", session: "2025-11-25", body: initialize("2025-11-25"), want: refusal{400, invalidRequest, `"i"`, "", "", "", false}, says: "already"},
		{name: "volunteered method", session: "2025-11-25", header: header{"Mcp-Method": "tools/list"}, body: side, want: refusal{400, headerMismatch, "7", "", "", "", false}},
		{name: "volunteered name", session: "2025-11-25", header: header{"Mcp-Name": "echo"}, body: side, want: refusal{400, headerMismatch, "7", "", "", "", false}},

		{name: "GET without a session", method: "GET", header: header{"Accept": "text/event-stream"}, want: refusal{405, invalidRequest, "null", "POST, OPTIONS", "", "", false}},
		{name: "GET of a browser", method: "GET", header: header{"Accept": "text/html,*/*;q=0.8"}, want: refusal{405, 0, "", "POST, OPTIONS", "", "", false}, says: "Model Context Protocol"},
		{name: "GET that accepts no events", method: "GET", session: "2025-06-18", header: header{"Accept": "application/json"}, want: refusal{406, invalidRequest, "null", "", "", "", false}},
		{name: "unknown event", method: "GET", session: "2025-06-18", header: header{"Accept": "text/event-stream", "Last-Event-ID": "does-not-exist"}, want: refusal{400, invalidRequest, "null", "", "", "", false}, says: "Last-Event-ID"},
		{name: "event of an unknown stream", method: "GET", session: "2025-06-18", header: header{"Accept": "text/event-stream", "Last-Event-ID": "abc_1"}, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "GET without sessions", method: "GET", opts: siteOptions{stateless: true}, header: header{"Accept": "text/event-stream", "Mcp-Session-Id": "x"}, want: refusal{405, invalidRequest, "null", "POST, OPTIONS", "", "", false}},
		{name: "DELETE without sessions", method: "DELETE", opts: siteOptions{stateless: true}, header: header{"Mcp-Session-Id": "x"}, want: refusal{405, invalidRequest, "null", "POST, OPTIONS", "", "", false}},
		{name: "response without sessions", opts: siteOptions{stateless: true}, body: `{"jsonrpc":"2.0","id":1,"result":{}}`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "two versions without sessions", opts: siteOptions{stateless: true}, header: header{"Mcp-Protocol-Version": "1900-01-01"}, want: refusal{400, invalidParams, "7", "", "", "", false}},

		{name: "batch of another version", session: "2025-11-25", body: `[` + listOnly + `]`, want: refusal{400, invalidRequest, "", "", "", "", false}, says: "batches"},
		{name: "batch without a session", body: `[` + listOnly + `]`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "empty batch", session: "2025-03-26", body: `[]`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "broken batch", session: "2025-03-26", body: `[` + listOnly, want: refusal{400, parseError, "null", "", "", "", false}},
		{name: "batch with a header of one message", session: "2025-03-26", header: header{"Mcp-Method": "tools/list"}, body: `[` + listOnly + `]`, want: refusal{400, invalidRequest, "null", "", "", "", false}},
		{name: "batch with a request of the stateless era", session: "2025-03-26", body: `[` + side + `,{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{` + modernMeta + `}}]`, want: refusal{400, invalidRequest, "null", "", "", "", false}, says: "2026-07-28"},

		{name: "legacy: POST to the stream", opts: sse, path: "/sse", want: refusal{405, invalidRequest, "null", "GET, OPTIONS", "", "", true}},
		{name: "legacy: GET of messages", opts: sse, method: "GET", path: "/messages", want: refusal{405, invalidRequest, "null", "POST, OPTIONS", "", "", false}},
		{name: "legacy: no events accepted", opts: sse, method: "GET", path: "/sse", header: header{"Accept": "application/json"}, want: refusal{406, invalidRequest, "null", "", "", "", false}},
		{name: "legacy: no session", opts: sse, path: "/messages", want: refusal{400, invalidRequest, "null", "", "", "", true}},
		{name: "legacy: unknown session", opts: sse, path: "/messages?sessionId=x", want: refusal{404, invalidRequest, "null", "", "", "", true}},
		{name: "legacy: content type", opts: sse, path: "/messages?sessionId=x", header: header{"Content-Type": "text/plain"}, want: refusal{415, invalidRequest, "null", "", "", "", true}},
		{name: "legacy: Origin", opts: sse, method: "GET", path: "/sse", header: header{"Origin": "https://evil.example"}, want: refusal{403, invalidRequest, "null", "", "", "", false}},
		{name: "legacy without sessions", opts: siteOptions{stateless: true, http: transport.HTTPOptions{LegacySSE: true}}, method: "GET", path: "/sse", want: refusal{404, invalidRequest, "null", "", "", "", false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { bubble(t, test.run) })
	}
}

// TestStatelessViolations has one row for each refusal of PROTOCOL.md 4.8 to
// 4.12.
func TestStatelessViolations(t *testing.T) {
	v := protocol.LatestStateless.String()
	side, sideHeader := modernCall("7", "side", "{}")
	list, listHeader := modern("7", "tools/list")
	region, regionHeader := modernCall("7", "region", `{"region":"eu"}`)
	none, noneHeader := modernCall("7", "region", `{"region":null}`)
	level, levelHeader := modernCall("7", "region", `{"level":42}`)
	unknown, unknownHeader := modern("7", "no/such")
	meta := func(meta string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":` + meta + `}}`
	}
	only := func(h header) header { return header{"Mcp-Protocol-Version": v, "Mcp-Method": "tools/list"}.with(h) }
	bad := func(status, code int) refusal { return refusal{status, code, "7", "", "", "", false} }
	tests := []violation{
		{name: "header only", body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, header: only(nil), want: bad(400, invalidParams), says: "_meta must have"},
		{name: "unknown version, header only", header: header{"Mcp-Protocol-Version": "1900-01-01"}, want: bad(400, invalidParams)},
		{name: "_meta is no object", body: meta(`5`), header: only(nil), want: bad(400, invalidParams)},
		{name: "no version", body: meta(`{"io.modelcontextprotocol/clientCapabilities":{}}`), header: only(nil), want: bad(400, invalidParams), says: "protocolVersion"},
		{name: "no version, bad token first", body: meta(`{"progressToken":{},"io.modelcontextprotocol/clientCapabilities":{}}`), header: only(nil), want: bad(400, invalidParams)},
		{name: "no capabilities", body: meta(`{"io.modelcontextprotocol/protocolVersion":"` + v + `"}`), header: only(nil), want: bad(400, invalidParams), says: "clientCapabilities"},
		{name: "version is no string", body: meta(`{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}`), header: only(nil), want: bad(400, invalidParams)},
		{name: "no headers", body: list, want: bad(400, headerMismatch), says: "MCP-Protocol-Version header is missing"},
		{name: "no method header", body: list, header: listHeader.with(header{"Mcp-Method": ""}), want: bad(400, headerMismatch), says: "Mcp-Method header is missing"},
		{name: "another method header", body: list, header: listHeader.with(header{"Mcp-Method": "prompts/list"}), want: bad(400, headerMismatch)},
		{name: "method header in another case", body: list, header: listHeader.with(header{"Mcp-Method": "TOOLS/LIST"}), want: bad(400, headerMismatch)},
		{name: "version header of another version", body: list, header: listHeader.with(header{"Mcp-Protocol-Version": "2025-11-25"}), want: bad(400, headerMismatch)},
		{name: "header differs from an unknown version", body: meta(`{"io.modelcontextprotocol/protocolVersion":"v999","io.modelcontextprotocol/clientCapabilities":{}}`), header: only(nil), want: bad(400, headerMismatch)},
		{name: "unknown version", body: meta(`{"io.modelcontextprotocol/protocolVersion":"v999","io.modelcontextprotocol/clientCapabilities":{}}`), header: only(header{"Mcp-Protocol-Version": "v999"}), want: bad(400, badVersion), says: `"supported":["2026-07-28"],"requested":"v999"`},
		{name: "version of the handshake era", body: meta(`{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}`), header: only(header{"Mcp-Protocol-Version": "2025-11-25"}), want: bad(400, badVersion)},
		{name: "no name header", body: side, header: sideHeader.with(header{"Mcp-Name": ""}), want: bad(400, headerMismatch), says: "Mcp-Name header is missing"},
		{name: "another name header", body: side, header: sideHeader.with(header{"Mcp-Name": "echo"}), want: bad(400, headerMismatch)},
		{name: "name header outside ASCII", body: side, header: sideHeader.with(header{"Mcp-Name": "s\xefde"}), want: bad(400, headerMismatch)},
		{name: "base64 without padding", body: side, header: sideHeader.with(header{"Mcp-Name": "=?base64?c2lkZQ?="}), want: bad(400, headerMismatch), says: "base64"},
		{name: "base64 with other characters", body: side, header: sideHeader.with(header{"Mcp-Name": "=?base64?c2l!!kZQ==?="}), want: bad(400, headerMismatch)},
		{name: "base64 of another name", body: side, header: sideHeader.with(header{"Mcp-Name": "=?base64?ZWNobw==?="}), want: bad(400, headerMismatch)},
		{name: "base64 of no UTF-8", body: side, header: sideHeader.with(header{"Mcp-Name": "=?base64?/w==?="}), want: bad(400, headerMismatch)},
		{name: "base64 in the version header", body: list, header: listHeader.with(header{"Mcp-Protocol-Version": "=?base64?MjAyNi0wNy0yOA==?="}), want: bad(400, headerMismatch)},
		{name: "unknown method", body: unknown, header: unknownHeader, want: bad(404, notFound)},
		{name: "parameter header missing", body: region, header: regionHeader, want: bad(400, headerMismatch), says: "Mcp-Param-Region"},
		{name: "parameter header differs", body: region, header: regionHeader.with(header{"Mcp-Param-Region": "us"}), want: bad(400, headerMismatch)},
		{name: "parameter header without an argument", body: none, header: noneHeader.with(header{"Mcp-Param-Region": "eu"}), want: bad(400, headerMismatch)},
		{name: "parameter header of another number", body: level, header: levelHeader.with(header{"Mcp-Param-Level": "43"}), want: bad(400, headerMismatch)},
		{name: "response", body: `{"jsonrpc":"2.0","id":7,"result":{}}`, header: header{"Mcp-Protocol-Version": v}, want: refusal{400, invalidRequest, "", "", "", "", false}},
		{name: "batch", body: "[" + list + "]", header: listHeader, want: refusal{400, invalidRequest, "", "", "", "", false}},
		{name: "GET", method: "GET", header: header{"Mcp-Protocol-Version": v, "Accept": "text/event-stream"}, want: refusal{405, invalidRequest, "", "POST, OPTIONS", "", "", false}},
		{name: "DELETE", method: "DELETE", header: header{"Mcp-Protocol-Version": v, "Mcp-Session-Id": "x"}, want: refusal{405, invalidRequest, "", "POST, OPTIONS", "", "", false}},
		{name: "listen without events", body: strings.Replace(list, "tools/list", "subscriptions/listen", 1), header: header{"Mcp-Protocol-Version": v, "Mcp-Method": "subscriptions/listen", "Accept": "application/json"}, want: bad(406, invalidRequest)},
	}
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"} {
		body, h := modern("7", method)
		tests = append(tests, violation{name: "method of the handshake era: " + method, body: body, header: h, want: bad(404, notFound)})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { bubble(t, test.run) })
	}
}
