package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/schema"
	"cloudg.dev/cloudg/session"
)

// taskFixture is a server whose tools may have tasks; the zero value is usable.
type taskFixture struct {
	options session.TaskOptions
	layer   layer.Options
	log     *slog.Logger
}

// taskServer is such a server and the clients that it has.
type taskServer struct {
	*session.Server
	t        *testing.T
	unjudged bool // the schemas are left alone, which take time to compile
}

// start starts the server, which ends with the test.
func (f taskFixture) start(t *testing.T, tools ...registry.Tool) *taskServer {
	t.Helper()
	reg := registry.New(nil)
	if err := reg.AddTool(tools...); err != nil {
		t.Fatal(err)
	}
	f.layer.Registry = reg
	server, err := session.NewServer(&session.Options{
		Layer: layer.New(&f.layer), Info: protocol.Implementation{Name: "s", Version: "1"}, Tasks: f.options, Logger: f.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return &taskServer{Server: server, t: t}
}

// Capabilities of clients.
const (
	withTasks    = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{},"sampling":{},"roots":{}}`
	withoutTasks = `{"elicitation":{},"sampling":{},"roots":{}}`
)

// taskClient is a client of the stateless era. Its fields may be changed between
// requests.
type taskClient struct {
	server       *taskServer
	principal    *policy.Principal
	capabilities string
	meta         string // more members of _meta, each after a comma
}

// client returns a client that takes tasks.
func (s *taskServer) client() *taskClient {
	return &taskClient{server: s, principal: policy.NewPrincipal("somebody"), capabilities: withTasks}
}

// as returns the same client with other capabilities.
func (c *taskClient) as(capabilities string) *taskClient {
	other := *c
	other.capabilities = capabilities
	return &other
}

// mailbox is the peer of one request: it keeps what is sent before the answer.
type mailbox struct {
	nobody
	mu     sync.Mutex
	frames []string
}

func (m *mailbox) Send(ctx context.Context, frame []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.frames = append(m.frames, string(frame))
	return nil
}

func (m *mailbox) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	frames := m.frames
	m.frames = nil
	return frames
}

// reply is the answer to a request: a result, or an error as code and message.
type reply struct {
	result string // raw JSON without the server's metadata
	err    string
	data   string // of the error
	status int    // of the HTTP answer, if it is not the usual one
}

// send sends a request and returns the answer.
func (c *taskClient) send(ctx context.Context, box *mailbox, method, params string) reply {
	c.server.t.Helper()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s%s}}}`,
		method, params, c.capabilities, c.meta)
	d := c.server.Decoder()
	m, err := d.Decode(line)
	if err != nil {
		c.server.t.Fatalf("%v in %s", err, line)
	}
	raw, err := jsonrpc.Answer(ctx, slog.New(slog.DiscardHandler), c.server.Stateless(c.principal, nil), m.(*jsonrpc.Request), box, nil)
	for i := range line {
		line[i] = '#' // the bytes of a request are gone once it is answered
	}
	return c.read(method, raw, err)
}

// serverMeta is what every result ends with.
const serverMeta = `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`

func (c *taskClient) read(method string, raw []byte, err error) reply {
	c.server.t.Helper()
	var frame struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	if bad := json.Unmarshal(raw, &frame); bad != nil {
		c.server.t.Fatalf("%v in %s", bad, raw)
	}
	if frame.Error != nil {
		r := reply{err: fmt.Sprintf("%d %s", frame.Error.Code, frame.Error.Message), data: string(frame.Error.Data)}
		var wire *protocol.Error
		if errors.As(err, &wire) {
			r.status = wire.Status
		}
		return r
	}
	result, ok := strings.CutSuffix(string(frame.Result), serverMeta)
	if !ok {
		c.server.t.Errorf("a result without the server's metadata: %s", frame.Result)
	}
	if !c.server.unjudged {
		judge(c.server.t, definitionOf(method, frame.Result), frame.Result)
	}
	return reply{result: result + "}"}
}

// do sends a request of which nothing but the answer is expected.
func (c *taskClient) do(method, params string) reply {
	c.server.t.Helper()
	box := new(mailbox)
	r := c.send(c.server.t.Context(), box, method, params)
	if more := box.take(); more != nil {
		c.server.t.Errorf("%s came with %q", method, more)
	}
	return r
}

// call calls a tool.
func (c *taskClient) call(tool, args string) reply {
	c.server.t.Helper()
	return c.do("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s,`, tool, args))
}

// begin calls a tool that must answer with a task, and returns the id.
func (c *taskClient) begin(tool, args string) string {
	c.server.t.Helper()
	r := c.call(tool, args)
	var created struct{ ResultType, TaskID string }
	if err := json.Unmarshal([]byte(r.result), &created); err != nil || created.ResultType != "task" || created.TaskID == "" {
		c.server.t.Fatalf("calling %s gave no task: %+v", tool, r)
	}
	return created.TaskID
}

// about returns the params of a request about a task.
func about(id string) string { return fmt.Sprintf(`"taskId":%q,`, id) }

func (c *taskClient) get(id string) reply {
	c.server.t.Helper()
	return c.do("tasks/get", about(id))
}

func (c *taskClient) cancel(id string) reply {
	c.server.t.Helper()
	return c.do("tasks/cancel", about(id))
}

func (c *taskClient) update(id, responses string) reply {
	c.server.t.Helper()
	return c.do("tasks/update", about(id)+`"inputResponses":`+responses+`,`)
}

// state returns the status of a task, and what it comes with.
func (c *taskClient) state(id string) string {
	c.server.t.Helper()
	r := c.get(id)
	if r.err != "" {
		return r.err
	}
	var task struct {
		Status, StatusMessage        string
		InputRequests, Result, Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.result), &task); err != nil {
		c.server.t.Fatal(err)
	}
	text := task.Status
	for _, detail := range []string{task.StatusMessage, string(task.InputRequests), string(task.Result), string(task.Error)} {
		if detail != "" {
			text += " " + detail
		}
	}
	return text
}

// done is the state of a task whose tool returned a text.
func done(text string) string {
	return fmt.Sprintf(`completed {"resultType":"complete","content":[{"type":"text","text":%q}]}`, text)
}

// plain is the answer to a call that returned a text.
func plain(text string) reply {
	return reply{result: fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%q}]}`, text)}
}

// failed is the answer to a call that returned a text with isError.
func failed(text string) reply {
	return reply{result: fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%q}],"isError":true}`, text)}
}

// acknowledged is the answer to tasks/update and tasks/cancel.
func acknowledged() reply { return reply{result: `{"resultType":"complete"}`} }

// unknownTask is the one answer for a task that is not there for a client.
func unknownTask() reply {
	return reply{err: "-32602 Task not found: there is none with this id, or none any more"}
}

// definitionOf names the schema of a result.
func definitionOf(method string, result []byte) string {
	switch {
	case method == "tasks/get":
		return "GetTaskResult"
	case method == "tasks/update":
		return "UpdateTaskResult"
	case method == "tasks/cancel":
		return "CancelTaskResult"
	case bytes.HasPrefix(result, []byte(`{"resultType":"task"`)):
		return "CreateTaskResult"
	}
	return ""
}

// taskSchemas are the compiled definitions of the extension.
var taskSchemas = sync.OnceValues(func() (map[string]*schema.Schema, error) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "shared", "spec", "ext-tasks", "schema.json"))
	if err != nil {
		return nil, err
	}
	const uri = "https://spec.invalid/tasks.json"
	compiled := make(map[string]*schema.Schema)
	for _, name := range []string{"CreateTaskResult", "GetTaskResult", "UpdateTaskResult", "CancelTaskResult", "TaskStatusNotification"} {
		s, err := schema.Compile(fmt.Appendf(nil, `{"$ref":"%s#/$defs/%s"}`, uri, name), &schema.Options{Documents: map[string][]byte{uri: doc}, AssertFormat: true, Noun: "member"})
		if err != nil {
			return nil, err
		}
		compiled[name] = s
	}
	return compiled, nil
})

// judge checks a value against a definition of the extension's schema, and the
// result in it against the protocol's. Where the schemas are missing it does
// nothing, which TestTaskSchemas tells.
func judge(t *testing.T, definition string, value []byte) {
	t.Helper()
	schemas, err := taskSchemas()
	if err != nil || definition == "" {
		return
	}
	if err := schemas[definition].Validate(value); err != nil {
		t.Errorf("%s: %v in %s", definition, err, value)
	}
	var task struct{ Result json.RawMessage }
	if json.Unmarshal(value, &task) == nil && task.Result != nil {
		if err := spec(t).Validate(protocol.V20260728, "CallToolResult", task.Result); err != nil {
			t.Errorf("the result in it: %v in %s", err, task.Result)
		}
	}
}

func TestTaskSchemas(t *testing.T) {
	schemas, err := taskSchemas()
	switch {
	case errors.Is(err, os.ErrNotExist) && os.Getenv("CI") != "true":
		t.Skip("the schemas of the specification are not here, so that the messages of tasks are not validated:", err)
	case err != nil:
		t.Fatal(err)
	}
	if err := schemas["CreateTaskResult"].Validate([]byte(`{"resultType":"task","task":{}}`)); err == nil {
		t.Error("the schema accepts the create result of 2025-11-25")
	}
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wait waits as a handler should.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// working returns a tool that works for a while and may have tasks.
func working(name string, mode registry.TaskMode, d time.Duration) registry.Tool {
	t := tool(name, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		if mode == registry.TaskOptional {
			if err := call.StartTask(ctx); err != nil {
				return nil, err
			}
		}
		if err := wait(ctx, d); err != nil {
			return nil, err
		}
		return registry.TextResult(name + " is done"), nil
	})
	t.Task = mode
	return t
}

// may returns a tool with a handler of its own that may have tasks.
func may(name string, mode registry.TaskMode, h registry.ToolHandler) registry.Tool {
	t := tool(name, h)
	t.Task = mode
	return t
}
