package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// handler is a handler that asks one thing and returns what came of it.
type handler = func(context.Context, *registry.Call) (string, error)

// textTool makes a tool of it.
func textTool(h handler) registry.ToolHandler {
	return func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
		text, err := h(ctx, call)
		if err != nil {
			return nil, err
		}
		return registry.TextResult(text), nil
	}
}

func elicit(e *registry.Elicitation) handler {
	return func(ctx context.Context, call *registry.Call) (string, error) {
		res, err := call.Elicit(ctx, "q", e)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s", res.Action, res.Content), nil
	}
}

func sample(s *registry.Sampling) handler {
	return func(ctx context.Context, call *registry.Call) (string, error) {
		res, err := call.Sample(ctx, "q", s)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %s %q", res.Role, res.Model, res.StopReason, res.Text()), nil
	}
}

func roots(ctx context.Context, call *registry.Call) (string, error) {
	list, err := call.Roots(ctx, "q")
	return fmt.Sprint(list), err
}

func hello() []registry.SampleMessage {
	return []registry.SampleMessage{{Role: protocol.RoleUser, Content: &protocol.Text{Text: "<hi>\n"}}}
}

func nameForm() *registry.Elicitation {
	return &registry.Elicitation{Message: "Who?", Form: &registry.Form{Fields: []registry.Field{{Name: "name", Required: true}}}}
}

// What is asked is the same in both eras, down to the bytes, as far as the
// version has it; each message is judged by the schema of its version.
func TestQuestionsOnTheWire(t *testing.T) {
	form := &registry.Elicitation{Message: "Who?", Form: &registry.Form{Fields: []registry.Field{
		{Name: "name", Title: "Name", Description: "Yours.", Required: true, MinLength: 1, MaxLength: 9, Default: []byte(`"Ada"`)},
		{Name: "mail", Format: "email"},
		{Name: "sure", Kind: registry.FieldBoolean, Default: []byte(`true`)},
		{Name: "one", Kind: registry.FieldChoice, Choices: []registry.Choice{{Value: "a", Title: "A"}, {Value: "b"}}},
		{Name: "some", Kind: registry.FieldChoices, Choices: []registry.Choice{{Value: "a"}, {Value: "b"}}, MaxItems: 1},
	}}}
	const (
		newForm = `"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"Yours.","minLength":1,"maxLength":9,"default":"Ada"},"mail":{"type":"string","format":"email"},"sure":{"type":"boolean","default":true},"one":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]},"some":{"type":"array","maxItems":1,"items":{"type":"string","enum":["a","b"]}}},"required":["name"]}}`
		oldForm = `"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"Yours.","minLength":1,"maxLength":9},"mail":{"type":"string","format":"email"},"sure":{"type":"boolean","default":true},"one":{"type":"string","enum":["a","b"],"enumNames":["A","b"]}},"required":["name"]}}`
		plain   = `sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"<hi>\n"}}],"maxTokens":7`
		noForm  = "isError: ask cannot run here: the client does not declare elicitation.form."
		noURL   = "isError: ask cannot run here: the client does not declare elicitation.url."
		noTools = "isError: ask cannot run here: the client does not declare sampling.tools."
	)
	tests := []struct {
		name string
		in   handler
		want map[string]string // by version
	}{
		{"form", elicit(form), map[string]string{
			"2024-11-05": noForm, "2025-03-26": noForm, "2025-06-18": `elicitation/create {` + oldForm,
			"2025-11-25": `elicitation/create {"mode":"form",` + newForm, "2026-07-28": `elicitation/create {"mode":"form",` + newForm,
		}},
		{"raw form", elicit(&registry.Elicitation{Message: "x\u2028", Schema: []byte("{\n \"type\": \"object\",\r\n\"properties\":{ \"a\":{\"type\":\"string\"}}}\n")}), map[string]string{
			"2025-11-25": "elicitation/create {\"mode\":\"form\",\"message\":\"x\u2028\",\"requestedSchema\":" + `{"type":"object","properties":{"a":{"type":"string"}}}}`,
		}},
		{"URL", elicit(&registry.Elicitation{Message: "Go", URL: "https://example.com/?a=1&b=2", ID: "e1"}), map[string]string{
			"2024-11-05": noURL, "2025-03-26": noURL, "2025-06-18": noURL,
			"2025-11-25": `elicitation/create {"mode":"url","message":"Go","url":"https://example.com/?a=1&b=2","elicitationId":"e1"}`,
			"2026-07-28": `elicitation/create {"mode":"url","message":"Go","url":"https://example.com/?a=1&b=2"}`,
		}},
		{"sampling", sample(&registry.Sampling{Messages: hello(), MaxTokens: 7, SystemPrompt: "Be brief.", More: []byte(`{"temperature":0.5,"stopSequences":["\n"]}`)}), map[string]string{
			"2024-11-05": plain + `,"systemPrompt":"Be brief.","temperature":0.5,"stopSequences":["\n"]}`,
			"2025-11-25": plain + `,"systemPrompt":"Be brief.","temperature":0.5,"stopSequences":["\n"]}`,
			"2026-07-28": plain + `,"systemPrompt":"Be brief.","temperature":0.5,"stopSequences":["\n"]}`,
		}},
		{"sampling with tools", sample(&registry.Sampling{Messages: hello(), MaxTokens: 7, Tools: []byte(`[{"name":"t","inputSchema":{"type":"object"}}]`), ToolChoice: []byte(`{"mode":"auto"}`)}), map[string]string{
			"2024-11-05": noTools, "2025-03-26": noTools, "2025-06-18": noTools,
			"2025-11-25": plain + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`,
			"2026-07-28": plain + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`,
		}},
		{"several blocks", sample(&registry.Sampling{Messages: []registry.SampleMessage{{Role: protocol.RoleUser, Raw: []byte("[{\"type\":\"text\",\n\"text\":\"a\"}]")}}, MaxTokens: 1}), map[string]string{
			"2025-11-25": `sampling/createMessage {"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"maxTokens":1}`,
		}},
		{"roots", roots, map[string]string{"2024-11-05": "roots/list {}", "2025-03-26": "roots/list {}", "2025-06-18": "roots/list {}", "2025-11-25": "roots/list {}", "2026-07-28": "roots/list {}"}},
	}
	for _, tt := range tests {
		for version, want := range tt.want {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := fixture{tools: ask(textTool(tt.in))}.connect(t).client(version, canAll)
					var asked []string
					got := c.converse("tools/call", callAsk, func(q question) string {
						asked = append(asked, q.String())
						return `{"action":"cancel","role":"assistant","model":"m","content":{"type":"text","text":"x"},"roots":[]}`
					})
					if len(asked) == 0 {
						asked = []string{got.outcome()}
					}
					if diff := cmp.Diff([]string{want}, asked); diff != "" {
						t.Errorf("what was asked (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

func TestElicitationIDsAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(elicit(&registry.Elicitation{Message: "Go", URL: "https://example.com/"})))}.connect(t).client(newestHandshake, canAll)
		seen := make(map[string]bool)
		for range 3 {
			c.converse("tools/call", callAsk, func(q question) string {
				var params struct{ ElicitationID string }
				if err := json.Unmarshal([]byte(q.params), &params); err != nil {
					t.Error(err)
				}
				seen[params.ElicitationID] = true
				return `{"action":"accept"}`
			})
		}
		if len(seen) != 3 || seen[""] {
			t.Errorf("the ids of three elicitations are %v", seen)
		}
	})
}

// Answers, and what comes of them. One that cannot be used never completes a
// call.
func TestAnswers(t *testing.T) {
	form := elicit(&registry.Elicitation{Message: "Who?", Form: &registry.Form{Fields: []registry.Field{
		{Name: "name", Required: true, MinLength: 2}, {Name: "age", Kind: registry.FieldInteger}, {Name: "mail", Format: "email"},
		{Name: "some", Kind: registry.FieldChoices, Choices: []registry.Choice{{Value: "a", Title: "A"}, {Value: "b", Title: "B"}}},
	}}})
	open := elicit(&registry.Elicitation{Message: "Sure?", Form: &registry.Form{Fields: []registry.Field{{Name: "why"}}}})
	link := elicit(&registry.Elicitation{Message: "Go", URL: "https://example.com/"})
	say := sample(&registry.Sampling{Messages: hello(), MaxTokens: 7})
	const (
		wantAction  = `want an object with "action": "accept", "decline" or "cancel"`
		wantContent = `an accepted form needs "content", an object`
		wantSample  = `want an object with "role", "content" and "model"`
		wantBlock   = `"content" must be a block, an object with "type", or an array of blocks`
		wantRoots   = `want an object with "roots", an array`
		wantRoot    = `each root must have "uri", a string`
	)
	tests := []struct {
		name string
		ask  handler
		in   string
		want string
		bad  bool // want is what is wrong with the answer
	}{
		{"accept", form, `{"action":"accept","content":{"name":"Ada","age":36,"some":["b"]}}`, `accept {"name":"Ada","age":36,"some":["b"]}`, false},
		{"accept, spelled differently", form, `{ "conten\u0074" : {"name":"\u0041da"} , "action" : "\u0061ccept", "_meta":{"x":1} }`, `accept {"name":"\u0041da"}`, false},
		{"decline", form, `{"action":"decline"}`, `decline {}`, false},
		{"cancel", form, `{"action":"cancel"}`, `cancel {}`, false},
		{"decline with content", form, `{"action":"decline","content":{"name":7}}`, `decline {}`, false},
		{"nothing to fill in", open, `{"action":"accept"}`, `accept {}`, false},
		{"no action", form, `{}`, wantAction, true},
		{"another action", form, `{"action":"maybe"}`, wantAction, true},
		{"an action of another type", form, `{"action":["accept"]}`, wantAction, true},
		{"wrapped", form, `{"result":{"action":"cancel"}}`, wantAction, true},
		{"no content", form, `{"action":"accept"}`, wantContent, true},
		{"content is null", form, `{"action":"accept","content":null}`, wantContent, true},
		{"content is an array", open, `{"action":"accept","content":[]}`, wantContent, true},
		{"a field is missing", form, `{"action":"accept","content":{}}`, `name`, true},
		{"a field is too short", form, `{"action":"accept","content":{"name":"A"}}`, `name`, true},
		{"a field of another type", form, `{"action":"accept","content":{"name":"Ada","age":"36"}}`, `age`, true},
		{"no such choice", form, `{"action":"accept","content":{"name":"Ada","some":["c"]}}`, `some`, true},
		{"not of the format", form, `{"action":"accept","content":{"name":"Ada","mail":"here"}}`, `mail`, true},
		{"URL accepted", link, `{"action":"accept","content":{"x":1}}`, `accept {}`, false},
		{"URL declined", link, `{"action":"decline"}`, `decline {}`, false},
		{"no answer to a URL", link, `{"content":{}}`, wantAction, true},
		{"sampled", say, `{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"yes\n"}}`, `assistant m endTurn "yes\n"`, false},
		{"sampled blocks", say, `{"role":"assistant","model":"m","content":[{"type":"image","data":"","mimeType":"x/y"},{"type":"text","text":"yes"}]}`, `assistant m  "yes"`, false},
		{"sampled nothing", say, `{"role":"assistant","model":"m","content":[]}`, `assistant m  ""`, false},
		{"sampled no role", say, `{"model":"m","content":{"type":"text","text":"yes"}}`, wantSample, true},
		{"sampled no model", say, `{"role":"assistant","content":{"type":"text","text":"yes"}}`, wantSample, true},
		{"sampled no content", say, `{"role":"assistant","model":"m"}`, wantSample, true},
		{"sampled text", say, `{"role":"assistant","model":"m","content":"yes"}`, wantBlock, true},
		{"sampled texts", say, `{"role":"assistant","model":"m","content":["yes"]}`, wantBlock, true},
		{"sampled null", say, `{"role":"assistant","model":"m","content":null}`, wantBlock, true},
		{"roots", roots, `{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}`, `[{file:///a A} {file:///b }]`, false},
		{"no roots", roots, `{"roots":[]}`, `[]`, false},
		{"roots are missing", roots, `{}`, wantRoots, true},
		{"roots are null", roots, `{"roots":null}`, wantRoots, true},
		{"a root is a text", roots, `{"roots":["file:///a"]}`, wantRoot, true},
		{"a root has no URI", roots, `{"roots":[{"name":"A"}]}`, wantRoot, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, version := range eras {
					c := fixture{tools: ask(textTool(tt.ask))}.connect(t).client(version, canAll)
					asked := ""
					got := c.converse("tools/call", callAsk, func(q question) string {
						if asked != "" {
							t.Errorf("%s: it asks again", version)
						}
						asked = q.method
						return tt.in
					}).outcome()
					refused := "isError: the client's answer to " + asked + " cannot be used: "
					if version == newestStateless {
						refused = `-32602 inputResponses: the answer to "q": `
					}
					fits := got == tt.want
					if tt.bad {
						text, ok := strings.CutPrefix(got, refused)
						fits = ok && strings.Contains(text, tt.want)
					}
					if !fits {
						t.Errorf("%s: the outcome is %q, want %q (refused: %v)", version, got, tt.want, tt.bad)
					}
				}
			})
		})
	}
}

// Entries that are no objects cannot come in a response, but in a retry.
func TestMalformedInputResponses(t *testing.T) {
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":null`, i)
	}
	tests := []struct{ name, in, want string }{
		{"null", `null`, `-32602 inputResponses must be an object with an answer for each key`},
		{"an array", `[]`, `-32602 inputResponses must be an object with an answer for each key`},
		{"a text", `"q"`, `-32602 inputResponses must be an object with an answer for each key`},
		{"an entry is null", `{"q":null}`, `-32602 inputResponses: the answer to "q": want an object with "action": "accept", "decline" or "cancel"`},
		{"an entry is a number", `{"q":3}`, `-32602 inputResponses: the answer to "q": want an object with "action": "accept", "decline" or "cancel"`},
		{"an entry is an array", `{"q":[]}`, `-32602 inputResponses: the answer to "q": want an object with "action": "accept", "decline" or "cancel"`},
		{"an entry is a text", `{"q":"accept"}`, `-32602 inputResponses: the answer to "q": want an object with "action": "accept", "decline" or "cancel"`},
		{"too many", `{` + strings.Join(many, ",") + `}`, `-32602 inputResponses has more than 1000 answers`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t).client(newestStateless, canAll)
				_, r := c.step("tools/call", callAsk)
				for what, state := range map[string]string{"with state": r.state(), "without": ""} {
					m, again := c.step("tools/call", callAsk+`,"inputResponses":`+tt.in+state)
					if again != nil {
						t.Fatalf("%s: it asks again", what)
					}
					if diff := cmp.Diff(tt.want, m.outcome()); diff != "" {
						t.Errorf("%s: the outcome (-want +got):\n%s", what, diff)
					}
				}
				m, _ := c.step("tools/call", callAsk+`,"inputResponses":{"q":{"action":"cancel"}},"requestState":7`)
				if diff := cmp.Diff("-32602 requestState must be a string", m.outcome()); diff != "" {
					t.Errorf("the outcome of a state that is a number (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// askTogether asks three things before it stops, and then another one.
func askTogether(runs *int) handler {
	return func(ctx context.Context, call *registry.Call) (string, error) {
		*runs++
		name, err1 := call.Elicit(ctx, "name", nameForm())
		said, err2 := call.Sample(ctx, "said", &registry.Sampling{Messages: hello(), MaxTokens: 1})
		list, err3 := call.Roots(ctx, "roots")
		if err := errors.Join(err1, err2, err3); err != nil {
			return "", err
		}
		more, err := call.Elicit(ctx, "more", nameForm())
		if err != nil {
			return "", fmt.Errorf("asking for more: %w", err)
		}
		return fmt.Sprintf("%s, %s, %d, %s", name.Text("name"), said.Text(), len(list), more.Text("name")), nil
	}
}

const (
	ada  = `{"action":"accept","content":{"name":"Ada"}}`
	bob  = `{"action":"accept","content":{"name":"Bob"}}`
	says = `{"role":"assistant","model":"m","content":{"type":"text","text":"hm"}}`
	root = `{"roots":[{"uri":"file:///a"}]}`
)

// What is missing is asked for again, and nothing else; what nobody asked for is
// ignored, also if it is asked for later.
func TestPartialAnswers(t *testing.T) {
	tests := []struct {
		name string
		in   []string // members of inputResponses, round by round
		want []string // keys that are asked for after each, or the outcome
	}{
		{"all at once", []string{`"name":` + ada + `,"said":` + says + `,"roots":` + root, `"more":` + bob}, []string{"more", "Ada, hm, 1, Bob"}},
		{"one by one", []string{`"said":` + says, `"roots":` + root, `"name":` + ada, `"more":` + bob}, []string{"name roots", "name", "more", "Ada, hm, 1, Bob"}},
		{"none", []string{``, `"name":` + ada}, []string{"name said roots", "said roots"}},
		{"under other keys", []string{`"nAme":` + ada + `,"":null,"x":[1]`}, []string{"name said roots"}},
		{"too early", []string{`"more":` + bob, `"name":` + ada + `,"said":` + says + `,"roots":` + root}, []string{"name said roots", "more"}},
		{"again, changed", []string{`"name":` + ada, `"name":` + bob + `,"said":` + says + `,"roots":` + root, `"more":` + bob}, []string{"said roots", "more", "Bob, hm, 1, Bob"}},
		{"again, broken", []string{`"name":` + ada, `"name":{}`}, []string{"said roots", `-32602 inputResponses: the answer to "name": want an object with "action": "accept", "decline" or "cancel"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				c := fixture{tools: ask(textTool(askTogether(&runs)))}.connect(t).client(newestStateless, canAll)
				_, r := c.step("tools/call", callAsk)
				var got []string
				for _, answers := range tt.in {
					m, next := c.step("tools/call", callAsk+`,"inputResponses":{`+answers+`}`+r.state())
					if next == nil {
						got = append(got, m.outcome())
						break
					}
					var keys []string
					for _, q := range next.questions(t) {
						keys = append(keys, q.key)
					}
					got = append(got, strings.Join(keys, " "))
					r = next
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("rounds (-want +got):\n%s", diff)
				}
				if runs != len(got)+1 {
					t.Errorf("the handler ran %d times", runs)
				}
			})
		})
	}
	t.Run("handshake era", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			c := fixture{tools: ask(textTool(askTogether(&runs)))}.connect(t).client(newestHandshake, canAll)
			got := c.converse("tools/call", callAsk, func(q question) string {
				return map[string]string{"elicitation/create": ada, "sampling/createMessage": says, "roots/list": root}[q.method]
			}).outcome()
			if diff := cmp.Diff("Ada, hm, 1, Ada", got); diff != "" || runs != 1 {
				t.Errorf("the outcome after %d runs (-want +got):\n%s", runs, diff)
			}
		})
	})
}

// An answer may also come without state, since the first round has nothing to
// remember.
func TestAnswersWithoutState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t).client(newestStateless, canAll)
		m, _ := c.step("tools/call", callAsk+`,"inputResponses":{"q":`+ada+`}`)
		if diff := cmp.Diff(`accept {"name":"Ada"}`, m.outcome()); diff != "" {
			t.Errorf("the outcome (-want +got):\n%s", diff)
		}
	})
}

func TestRoundsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fixture{tools: ask(func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			for i := 0; ; i++ {
				if _, err := call.Elicit(ctx, fmt.Sprint(i), nameForm()); err != nil {
					return nil, err
				}
			}
		})}
		f.options.MaxRounds = 3
		c := f.connect(t).client(newestStateless, canAll)
		asked := 0
		got := c.converse("tools/call", callAsk, func(question) string {
			asked++
			return ada
		}).outcome()
		if diff := cmp.Diff("-32602 the client was asked 3 times for one call, which is the limit", got); diff != "" || asked != 3 {
			t.Errorf("after %d rounds (-want +got):\n%s", asked, diff)
		}
	})
}

// Input that is required without a question is a request to come back at once.
func TestComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		c := fixture{tools: ask(func(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
			if runs++; runs < 3 {
				return nil, fmt.Errorf("busy: %w", registry.ErrInputRequired)
			}
			return registry.TextResult("done"), nil
		})}.connect(t).client(newestStateless, `{}`)
		_, r := c.step("tools/call", callAsk)
		if r == nil || r.InputRequests != nil || r.RequestState == "" {
			t.Fatalf("the answer is %+v", r)
		}
		_, r = c.step("tools/call", callAsk+r.state())
		if got, _ := c.step("tools/call", callAsk+r.state()); got.outcome() != "done" || runs != 3 {
			t.Errorf("the outcome after %d runs is %s", runs, got.outcome())
		}
	})
}

// A step that must not be repeated is not, in either era, and its result is the
// same in all runs.
func TestOnce(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type order struct {
					ID    int
					Notes []string
				}
				runs, orders := 0, 0
				place := func(context.Context) (order, error) {
					orders++
					return order{orders, []string{"<\u2028>", "\n"}}, nil
				}
				c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
					runs++
					first, err := registry.Once(ctx, call, "order", place)
					if err != nil {
						return "", err
					}
					if _, err := call.Elicit(ctx, "confirm", nameForm()); err != nil {
						return "", err
					}
					again, err := registry.Once(ctx, call, "order", place)
					if err != nil {
						return "", err
					}
					if _, err := call.Roots(ctx, "roots"); err != nil {
						return "", err
					}
					if diff := cmp.Diff(first, again); diff != "" {
						t.Errorf("one call, two results (-first +again):\n%s", diff)
					}
					return fmt.Sprint(again.ID, again.Notes), nil
				}))}.connect(t).client(version, canAll)
				reply := func(q question) string {
					if q.method == protocol.MethodRootsList {
						return root
					}
					return ada
				}
				wantRuns := 1
				if version == newestStateless {
					wantRuns = 3
				}
				if diff := cmp.Diff("1 [<\u2028> \n]", c.converse("tools/call", callAsk, reply).outcome()); diff != "" {
					t.Errorf("the outcome (-want +got):\n%s", diff)
				}
				if runs != wantRuns || orders != 1 {
					t.Errorf("%d runs and %d orders, want %d and 1", runs, orders, wantRuns)
				}
				// Another call is another matter.
				if got := c.converse("tools/call", callAsk, reply).outcome(); !strings.HasPrefix(got, "2 ") {
					t.Errorf("the outcome of another call is %q", got)
				}
			})
		})
	}
}

// A step that fails is tried again.
func TestOnceKeepsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			n, err := registry.Once(ctx, call, "n", func(context.Context) (int, error) {
				if tries++; tries == 1 {
					return 0, errors.New("not yet")
				}
				return tries, nil
			})
			if _, err := call.Elicit(ctx, "q", nameForm()); err != nil {
				return "", err
			}
			return fmt.Sprint(n), err
		}))}.connect(t).client(newestStateless, canAll)
		if got := c.converse("tools/call", callAsk, func(question) string { return ada }).outcome(); got != "2" {
			t.Errorf("the outcome is %q", got)
		}
	})
}

// What a client does not declare is not asked of it. The stateless era says
// exactly what is missing.
func TestMissingAbilities(t *testing.T) {
	form, link := elicit(nameForm()), elicit(&registry.Elicitation{Message: "Go", URL: "https://example.com/"})
	say := sample(&registry.Sampling{Messages: hello(), MaxTokens: 1})
	sayTools := sample(&registry.Sampling{Messages: hello(), MaxTokens: 1, Tools: []byte(`[]`)})
	sayChoice := sample(&registry.Sampling{Messages: hello(), MaxTokens: 1, ToolChoice: []byte(`{"mode":"none"}`)})
	all := func(_ context.Context, call *registry.Call) (string, error) {
		return "", call.Require(registry.CanElicitForm | registry.CanElicitURL | registry.CanSample | registry.CanSampleTools | registry.CanListRoots)
	}
	tests := []struct {
		name         string
		ask          handler
		capabilities string
		name2, data  string // what is missing; empty for nothing
	}{
		{"nothing declared", form, `{}`, "elicitation.form", `{"elicitation":{"form":{}}}`},
		{"an empty object means forms", form, `{"elicitation":{}}`, "", ""},
		{"forms", form, `{"elicitation":{"form":{}}}`, "", ""},
		{"forms, with settings", form, `{"elicitation":{"form":{"applyDefaults":true}}}`, "", ""},
		{"URLs only", form, `{"elicitation":{"url":{}}}`, "elicitation.form", `{"elicitation":{"form":{}}}`},
		{"no object", form, `{"elicitation":true}`, "elicitation.form", `{"elicitation":{"form":{}}}`},
		{"an empty object means no URLs", link, `{"elicitation":{}}`, "elicitation.url", `{"elicitation":{"url":{}}}`},
		{"forms only", link, `{"elicitation":{"form":{}}}`, "elicitation.url", `{"elicitation":{"url":{}}}`},
		{"URLs", link, `{"elicitation":{"url":{}}}`, "", ""},
		{"no sampling", say, `{"roots":{}}`, "sampling", `{"sampling":{}}`},
		{"sampling", say, `{"sampling":{}}`, "", ""},
		{"no tools", sayTools, `{"sampling":{}}`, "sampling.tools", `{"sampling":{"tools":{}}}`},
		{"no choice", sayChoice, `{"sampling":{}}`, "sampling.tools", `{"sampling":{"tools":{}}}`},
		{"neither", sayTools, `{}`, "sampling, sampling.tools", `{"sampling":{"tools":{}}}`},
		{"tools", sayTools, `{"sampling":{"tools":{}}}`, "", ""},
		{"no roots", roots, `{"sampling":{}}`, "roots", `{"roots":{}}`},
		{"roots", roots, `{"roots":{}}`, "", ""},
		{"roots are null", roots, `{"roots":null}`, "roots", `{"roots":{}}`},
		{"everything", all, `{"x":{}}`, "elicitation.form, elicitation.url, sampling, sampling.tools, roots", `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`},
		{"the rest", all, `{"elicitation":{"url":{}},"sampling":{}}`, "elicitation.form, sampling.tools, roots", `{"elicitation":{"form":{}},"sampling":{"tools":{}},"roots":{}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, version := range eras {
					c := fixture{tools: ask(textTool(tt.ask))}.connect(t).client(version, tt.capabilities)
					asked := false
					got := c.converse("tools/call", callAsk, func(question) string {
						asked = true
						return `{"action":"cancel","role":"assistant","model":"m","content":{"type":"text","text":"x"},"roots":[]}`
					}).outcome()
					if asked != (tt.name2 == "") {
						t.Errorf("%s: asked: %v; the outcome is %s", version, asked, got)
					}
					if asked {
						continue
					}
					want := "isError: ask cannot run here: the client does not declare " + tt.name2 + "."
					if version == newestStateless {
						want = `-32021 The client must declare ` + tt.name2 + ` for this {"requiredCapabilities":` + tt.data + `}`
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: the outcome (-want +got):\n%s", version, diff)
					}
				}
			})
		})
	}
}

// A handler may do without what the client cannot do, in both eras with the same
// branch.
func TestHandlersCanDoWithout(t *testing.T) {
	for _, version := range eras {
		synctest.Test(t, func(t *testing.T) {
			c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
				_, err := call.Elicit(ctx, "q", nameForm())
				var missing *registry.MissingAbilityError
				if !errors.As(err, &missing) {
					return "", err
				}
				return fmt.Sprint("without ", missing.Missing), nil
			}))}.connect(t).client(version, `{"roots":{}}`)
			got := c.converse("tools/call", callAsk, func(question) string { return `{}` }).outcome()
			if diff := cmp.Diff("without elicitation.form", got); diff != "" {
				t.Errorf("%s: the outcome (-want +got):\n%s", version, diff)
			}
		})
	}
}

// What prompts and resources ask goes the same way. The answer to a retry of
// resources/read is not to be kept: R17.10.
func TestPromptsAndResourcesAsk(t *testing.T) {
	who := elicit(nameForm())
	connect := func(t *testing.T, version, capabilities string) *client {
		t.Helper()
		p := fixture{}.connect(t)
		read := func(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			text, err := who(ctx, call)
			if err != nil {
				return nil, err
			}
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: call.URI, Text: text}}}, nil
		}
		err := errors.Join(
			p.reg.AddPrompt(registry.Prompt{Name: "p", Arguments: []registry.PromptArgument{{Name: "a"}}, Handler: func(ctx context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
				text, err := who(ctx, call)
				if err != nil {
					return nil, err
				}
				return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: protocol.RoleUser, Content: &protocol.Text{Text: text}}}}, nil
			}}),
			p.reg.AddResource(registry.Resource{URI: "test://ask", Name: "r", Handler: read}),
			p.reg.AddTemplate(registry.Template{URITemplate: "test://t/{x}", Name: "t", Handler: read}),
		)
		if err != nil {
			t.Fatal(err)
		}
		c := p.client(version, capabilities)
		c.take() // the lists have changed
		return c
	}
	tests := []struct{ name, method, params string }{
		{"prompt", "prompts/get", `"name":"p","arguments":{"a":"x"}`},
		{"resource", "resources/read", `"uri":"test://ask"`},
		{"template", "resources/read", `"uri":"test://t/1"`},
	}
	for _, tt := range tests {
		for _, version := range eras {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := connect(t, version, canAll)
					m := c.converse(tt.method, tt.params, func(question) string { return ada })
					if diff := cmp.Diff(`accept {"name":"Ada"}`, m.outcome()); diff != "" {
						t.Errorf("the outcome (-want +got):\n%s", diff)
					}
					cached := strings.Contains(string(m.Result), `"ttlMs":0,"cacheScope":"private"`)
					if want := tt.method == "resources/read" && version == newestStateless; cached != want {
						t.Errorf("the result is %s", m.Result)
					}
					bad := c.converse(tt.method, tt.params, func(question) string { return `{}` })
					if !strings.HasPrefix(bad.outcome(), "-32602 ") {
						t.Errorf("a broken answer comes to %s", bad.outcome())
					}
				})
				synctest.Test(t, func(t *testing.T) {
					want := "-32602 the client does not declare elicitation.form"
					if version == newestStateless {
						want = `-32021 The client must declare elicitation.form for this {"requiredCapabilities":{"elicitation":{"form":{}}}}`
					}
					got := connect(t, version, `{}`).converse(tt.method, tt.params, func(question) string { return ada }).outcome()
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("without the ability (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// A handler may go on without an answer: then the call is complete, whatever was
// asked.
func TestSwallowedErrInputRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			if _, err := call.Elicit(ctx, "q", nameForm()); err != nil && !errors.Is(err, registry.ErrInputRequired) {
				return "", err
			}
			return "without", nil
		}))}.connect(t).client(newestStateless, canAll)
		m, r := c.step("tools/call", callAsk)
		if r != nil || m.outcome() != "without" {
			t.Errorf("the outcome is %s", m.outcome())
		}
	})
}

func TestKeysNameOneQuestion(t *testing.T) {
	tests := []struct {
		name string
		in   handler
		want string
	}{
		{"the same again", func(ctx context.Context, call *registry.Call) (string, error) {
			first, err := elicit(nameForm())(ctx, call)
			if err != nil {
				return "", err
			}
			second, err := elicit(nameForm())(ctx, call)
			return first + " " + second, err
		}, `accept {"name":"Ada"} accept {"name":"Ada"}`},
		{"two of one kind", func(ctx context.Context, call *registry.Call) (string, error) {
			_, err1 := elicit(nameForm())(ctx, call)
			other := nameForm()
			other.Message = "Who else?"
			_, err2 := elicit(other)(ctx, call)
			return "", errors.Join(err2, err1)
		}, "-32603 internal error"},
		{"two kinds, after an answer", func(ctx context.Context, call *registry.Call) (string, error) {
			if _, err := elicit(nameForm())(ctx, call); err != nil {
				return "", err
			}
			return roots(ctx, call)
		}, "-32603 internal error"},
		{"no key", func(ctx context.Context, call *registry.Call) (string, error) {
			_, err := call.Roots(ctx, "")
			return "", err
		}, "-32603 internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fixture{tools: ask(textTool(tt.in))}.connect(t).client(newestStateless, canAll)
				got := c.converse("tools/call", callAsk, func(question) string { return ada }).outcome()
				if !strings.HasPrefix(got, tt.want) {
					t.Errorf("the outcome is %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// An answer that was accepted by an older program, or by another replica, is
// judged again: what the question is now decides.
func TestKnownAnswersAreJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		form := nameForm()
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			text, err := elicit(form)(ctx, call)
			if err != nil {
				return "", err
			}
			_, err = call.Roots(ctx, "roots")
			return text, err
		}))}.connect(t).client(newestStateless, canAll)
		_, r := c.step("tools/call", callAsk)
		_, r = c.step("tools/call", callAsk+`,"inputResponses":{"q":`+ada+`}`+r.state())
		form.Form.Fields[0].MinLength = 4
		_, r = c.step("tools/call", callAsk+`,"inputResponses":{"roots":`+root+`}`+r.state())
		if r == nil || len(r.questions(t)) != 1 || r.questions(t)[0].key != "q" {
			t.Fatalf("it does not ask again: %+v", r)
		}
		m, _ := c.step("tools/call", callAsk+`,"inputResponses":{"q":{"action":"accept","content":{"name":"Grace"}},"roots":`+root+`}`+r.state())
		if diff := cmp.Diff(`accept {"name":"Grace"}`, m.outcome()); diff != "" {
			t.Errorf("the outcome (-want +got):\n%s", diff)
		}
	})
}

// What a call has to remember is bounded. The client learns it, since its
// answers may be the reason.
func TestStateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			name, err := call.Elicit(ctx, "a", nameForm())
			if err != nil {
				return "", err
			}
			if _, err := call.Elicit(ctx, "b", nameForm()); err != nil {
				return "", err
			}
			return fmt.Sprint(len(name.Text("name"))), nil
		}))}.connect(t).client(newestStateless, canAll)
		for size, want := range map[int]string{180_000: "180000", 200_000: "-32602 the state of the call has "} {
			got := c.converse("tools/call", callAsk, func(question) string {
				return `{"action":"accept","content":{"name":"` + strings.Repeat("x", size) + `"}}`
			}).outcome()
			if size > 190_000 && !strings.HasPrefix(got, want) || size < 190_000 && got != want {
				t.Errorf("%d bytes: the outcome is %q", size, got)
			}
		}
	})
}

func TestClientRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		c := fixture{tools: ask(textTool(func(ctx context.Context, call *registry.Call) (string, error) {
			_, cause = call.Sample(ctx, "q", &registry.Sampling{Messages: hello(), MaxTokens: 1})
			return "", cause
		}))}.connect(t).client(newestHandshake, canAll)
		got := c.converse("tools/call", callAsk, func(question) string { return `error {"code":-1,"message":"User rejected sampling request"}` }).outcome()
		if diff := cmp.Diff("isError: the client refused sampling/createMessage: User rejected sampling request", got); diff != "" {
			t.Errorf("the outcome (-want +got):\n%s", diff)
		}
		var refusal *jsonrpc.Error
		if !errors.As(cause, &refusal) || refusal.Code != -1 {
			t.Errorf("the handler cannot see the code in %v", cause)
		}
	})
}

// cancellation is the notification that takes a question back.
func cancellation(id json.RawMessage, reason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id, reason)
}

// pending makes a call and returns its id and that of the question.
func (c *client) pending() (id string, q message) {
	c.t.Helper()
	id = c.id()
	c.take()
	c.send(c.write(id, "tools/call", callAsk))
	lines := c.take()
	if len(lines) != 1 {
		c.t.Fatalf("the call is answered with %q", lines)
	}
	return id, readMessage(c.t, lines[0])
}

// A client that does not answer in time is told, under our id, and its late
// answer is ignored.
func TestAskTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fixture{tools: ask(textTool(elicit(nameForm())))}
		f.options.AskTimeout = time.Minute
		c := f.connect(t).client(newestHandshake, canAll)
		id, q := c.pending()
		time.Sleep(time.Minute)
		settle()
		want := []string{
			cancellation(q.ID, "the client did not answer in time"),
			`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"the client did not answer elicitation/create in time"}],"isError":true}}`,
		}
		if diff := cmp.Diff(want, c.take()); diff != "" {
			t.Errorf("what comes (-want +got):\n%s", diff)
		}
		c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + ada + `}`)
		if got := c.take(); len(got) > 0 {
			t.Errorf("a late answer is answered with %q", got)
		}
		// The next question has another id, which the checker watches over.
		if got := c.converse("tools/call", callAsk, func(question) string { return ada }).outcome(); got != `accept {"name":"Ada"}` {
			t.Errorf("the next call comes to %s", got)
		}
	})
}

// The time limit of the call counts as well.
func TestCallTimeoutWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fixture{tools: ask(textTool(elicit(nameForm()))), layer: layer.Options{Timeout: time.Second}}
		c := f.connect(t).client(newestHandshake, canAll)
		id, q := c.pending()
		time.Sleep(time.Second)
		settle()
		want := []string{
			cancellation(q.ID, "the time for the call is over"),
			`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"ask did not finish within 1s and was stopped. Ask for less, or ask the operator for a longer timeout."}],"isError":true}}`,
		}
		if diff := cmp.Diff(want, c.take()); diff != "" {
			t.Errorf("what comes (-want +got):\n%s", diff)
		}
	})
}

// Before the handshake is over nothing is asked: R2.8.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{peer: fixture{tools: ask(textTool(elicit(nameForm())))}.connect(t), version: protocol.V20251125, capabilities: canAll}
		c.hello()
		reply := func(question) string { return ada }
		got := c.converse("tools/call", callAsk, reply).outcome()
		if diff := cmp.Diff("isError: the client cannot be asked elicitation/create now: it has not sent notifications/initialized yet", got); diff != "" {
			t.Errorf("the outcome (-want +got):\n%s", diff)
		}
		c.send(initialized)
		if got := c.converse("tools/call", callAsk, reply).outcome(); got != `accept {"name":"Ada"}` {
			t.Errorf("afterwards: %s", got)
		}
	})
}

// What a handler leaves running asks nothing when the call is over, and what it
// has asked is taken back.
func TestNothingIsAskedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave, late := make(chan struct{}), make(chan error, 2)
		c := fixture{tools: ask(func(ctx context.Context, call *registry.Call) (*protocol.CallToolResult, error) {
			free := context.WithoutCancel(ctx)
			go func() { // both errors are waited for
				_, err := elicit(nameForm())(free, call)
				late <- err
				_, err = elicit(nameForm())(free, call)
				late <- err
			}()
			<-leave
			return registry.TextResult("done"), nil
		})}.connect(t).client(newestHandshake, canAll)
		id, q := c.pending()
		close(leave)
		settle()
		var got []string
		for _, line := range c.take() {
			if m := readMessage(t, line); string(m.ID) != id {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff([]string{cancellation(q.ID, "the connection is closed")}, got); diff != "" {
			t.Errorf("besides the answer came (-want +got):\n%s", diff)
		}
		for range 2 {
			if err := <-late; err == nil {
				t.Error("a question was answered after the end")
			}
		}
	})
}

// The state of a call is good for any process with the same key.
func TestRetryOnAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		f := fixture{tools: ask(textTool(askTogether(&runs))), options: session.Options{StateKeys: [][]byte{[]byte("0123456789abcdef")}}}
		first, second := f.connect(t).client(newestStateless, canAll), f.connect(t).client(newestStateless, canAll)
		_, r := first.step("tools/call", callAsk)
		_, r = second.step("tools/call", callAsk+`,"inputResponses":{"name":`+ada+`,"said":`+says+`,"roots":`+root+`}`+r.state())
		m, _ := first.step("tools/call", callAsk+`,"inputResponses":{"more":`+bob+`}`+r.state())
		if diff := cmp.Diff("Ada, hm, 1, Bob", m.outcome()); diff != "" {
			t.Errorf("the outcome (-want +got):\n%s", diff)
		}
	})
}
