package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// canAll is what a client declares that can do all that a server may ask for.
const canAll = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true}}`

const (
	newestHandshake = "2025-11-25"
	newestStateless = "2026-07-28"
)

// eras are the two ways of asking.
var eras = []string{newestHandshake, newestStateless}

// client is a client of a [peer] that declares something. Its ids are numbers
// from 100 on.
type client struct {
	*peer
	version      protocol.Version
	capabilities string
	lastID       int
}

// client begins a session if the version has one.
func (p *peer) client(version, capabilities string) *client {
	p.t.Helper()
	c := &client{peer: p, version: protocol.ParseVersion(version), capabilities: capabilities, lastID: 100}
	if c.version.HasHandshake() {
		c.hello()
		p.send(initialized)
		p.take()
	}
	return c
}

// hello sends initialize.
func (c *client) hello() {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"0"}}}`, c.version, c.capabilities))
	if lines := c.take(); len(lines) != 1 || !strings.Contains(lines[0], `"result"`) {
		c.t.Fatalf("initialize was answered with %q", lines)
	}
}

// id returns a new id.
func (c *client) id() string {
	c.lastID++
	return fmt.Sprint(c.lastID)
}

// write returns a request as the version wants it.
func (c *client) write(id, method, params string) string {
	if c.version.Stateless() {
		params = strings.TrimSuffix(fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s},%s`, c.version, c.capabilities, params), ",")
	}
	return request(id, method, params)
}

// message is any message of the server.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func readMessage(t *testing.T, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// outcome is what a call came to: the text of the first block or the content of
// a result, or an error, each with what tells it from others.
func (m message) outcome() string {
	if m.Error != nil {
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", m.Error.Code, m.Error.Message, m.Error.Data))
	}
	var result struct {
		IsError  bool
		Content  []struct{ Text string }
		Contents []struct{ Text string }
		Messages []struct{ Content struct{ Text string } }
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		return err.Error()
	}
	switch {
	case result.IsError:
		return "isError: " + result.Content[0].Text
	case len(result.Content) > 0:
		return result.Content[0].Text
	case len(result.Contents) > 0:
		return result.Contents[0].Text
	case len(result.Messages) > 0:
		return result.Messages[0].Content.Text
	}
	return string(m.Result)
}

// question is what the server asked, in either era.
type question struct {
	key    string // empty in the handshake era
	method string
	params string
}

func (q question) String() string { return q.method + " " + q.params }

// inputs are the members of an input_required result.
type required struct {
	ResultType    string
	InputRequests json.RawMessage
	RequestState  string
	TTLMs         *int
	CacheScope    string
}

// questions returns what a result of the stateless era asks, in order.
func (r *required) questions(t *testing.T) (list []question) {
	t.Helper()
	if r.InputRequests == nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(r.InputRequests)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var entry struct {
			Method string
			Params json.RawMessage
		}
		if err := d.Decode(&entry); err != nil {
			t.Fatal(err)
		}
		list = append(list, question{key.(string), entry.Method, string(entry.Params)})
	}
	return list
}

// state returns the member requestState for a retry, with a comma before it.
func (r *required) state() string { return `,"requestState":` + quote(r.RequestState) }

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// converse makes a call and answers all that is asked, until it has an outcome.
// Reply returns a result, raw JSON, or an error object after "error ".
func (c *client) converse(method, params string, reply func(question) string) message {
	c.t.Helper()
	if c.version.Stateless() {
		return c.retry(method, params, reply)
	}
	id := c.id()
	c.take()
	c.send(c.write(id, method, params))
	for {
		var asked []message
		for _, line := range c.take() {
			m := readMessage(c.t, line)
			switch {
			case m.Method == "" && string(m.ID) == id:
				return m
			case m.Method != "" && m.ID != nil:
				asked = append(asked, m)
			}
		}
		if len(asked) == 0 {
			c.t.Fatalf("%s is not answered, and nothing is asked", method)
		}
		for _, m := range asked {
			member := `"result":` + reply(question{"", m.Method, string(m.Params)})
			if text, is := strings.CutPrefix(member, `"result":error `); is {
				member = `"error":` + text
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member))
		}
	}
}

func (c *client) retry(method, params string, reply func(question) string) message {
	c.t.Helper()
	more := ""
	for range 20 {
		m, r := c.step(method, params+more)
		if r == nil {
			return m
		}
		answers := ""
		for _, q := range r.questions(c.t) {
			answers += fmt.Sprintf(`,%q:%s`, q.key, reply(q))
		}
		more = `,"inputResponses":{` + strings.TrimPrefix(answers, ",") + `}` + r.state()
	}
	c.t.Fatalf("%s asks without end", method)
	return message{}
}

// step makes one request of the stateless era. Required is nil unless the answer
// is that input is required.
func (c *client) step(method, params string) (message, *required) {
	c.t.Helper()
	c.take()
	c.send(c.write(c.id(), method, params))
	lines := c.take()
	if len(lines) != 1 {
		c.t.Fatalf("%s was answered with %q", method, lines)
	}
	m := readMessage(c.t, lines[0])
	r := new(required)
	if m.Result == nil {
		return m, nil
	}
	if err := json.Unmarshal(m.Result, r); err != nil {
		c.t.Fatal(err)
	}
	if r.ResultType != protocol.ResultInputRequired {
		return m, nil
	}
	if r.TTLMs != nil || r.CacheScope != "" {
		c.t.Errorf("what is asked may be cached: %s", m.Result)
	}
	for _, q := range r.questions(c.t) {
		if err := spec(c.t).Validate(c.version, definitionOfQuestion(q.method), fmt.Appendf(nil, `{"method":%q,"params":%s}`, q.method, q.params)); err != nil {
			c.t.Errorf("%v in %v", err, q)
		}
	}
	return m, r
}

// definitionOfQuestion names the schema of a question.
func definitionOfQuestion(method string) string {
	switch method {
	case protocol.MethodElicit:
		return "ElicitRequest"
	case protocol.MethodSample:
		return "CreateMessageRequest"
	}
	return "ListRootsRequest"
}

// ask returns a tool called "ask".
func ask(h registry.ToolHandler) []registry.Tool { return []registry.Tool{tool("ask", h)} }

const callAsk = `"name":"ask"`
