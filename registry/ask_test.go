package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/internal/speccheck"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

func TestParseAbilities(t *testing.T) {
	const form, link = registry.CanElicitForm, registry.CanElicitURL
	tests := []struct {
		in   string
		want registry.Ability
	}{
		{`{}`, 0},
		{`{"elicitation":{}}`, form},
		{`{ "elicitatio\u006e" : { } }`, form},
		{`{"elicitation":{"form":{}}}`, form},
		{`{"elicitation":{"form":{},"url":{}}}`, form | link},
		{`{"elicitation":{"url":{}}}`, link},
		{`{"elicitation":{"url":true}}`, 0},
		{`{"elicitation":{"x":{}}}`, form},
		{`{"elicitation":null}`, 0},
		{`{"Elicitation":{}}`, 0},
		{`{"sampling":{}}`, registry.CanSample},
		{`{"sampling":{"tools":{},"context":{}}}`, registry.CanSample | registry.CanSampleTools},
		{`{"sampling":{"tools":null}}`, registry.CanSample},
		{`{"sampling":[]}`, 0},
		{`{"roots":{"listChanged":true}}`, registry.CanListRoots},
		{`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, registry.CanRunTasks},
		{`{"extensions":{"io.modelcontextprotocol/tasks":null,"x":{}}}`, 0},
		{`{"tasks":{},"experimental":{"roots":{}}}`, 0},
	}
	for _, tt := range tests {
		if got := registry.ParseAbilities([]byte(tt.in)); got != tt.want {
			t.Errorf("%s declares %v, want %v", tt.in, got, tt.want)
		}
	}
}

// What is written of abilities declares just these, and is a ClientCapabilities
// object.
func TestAbilitiesAsCapabilities(t *testing.T) {
	spec := speccheck.Open(t, "..")
	for a := registry.Ability(0); a <= everything; a++ {
		raw := a.AppendCapabilities(nil)
		want := a
		if a&registry.CanSampleTools != 0 {
			want |= registry.CanSample // there is no other way to say it
		}
		if got := registry.ParseAbilities(raw); got != want {
			t.Errorf("%v is written as %s, which says %v", a, raw, got)
		}
		if err := spec.Validate(protocol.LatestStateless, "ClientCapabilities", raw); err != nil {
			t.Errorf("%v: %v", a, err)
		}
	}
}

func TestAbilityNames(t *testing.T) {
	want := "elicitation.form, elicitation.url, sampling, sampling.tools, roots, the extension io.modelcontextprotocol/tasks"
	if got := everything.String(); got != want {
		t.Errorf("all abilities are %q, want %q", got, want)
	}
	if got := registry.Ability(0).String(); got != "" {
		t.Errorf("no ability is %q", got)
	}
}

// Nothing can be asked of nobody, nor of a client that only listens.
func TestRequire(t *testing.T) {
	for name, client := range map[string]registry.Client{"nobody": nil, "silent": silent{}, "no abilities": &interviewer{}} {
		call := &registry.Call{Version: protocol.LatestHandshake, Client: client}
		var missing *registry.MissingAbilityError
		if err := call.Require(registry.CanSample | registry.CanListRoots); !errors.As(err, &missing) || missing.Missing != registry.CanSample|registry.CanListRoots {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := call.Roots(context.Background(), "k"); !errors.As(err, &missing) || missing.Missing != registry.CanListRoots {
			t.Errorf("%s: asking for roots: %v", name, err)
		}
	}
	call := (&interviewer{can: registry.CanSample}).call(protocol.LatestHandshake)
	var missing *registry.MissingAbilityError
	if err := call.Require(registry.CanSample | registry.CanListRoots); !errors.As(err, &missing) || missing.Missing != registry.CanListRoots {
		t.Errorf("one of two: %v", err)
	}
	if err := call.Require(registry.CanSample); err != nil {
		t.Error(err)
	}
}

// A mistake of the handler is an error, and no question.
func TestHandlersMistakes(t *testing.T) {
	ctx := context.Background()
	elicit := func(e *registry.Elicitation) func(*registry.Call) error {
		return func(c *registry.Call) error {
			_, err := c.Elicit(ctx, "k", e)
			return err
		}
	}
	tests := []struct {
		name string
		ask  func(*registry.Call) error
		want string
	}{
		{"no form", elicit(&registry.Elicitation{Message: "x"}), "the form"},
		{"broken form", elicit(&registry.Elicitation{Schema: []byte(`{"type":`)}), "the form"},
		{"broken default", elicit(&registry.Elicitation{Form: &registry.Form{Fields: []registry.Field{{Name: "a", Default: []byte(`x`)}}}}), "the form"},
		{"relative URL", elicit(&registry.Elicitation{URL: "/secret"}), "not an absolute one"},
		{"no URL", elicit(&registry.Elicitation{URL: "https://secret:%zz/"}), "not an absolute one"},
		{"no content", func(c *registry.Call) error {
			_, err := c.Sample(ctx, "k", &registry.Sampling{Messages: []registry.SampleMessage{{Role: protocol.RoleUser}}})
			return err
		}, "message 1 has no content"},
		{"broken content", func(c *registry.Call) error {
			_, err := c.Sample(ctx, "k", &registry.Sampling{Messages: []registry.SampleMessage{{Role: protocol.RoleUser, Raw: []byte("{\n\"a")}}})
			return err
		}, "message 1"},
		{"broken members", func(c *registry.Call) error {
			_, err := c.Sample(ctx, "k", &registry.Sampling{More: []byte(`{"a":1} x`)})
			return err
		}, "other members"},
		{"no key", func(c *registry.Call) error {
			_, err := c.Roots(ctx, "")
			return err
		}, "needs a key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := &interviewer{can: everything, answer: `{"action":"cancel"}`}
			err := tt.ask(client.call(protocol.LatestStateless))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the URL: %v", err)
			}
			if len(client.asked) > 0 {
				t.Errorf("the client was asked %s", client.asked[0].Params)
			}
		})
	}
}

func TestElicitResult(t *testing.T) {
	client := &interviewer{can: everything, answer: `{"action":"accept","content":{"text":"a\u0062","n":1.50,"yes":true}}`}
	r, err := client.call(protocol.LatestStateless).Elicit(context.Background(), "k", &registry.Elicitation{Schema: []byte(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{fmt.Sprint(r.Accepted()), r.Text("text"), string(r.Field("n")), string(r.Field("yes")), r.Text("n"), r.Text("other"), string(r.Field("other"))}
	if diff := cmp.Diff([]string{"true", "ab", "1.50", "true", "", "", ""}, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	client.answer = `{"action":"decline"}`
	r, err = client.call(protocol.LatestStateless).Elicit(context.Background(), "k", &registry.Elicitation{Schema: []byte(`{"type":"object"}`)})
	if err != nil || r.Accepted() || r.Text("text") != "" || r.Field("text") != nil || string(r.Content) != "{}" {
		t.Errorf("declined: %+v, %v", r, err)
	}
}

func TestSampleText(t *testing.T) {
	for content, want := range map[string]string{
		`{"type":"text","text":"a\n"}`:                            "a\n",
		`[{"type":"image"},{"type":"text","text":"b"}]`:           "b",
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: "a",
		`[]`:              "",
		`{"type":"x"}`:    "",
		`{"text":7}`:      "",
		`[{"text":7}]`:    "",
		`null`:            "",
		``:                "",
		`"only a text"`:   "",
		`["only a text"]`: "",
	} {
		if got := (&registry.SampleResult{Content: []byte(content)}).Text(); got != want {
			t.Errorf("the text of %s is %q, want %q", content, got, want)
		}
	}
}

// Without a client that keeps anything a step is simply done.
func TestOnceWithoutAClient(t *testing.T) {
	ctx, n := context.Background(), 0
	step := func(context.Context) (int, error) {
		n++
		return n, nil
	}
	for i, client := range []registry.Client{nil, silent{}} {
		got, err := registry.Once(ctx, &registry.Call{Client: client}, "k", step)
		if err != nil || got != i+1 {
			t.Errorf("%d, %v", got, err)
		}
	}
}

func TestOnceKeepsWhatSurvivesJSON(t *testing.T) {
	ctx, client := context.Background(), new(interviewer)
	_, err := registry.Once(ctx, client.call(protocol.LatestStateless), "chan", func(context.Context) (chan int, error) { return make(chan int), nil })
	if err == nil || !strings.Contains(err.Error(), `keeping the result of "chan"`) {
		t.Errorf("the error is %v", err)
	}
	if _, err := registry.Once(ctx, client.call(protocol.LatestStateless), "fails", func(context.Context) (int, error) { return 1, errors.New("no") }); err == nil {
		t.Error("the error is lost")
	}
	if len(client.kept) > 0 {
		t.Errorf("what is kept is %q", client.kept)
	}
	type pair struct{ A, B string }
	for range 2 {
		got, err := registry.Once(ctx, client.call(protocol.LatestStateless), "pair", func(context.Context) (pair, error) { return pair{"<", "\u2028"}, nil })
		if err != nil || got != (pair{"<", "\u2028"}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	client.kept["pair"] = []byte(`7`)
	if _, err := registry.Once(ctx, client.call(protocol.LatestStateless), "pair", func(context.Context) (pair, error) { return pair{}, nil }); err == nil {
		t.Error("what is kept is of another type, and there is no error")
	}
}

// ExampleOnce places an order before it asks. The handler runs once for each
// request of the call; the order is placed in the first run only.
func ExampleOnce() {
	orders := 0
	handler := func(ctx context.Context, call *registry.Call) (string, error) {
		order, err := registry.Once(ctx, call, "order", func(context.Context) (string, error) {
			orders++
			return fmt.Sprintf("order %d", orders), nil
		})
		if err != nil {
			return "", err
		}
		answer, err := call.Elicit(ctx, "confirm", &registry.Elicitation{
			Message: "Pay for " + order + "?",
			Form:    &registry.Form{Fields: []registry.Field{{Name: "pay", Kind: registry.FieldBoolean, Required: true}}},
		})
		if err != nil {
			return "", err // the client is asked, and the handler runs again
		}
		return order + ": " + answer.Action, nil
	}

	client := &interviewer{can: registry.CanElicitForm, answer: `{"action":"accept","content":{"pay":true}}`}
	for range 2 { // runs of one call
		fmt.Println(handler(context.Background(), client.call(protocol.LatestStateless)))
	}
	// Output:
	// order 1: accept <nil>
	// order 1: accept <nil>
}
