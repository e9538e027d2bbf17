package session

import (
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/task"
)

// taskTool returns the tool with the given name, a JSON string, if a call of it
// may become a task for this client, or nil.
func (x *exchange) taskTool(name []byte) *registry.ToolEntry {
	if !x.Version.Stateless() || !x.Has(registry.CanRunTasks) {
		return nil
	}
	if e := x.server.layer.Tool(&x.Request, name); e != nil && e.Task != registry.TaskNever {
		return e
	}
	return nil
}

// callTask calls a tool whose calls may become tasks, and answers with the
// result or with the task.
func (x *exchange) callTask(dst []byte, tool *registry.ToolEntry, name, args []byte, target string) ([]byte, error) {
	c := newTaskCall(x, tool, name, args)
	if err := x.server.tasks.start(c); err != nil {
		return dst, err
	}
	switch {
	case c.await(x.ctx):
		if x.ctx.Err() != nil {
			c.stop() // nobody would learn of it
		}
		dst = append(dst, `{"resultType":"task",`...)
		return x.close(x.server.tasks.appendTask(dst, &c.created), nil), nil
	case c.err != nil:
		return x.unfinished(dst, c.err, target, args)
	}
	return x.close(c.res.AppendMembers(x.open(dst), x.Version), c.res.Meta), nil
}

// appendTask appends the members that describe a task, the first one without a
// comma before it.
func (m *tasks) appendTask(dst []byte, r *task.Record) []byte {
	dst = append(dst, `"taskId":`...)
	dst = jsonwire.AppendQuote(dst, r.ID)
	dst = protocol.AppendText(dst, "status", string(r.Status))
	dst = protocol.AppendText(dst, "statusMessage", r.Message)
	dst = protocol.AppendText(dst, "createdAt", r.Created.Format(task.TimeFormat))
	dst = protocol.AppendText(dst, "lastUpdatedAt", r.Updated.Format(task.TimeFormat))
	dst = append(dst, `,"ttlMs":`...)
	dst = strconv.AppendInt(dst, r.TTL.Milliseconds(), 10)
	dst = append(dst, `,"pollIntervalMs":`...)
	return strconv.AppendInt(dst, m.opts.PollInterval.Milliseconds(), 10)
}

// appendDetailed is appendTask with what the status comes with.
func (m *tasks) appendDetailed(dst []byte, r *task.Record) []byte {
	dst = m.appendTask(dst, r)
	switch r.Status {
	case task.InputRequired:
		dst = append(dst, `,"inputRequests":`...)
	case task.Completed:
		dst = append(dst, `,"result":`...)
	case task.Failed:
		dst = append(dst, `,"error":`...)
	default:
		return dst
	}
	return jsonwire.AppendLine(dst, r.Detail)
}

// findTask returns the task that a request is about. The client must declare
// the extension before anything is said about a task.
func (x *exchange) findTask() (*task.Record, *taskCall, error) {
	if !x.server.tasks.offered() {
		return nil, nil, x.unknownMethod()
	}
	if err := x.needTasks(); err != nil {
		return nil, nil, err
	}
	id, err := x.text("taskId")
	if err != nil {
		return nil, nil, err
	}
	return x.server.tasks.find(x.Principal, id)
}

// needTasks refuses a request whose client does not declare the extension.
func (x *exchange) needTasks() error {
	if x.Has(registry.CanRunTasks) {
		return nil
	}
	return layer.MissingCapability(registry.CanRunTasks)
}

// getTask serves tasks/get.
func (x *exchange) getTask(dst []byte) ([]byte, error) {
	r, _, err := x.findTask()
	if err != nil {
		return dst, err
	}
	return x.close(x.server.tasks.appendDetailed(x.open(dst), r), nil), nil
}

// updateTask serves tasks/update: the client answers questions. A task that is
// over has none.
func (x *exchange) updateTask(dst []byte) ([]byte, error) {
	_, c, err := x.findTask()
	if err != nil {
		return dst, err
	}
	responses := x.req.Params.Get("inputResponses")
	if len(responses) == 0 || responses[0] != '{' {
		return dst, invalidParams("tasks/update: params.inputResponses must be an object with an answer for each key")
	}
	if c != nil {
		if err := c.answer(responses); err != nil {
			return dst, err
		}
	}
	return x.empty(dst), nil
}

// cancelTask serves tasks/cancel, which only asks for it: the task may end
// otherwise.
func (x *exchange) cancelTask(dst []byte) ([]byte, error) {
	_, c, err := x.findTask()
	if err != nil {
		return dst, err
	}
	if c != nil {
		c.stop()
	}
	return x.empty(dst), nil
}
