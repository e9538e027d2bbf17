package session_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/task"
)

// spyStore is a store that counts, and that can fail.
type spyStore struct {
	task.Store
	mu    sync.Mutex // guards the fields below
	swept int
	fail  error // of Put, Get and Sweep
}

func (s *spyStore) Put(r *task.Record) error {
	if err := s.failure(); err != nil {
		return err
	}
	return s.Store.Put(r)
}

func (s *spyStore) Get(id string) (*task.Record, error) {
	if err := s.failure(); err != nil {
		return nil, err
	}
	return s.Store.Get(id)
}

func (s *spyStore) Sweep() (time.Time, error) {
	s.mu.Lock()
	s.swept++
	s.mu.Unlock()
	if err := s.failure(); err != nil {
		return time.Time{}, err
	}
	return s.Store.Sweep()
}

func (s *spyStore) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fail
}

func (s *spyStore) setFailure(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *spyStore) sweeps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.swept
}

// TestTasksWithoutTheirStore: a disk that is full costs no result, and no secret
// of the disk reaches a client.
func TestTasksWithoutTheirStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &spyStore{Store: task.NewMemory(nil)}
		c := taskFixture{options: session.TaskOptions{Store: store, TTL: time.Hour}}.start(t,
			working("optional", registry.TaskOptional, time.Second), working("always", registry.TaskAlways, time.Second)).client()
		id := c.begin("always", `{}`)
		store.setFailure(errors.New("the disk /dev/secret is full"))
		pass(time.Second)
		if diff := cmp.Diff(done("always is done"), c.state(id)); diff != "" {
			t.Errorf("a task whose end could not be stored (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(plain("optional is done"), c.call("optional", `{}`), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("a call that can do without a task (-want +got):\n%s", diff)
		}
		for name, r := range map[string]reply{"a call that cannot": c.call("always", `{}`), "a look at another task": c.get(task.NewID())} {
			if !strings.HasPrefix(r.err, "-32603 internal error (incident ") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		store.setFailure(nil)
		if diff := cmp.Diff(done("always is done"), c.state(id)); diff != "" {
			t.Errorf("a task whose end could not be stored, later (-want +got):\n%s", diff)
		}
		pass(time.Hour)
		if got := c.state(id); got != unknownTask().err {
			t.Errorf("it was not forgotten: %s", got)
		}
	})
}

// TestResultsThatDoNotFit fail their task, and say so.
func TestResultsThatDoNotFit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := task.NewMemory(&task.Options{MaxBytes: 1000})
		f := taskFixture{options: session.TaskOptions{Store: store}, layer: layer.Options{MaxOutput: -1}}
		c := f.start(t, may("large", registry.TaskAlways, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult(strings.Repeat("x", 1000)), nil
		})).client()
		id := c.begin("large", `{}`)
		synctest.Wait()
		if diff := cmp.Diff(`failed {"code":-32603,"message":"the result of the task is too large to be kept"}`, c.state(id)); diff != "" {
			t.Errorf("the task (-want +got):\n%s", diff)
		}
	})
}

// TestStoresThatAreFull refuse the task, not the call.
func TestStoresThatAreFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := task.NewMemory(&task.Options{MaxRecords: 1})
		c := taskFixture{options: session.TaskOptions{Store: store}}.start(t, working("optional", registry.TaskOptional, time.Second), working("always", registry.TaskAlways, time.Second)).client()
		id := c.begin("always", `{}`)
		pass(time.Second)
		want := []reply{
			failed("always cannot be started now: creating a task: task: the store is full: 1 tasks are kept. Wait for a task to end, or cancel one, and try again."),
			plain("optional is done"),
		}
		if diff := cmp.Diff(want, []reply{c.call("always", `{}`), c.call("optional", `{}`)}, cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if got := c.state(id); got != done("always is done") {
			t.Errorf("the first task: %s", got)
		}
	})
}

// TestShutdownEndsTasks: they have failed then, for those who ask after a
// restart as well.
func TestShutdownEndsTasks(t *testing.T) {
	path := t.TempDir()
	opened := func(t *testing.T) *task.Dir {
		d, err := task.OpenDir(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	bubble(t, func(t *testing.T) {
		dir := opened(t)
		tools := []registry.Tool{working("work", registry.TaskOptional, time.Minute), working("quick", registry.TaskOptional, 0), may("wait", registry.TaskOptional, func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			return nil, wait(ctx, time.Hour)
		})}
		s := taskFixture{options: session.TaskOptions{Store: dir}}.start(t, tools...)
		c := s.client()
		ran, ended := c.begin("work", `{}`), c.begin("quick", `{}`)
		synctest.Wait()
		waiting := make(chan reply, 1)
		go func() { waiting <- c.call("wait", `{}`) }() // ends with the server
		synctest.Wait()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		const shutdown = `{"code":-32603,"message":"the server is shutting down"}`
		want := []string{"failed " + shutdown, done("quick is done")}
		if diff := cmp.Diff(want, []string{c.state(ran), c.state(ended)}); diff != "" {
			t.Errorf("after the end (-want +got):\n%s", diff)
		}
		for name, r := range map[string]reply{"a call that was waited for": <-waiting, "a call that came late": c.call("work", `{}`)} {
			if r.err == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}

		dir = opened(t)
		c = taskFixture{options: session.TaskOptions{Store: dir}}.start(t, tools...).client()
		if diff := cmp.Diff(want, []string{c.state(ran), c.state(ended)}); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestShutdownDoesNotWaitForEver for a handler that does not look at its context.
func TestShutdownDoesNotWaitForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		s := taskFixture{}.start(t, may("deaf", registry.TaskAlways, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			<-release
			return registry.TextResult("at last"), nil
		}))
		c := s.client()
		id := c.begin("deaf", `{}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		close(release)
		synctest.Wait()
		if got := c.state(id); got != done("at last") {
			t.Errorf("the task: %s", got)
		}
	})
}

// TestTasksAreNotLogged by their ids, which are all that an anonymous client has
// to show.
func TestTasksAreNotLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		f := taskFixture{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		c := f.start(t, working("work", registry.TaskAlways, time.Second), may("broken", registry.TaskAlways, func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, errors.New("broken")
		})).client()
		ids := []string{c.begin("work", `{}`), c.begin("broken", `{}`)}
		pass(time.Second)
		for _, id := range ids {
			if strings.Contains(log.String(), id) {
				t.Errorf("the log has the id of a task: %s", &log)
			}
		}
		if !strings.Contains(log.String(), "broken") {
			t.Error("the log does not have the error")
		}
	})
}

// TestManyTasks runs many at once, from several principals, with every request
// there is about them.
func TestManyTasks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{options: session.TaskOptions{MaxRunning: 1000, MaxPerPrincipal: 1000}}.start(t, working("work", registry.TaskOptional, time.Second), may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			name, err := askName(ctx, call, "name")
			return registry.TextResult(name), err
		}))
		c := s.client()
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				work, ask, stop := c.begin("work", `{}`), c.begin("ask", `{}`), c.begin("ask", `{}`)
				c.get(work)
				c.update(ask, names("name", fmt.Sprint(i)))
				c.cancel(stop)
				time.Sleep(2 * time.Second)
				c.update(ask, names("name", fmt.Sprint(i)))
				time.Sleep(time.Second)
				want := []string{done("work is done"), done(fmt.Sprintf("accept %d", i)), "cancelled"}
				if diff := cmp.Diff(want, []string{c.state(work), c.state(ask), c.state(stop)}); diff != "" {
					t.Errorf("tasks (-want +got):\n%s", diff)
				}
			})
		}
		wg.Wait()
	})
}
