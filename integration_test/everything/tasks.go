package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// taskTools registers the tools of the suite whose calls can go on as tasks. But
// for those that are nothing without a task, they serve every client.
func (f *fixtures) taskTools() error {
	greet := registry.Tool{Name: "greet", Description: "Greet somebody, at once."}
	if err := typed(f, greet, func(_ context.Context, _ *registry.Call, in greetIn) (string, error) {
		return fmt.Sprintf("Hello, %s!", in.Name), nil
	}); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "slow_compute", Description: "Compute for a number of seconds.", Task: registry.TaskOptional}, slowCompute); err != nil {
		return err
	}
	if err := typed(f, registry.Tool{Name: "confirm_delete", Description: "Delete a file that is not there, once the user agrees.", Task: registry.TaskOptional}, confirmDelete); err != nil {
		return err
	}
	for _, t := range []registry.Tool{
		{Name: "failing_job", Description: "Fail after a second, in a task.", Task: registry.TaskAlways, Handler: failingJob},
		{Name: "protocol_error_job", Description: "End with an error of the protocol, in a task.", Task: registry.TaskAlways, Handler: protocolErrorJob},
		{Name: "multi_input", Description: "Ask two questions at once, in a task.", Task: registry.TaskOptional, Handler: multiInput},
		{Name: "test_tool_with_task", Description: "Ask a question first and begin a task then.", Task: registry.TaskOptional, Handler: askThenWork},
	} {
		t.InputSchema = []byte(noInput)
		if err := f.reg.AddTool(t); err != nil {
			return err
		}
	}
	return nil
}

type greetIn struct {
	Name string `json:"name" jsonschema:"description=Whom to greet."`
}

type slowComputeIn struct {
	Seconds float64 `json:"seconds" jsonschema:"description=How long to compute.,minimum=0,maximum=3600"`
	Label   string  `json:"label,omitempty" jsonschema:"description=What to call the result."`
}

func slowCompute(ctx context.Context, call *registry.Call, in slowComputeIn) (string, error) {
	if in.Seconds > 0 {
		if err := call.StartTask(ctx); err != nil {
			return "", err
		}
	}
	if err := pause(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
		return "", err
	}
	return fmt.Sprintf("computed %q in %v seconds", in.Label, in.Seconds), nil
}

type confirmDeleteIn struct {
	Filename string `json:"filename" jsonschema:"description=What to delete."`
}

func confirmDelete(ctx context.Context, call *registry.Call, in confirmDeleteIn) (string, error) {
	if err := call.StartTask(ctx); err != nil {
		return "", err
	}
	form := &registry.Form{Fields: []registry.Field{{Name: "confirm", Kind: registry.FieldBoolean, Required: true}}}
	res, err := call.Elicit(ctx, "confirm", &registry.Elicitation{Message: "Delete " + in.Filename + "?", Form: form})
	if err != nil {
		return "", err
	}
	if string(res.Field("confirm")) != "true" {
		return in.Filename + " was kept", nil
	}
	return in.Filename + " was deleted", nil
}

func failingJob(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	return nil, registry.Failf("the job failed, as it always does")
}

func protocolErrorJob(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
	return nil, protocol.Errorf(protocol.CodeInternal, "the job ended with an error of the protocol, as it always does")
}

// multiInput asks from two goroutines, so that a task has both questions at
// once. Without a task neither call waits.
func multiInput(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	if err := call.StartTask(ctx); err != nil {
		return nil, err
	}
	var first, second *registry.ElicitResult
	var err1, err2 error
	var wg sync.WaitGroup
	wg.Go(func() { first, err1 = call.Elicit(ctx, "first_name", question("What is your first name?", "name")) })
	wg.Go(func() { second, err2 = call.Elicit(ctx, "last_name", question("What is your last name?", "name")) })
	wg.Wait()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return contents(text("%s %s", first.Text("name"), second.Text("name"))), nil
}

// askThenWork asks before there is a task, so that the client answers within
// the call.
func askThenWork(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
	res, err := call.Elicit(ctx, "user_name", question("What is your name?", "name"))
	if err != nil {
		return nil, err
	}
	if err := call.StartTask(ctx); err != nil {
		return nil, err
	}
	if err := pause(ctx, 200*time.Millisecond); err != nil {
		return nil, err
	}
	return contents(text("The work for %s is done.", res.Text("name"))), nil
}
