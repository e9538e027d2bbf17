package session_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

func cancelled(id, reason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id, reason)
}

// A cancelled call keeps its place until its handler has really returned, and is
// never answered, whatever the handler returns then.
func TestA21CancelledCallIsInFlightUntilItsHandlerReturns(t *testing.T) {
	outcomes := map[string]func(context.Context) (*protocol.CallToolResult, error){
		"success": func(context.Context) (*protocol.CallToolResult, error) { return registry.TextResult("late"), nil },
		"error":   func(ctx context.Context) (*protocol.CallToolResult, error) { return nil, ctx.Err() },
		"failure": func(context.Context) (*protocol.CallToolResult, error) { return nil, registry.Failf("late") },
		"panic":   func(context.Context) (*protocol.CallToolResult, error) { panic("late") },
	}
	for _, version := range eras {
		for name, outcome := range outcomes {
			t.Run(version+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stubborn := make(chan struct{})
					var cause error
					c := fixture{tools: []registry.Tool{tool("wait", func(ctx context.Context, _ *registry.Call) (*protocol.CallToolResult, error) {
						<-ctx.Done()
						cause = context.Cause(ctx)
						<-stubborn
						return outcome(ctx)
					}), tool("quick", func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
						return registry.TextResult("ok"), nil
					})}}.
						connect(t).client(version, `{}`)
					c.send(c.write("7", "tools/call", `"name":"wait"`), cancelled("7", "enough"))
					if !errors.Is(cause, jsonrpc.ErrCancelled) || !strings.Contains(cause.Error(), "enough") {
						t.Errorf("the cause is %v", cause)
					}
					again := c.write("7", "tools/call", `"name":"quick"`)
					c.send(again)
					if got := c.take(); len(got) != 1 || !strings.Contains(got[0], "-32600") {
						t.Errorf("the id is taken, but the same again is answered with %q", got)
					}
					close(stubborn)
					settle()
					if got := c.take(); len(got) > 0 {
						t.Errorf("the cancelled call is answered with %q", got)
					}
					c.send(again)
					if got := c.take(); len(got) != 1 || !strings.Contains(got[0], `"ok"`) {
						t.Errorf("the id is free, but a new call is answered with %q", got)
					}
				})
			})
		}
	}
}

// A call that is cancelled while it waits for its client takes its question
// back, and then says nothing more, also when the question is answered after all.
func TestCancelWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed error
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			text, err := elicit(nameForm())(ctx, call)
			failed = err
			if err == nil {
				return text, nil
			}
			// It asks again, and reports, as if nothing had happened.
			_, err = call.Roots(ctx, "roots")
			return "", errors.Join(err, call.Log(ctx, protocol.LogEmergency, "", "x"), call.Progress(ctx, 1, 0, ""))
		}))}.connect(t).client(newestHandshake, canAll)
		id, q := c.pending()
		c.send(cancelled(id, "enough"))
		want := []string{cancellation(q.ID, "the peer cancelled the request: enough")}
		if diff := cmp.Diff(want, c.take()); diff != "" {
			t.Errorf("what comes (-want +got):\n%s", diff)
		}
		if !errors.Is(failed, jsonrpc.ErrCancelled) {
			t.Errorf("the handler sees %v", failed)
		}
		var failure *registry.Failure
		if errors.As(failed, &failure) {
			t.Error("the end of the call is told to the model as the client's refusal")
		}
		c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + ada + `}`)
		if got := c.take(); len(got) > 0 {
			t.Errorf("a late answer is answered with %q", got)
		}
		if got := c.converse("tools/call", callAsk, func(question) string { return ada }).outcome(); got != `accept {"name":"Ada"}` {
			t.Errorf("the next call comes to %s", got)
		}
	})
}

// Several questions of one call are all taken back.
func TestCancelWhileAskingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			other := make(chan error)
			go func() { // it is waited for
				_, err := call.Roots(ctx, "roots")
				other <- err
			}()
			_, err := elicit(nameForm())(ctx, call)
			return "", errors.Join(err, <-other)
		}))}.connect(t).client(newestHandshake, canAll)
		id := c.id()
		c.send(c.write(id, "tools/call", callAsk))
		asked := c.take()
		c.send(cancelled(id, ""))
		open := make(map[string]bool)
		for _, line := range asked {
			open[string(readMessage(t, line).ID)] = true
		}
		if len(open) != 2 {
			t.Fatalf("it asks %q", asked)
		}
		for _, line := range c.take() {
			m := readMessage(t, line)
			if m.Method != protocol.NotifyCancelled {
				t.Errorf("there comes %s", line)
			}
			for id := range open {
				if strings.Contains(string(m.Params), `"requestId":`+id+`,`) {
					delete(open, id)
				}
			}
		}
		if len(open) > 0 {
			t.Errorf("questions %v are not taken back", open)
		}
	})
}

// What a client says to a question that is not its own, or not any more, is
// ignored.
func TestForeignAnswersAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t).client(newestHandshake, canAll)
		id, q := c.pending()
		for _, other := range []string{`"` + string(q.ID) + `"`, "999", "-1", `"x"`, id} {
			c.send(`{"jsonrpc":"2.0","id":` + other + `,"result":` + bob + `}`)
		}
		c.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}`)
		if got := c.take(); len(got) > 0 {
			t.Errorf("they are answered with %q", got)
		}
		c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + ada + `}`)
		if got := c.take(); len(got) != 1 || readMessage(t, got[0]).outcome() != `accept {"name":"Ada"}` {
			t.Errorf("the answer comes to %q", got)
		}
	})
}

// An answer that is no response ends the question: nothing better will come.
func TestBrokenAnswer(t *testing.T) {
	for broken, fault := range map[string]string{
		`"result":7`:           "the result must be an object",
		`"result":null`:        "the result must be an object",
		`"error":{"code":1.5}`: `"code" must be an integer`,
		`"result":{},"error":{"code":1,"message":"m"}`: `a "result" as well as an "error"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t).client(newestHandshake, canAll)
			_, q := c.pending()
			c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,` + broken + `}`)
			got := c.take()
			if len(got) != 1 || !strings.Contains(got[0], `"isError":true`) {
				t.Fatalf("%s: the call comes to %q", broken, got)
			}
			if text := readMessage(t, got[0]).outcome(); !strings.Contains(text, "the client's answer to elicitation/create cannot be used") || !strings.Contains(text, fault) {
				t.Errorf("%s: the call comes to %s", broken, text)
			}
		})
	}
}

// A logger sends what the era wants: nothing without a level in the stateless
// one, from info on in a session that said nothing.
func TestLoggerInBothEras(t *testing.T) {
	tests := []struct{ name, version, meta, want string }{
		{"session", newestHandshake, ``, "info warning error"},
		{"no level", newestStateless, ``, ""},
		{"a level", newestStateless, `"io.modelcontextprotocol/logLevel":"warning",`, "warning error"},
		{"everything", newestStateless, `"io.modelcontextprotocol/logLevel":"debug",`, "debug info warning error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fixture{tools: []registry.Tool{tool("logs", func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
					log := call.Logger("fixture").With("a", 1)
					for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
						log.Log(ctx, level, "m", "list", []string{"x"})
					}
					return registry.TextResult("ok"), nil
				})}}.connect(t).client(tt.version, `{}`)
				c.send(strings.Replace(c.write("1", "tools/call", `"name":"logs"`), `"_meta":{`, `"_meta":{`+tt.meta, 1))
				var got []string
				for _, line := range c.take() {
					level, ok := strings.CutPrefix(line, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`)
					if !ok {
						continue
					}
					level, rest, _ := strings.Cut(level, `"`)
					got = append(got, level)
					if want := `,"logger":"fixture","data":{"msg":"m","a":1,"list":["x"]}}}`; rest != want {
						t.Errorf("the message ends with %s, want %s", rest, want)
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("levels (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A front that speaks the stateless era needs no session, whatever becomes of
// one beside it.
func TestA98StatelessCallsNeedNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t)
		modern := &client{peer: p, version: protocol.V20260728, capabilities: canAll, lastID: 500}
		reply := func(question) string { return ada }
		for _, when := range []string{"before", "during", "after"} {
			if got := modern.converse("tools/call", callAsk, reply).outcome(); got != `accept {"name":"Ada"}` {
				t.Errorf("%s a handshake: %s", when, got)
			}
			legacy := &client{peer: p, version: protocol.V20251125, capabilities: `{}`}
			switch when {
			case "before":
				legacy.hello()
			case "during":
				p.send(initialized)
				p.take()
			}
		}
	})
}
