package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/task"
)

// The defaults of [TaskOptions].
const (
	DefaultTaskTTL           = time.Hour
	DefaultTaskPoll          = time.Second
	DefaultMaxTasks          = 256
	DefaultMaxPrincipalTasks = 32
)

// TaskOptions says how calls go on as tasks, the extension
// io.modelcontextprotocol/tasks. The zero value is usable. The extension is
// declared while a tool can have tasks, or when a store is given.
type TaskOptions struct {
	// Store keeps the tasks; its owner closes it, after [Server.Shutdown]. Nil:
	// in memory.
	Store task.Store
	// TTL is how long a task is kept, from its creation; 0: DefaultTaskTTL. One
	// that still runs then is stopped.
	TTL time.Duration
	// PollInterval is how long clients are asked to wait between two looks at a
	// task; 0: DefaultTaskPoll.
	PollInterval time.Duration
	// After is how long a client is kept waiting before a call of a tool with
	// [registry.TaskOptional] becomes a task; 0: until its handler says so.
	After           time.Duration
	MaxRunning      int // tasks that run at one time; 0: DefaultMaxTasks
	MaxPerPrincipal int // of one principal; 0: DefaultMaxPrincipalTasks
}

// taskWindow is how long changes of tasks collect before they are announced.
const taskWindow = 10 * time.Millisecond

// Reasons for which a task ends before its handler would.
var (
	errTaskCancelled = errors.New("the client cancelled the task")
	errTaskExpired   = errors.New("the time to live of the task is over")
	errCallOver      = errors.New("the call is over")
)

// errTaskLimit means that there are too many tasks.
var errTaskLimit = errors.New("too many tasks")

// tasks owns the calls that may become tasks: it starts their handlers, knows
// those that run, and waits for them. What is over is the store's.
type tasks struct {
	opts  TaskOptions
	layer *layer.Layer
	log   *slog.Logger
	hub   *notify.Hub     // of changes; the URI of an event is the id of a task
	life  context.Context // ends with the server
	stop  context.CancelCauseFunc
	wg    sync.WaitGroup // handlers and sweeps; incremented only while not closed, under mu

	mu      sync.Mutex // guards the fields below
	closed  bool
	issued  bool                 // there has been a task
	live    map[string]*taskCall // tasks that run, and those that the store could not take, by id
	running int
	owners  map[string]int // tasks that run, by principal
	sweeper *time.Timer    // nil unless something is to be forgotten
	due     time.Time      // when the sweeper fires
}

func newTasks(o *TaskOptions, l *layer.Layer, log *slog.Logger) *tasks {
	m := &tasks{opts: *o, layer: l, log: log, live: make(map[string]*taskCall), owners: make(map[string]int)}
	if m.opts.TTL = m.opts.TTL.Truncate(time.Millisecond); m.opts.TTL <= 0 {
		m.opts.TTL = DefaultTaskTTL
	}
	if m.opts.PollInterval <= 0 {
		m.opts.PollInterval = DefaultTaskPoll
	}
	if m.opts.MaxRunning <= 0 {
		m.opts.MaxRunning = DefaultMaxTasks
	}
	if m.opts.MaxPerPrincipal <= 0 {
		m.opts.MaxPerPrincipal = DefaultMaxPrincipalTasks
	}
	m.hub = notify.New(&notify.Options{Window: taskWindow})
	m.life, m.stop = context.WithCancelCause(context.Background())
	if m.issued = m.opts.Store != nil; m.issued {
		m.sweep() // and again when it is time
	} else {
		m.opts.Store = task.NewMemory(&task.Options{Logger: log})
	}
	return m
}

// offered reports whether the extension is declared: there is, has been or may
// be a task.
func (m *tasks) offered() bool {
	m.mu.Lock()
	issued := m.issued
	m.mu.Unlock()
	if issued {
		return true
	}
	for _, t := range m.layer.Registry().Snapshot().Tools {
		if t.Task != registry.TaskNever {
			return true
		}
	}
	return false
}

// declared returns the extensions that clients are told of.
func (s *Server) declared() []Extension {
	if !s.tasks.offered() {
		return s.extensions
	}
	return append(slices.Clip(s.extensions), Extension{ID: protocol.ExtensionTasks})
}

// start runs a call that may become a task, in a goroutine that outlives the
// request if it does.
func (m *tasks) start(c *taskCall) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "%v", jsonrpc.ErrShutdown)
	}
	m.wg.Go(c.run)
	return nil
}

// admit makes room for one more task, until release.
func (m *tasks) admit(p *policy.Principal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return jsonrpc.ErrShutdown
	case m.owners[p.ID] >= m.opts.MaxPerPrincipal:
		return fmt.Errorf("%w: %d tasks of this principal are running, which is the limit", errTaskLimit, m.opts.MaxPerPrincipal)
	case m.running >= m.opts.MaxRunning:
		return fmt.Errorf("%w: %d tasks are running, which is the limit", errTaskLimit, m.opts.MaxRunning)
	}
	m.running++
	m.owners[p.ID]++
	return nil
}

func (m *tasks) release(p *policy.Principal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if m.owners[p.ID]--; m.owners[p.ID] == 0 {
		delete(m.owners, p.ID)
	}
}

// enter makes a task known that the store has taken.
func (m *tasks) enter(c *taskCall, id string, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.issued = true
	m.live[id] = c
	m.armLocked(expires)
}

// leave leaves a task to the store.
func (m *tasks) leave(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, id)
}

// find returns a task as it is now, and the call while it runs. A task of
// another principal is as unknown as one that never was.
func (m *tasks) find(p *policy.Principal, id string) (*task.Record, *taskCall, error) {
	m.mu.Lock()
	c := m.live[id]
	m.mu.Unlock()
	var r *task.Record
	if c != nil {
		r = c.record()
	} else {
		var err error
		r, err = m.opts.Store.Get(id)
		if err != nil && !errors.Is(err, task.ErrUnknown) {
			return nil, nil, err
		}
	}
	if r == nil || r.Owner != p.ID || !time.Now().Before(r.Expires()) {
		return nil, nil, invalidParams("Task not found: there is none with this id, or none any more")
	}
	return r, c, nil
}

// changed tells those who listen.
func (m *tasks) changed(id string) {
	m.hub.Publish(notify.Event{Kind: notify.ResourceUpdated, URI: id})
}

// sweepAgain is when a sweep is tried again that failed.
const sweepAgain = 10 * time.Second

// armLocked sees to it that there is a sweep at the given time or before.
func (m *tasks) armLocked(at time.Time) {
	if m.closed || m.sweeper != nil && !at.Before(m.due) {
		return
	}
	if m.sweeper != nil {
		m.sweeper.Stop()
	}
	m.due = at
	m.sweeper = time.AfterFunc(max(time.Until(at), time.Second), m.sweep)
}

// sweep forgets what is over.
func (m *tasks) sweep() {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	m.sweeper = nil
	m.wg.Add(1)
	m.mu.Unlock()
	defer m.wg.Done()
	next, err := m.opts.Store.Sweep()
	if err != nil {
		m.log.Warn("forgetting old tasks", "error", err)
		next = time.Now().Add(sweepAgain)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, c := range m.live {
		switch expires := c.expires(); {
		case !time.Now().Before(expires):
			delete(m.live, id)
		case next.IsZero() || expires.Before(next):
			next = expires
		}
	}
	if !next.IsZero() {
		m.armLocked(next)
	}
}

// Shutdown ends all tasks and waits until their handlers have returned, or until
// ctx ends, which is the error then. What a handler could not finish has failed.
// It is called when no more requests come, and before the store of the tasks is
// closed.
func (s *Server) Shutdown(ctx context.Context) error { return s.tasks.close(ctx) }

func (m *tasks) close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	if m.sweeper != nil {
		m.sweeper.Stop()
	}
	m.mu.Unlock()
	m.stop(jsonrpc.ErrShutdown)
	done := make(chan struct{})
	go func() { // ends with the handlers
		m.wg.Wait()
		m.hub.Close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("session: tasks did not end in time: %w", context.Cause(ctx))
	}
}
