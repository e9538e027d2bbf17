package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/task"
)

// taskCall is a call of a tool that may become a task, as [registry.Client] of
// its handler. Until it is a task it is a part of its exchange, to which it
// leaves what the handler wants; from then on it knows nothing of the request.
type taskCall struct {
	layer.Request // its own copy, with the call as client

	tasks *tasks
	tool  *registry.ToolEntry
	name  []byte
	args  []byte
	can   registry.Ability // what the client declared

	ctx    context.Context // of the handler
	cancel context.CancelCauseFunc

	begun chan struct{} // closed when the call is a task and can be found
	ended chan struct{} // closed when the handler has returned
	res   *protocol.CallToolResult
	err   error // both are set before ended is closed

	mu        sync.Mutex // guards the fields below; held while the call becomes a task
	x         *exchange  // nil once it is a task
	over      bool       // the handler has returned
	lifts     []func()   // called when the call becomes a task
	created   task.Record
	rec       task.Record // as it is now; Detail has the questions while there are some
	in        *inputs     // what the request knew of answers
	questions []*asking   // in the order in which they were asked
	expiry    *time.Timer
	cancelled bool // by the client
}

// newTaskCall returns a call that has not begun. What it keeps of the request it
// copies.
func newTaskCall(x *exchange, tool *registry.ToolEntry, name, args []byte) *taskCall {
	c := &taskCall{
		Request: x.Request, tasks: x.server.tasks, tool: tool, name: bytes.Clone(name), args: bytes.Clone(args), can: x.abilities(),
		begun: make(chan struct{}), ended: make(chan struct{}), x: x,
	}
	c.Meta, c.Client = bytes.Clone(x.Meta), c
	x.ownInputs()
	values := x.ctx
	if call, ok := values.(interface{ Parent() context.Context }); ok {
		values = call.Parent() // the call, and its frame, are not to live as long as the task
	}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(values))
	return c
}

// run runs the handler.
func (c *taskCall) run() {
	defer close(c.ended)
	defer c.cancel(errCallOver)
	unlink := context.AfterFunc(c.tasks.life, func() { c.cancel(context.Cause(c.tasks.life)) })
	defer unlink()
	c.res, c.err = c.call()
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	if c.isTask() {
		c.conclude()
	}
}

// call calls the tool. A panic outside of the handler, where the layer has not
// caught it, must not end the process.
func (c *taskCall) call() (res *protocol.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, &taskPanic{value: v, stack: debug.Stack()}
		}
	}()
	return c.tasks.layer.CallTool(c.ctx, &c.Request, c.name, c.args)
}

// taskPanic is a panic of the code around a handler.
type taskPanic struct {
	value any
	stack []byte
}

func (p *taskPanic) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// StackTrace returns where the panic comes from, for the log.
func (p *taskPanic) StackTrace() []byte { return p.stack }

// await waits until the call is a task or is over, and reports whether it is a
// task. The end of the request ends the call, unless it is a task by then.
func (c *taskCall) await(ctx context.Context) bool {
	var overdue <-chan time.Time
	if after := c.tasks.opts.After; after > 0 && c.tool.Task == registry.TaskOptional {
		timer := time.NewTimer(after)
		defer timer.Stop()
		overdue = timer.C
	}
	gone := ctx.Done()
	for {
		select {
		case <-c.begun:
			return true
		case <-c.ended:
			return c.isTask()
		case <-overdue:
			if err := c.become(); err != nil {
				c.tasks.log.DebugContext(ctx, "a slow call did not become a task", "tool", c.tool.Name, "reason", err)
			}
		case <-gone:
			c.cancel(context.Cause(ctx))
			gone = nil
		}
	}
}

// isTask reports whether the call has become a task.
func (c *taskCall) isTask() bool {
	select {
	case <-c.begun:
		return true
	default:
		return false
	}
}

// StartTask implements [registry.Tasker].
func (c *taskCall) StartTask(ctx context.Context) error {
	err := c.become()
	switch {
	case err == nil, errors.Is(err, registry.ErrInputRequired), ctx.Err() != nil:
		return err
	case c.tool.Task == registry.TaskOptional:
		c.tasks.log.WarnContext(ctx, "a call did not become a task", "tool", c.tool.Name, "reason", err)
		return nil
	case errors.Is(err, errTaskLimit), errors.Is(err, task.ErrFull):
		return &registry.Failure{Text: fmt.Sprintf("%s cannot be started now: %v. Wait for a task to end, or cancel one, and try again.", c.tool.Name, err), Err: err}
	}
	return err
}

// become makes the call a task. It does nothing if it is one or is over.
func (c *taskCall) become() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.x == nil, c.over:
		return nil
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case c.x.hasAsked():
		return registry.ErrInputRequired
	}
	if err := c.tasks.admit(c.Principal); err != nil {
		return err
	}
	now := task.Now()
	c.created = task.Record{ID: task.NewID(), Owner: c.Principal.ID, Status: task.Working, Created: now, Updated: now, TTL: c.tasks.opts.TTL}
	if err := c.tasks.opts.Store.Put(&c.created); err != nil {
		c.tasks.release(c.Principal)
		return fmt.Errorf("creating a task: %w", err)
	}
	c.rec = c.created
	c.in, c.x = c.x.handOver(), nil
	c.expiry = time.AfterFunc(time.Until(c.rec.Expires()), func() { c.cancel(errTaskExpired) })
	for _, lift := range c.lifts {
		lift()
	}
	c.lifts = nil
	c.tasks.enter(c, c.rec.ID, c.rec.Expires())
	close(c.begun)
	return nil
}

// OnTask implements the layer's interface for calls that may become tasks.
func (c *taskCall) OnTask(lift func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == nil {
		lift()
		return
	}
	c.lifts = append(c.lifts, lift)
}

// record returns the task as it is now.
func (c *taskCall) record() *task.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rec
	return &r
}

func (c *taskCall) expires() time.Time { return c.created.Expires() }

// stop cancels the task, if it still runs. That the handler stops is up to it.
func (c *taskCall) stop() {
	c.mu.Lock()
	first := !c.over && !c.cancelled
	if first {
		c.cancelled = true
		c.rec.Message, c.rec.Updated = "the task is being cancelled", task.Now()
	}
	c.mu.Unlock()
	if first {
		c.cancel(errTaskCancelled)
		c.tasks.changed(c.created.ID)
	}
}

// conclude records how the task ended. It belongs to the goroutine of the
// handler.
func (c *taskCall) conclude() {
	m := c.tasks
	c.expiry.Stop()
	defer m.release(c.Principal)
	id := c.created.ID
	if !time.Now().Before(c.expires()) {
		m.leave(id) // the store forgets it as well
		return
	}
	r := c.outcome()
	err := m.opts.Store.Put(r)
	if errors.Is(err, task.ErrFull) {
		m.log.Error("the result of a task was given up", "tool", c.tool.Name, "error", err)
		r.Status, r.Message, r.Detail = task.Failed, "", protocolError(protocol.CodeInternal, "the result of the task is too large to be kept")
		err = m.opts.Store.Put(r)
	}
	c.mu.Lock()
	c.rec = *r
	c.mu.Unlock()
	if err != nil {
		// Better in memory than lost.
		m.log.Error("the end of a task was not stored", "tool", c.tool.Name, "error", err)
	} else {
		m.leave(id)
	}
	m.log.Debug("task ended", "tool", c.tool.Name, "status", string(r.Status))
	m.changed(id)
}

// outcome returns the last record of the task. A tool that fails has completed;
// one that stops because the client wanted it to has not.
func (c *taskCall) outcome() *task.Record {
	c.mu.Lock()
	r, cancelled := c.rec, c.cancelled
	c.mu.Unlock()
	r.Updated, r.Message, r.Detail = task.Now(), "", nil
	switch {
	case cancelled && (c.err != nil || c.res.IsError):
		r.Status = task.Cancelled
	case c.err != nil:
		r.Status = task.Failed
		r.Detail = jsonrpc.WireError(c.ctx, c.tasks.log, protocol.MethodToolsCall, ofEra(c.Version, c.err)).Append(nil)
	default:
		r.Status = task.Completed
		raw := c.res.AppendMembers([]byte(`{"resultType":"complete",`), c.Version)
		r.Detail = append(protocol.AppendMeta(raw, c.res.Meta, c.Version), '}')
	}
	return &r
}

func protocolError(code int, message string) []byte {
	return jsonrpc.Errorf(code, "%s", message).Append(nil)
}
