package session

import (
	"bytes"
	"context"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/task"
)

var (
	_ registry.Asker  = (*taskCall)(nil)
	_ registry.Tasker = (*taskCall)(nil)
)

// maxQuestions is how many different questions one task may ask.
const maxQuestions = 100

// asking is a question of a task. Its key is never used for another one.
type asking struct {
	q        *registry.Question
	waiters  int // goroutines of the handler
	answer   []byte
	answered chan struct{} // closed when there is an answer
}

// hasAnswer reports whether the client has answered; the call's lock is held.
func (a *asking) hasAnswer() bool { return a.answer != nil }

// request returns the exchange, or nil if the call is a task.
func (c *taskCall) request() *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.x
}

// Progress implements [registry.Client]. Nobody listens to that of a task.
func (c *taskCall) Progress(ctx context.Context, progress, total float64, message string) error {
	if x := c.request(); x != nil {
		return x.Progress(ctx, progress, total, message)
	}
	return nil
}

// Log implements [registry.Client].
func (c *taskCall) Log(ctx context.Context, level protocol.LogLevel, logger string, data []byte) error {
	if x := c.request(); x != nil {
		return x.Log(ctx, level, logger, data)
	}
	return nil
}

// Wants implements [registry.Asker].
func (c *taskCall) Wants(level protocol.LogLevel) bool {
	x := c.request()
	return x != nil && x.Wants(level)
}

// Has implements [registry.Asker].
func (c *taskCall) Has(a registry.Ability) bool { return c.can&a == a }

// Load implements [registry.Asker].
func (c *taskCall) Load(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x != nil {
		return c.x.Load(key)
	}
	raw, ok := c.in.kept[key]
	return raw, ok
}

// Save implements [registry.Asker].
func (c *taskCall) Save(key string, raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x != nil {
		c.x.Save(key, raw)
		return
	}
	set(&c.in.kept, key, raw)
}

// Ask implements [registry.Asker]. A task waits for the answer.
func (c *taskCall) Ask(ctx context.Context, q *registry.Question) ([]byte, error) {
	c.mu.Lock()
	if c.x != nil {
		defer c.mu.Unlock()
		return c.x.askLater(q)
	}
	a, err := c.askLocked(q)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.answered:
		return a.answer, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	}
	c.giveUp(a)
	return nil, err
}

// askLocked adds a question to those that the client sees, unless its answer is
// there.
func (c *taskCall) askLocked(q *registry.Question) (*asking, error) {
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	if _, err := c.in.note(q); err != nil {
		return nil, err
	}
	a := c.questionLocked(q.Key)
	if a == nil {
		if len(c.questions) >= maxQuestions {
			return nil, registry.Failf("the task has asked %d questions, which is the limit", maxQuestions)
		}
		a = &asking{q: q, answered: make(chan struct{})}
		c.questions = append(c.questions, a)
		if raw := c.in.earlier(q); raw != nil {
			a.take(raw)
		}
	}
	a.waiters++
	c.settleLocked()
	return a, nil
}

func (c *taskCall) questionLocked(key string) *asking {
	for _, a := range c.questions {
		if a.q.Key == key {
			return a
		}
	}
	return nil
}

// take takes the answer; the call's lock is held.
func (a *asking) take(raw []byte) {
	a.answer = raw
	close(a.answered)
}

// giveUp notes that a goroutine of the handler does not wait for an answer any
// more. The question is not shown then, but an answer that is under way is kept
// for the case that it is asked again.
func (c *taskCall) giveUp(a *asking) {
	c.mu.Lock()
	a.waiters--
	c.settleLocked()
	c.mu.Unlock()
}

// settleLocked brings the record in line with the questions, and announces it if
// it was not.
func (c *taskCall) settleLocked() {
	if c.over {
		return
	}
	status, detail := task.Working, []byte(nil)
	for _, a := range c.questions {
		if a.waiters == 0 || a.hasAnswer() {
			continue
		}
		if detail == nil {
			status, detail = task.InputRequired, append(detail, '{')
		} else {
			detail = append(detail, ',')
		}
		detail = appendQuestion(detail, a.q)
	}
	if detail != nil {
		detail = append(detail, '}')
	}
	if status == c.rec.Status && bytes.Equal(detail, c.rec.Detail) {
		return
	}
	c.rec.Status, c.rec.Detail, c.rec.Updated = status, detail, task.Now()
	c.tasks.changed(c.created.ID)
}

// answer takes the answers of a client, an object by the keys of the questions.
// Those that nobody asked for, or that came twice, are ignored; if one cannot be
// used, none is taken.
func (c *taskCall) answer(responses []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	given := make(map[*asking][]byte)
	for o := jsonwire.Members(responses); ; {
		key, raw, ok := o.Next()
		if !ok {
			break
		}
		a := c.questionLocked(jsonwire.Unquote(key))
		if a == nil || a.hasAnswer() || given[a] != nil {
			continue
		}
		if err := a.q.Check(raw); err != nil {
			return invalidParams("inputResponses: the answer to %q: %v", a.q.Key, err)
		}
		given[a] = bytes.Clone(raw)
	}
	for a, raw := range given {
		a.take(raw)
	}
	c.settleLocked()
	return nil
}

// hasAsked reports whether the client is asked something in the answer to the
// request.
func (x *exchange) hasAsked() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.inputs != nil && len(x.inputs.asked) > 0
}

// ownInputs copies the answers out of the request, which a handler may outlive
// that has been given them.
func (x *exchange) ownInputs() {
	x.mu.Lock()
	defer x.mu.Unlock()
	given := x.inputsLocked().given
	for key, raw := range given {
		given[key] = bytes.Clone(raw)
	}
}

// handOver returns what the request knows of answers; it does not use it any
// more.
func (x *exchange) handOver() *inputs {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.inputsLocked()
}

// earlier returns the answer to a question that came before there was a task, or
// nil.
func (in *inputs) earlier(q *registry.Question) []byte {
	for _, answers := range []map[string][]byte{in.given, in.known} {
		if raw, ok := answers[q.Key]; ok && q.Check(raw) == nil {
			return raw
		}
	}
	return nil
}
