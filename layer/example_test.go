package layer_test

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// noExec hides whatever runs programs from everybody but operators.
type noExec struct{}

func (noExec) Class(p *policy.Principal) string { return fmt.Sprint(p.HasRole("operator")) }

func (noExec) Visible(p *policy.Principal, s *policy.Subject) bool {
	return p.HasRole("operator") || !s.Capabilities.Any(policy.Exec)
}

func (noExec) Check(context.Context, *policy.Principal, *policy.Subject, string) error { return nil }

// What the access hides is answered like what does not exist, and no middleware
// sees a call of it.
func Example() {
	answer := func(text string) registry.ToolHandler {
		return func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			return registry.TextResult(text), nil
		}
	}
	schema := []byte(`{"type":"object"}`)
	reg := registry.New(nil)
	err := reg.AddTool(
		registry.Tool{Name: "uptime", InputSchema: schema, Capabilities: policy.ReadState, Handler: answer("9 days")},
		registry.Tool{Name: "reboot", InputSchema: schema, Capabilities: policy.Exec, Handler: answer("see you")},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	trace := func(next layer.Handler) layer.Handler {
		return func(ctx context.Context, inv *layer.Invocation) (layer.Result, error) {
			fmt.Println("calling", inv.Call.Subject.Name)
			return next(ctx, inv)
		}
	}
	l := layer.New(&layer.Options{Registry: reg, Access: noExec{}, Middleware: []layer.Middleware{trace}})

	guest := &layer.Request{Principal: &policy.Principal{ID: "guest"}, Version: protocol.LatestStateless}
	operator := &layer.Request{Principal: &policy.Principal{ID: "ann", Roles: []string{"operator"}}, Version: protocol.LatestStateless}
	for _, r := range []*layer.Request{guest, operator} {
		for _, name := range []string{`"uptime"`, `"reboot"`, `"no_such_tool"`} {
			result, err := l.CallTool(context.Background(), r, []byte(name), nil)
			if err != nil {
				fmt.Println(err)
				continue
			}
			fmt.Printf("%s\n", result.AppendMembers(nil, r.Version))
		}
	}
	// Output:
	// calling uptime
	// "content":[{"type":"text","text":"9 days"}]
	// Unknown tool: reboot (-32602)
	// Unknown tool: no_such_tool (-32602)
	// calling uptime
	// "content":[{"type":"text","text":"9 days"}]
	// calling reboot
	// "content":[{"type":"text","text":"see you"}]
	// Unknown tool: no_such_tool (-32602)
}
