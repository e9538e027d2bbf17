package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// askName asks for a name.
func askName(ctx context.Context, call *registry.Call, key string) (string, error) {
	res, err := call.Elicit(ctx, key, &registry.Elicitation{Message: key + "?", Form: &registry.Form{Fields: []registry.Field{{Name: "name", Required: true}}}})
	if err != nil {
		return "", err
	}
	return res.Action + " " + res.Text("name"), nil
}

// nameQuestion is the question as clients see it.
func nameQuestion(keys ...string) string {
	var list []string
	for _, key := range keys {
		list = append(list, fmt.Sprintf(`%q:{"method":"elicitation/create","params":{"mode":"form","message":"%s?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`, key, key))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// names returns the answers to questions for names.
func names(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`%q:{"action":"accept","content":{"name":%q}}`, pairs[i], pairs[i+1]))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// TestTasksAsk follows a task that asks one question, then two at once.
func TestTasksAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			first, err := askName(ctx, call, "first")
			if err != nil {
				return nil, err
			}
			var wg sync.WaitGroup
			var second, third string
			var err2, err3 error
			wg.Go(func() { second, err2 = askName(ctx, call, "second") })
			wg.Go(func() {
				time.Sleep(time.Millisecond) // for a stable order
				third, err3 = askName(ctx, call, "third")
			})
			wg.Wait()
			if err := errors.Join(err2, err3, wait(ctx, time.Second)); err != nil {
				return nil, err
			}
			again, err := askName(ctx, call, "first") // no new question: its answer is there
			return registry.TextResult(strings.Join([]string{first, second, third, again}, ", ")), err
		})).client()
		id := c.begin("ask", `{}`)
		check := func(step, want string) {
			t.Helper()
			pass(time.Millisecond)
			if diff := cmp.Diff(want, c.state(id)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step, diff)
			}
		}
		answer := func(responses string, want reply) {
			t.Helper()
			if diff := cmp.Diff(want, c.update(id, responses), cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("answering %s (-want +got):\n%s", responses, diff)
			}
		}
		check("the first question", "input_required "+nameQuestion("first"))
		answer(`{}`, acknowledged())
		answer(names("second", "too early"), acknowledged())
		check("after answers to nothing", "input_required "+nameQuestion("first"))
		answer(names("first", "Ada"), acknowledged())
		check("both at once", "input_required "+nameQuestion("second", "third"))
		answer(names("first", "Eve"), acknowledged()) // answered already
		answer(names("third", "Cy"), acknowledged())
		check("one is left", "input_required "+nameQuestion("second"))
		answer(`{"second":{"action":"decline"},"more":null}`, acknowledged())
		check("it works", "working")
		pass(time.Second)
		check("the end", done("accept Ada, decline , accept Cy, accept Ada"))
		answer(names("first", "late"), acknowledged())
	})
}

// TestAnswersMustFit: one that cannot be used is refused, and nothing that came
// with it is taken.
func TestAnswersMustFit(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no object", `[]`, "-32602 tasks/update: params.inputResponses must be an object with an answer for each key"},
		{"a number", `{"a":3}`, `-32602 inputResponses: the answer to "a": want an object with "action": "accept", "decline" or "cancel"`},
		{"null", `{"b":{"action":"cancel"},"a":null}`, `-32602 inputResponses: the answer to "a": want an object with "action": "accept", "decline" or "cancel"`},
		{"a wrapped result", `{"a":{"result":{"action":"cancel"}}}`, `-32602 inputResponses: the answer to "a": want an object with "action": "accept", "decline" or "cancel"`},
		{"a form without its fields", `{"a":{"action":"accept"}}`, `-32602 inputResponses: the answer to "a": an accepted form needs "content", an object`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
					var wg sync.WaitGroup
					wg.Go(func() { askName(ctx, call, "a") })
					wg.Go(func() { askName(ctx, call, "b") })
					wg.Wait()
					return registry.TextResult("ok"), nil
				})).client()
				id := c.begin("ask", `{}`)
				synctest.Wait()
				before := c.state(id)
				if diff := cmp.Diff(reply{err: tc.want}, c.update(id, tc.in), cmp.AllowUnexported(reply{})); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				synctest.Wait()
				if diff := cmp.Diff(before, c.state(id)); diff != "" {
					t.Errorf("the task changed (-before +after):\n%s", diff)
				}
				c.update(id, names("a", "x", "b", "y"))
				synctest.Wait()
				if diff := cmp.Diff(done("ok"), c.state(id)); diff != "" {
					t.Errorf("the end (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestQuestionsBeforeATask are asked in the answer to the request, with sealed
// state, and the task knows the answers without asking again.
func TestQuestionsBeforeATask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runs := 0
		c := taskFixture{}.start(t, may("ask", registry.TaskOptional, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			runs++
			seen, err := registry.Once(ctx, call, "seen", func(context.Context) (int, error) { return runs, nil })
			if err != nil {
				return nil, err
			}
			first, err := askName(ctx, call, "first")
			if startErr := call.StartTask(ctx); startErr != nil || err != nil {
				return nil, errors.Join(err, startErr) // both ask for input in the first run
			}
			second, err := askName(ctx, call, "first")
			if err != nil {
				return nil, err
			}
			if err := wait(ctx, time.Second); err != nil {
				return nil, err
			}
			return registry.TextResult(fmt.Sprintf("%s, %s, run %d, seen %d", first, second, runs, seen)), nil
		})).client()
		var asked struct {
			ResultType, TaskID, RequestState string
			InputRequests                    json.RawMessage
		}
		if err := json.Unmarshal([]byte(c.call("ask", `{}`).result), &asked); err != nil {
			t.Fatal(err)
		}
		if asked.ResultType != "input_required" || asked.TaskID != "" || asked.RequestState == "" || string(asked.InputRequests) != nameQuestion("first") {
			t.Fatalf("the first answer is %+v", asked)
		}
		state, err := json.Marshal(asked.RequestState)
		if err != nil {
			t.Fatal(err)
		}
		r := c.do("tools/call", `"name":"ask","arguments":{},"requestState":`+string(state)+`,"inputResponses":`+names("first", "Ada")+`,`)
		if strings.Contains(r.result, "requestState") || !strings.HasPrefix(r.result, `{"resultType":"task"`) {
			t.Fatalf("the second answer is %+v", r)
		}
		pass(time.Second)
		if diff := cmp.Diff(done("accept Ada, accept Ada, run 2, seen 1"), c.state(strings.Split(r.result, `"`)[7])); diff != "" {
			t.Errorf("the task (-want +got):\n%s", diff)
		}
	})
}

// TestSlowQuestions: a call that has asked does not become a task by itself, for
// its client is about to be told what to answer.
func TestSlowQuestions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := taskFixture{}
		f.options.After = time.Second
		c := f.start(t, may("ask", registry.TaskOptional, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			_, err := askName(ctx, call, "first")
			if waitErr := wait(ctx, time.Minute); waitErr != nil {
				return nil, waitErr
			}
			return nil, err
		})).client()
		if got := c.call("ask", `{}`).result; !strings.HasPrefix(got, `{"resultType":"input_required"`) {
			t.Errorf("the answer is %s", got)
		}
	})
}

// TestQuestionsThatAreGivenUp are not shown any more. An answer that was under
// way is good for the next time.
func TestQuestionsThatAreGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if _, err := askName(short, call, "first"); !errors.Is(err, context.DeadlineExceeded) {
				return nil, fmt.Errorf("the error is %w", err)
			}
			if err := wait(ctx, time.Second); err != nil {
				return nil, err
			}
			name, err := askName(ctx, call, "first")
			return registry.TextResult(name), err
		})).client()
		id := c.begin("ask", `{}`)
		var got []string
		look := func(d time.Duration) {
			pass(d)
			got = append(got, c.state(id))
		}
		look(0)
		look(time.Second)
		c.update(id, names("first", "Ada"))
		look(0)
		look(time.Second)
		want := []string{"input_required " + nameQuestion("first"), "working", "working", done("accept Ada")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// TestQuestionsAreBounded: a handler that asks without end is stopped.
func TestQuestionsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			for i := 0; ; i++ {
				if _, err := askName(ctx, call, fmt.Sprint(i)); err != nil {
					return nil, err
				}
			}
		})).client()
		id := c.begin("ask", `{}`)
		for i := range 100 {
			synctest.Wait()
			c.update(id, names(fmt.Sprint(i), "x"))
		}
		synctest.Wait()
		if got := c.state(id); !strings.Contains(got, "the task has asked 100 questions, which is the limit") {
			t.Errorf("the task: %s", got)
		}
	})
}

// TestTasksAskForAllKinds of input.
func TestTasksAskForAllKinds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			roots, err := call.Roots(ctx, "roots")
			if err != nil {
				return nil, err
			}
			said, err := call.Sample(ctx, "say", &registry.Sampling{Messages: []registry.SampleMessage{{Role: protocol.RoleUser, Content: &protocol.Text{Text: "hi"}}}, MaxTokens: 5})
			if err != nil {
				return nil, err
			}
			return registry.TextResult(fmt.Sprintf("%d %s", len(roots), said.Text())), nil
		})).client()
		id := c.begin("ask", `{}`)
		synctest.Wait()
		got := []string{c.state(id)}
		c.update(id, `{"roots":{"roots":[{"uri":"file:///a"}]}}`)
		synctest.Wait()
		got = append(got, c.state(id))
		c.update(id, `{"say":{"role":"assistant","model":"m","content":{"type":"text","text":"ho"}}}`)
		synctest.Wait()
		got = append(got, c.state(id))
		want := []string{
			`input_required {"roots":{"method":"roots/list","params":{}}}`,
			`input_required {"say":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5}}}`,
			done("1 ho"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// TestOneKeyIsOneQuestion: clients tell questions apart by their keys.
func TestOneKeyIsOneQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			if _, err := askName(ctx, call, "key"); err != nil {
				return nil, err
			}
			_, err := call.Roots(ctx, "key")
			return registry.TextResult(err.Error()), nil
		})).client()
		id := c.begin("ask", `{}`)
		synctest.Wait()
		c.update(id, names("key", "x"))
		synctest.Wait()
		if diff := cmp.Diff(done(`the key "key" names two questions of one call`), c.state(id)); diff != "" {
			t.Errorf("the task (-want +got):\n%s", diff)
		}
	})
}
