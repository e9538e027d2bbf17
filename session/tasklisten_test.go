package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/task"
)

// listen begins a listen, which ends with the returned function.
func (c *taskClient) listen(filter string) (*mailbox, func() reply) {
	box := new(mailbox)
	ctx, cancel := context.WithCancelCause(c.server.t.Context())
	over := make(chan reply, 1)
	go func() { over <- c.send(ctx, box, "subscriptions/listen", `"notifications":`+filter+`,`) }() // ends with ctx
	synctest.Wait()
	return box, func() reply {
		cancel(errors.New("enough"))
		return <-over
	}
}

const subscription = `"_meta":{"io.modelcontextprotocol/subscriptionId":7}`

func ackTasks(ids string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{` + ids + `},` + subscription + `}}`
}

// TestTasksAreAnnounced: every change is told in full to those who listen for
// the task, and to nobody else.
func TestTasksAreAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{}.start(t, working("work", registry.TaskOptional, time.Hour), may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			if err := wait(ctx, time.Second); err != nil {
				return nil, err
			}
			name, err := askName(ctx, call, "name")
			if err != nil {
				return nil, err
			}
			return registry.TextResult(name), wait(ctx, time.Second)
		}))
		c := s.client()
		stranger := s.client()
		stranger.principal = policy.NewPrincipal("stranger")
		id, other, foreign := c.begin("ask", `{}`), c.begin("work", `{}`), stranger.begin("work", `{}`)
		box, end := c.listen(fmt.Sprintf(`{"taskIds":[%q,%q,%q,%q],"toolsListChanged":true}`, foreign, id, id, task.NewID()))
		deaf, endDeaf := c.listen(`{}`)
		notOurs, endNotOurs := stranger.listen(fmt.Sprintf(`{"taskIds":[%q]}`, id))

		pass(time.Second)
		c.update(id, names("name", "Ada"))
		pass(100 * time.Millisecond)
		c.cancel(other) // nobody listens for that one
		pass(time.Second)

		about := func(status, at, detail string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":%q,"status":%q,"createdAt":"2000-01-01T00:00:00.000Z","lastUpdatedAt":"2000-01-01T00:00:%sZ","ttlMs":3600000,"pollIntervalMs":1000%s,%s}}`, id, status, at, detail, subscription)
		}
		want := []string{
			ackTasks(fmt.Sprintf(`"taskIds":[%q]`, id)),
			about("input_required", "01.000", `,"inputRequests":`+nameQuestion("name")),
			about("working", "01.000", ""),
			about("completed", "02.000", `,"result":{"resultType":"complete","content":[{"type":"text","text":"accept Ada"}]}`),
		}
		got := box.take()
		for _, frame := range got[1:] {
			judge(t, "TaskStatusNotification", []byte(frame))
		}
		// The update came within the window of the question: what was not sent
		// yet is told in its latest state only.
		if len(got) == 3 {
			want = append(want[:1], want[2:]...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		for name, box := range map[string]*mailbox{"a listen for nothing": deaf, "another principal's listen": notOurs} {
			if diff := cmp.Diff([]string{ackTasks("")}, box.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		for _, end := range []func() reply{end, endDeaf, endNotOurs} {
			if r := end(); r.err == "" {
				t.Errorf("a listen that the client ended was answered: %+v", r)
			}
		}
	})
}

// TestEachChangeIsAnnouncedOnce, with time between the changes.
func TestEachChangeIsAnnouncedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := taskFixture{}.start(t, may("ask", registry.TaskAlways, func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			for _, key := range []string{"a", "b"} {
				if err := wait(ctx, time.Second); err != nil {
					return nil, err
				}
				if _, err := askName(ctx, call, key); err != nil {
					return nil, err
				}
			}
			return nil, wait(ctx, time.Hour)
		})).client()
		id := c.begin("ask", `{}`)
		box, end := c.listen(fmt.Sprintf(`{"taskIds":[%q]}`, id))
		for _, key := range []string{"a", "b"} {
			pass(2 * time.Second)
			c.update(id, names("unknown", "x"))
			pass(2 * time.Second)
			c.update(id, names(key, "x"))
		}
		pass(time.Second)
		c.cancel(id)
		pass(time.Second)
		got := []string{}
		for _, frame := range box.take()[1:] {
			judge(t, "TaskStatusNotification", []byte(frame))
			got = append(got, strings.Split(frame, `"`)[17])
		}
		want := []string{"input_required", "working", "input_required", "working", "cancelled"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("announced (-want +got):\n%s", diff)
		}
		end()
	})
}

func TestListenForTasksIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := taskFixture{}.start(t, working("work", registry.TaskOptional, time.Hour))
		never := taskFixture{}.start(t, working("work", registry.TaskNever, time.Hour))
		undeclared := reply{
			err:    "-32021 The client must declare the extension io.modelcontextprotocol/tasks for this",
			data:   `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
			status: 400,
		}
		for _, tc := range []struct {
			name   string
			client *taskClient
			ids    string
			want   reply
		}{
			{"not declared", s.client().as(withoutTasks), `["x"]`, undeclared},
			{"not declared, none", s.client().as(withoutTasks), `[]`, undeclared},
			{"no array", s.client(), `"x"`, reply{err: "-32602 subscriptions/listen: params.notifications.taskIds must be an array of strings"}},
			{"no strings", s.client(), `[1]`, reply{err: "-32602 subscriptions/listen: params.notifications.taskIds must be an array of strings"}},
		} {
			r := tc.client.do("subscriptions/listen", `"notifications":{"taskIds":`+tc.ids+`},`)
			if diff := cmp.Diff(tc.want, r, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.name, diff)
			}
		}
		for name, c := range map[string]*taskClient{"null": s.client(), "a server without tasks": never.client()} {
			ids := `["x"]`
			if name == "null" {
				ids = name
			}
			box, end := c.listen(`{"taskIds":` + ids + `}`)
			if diff := cmp.Diff([]string{ackTasks("")}, box.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			end()
		}
	})
}
