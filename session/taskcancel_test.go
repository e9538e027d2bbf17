package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// TestTasksAreCancelledTogether: a client asks for it, and the handler decides
// what comes of it.
func TestTasksAreCancelledTogether(t *testing.T) {
	const cancelling = " the task is being cancelled"
	for _, tc := range []struct {
		name    string
		handler registry.ToolHandler
		want    []string // at once, and in the end
	}{
		{"it stops", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			return nil, wait(ctx, time.Hour)
		}, []string{"cancelled", "cancelled"}},
		{"it reports that as a failure", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			return nil, registry.Failf("stopped: %w", wait(ctx, time.Hour))
		}, []string{"cancelled", "cancelled"}},
		{"it clears up first", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			err := wait(ctx, time.Hour)
			return nil, errors.Join(err, wait(context.WithoutCancel(ctx), time.Second))
		}, []string{"working" + cancelling, "cancelled"}},
		{"it gets its work done all the same", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult("done"), wait(context.WithoutCancel(ctx), time.Second)
		}, []string{"working" + cancelling, done("done")}},
		{"it waits for input", func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			_, err := askName(ctx, call, "name")
			return nil, err
		}, []string{"cancelled", "cancelled"}},
		{"it waits for input and clears up", func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			_, err := askName(context.WithoutCancel(ctx), call, "name")
			return nil, errors.Join(err, wait(context.WithoutCancel(ctx), time.Second))
		}, []string{"working" + cancelling, "cancelled"}},
		{"it asks when it should stop", func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			<-ctx.Done()
			_, err := askName(context.WithoutCancel(ctx), call, "name")
			return nil, err
		}, []string{"cancelled", "cancelled"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := taskFixture{}.start(t, may("t", registry.TaskAlways, tc.handler)).client()
				id := c.begin("t", `{}`)
				synctest.Wait()
				want := []reply{acknowledged(), acknowledged()}
				if diff := cmp.Diff(want, []reply{c.cancel(id), c.cancel(id)}, cmp.AllowUnexported(reply{})); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				synctest.Wait()
				got := []string{c.state(id)}
				pass(2 * time.Second)
				got = append(got, c.state(id))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(acknowledged(), c.cancel(id), cmp.AllowUnexported(reply{})); diff != "" {
					t.Errorf("cancelling what is over (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCancelledTasksHaveACause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		causes := make(chan error, 1)
		c := taskFixture{}.start(t, may("t", registry.TaskAlways, func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		})).client()
		c.cancel(c.begin("t", `{}`))
		if got, want := (<-causes).Error(), "the client cancelled the task"; got != want {
			t.Errorf("the cause is %q, want %q", got, want)
		}
	})
}
