package session_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"github.com/google/go-cmp/cmp"
)

// progress is the params of a progress notification for the token "t".
func progress(rest string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t",` + rest + `}}`
}

func TestProgress(t *testing.T) {
	type step struct {
		progress, total float64
		message         string
	}
	tests := []struct {
		name, version string
		in            []step
		want          []string
	}{
		{"grows", "2025-11-25", []step{{1, 0, ""}, {2, 0, ""}}, []string{progress(`"progress":1`), progress(`"progress":2`)}},
		{"does not grow", "2025-11-25", []step{{2, 0, ""}, {2, 0, ""}, {1, 0, ""}, {2.5, 0, ""}}, []string{progress(`"progress":2`), progress(`"progress":2.5`)}},
		{"begins at zero", "2025-11-25", []step{{0, 0, ""}, {0, 0, ""}}, []string{progress(`"progress":0`)}},
		{"below zero", "2025-11-25", []step{{-1, 0, ""}}, []string{progress(`"progress":-1`)}},
		{"total and message", "2025-11-25", []step{{1, 2, "half"}}, []string{progress(`"progress":1,"total":2,"message":"half"`)}},
		{"no message yet", "2024-11-05", []step{{1, 2, "half"}}, []string{progress(`"progress":1,"total":2`)}},
		{"no numbers", "2025-11-25", []step{{math.NaN(), 0, ""}, {math.Inf(1), 0, ""}, {1, math.Inf(1), ""}}, []string{progress(`"progress":1`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fixture{tools: []registry.Tool{tool("t", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
					for _, s := range tt.in {
						if err := c.Progress(ctx, s.progress, s.total, s.message); err != nil {
							return nil, err
						}
					}
					return registry.TextResult(""), nil
				})}}.connect(t)
				p.handshake(tt.version)
				p.take()
				p.send(request("1", "tools/call", `"name":"t","_meta":{"progressToken":"t"}`))
				got := p.take()
				if diff := cmp.Diff(tt.want, got[:len(got)-1]); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
				if a := p.ask(request("2", "tools/call", `"name":"t"`)); a.Result == nil {
					t.Error("no result without a token")
				}
			})
		})
	}
}

// What a handler leaves running when it returns, or when its call was cancelled,
// sends nothing.
func TestNothingFollowsTheEnd(t *testing.T) {
	var late []func() error
	report := func(ctx context.Context, c *registry.Call) {
		ctx = context.WithoutCancel(ctx)
		late = append(late,
			func() error { return c.Progress(ctx, 100, 0, "") },
			func() error { return c.Log(ctx, protocol.LogEmergency, "", "x") })
	}
	synctest.Test(t, func(t *testing.T) {
		p := fixture{tools: []registry.Tool{
			tool("returns", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
				report(ctx, c)
				return registry.TextResult(""), nil
			}),
			tool("fails", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
				report(ctx, c)
				return nil, errors.New("no")
			}),
			tool("panics", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
				report(ctx, c)
				panic("no")
			}),
			tool("waits", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
				report(ctx, c)
				<-ctx.Done()
				// The client does not want to know any more.
				if err := c.Progress(ctx, 1, 0, ""); err != nil {
					return nil, err
				}
				return registry.TextResult(""), c.Log(ctx, protocol.LogEmergency, "", "x")
			}),
		}}.connect(t)
		p.handshake("2025-11-25")
		for i, name := range []string{"returns", "fails", "panics", "waits"} {
			p.send(request(fmt.Sprint(i), "tools/call", `"name":"`+name+`","_meta":{"progressToken":"t"}`))
		}
		p.take()
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"enough"}}`)
		for _, f := range late {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
		settle()
		if got := p.take(); len(got) > 0 {
			t.Errorf("after the end came %q", got)
		}
	})
}

func TestCancellationHasACause(t *testing.T) {
	for reason, want := range map[string]string{`,"reason":"enough"`: "enough", ``: "cancelled", `,"reason":7`: "cancelled", `,"reason":"` + strings.Repeat("x", 2000) + `"`: "cancelled"} {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			p := fixture{tools: []registry.Tool{tool("t", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return nil, ctx.Err()
			})}}.connect(t)
			p.handshake("2025-11-25")
			p.send(request("1", "tools/call", `"name":"t"`),
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1`+reason+`}}`)
			if !errors.Is(cause, jsonrpc.ErrCancelled) || !strings.Contains(cause.Error(), want) || len(cause.Error()) > 200 {
				t.Errorf("%.40s: the cause is %v", reason, cause)
			}
		})
	}
}

func TestLogs(t *testing.T) {
	all := []protocol.LogLevel{protocol.LogDebug, protocol.LogInfo, protocol.LogWarning, protocol.LogEmergency}
	tests := []struct {
		name, before, call string
		want               string
	}{
		{"as a session begins", ``, request("1", "tools/call", `"name":"t"`), "info warning emergency"},
		{"lower", `debug`, request("1", "tools/call", `"name":"t"`), "debug info warning emergency"},
		{"higher", `alert`, request("1", "tools/call", `"name":"t"`), "emergency"},
		{"not asked for", `debug`, modern("1", "tools/call", `"name":"t"`), ""},
		{"asked for", `emergency`, strings.Replace(modern("1", "tools/call", `"name":"t"`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"warning",`, 1), "warning emergency"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fixture{tools: []registry.Tool{tool("t", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
					for _, level := range all {
						if err := c.Log(ctx, level, "", map[string]any{"line": "a\nb"}); err != nil {
							return nil, err
						}
					}
					return registry.TextResult(""), nil
				})}}.connect(t)
				p.handshake("2025-11-25")
				if tt.before != "" {
					p.ask(request("0", "logging/setLevel", `"level":"`+tt.before+`"`))
				}
				p.take()
				p.send(tt.call)
				var got []string
				for _, line := range p.take() {
					if _, rest, ok := strings.Cut(line, `"params":{"level":"`); ok {
						level, rest, _ := strings.Cut(rest, `"`)
						got = append(got, level)
						if rest != `,"data":{"line":"a\nb"}}}` {
							t.Errorf("the log message is %s", line)
						}
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("levels (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The metadata of a result is merged with the server's own.
func TestResultMetadata(t *testing.T) {
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}`
	for own, want := range map[string][2]string{
		``:                  {`{"content":[]}`, `{"resultType":"complete","content":[],"_meta":{` + info + `}}`},
		`{}`:                {`{"content":[],"_meta":{}}`, `{"resultType":"complete","content":[],"_meta":{` + info + `}}`},
		` { } `:             {`{"content":[],"_meta":{ }}`, `{"resultType":"complete","content":[],"_meta":{` + info + `}}`},
		`{"a":1}`:           {`{"content":[],"_meta":{"a":1}}`, `{"resultType":"complete","content":[],"_meta":{` + info + `,"a":1}}`},
		"{\n \"a\": [1]\n}": {`{"content":[],"_meta":{"a":[1]}}`, `{"resultType":"complete","content":[],"_meta":{` + info + `,"a":[1]}}`},
		` {"a":1,"io.modelcontextprotocol\/serverInfo":{"name":"other"}, "b":[ 2 ]}`: { // the server says who it is
			`{"content":[],"_meta":{"a":1,"b":[ 2 ]}}`, `{"resultType":"complete","content":[],"_meta":{` + info + `,"a":1,"b":[ 2 ]}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := fixture{tools: []registry.Tool{tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
				return &protocol.CallToolResult{Meta: []byte(own)}, nil
			})}}.connect(t)
			p.handshake("2024-11-05") // results had metadata from the beginning
			if diff := cmp.Diff(want[0], string(p.ask(request("1", "tools/call", `"name":"t"`)).Result)); diff != "" {
				t.Errorf("handshake era, %q (-want +got):\n%s", own, diff)
			}
			if diff := cmp.Diff(want[1], string(p.ask(modern("2", "tools/call", `"name":"t"`)).Result)); diff != "" {
				t.Errorf("stateless era, %q (-want +got):\n%s", own, diff)
			}
		})
	}
}

// The stateless era has two codes less.
func TestErrorsOfAnotherEra(t *testing.T) {
	tests := []struct {
		in                   *protocol.Error
		handshake, stateless string
	}{
		{protocol.Errorf(protocol.CodeResourceNotFound, "gone"), "-32002 gone", "-32602 gone"},
		{protocol.Errorf(protocol.CodeURLElicitation, "open this"), "-32042 open this", "-32603 internal error"},
		{protocol.Errorf(protocol.CodeAccessDenied, "no"), "-31001 no", "-31001 no"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			p := fixture{tools: []registry.Tool{tool("t", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
				return nil, fmt.Errorf("on the way: %w", tt.in)
			})}}.connect(t)
			p.handshake("2025-11-25")
			a := p.ask(request("1", "tools/call", `"name":"t"`))
			if got := fmt.Sprint(a.Error.Code, " ", a.Error.Message); got != tt.handshake {
				t.Errorf("handshake era: %s, want %s", got, tt.handshake)
			}
			a = p.ask(modern("2", "tools/call", `"name":"t"`))
			if got := fmt.Sprint(a.Error.Code, " ", a.Error.Message); !strings.HasPrefix(got, tt.stateless) {
				t.Errorf("stateless era: %s, want %s", got, tt.stateless)
			}
		})
	}
}

// Log data that is no JSON is the handler's fault, and harms nobody else.
func TestBrokenLogData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		p := fixture{tools: []registry.Tool{tool("t", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
			err = c.Client.Log(ctx, protocol.LogError, "", []byte("\"a\\\"\n"))
			return registry.TextResult(""), nil
		})}}.connect(t)
		p.handshake("2025-11-25")
		p.take()
		if a := p.ask(request("1", "tools/call", `"name":"t"`)); a.Result == nil || err == nil {
			t.Errorf("the call comes to %+v, the log to %v", a, err)
		}
	})
}

// What a handler keeps must be JSON, or the state could not be read again.
func TestBrokenKeptState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{tools: []registry.Tool{tool("t", func(ctx context.Context, c *registry.Call) (*protocol.CallToolResult, error) {
			c.Client.(registry.Asker).Save("k", []byte(`{"a":`))
			_, err := c.Roots(ctx, "roots")
			return nil, err
		})}}.connect(t)
		line := strings.Replace(modern("1", "tools/call", `"name":"t"`), `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{"roots":{}}`, 1)
		if a := p.ask(line); a.Result != nil || a.Error.Code != -32603 {
			t.Errorf("the call comes to %+v", a)
		}
	})
}
