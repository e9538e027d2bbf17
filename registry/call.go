package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/uritemplate"
)

// A Call is one request as a handler sees it. It is valid until the handler
// returns; what a handler keeps longer, it copies.
type Call struct {
	Subject   *policy.Subject   // what was called
	Principal *policy.Principal // who calls
	Version   protocol.Version  // what the client speaks
	Arguments []byte            // tools: the raw JSON object, {} if there was none
	Strings   map[string]string // prompts: the arguments
	URI       string            // resources: the URI that is read
	Vars      []uritemplate.Var // resource templates: the variables, decoded
	Meta      []byte            // the request's _meta as raw JSON, or nil
	Client    Client            // the client's side of the call; nil means that nobody listens
}

// Client is what a handler may ask of the client while its call runs. Its
// methods may be called by several goroutines, and do nothing once the handler
// has returned.
type Client interface {
	// Progress reports how far the call is. It is sent only if the client asked
	// for it, and only if progress has grown. A total of 0 is unknown.
	Progress(ctx context.Context, progress, total float64, message string) error
	// Log sends a log message, raw JSON, if the client wants its level.
	Log(ctx context.Context, level protocol.LogLevel, logger string, data []byte) error
}

// Asker is a [Client] that can be asked, and that keeps what a handler needs when
// it is run again.
type Asker interface {
	Client
	// Wants reports whether a log message of the level would be sent.
	Wants(level protocol.LogLevel) bool
	// Has reports whether the client declared all of the given abilities.
	Has(Ability) bool
	// Ask puts a question to the client and returns the answer, raw JSON that
	// the question's check has accepted. See [Call.Elicit] for when it returns
	// [ErrInputRequired].
	Ask(ctx context.Context, q *Question) ([]byte, error)
	// Load returns what Save kept under a key, in this run of the handler or in
	// an earlier one of the same call.
	Load(key string) (raw []byte, ok bool)
	// Save keeps a value, raw JSON, for runs of the handler that follow.
	Save(key string, raw []byte)
}

// asker returns the client's side of the call if it can be asked.
func (c *Call) asker() (Asker, bool) {
	a, ok := c.Client.(Asker)
	return a, ok
}

// Progress reports how far the call is; see [Client.Progress].
func (c *Call) Progress(ctx context.Context, progress, total float64, message string) error {
	if c.Client == nil {
		return nil
	}
	return c.Client.Progress(ctx, progress, total, message)
}

// Log sends a log message to the client if it wants the level. Data is encoded
// as JSON; nothing confidential may be in it.
func (c *Call) Log(ctx context.Context, level protocol.LogLevel, logger string, data any) error {
	if c.Client == nil {
		return nil
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encoding log data: %w", err)
	}
	return c.Client.Log(ctx, level, logger, raw)
}

// Detach lets go of the answer's stream, if it is one that can be resumed: the
// client is to come back for the rest after the given time. It is for calls that
// take long and have nothing to say meanwhile; elsewhere it does nothing.
func (c *Call) Detach(retry time.Duration) {
	if d, ok := c.Client.(interface{ Detach(time.Duration) }); ok {
		d.Detach(retry)
	}
}

// Tasker is a [Client] whose call can become a task.
type Tasker interface {
	Client
	// StartTask makes the call a task; see [Call.StartTask].
	StartTask(ctx context.Context) error
}

// StartTask makes the call a task, if its tool may have tasks and the client
// takes them: the request is answered with the task now, and the handler goes
// on. It does nothing otherwise, and when the call is a task already, so a
// handler of a slow call can begin with it whoever calls.
//
// A task is not bounded by the time limit for calls, unless its tool has one of
// its own, but by the time to live of tasks; its context ends when the client
// cancels it. What the handler asks the client it waits for: questions that are
// to be asked together are asked from several goroutines. Progress and log
// messages go nowhere.
//
// Questions that were asked before are to be answered before there is a task:
// then the error is [ErrInputRequired], which the handler returns. If the tool
// has no calls but tasks, and there are too many, the error is a [*Failure].
func (c *Call) StartTask(ctx context.Context) error {
	if t, ok := c.Client.(Tasker); ok {
		return t.StartTask(ctx)
	}
	return nil
}

// Var returns the value of a template variable, or "" if there is none.
func (c *Call) Var(name string) string {
	for _, v := range c.Vars {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// A Failure is an error that a tool reports on purpose. The text goes to the
// model as a result with isError, so it should say what to do next.
type Failure struct {
	Text string
	Err  error // the cause, for the log; may be nil
}

func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error { return f.Err }

// Failf returns a [Failure] with a formatted text. An error formatted with %w
// becomes its cause.
func Failf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Failure{Text: err.Error(), Err: errors.Unwrap(err)}
}

// ErrNotFound is returned, wrapped or not, by the handler of a resource or a
// template for a URI that it does not have. The client cannot tell it from a URI
// that nothing serves.
var ErrNotFound = errors.New("not found")
