package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"github.com/google/go-cmp/cmp"
)

const (
	toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	window       = 10 * notify.DefaultWindow // long enough for what waits to be delivered
)

func updated(uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
}

// pass lets the window pass in which changes are collected, and returns what the
// server wrote.
func (p *peer) pass() []string {
	time.Sleep(window) // of the bubble's clock
	settle()
	return p.take()
}

// update announces the update of a resource.
func (p *peer) update(uri string) {
	p.hub.Publish(notify.Event{Kind: notify.ResourceUpdated, URI: uri})
}

func TestChangesOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{}.connect(t)
		change := func(n int) {
			for range n {
				if err := p.reg.ReplaceTool(tool("t", unused)); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.ask(initialize("2025-11-25"))
		change(1)
		if got := p.pass(); len(got) > 0 {
			t.Errorf("before the session is ready came %q", got)
		}
		p.send(initialized, initialized) // once is enough
		change(200)
		if diff := cmp.Diff([]string{toolsChanged}, p.pass()); diff != "" {
			t.Errorf("200 changes (-want +got):\n%s", diff)
		}
		if got := p.pass(); len(got) > 0 {
			t.Errorf("without a change came %q", got)
		}
		change(1)
		p.close()
		<-p.over
		if got := p.pass(); len(got) > 0 {
			t.Errorf("after the end came %q", got)
		}
	})
}

func TestSubscriptionsOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{options: session.Options{MaxSubscriptions: 2}}.connect(t)
		p.ask(initialize("2025-11-25"))
		// It may come before the session is ready, and more than once.
		p.ask(request("1", "resources/subscribe", `"uri":"test://a"`))
		p.ask(request("2", "resources/subscribe", `"uri":"test://a"`))
		p.send(initialized)
		p.ask(request("3", "resources/subscribe", `"uri":"test://b"`))
		if a := p.ask(request("4", "resources/subscribe", `"uri":"test://c"`)); a.Error.Code != protocol.CodeInternal || !strings.Contains(a.Error.Message, "2") {
			t.Errorf("one too many: %+v", a)
		}
		if a := p.ask(request("4", "resources/subscribe", `"uri":"test://b"`)); a.Result == nil {
			t.Errorf("what is subscribed to already takes no room: %+v", a)
		}
		for _, uri := range []string{"test://a", "test://b", "test://c", "test://a"} {
			p.update(uri)
		}
		if diff := cmp.Diff([]string{updated("test://a"), updated("test://b")}, p.pass()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
		p.ask(request("5", "resources/unsubscribe", `"uri":"test://a"`))
		p.ask(request("6", "resources/unsubscribe", `"uri":"test://never"`))
		p.ask(request("7", "resources/subscribe", `"uri":"test://c"`))
		for _, uri := range []string{"test://a", "test://b", "test://c"} {
			p.update(uri)
		}
		if diff := cmp.Diff([]string{updated("test://b"), updated("test://c")}, p.pass()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
		if a := p.ask(request("8", "resources/subscribe", `"uri":"other://x"`)); a.Error.Code != protocol.CodeResourceNotFound {
			t.Errorf("a resource that is not there: %+v", a)
		}
	})
}

// acknowledgement is the first message of the listen with the raw id.
func acknowledgement(id, filter string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{` + filter +
		`},"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
}

func TestListen(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", ``, ``},
		{"all there is", `"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true`, `"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true`},
		{"some", `"resourcesListChanged":true,"toolsListChanged":false,"promptsListChanged":null`, `"resourcesListChanged":true`},
		{"what nobody knows", `"taskIds":["x"],"toolsListChanged":true`, `"toolsListChanged":true`},
		{"resources", `"resourceSubscriptions":["test://b","test://a","test://b","other://x"]`, `"resourceSubscriptions":["test://b","test://a"]`},
		{"no resource that is there", `"resourceSubscriptions":["other://x"]`, ``},
		{"null for resources", `"resourceSubscriptions":null`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fixture{}.connect(t)
				p.send(modern(`"l"`, "subscriptions/listen", `"notifications":{`+tt.in+`}`))
				if diff := cmp.Diff([]string{acknowledgement(`"l"`, tt.want)}, p.take()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLifeOfAListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{options: session.Options{MaxListens: 2}}.connect(t)
		p.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		p.send(modern(`"1"`, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://a"]}`))
		p.send(modern("3", "subscriptions/listen", `"notifications":{}`))
		got := p.take()
		if len(got) != 3 || !strings.Contains(got[2], `"code":-32603`) {
			t.Fatalf("the third is one too many: %q", got)
		}
		if err := p.reg.AddTool(tool("new", unused)); err != nil {
			t.Fatal(err)
		}
		p.update("test://a")
		p.update("test://b")
		want := map[string]bool{
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`:                   true,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a","_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}}`: true,
		}
		seen := make(map[string]bool)
		for _, line := range p.pass() {
			seen[line] = true
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		// The end of one makes room for another, and frees what it held.
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if n := p.hub.Stats().Subscribers; n != 1 {
			t.Errorf("%d subscribers are left, want the other listen's", n)
		}
		p.send(modern("4", "subscriptions/listen", `"notifications":{}`))
		if diff := cmp.Diff([]string{acknowledgement("4", "")}, p.take()); diff != "" {
			t.Errorf("after the end of one (-want +got):\n%s", diff)
		}
		p.close()
		<-p.over
		ends := p.take()
		for _, id := range []string{`"1"`, "4"} {
			want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
			if !strings.Contains(strings.Join(ends, "\n"), want) {
				t.Errorf("%s did not end with its result: %q", id, ends)
			}
		}
	})
}

// unused is the handler of tools that nobody calls.
func unused(context.Context, *registry.Call) (*protocol.CallToolResult, error) {
	return nil, errors.New("nobody calls this")
}
