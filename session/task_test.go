package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/task"
)

// TestTaskOnTheWire follows one task, byte by byte.
func TestTaskOnTheWire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{options: session.TaskOptions{TTL: time.Minute, PollInterval: 500 * time.Millisecond}}.start(t, working("work", registry.TaskOptional, 3*time.Second))
		c := s.client()
		created := c.call("work", `{}`)
		id := strings.Split(created.result, `"`)[7]
		if !task.ValidID(id) {
			t.Errorf("the id is %q", id)
		}
		const rest = `"createdAt":"2000-01-01T00:00:00.000Z","lastUpdatedAt":"2000-01-01T00:00:0%d.000Z","ttlMs":60000,"pollIntervalMs":500`
		want := []reply{
			{result: `{"resultType":"task","taskId":"` + id + `","status":"working",` + fmt.Sprintf(rest, 0) + `}`},
			{result: `{"resultType":"complete","taskId":"` + id + `","status":"working",` + fmt.Sprintf(rest, 0) + `}`},
			{result: `{"resultType":"complete","taskId":"` + id + `","status":"completed",` + fmt.Sprintf(rest, 3) + `,"result":{"resultType":"complete","content":[{"type":"text","text":"work is done"}]}}`},
			acknowledged(), // too late
			acknowledged(),
		}
		got := []reply{created, c.get(id)}
		pass(3 * time.Second)
		got = append(got, c.get(id), c.cancel(id), c.update(id, `{"x":1}`))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestTasksAreForThoseWhoTakeThem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{}.start(t, working("never", registry.TaskNever, time.Second), working("optional", registry.TaskOptional, time.Second), working("always", registry.TaskAlways, time.Second))
		c := s.client()
		refusal := reply{
			err:    "-32021 The client must declare the extension io.modelcontextprotocol/tasks for this",
			data:   `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
			status: 400,
		}
		want := map[string]reply{"never": plain("never is done"), "never, with tasks": plain("never is done"), "optional": plain("optional is done"), "always": refusal,
			"get": refusal, "cancel": refusal, "update": refusal, "get without an id": refusal}
		old := c.as(withoutTasks)
		got := map[string]reply{"never": old.call("never", `{}`), "never, with tasks": c.call("never", `{}`), "optional": old.call("optional", `{}`), "always": old.call("always", `{}`),
			"get": old.get("x"), "cancel": old.cancel("x"), "update": old.update("x", `3`), "get without an id": old.do("tasks/get", "")}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		for _, name := range []string{"optional", "always"} {
			id := c.begin(name, `{}`)
			pass(time.Second)
			if diff := cmp.Diff(done(name+" is done"), c.state(id)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// TestTasksStayOutOfTheHandshakeEra: R19.43, whatever a client declares.
func TestTasksStayOutOfTheHandshakeEra(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := fixture{tools: []registry.Tool{working("optional", registry.TaskOptional, 0), working("always", registry.TaskAlways, 0)}}
		p := f.connect(t)
		first := p.ask(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + withTasks + `,"clientInfo":{"name":"t","version":"0"}}}`)
		p.send(initialized)
		if strings.Contains(string(first.Result), "tasks") {
			t.Errorf("the handshake mentions tasks: %s", first.Result)
		}
		var got []string
		for _, line := range []string{
			request("1", "tools/call", `"name":"optional"`),
			request("2", "tools/call", `"name":"always"`),
			request("3", "tasks/get", `"taskId":"x"`),
		} {
			a := p.ask(line)
			got = append(got, string(a.Result)+a.Error.Message)
		}
		want := []string{
			`{"content":[{"type":"text","text":"optional is done"}]}`,
			`{"content":[{"type":"text","text":"always cannot run here: the client does not declare the extension io.modelcontextprotocol/tasks."}],"isError":true}`,
			`Method not found: tasks/get`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestTasksAreDeclaredWhenThereCanBeSome(t *testing.T) {
	const declared = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	for _, tc := range []struct {
		name    string
		options session.TaskOptions
		tool    registry.Tool
		want    bool
	}{
		{"no tool can", session.TaskOptions{}, working("t", registry.TaskNever, 0), false},
		{"a tool can", session.TaskOptions{}, working("t", registry.TaskOptional, 0), true},
		{"a tool must", session.TaskOptions{}, working("t", registry.TaskAlways, 0), true},
		{"a store is given", session.TaskOptions{Store: task.NewMemory(nil)}, working("t", registry.TaskNever, 0), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := taskFixture{options: tc.options}.start(t, tc.tool).client()
				if got := strings.Contains(c.do("server/discover", "").result, declared); got != tc.want {
					t.Errorf("declared: %v, want %v", got, tc.want)
				}
				want := map[string]reply{"tasks/get": {err: "-32601 Method not found: tasks/get", status: 404}}
				if tc.want {
					want["tasks/get"] = unknownTask()
				}
				got := make(map[string]reply)
				for _, method := range []string{"tasks/get", "tasks/result", "tasks/list"} {
					got[method] = c.do(method, about("x"))
				}
				for _, method := range []string{"tasks/result", "tasks/list"} {
					want[method] = reply{err: "-32601 Method not found: " + method, status: 404}
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestSlowCallsBecomeTasks is about the threshold of the server.
func TestSlowCallsBecomeTasks(t *testing.T) {
	slow := func(mode registry.TaskMode, name string, d time.Duration) registry.Tool {
		return may(name, mode, func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			if err := wait(ctx, d); err != nil {
				return nil, err
			}
			return registry.TextResult(name + " is done"), nil
		})
	}
	bubble(t, func(t *testing.T) {
		s := taskFixture{options: session.TaskOptions{After: 2 * time.Second}}.start(t,
			slow(registry.TaskOptional, "fast", time.Second), slow(registry.TaskOptional, "slow", 5*time.Second), slow(registry.TaskNever, "never", 5*time.Second))
		c := s.client()
		took := func(f func()) time.Duration {
			start := time.Now()
			f()
			return time.Since(start)
		}
		var id string
		var got []reply
		want := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 5 * time.Second}
		times := []time.Duration{
			took(func() { got = append(got, c.call("fast", `{}`)) }),
			took(func() { id = c.begin("slow", `{}`) }),
			took(func() { got = append(got, c.call("never", `{}`)) }),
			took(func() { got = append(got, c.as(withoutTasks).call("slow", `{}`)) }),
		}
		if diff := cmp.Diff(want, times); diff != "" {
			t.Errorf("time until the answer (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]reply{plain("fast is done"), plain("never is done"), plain("slow is done")}, got, cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(done("slow is done"), c.state(id)); diff != "" {
			t.Errorf("the task (-want +got):\n%s", diff)
		}
	})
}

// TestHowTasksEnd: an error of the protocol fails a task, a failure of the tool
// completes it.
func TestHowTasksEnd(t *testing.T) {
	for _, tc := range []struct {
		name    string
		handler registry.ToolHandler
		want    string
	}{
		{"a result with everything", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			res := registry.StructuredResult([]byte("{\"n\":\n12345678901234567890}"))
			res.Meta = []byte(`{"k":1}`)
			return res, nil
		}, `completed {"resultType":"complete","content":[{"type":"text","text":"{\"n\":\n12345678901234567890}"}],"structuredContent":{"n":12345678901234567890},"_meta":{"k":1}}`},
		{"a failure", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, registry.Failf("it broke")
		}, `completed {"resultType":"complete","content":[{"type":"text","text":"it broke"}],"isError":true}`},
		{"an error for the peer", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, &protocol.Error{Code: -31001, Message: "no", Data: []byte(`{"why":[]}`)}
		}, `failed {"code":-31001,"message":"no","data":{"why":[]}}`},
		{"an ability that the client does not have", func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			return nil, call.Require(registry.CanElicitURL)
		}, `failed {"code":-32021,"message":"The client must declare elicitation.url for this","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`},
		{"an error that is nobody's business", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, errors.New("the secret is 4711")
		}, `failed {"code":-32603,"message":"internal error (incident X)"}`},
		{"a panic", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			panic("the secret is 4711")
		}, `failed {"code":-32603,"message":"internal error (incident X)"}`},
		{"input that nobody can give", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return nil, registry.ErrInputRequired
		}, `failed {"code":-32603,"message":"internal error (incident X)"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := taskFixture{}.start(t, may("t", registry.TaskAlways, tc.handler)).client()
				id := c.begin("t", `{}`)
				synctest.Wait()
				got := c.state(id)
				if before, after, ok := strings.Cut(got, "incident "); ok {
					got = before + "incident X" + after[strings.IndexByte(after, ')'):]
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("state (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestPanicAroundAHandler must not end the process: a task has no request that
// would catch it.
func TestPanicAroundAHandler(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		broken := func(next layer.Handler) layer.Handler {
			return func(ctx context.Context, inv *layer.Invocation) (layer.Result, error) {
				if _, err := next(ctx, inv); err != nil {
					return nil, err
				}
				panic("broken middleware")
			}
		}
		f := taskFixture{layer: layer.Options{Middleware: []layer.Middleware{broken}}, log: slog.New(slog.NewTextHandler(&log, nil))}
		c := f.start(t, working("work", registry.TaskOptional, time.Second)).client()
		id := c.begin("work", `{}`)
		pass(time.Second)
		if got := c.state(id); !strings.HasPrefix(got, `failed {"code":-32603,"message":"internal error (incident `) {
			t.Errorf("state: %s", got)
		}
		if r := c.as(withoutTasks).do("ping", ""); r.err == "" {
			t.Errorf("ping: %+v", r)
		}
		if !strings.Contains(log.String(), "broken middleware") || !strings.Contains(log.String(), "task_test.go") {
			t.Errorf("the log does not say where the panic came from: %s", &log)
		}
	})
}

// TestArgumentsAreJudgedFirst: no task is begun for a call that is refused.
func TestArgumentsAreJudgedFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := working("work", registry.TaskAlways, 0)
		w.InputSchema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		c := taskFixture{layer: layer.Options{Access: denyAll{}}}.start(t, w).client()
		if got := c.call("work", `{"n":1}`); got.err != "-31001 denied" {
			t.Errorf("a call that is not allowed: %+v", got)
		}
		c = taskFixture{}.start(t, w).client()
		if got := c.call("work", `{}`); !strings.Contains(got.result, `"isError":true`) || strings.Contains(got.result, "taskId") {
			t.Errorf("a call without arguments: %+v", got)
		}
		if got := c.call("missing", `{}`); got.err != "-32602 Unknown tool: missing" {
			t.Errorf("a tool that does not exist: %+v", got)
		}
	})
}

// denyAll lets everybody see everything and use nothing.
type denyAll struct{}

func (denyAll) Class(*policy.Principal) string                  { return "" }
func (denyAll) Visible(*policy.Principal, *policy.Subject) bool { return true }
func (denyAll) Check(context.Context, *policy.Principal, *policy.Subject, string) error {
	return protocol.Errorf(protocol.CodeAccessDenied, "denied")
}

// TestTasksBelongToTheirPrincipal: for everybody else they are not there.
func TestTasksBelongToTheirPrincipal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{}.start(t, working("work", registry.TaskOptional, time.Minute))
		owner := s.client()
		other := s.client()
		other.principal = policy.NewPrincipal("somebody else")
		check := func(id string) {
			t.Helper()
			want := []reply{unknownTask(), unknownTask(), unknownTask(), unknownTask()}
			got := []reply{other.get(id), other.update(id, `{}`), other.cancel(id), owner.get(task.NewID())}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		}
		id := owner.begin("work", `{}`)
		check(id)
		if got := owner.state(id); got != "working" {
			t.Errorf("after the attempts of another principal: %s", got)
		}
		pass(time.Minute)
		check(id)
		if got := owner.state(id); got != done("work is done") {
			t.Errorf("after all: %s", got)
		}
	})
}

// TestTasksHaveATimeToLive: a task that is over is forgotten then, and one that
// runs is stopped as well.
func TestTasksHaveATimeToLive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		causes := make(chan error, 1)
		endless := may("endless", registry.TaskAlways, func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return registry.TextResult("too late"), nil
		})
		c := taskFixture{options: session.TaskOptions{TTL: time.Minute}}.start(t, working("short", registry.TaskOptional, time.Second), endless).client()
		short, long := c.begin("short", `{}`), c.begin("endless", `{}`)
		pass(time.Minute - time.Millisecond)
		if diff := cmp.Diff([]string{done("short is done"), "working"}, []string{c.state(short), c.state(long)}); diff != "" {
			t.Errorf("before the end (-want +got):\n%s", diff)
		}
		pass(time.Millisecond)
		gone := unknownTask().err
		if diff := cmp.Diff([]string{gone, gone}, []string{c.state(short), c.state(long)}); diff != "" {
			t.Errorf("after the end (-want +got):\n%s", diff)
		}
		select {
		case err := <-causes:
			if want := "the time to live of the task is over"; err.Error() != want {
				t.Errorf("the cause is %q, want %q", err, want)
			}
		default:
			t.Error("the handler was not stopped")
		}
		pass(time.Minute)
		if got := c.state(long); got != gone {
			t.Errorf("the late result made it come back: %s", got)
		}
	})
}

// TestTasksForgottenAreGone looks at the store: what is over must not stay there
// because nobody asks.
func TestTasksForgottenAreGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &spyStore{Store: task.NewMemory(nil)}
		c := taskFixture{options: session.TaskOptions{Store: store, TTL: time.Minute}}.start(t, working("work", registry.TaskOptional, time.Second)).client()
		c.begin("work", `{}`)
		pass(30 * time.Second)
		c.begin("work", `{}`)
		before := store.sweeps()
		pass(10 * time.Minute)
		if got := store.sweeps() - before; got != 2 {
			t.Errorf("%d sweeps for two tasks, want one for each", got)
		}
	})
}

// TestTaskLimits: a tool that can do without a task does; one that cannot says
// so to the model.
func TestTaskLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{options: session.TaskOptions{MaxRunning: 3, MaxPerPrincipal: 2}}.start(t, working("optional", registry.TaskOptional, time.Minute), working("always", registry.TaskAlways, time.Minute))
		a, b := s.client(), s.client()
		b.principal = policy.NewPrincipal("b")
		a.begin("always", `{}`)
		a.begin("optional", `{}`)
		const advice = ". Wait for a task to end, or cancel one, and try again."
		want := failed("always cannot be started now: too many tasks: 2 tasks of this principal are running, which is the limit" + advice)
		if diff := cmp.Diff(want, a.call("always", `{}`), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("the bound of a principal (-want +got):\n%s", diff)
		}
		id := b.begin("always", `{}`)
		want = failed("always cannot be started now: too many tasks: 3 tasks are running, which is the limit" + advice)
		if diff := cmp.Diff(want, b.call("always", `{}`), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("the bound of all (-want +got):\n%s", diff)
		}
		b.cancel(id)
		synctest.Wait()
		id = b.begin("always", `{}`) // there is room again
		if diff := cmp.Diff(plain("optional is done"), a.call("optional", `{}`), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("a call that can do without a task (-want +got):\n%s", diff)
		}
		synctest.Wait() // it ended at the same time
		if got := b.state(id); got != done("always is done") {
			t.Errorf("the task after that: %s", got)
		}
	})
}

// TestRequestsAndTheirTasks: until there is a task the end of the request is that
// of the call, and afterwards it is not.
func TestRequestsAndTheirTasks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		returned := make(chan error, 1)
		before := may("before", registry.TaskOptional, func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // to put things in order
			returned <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		})
		c := taskFixture{}.start(t, before, working("work", registry.TaskOptional, time.Minute)).client()
		reason := errors.New("the client is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		start := time.Now()
		if got := c.send(ctx, new(mailbox), "tools/call", `"name":"before",`); got.err == "" {
			t.Errorf("the answer is %+v", got)
		}
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("the request took %v: its handler had not returned", got)
		}
		if got := <-returned; got != reason {
			t.Errorf("the cause in the handler is %v, want %v", got, reason)
		}

		ctx, cancel = context.WithCancelCause(t.Context())
		r := c.send(ctx, new(mailbox), "tools/call", `"name":"work",`)
		cancel(reason)
		pass(time.Minute)
		if got := c.state(strings.Split(r.result, `"`)[7]); got != done("work is done") {
			t.Errorf("a task whose request ended: %s", got)
		}
	})
}

// TestTasksOutliveTheTimeLimit: the limit is for clients that wait, unless it is
// the tool's own.
func TestTasksOutliveTheTimeLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		own := working("own", registry.TaskOptional, time.Minute)
		own.Timeout = 30 * time.Second
		late := may("late", registry.TaskOptional, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			if err := wait(ctx, 5*time.Second); err != nil {
				return nil, err
			}
			return nil, errors.Join(call.StartTask(ctx), wait(ctx, time.Minute))
		})
		c := taskFixture{layer: layer.Options{Timeout: 10 * time.Second}}.start(t,
			working("default", registry.TaskOptional, time.Minute), working("always", registry.TaskAlways, time.Minute), own, late).client()
		const stopped = " was stopped. Ask for less, or ask the operator for a longer timeout."
		if got := c.as(withoutTasks).call("default", `{}`); !strings.Contains(got.result, "default did not finish within 10s and"+stopped) {
			t.Errorf("without a task: %+v", got)
		}
		ids := []string{c.begin("default", `{}`), c.begin("always", `{}`), c.begin("own", `{}`)}
		lateID := c.begin("late", `{}`)
		pass(58 * time.Second)
		if got := c.state(lateID); got != "working" {
			t.Errorf("a task that began late: %s", got)
		}
		pass(2 * time.Second)
		want := []string{done("default is done"), done("always is done"), `completed {"resultType":"complete","content":[{"type":"text","text":"own did not finish within 30s and` + stopped + `"}],"isError":true}`}
		got := []string{c.state(ids[0]), c.state(ids[1]), c.state(ids[2])}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tasks (-want +got):\n%s", diff)
		}
	})
}

// TestTasksAreSilent: what a handler reports before there is a task goes to the
// request, and nothing does afterwards.
func TestTasksAreSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		talk := may("talk", registry.TaskOptional, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			logger := call.Logger("l")
			say := func(n int) error {
				logger.InfoContext(ctx, "said", "n", n)
				return call.Progress(ctx, float64(n), 0, "")
			}
			if err := errors.Join(say(1), call.StartTask(ctx), say(2)); err != nil {
				return nil, err
			}
			return registry.TextResult(fmt.Sprint(logger.Enabled(ctx, slog.LevelError))), nil
		})
		c := taskFixture{}.start(t, talk).client()
		c.meta = `,"progressToken":"p","io.modelcontextprotocol/logLevel":"info"`
		box := new(mailbox)
		r := c.send(t.Context(), box, "tools/call", `"name":"talk",`)
		synctest.Wait()
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"msg":"said","n":1}}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
		}
		if diff := cmp.Diff(want, box.take()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		if got := c.state(strings.Split(r.result, `"`)[7]); got != done("false") {
			t.Errorf("the task: %s", got)
		}
	})
}

// TestTasksKeepWhatTheyNeed: the bytes of the request are gone when a task looks
// at them.
func TestTasksKeepWhatTheyNeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		look := may("look", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			if err := wait(ctx, time.Second); err != nil {
				return nil, err
			}
			n, err := registry.Once(ctx, call, "n", func(context.Context) (int, error) { return 3, nil })
			if err != nil {
				return nil, err
			}
			again, err := registry.Once(ctx, call, "n", func(context.Context) (int, error) { return 4, nil })
			return registry.TextResult(fmt.Sprintf("%s %d %d %t", call.Arguments, n, again, bytes.Contains(call.Meta, []byte(`"k":"v"`)))), err
		})
		c := taskFixture{}.start(t, look).client()
		c.meta = `,"k":"v"`
		id := c.begin("look", `{"a":1}`)
		pass(time.Second)
		if diff := cmp.Diff(done(`{"a":1} 3 3 true`), c.state(id)); diff != "" {
			t.Errorf("the task (-want +got):\n%s", diff)
		}
	})
}

// TestTaskModes: a mode that does not exist is a mistake of the author, and a
// call that nobody listens to never becomes a task.
func TestTaskModes(t *testing.T) {
	err := registry.New(nil).AddTool(working("t", registry.TaskAlways+1, 0))
	if err == nil || !strings.Contains(err.Error(), "want TaskNever, TaskOptional or TaskAlways") {
		t.Errorf("the error is %v", err)
	}
	if err := new(registry.Call).StartTask(t.Context()); err != nil {
		t.Errorf("starting a task without a client: %v", err)
	}
}
