package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// hiding is access that hides what has a certain name.
type hiding string

func (h hiding) Class(*policy.Principal) string { return "" }
func (h hiding) Visible(_ *policy.Principal, s *policy.Subject) bool {
	return s.Name != string(h)
}
func (h hiding) Check(context.Context, *policy.Principal, *policy.Subject, string) error { return nil }

// Who subscribes to a resource hears of what is below it, unless that is hidden.
func TestUpdatesOfHiddenResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{layer: layer.Options{Access: hiding("test://a/secret")}}.connect(t)
		if err := p.reg.AddResource(watched("test://a/secret")); err != nil {
			t.Fatal(err)
		}
		p.handshake("2025-11-25")
		p.ask(request("1", "resources/subscribe", `"uri":"test://a"`))
		p.send(modern("2", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://a"]}`))
		settle()
		p.take()
		for _, uri := range []string{"test://a/secret", "test://a/other"} {
			p.hub.Publish(notify.Event{Kind: notify.ResourceUpdated, URI: uri})
		}
		time.Sleep(window)
		settle()
		got := p.take()
		if len(got) != 2 {
			t.Errorf("%d notifications, want one of the session and one of the listen: %q", len(got), got)
		}
		for _, line := range got {
			if strings.Contains(line, "secret") || !strings.Contains(line, `"uri":"test://a/other"`) {
				t.Errorf("the client is told %s", line)
			}
		}
	})
}

// A URI that the hub would refuse is refused at once, ready or not.
func TestSubscribeToLongURI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{}.connect(t)
		if err := p.reg.AddTemplate(registry.Template{URITemplate: "test://t/{+rest}", Name: "t", Handler: watched("test://x").Handler}); err != nil {
			t.Fatal(err)
		}
		long := request("1", "resources/subscribe", `"uri":"test://t/`+strings.Repeat("x", 5000)+`"`)
		p.ask(initialize("2025-11-25"))
		if a := p.ask(long); a.Result != nil || a.Error.Code != -32602 {
			t.Errorf("before the handshake is over: %+v", a)
		}
		p.send(initialized)
		if a := p.ask(long); a.Result != nil || a.Error.Code != -32602 {
			t.Errorf("when the handshake is over: %+v", a)
		}
	})
}

// Listens that come by themselves are bounded for each principal.
func TestListensOfOnePrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := session.NewServer(&session.Options{
			Layer: layer.New(&layer.Options{Registry: registry.New(nil)}), Info: protocol.Implementation{Name: "s", Version: "1"}, MaxOwnListens: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan answer, 3)
		listen := func(owner string) {
			go func() { // its result is taken below
				ended <- serveFor(ctx, t, server, policy.NewPrincipal(owner), nil, modern("1", "subscriptions/listen", `"notifications":{}`))
			}()
			synctest.Wait()
		}
		listen("ann")
		listen("ann")
		listen("bob") // is not harmed
		if len(ended) > 0 {
			t.Fatalf("a listen ended: %+v", <-ended)
		}
		a := serveFor(ctx, t, server, policy.NewPrincipal("ann"), nil, modern("1", "subscriptions/listen", `"notifications":{}`))
		if a.Result != nil || a.Error.Code != -32603 || !strings.Contains(a.Error.Message, "2 listens") {
			t.Errorf("the third is answered with %+v", a)
		}
		stop()
		for range 3 {
			<-ended
		}
		ctx, stop = context.WithCancel(t.Context())
		defer stop()
		listen("ann") // there is room again
		if len(ended) > 0 {
			t.Errorf("there is no room when they have ended: %+v", <-ended)
		}
		stop()
		<-ended
	})
}

// Two claims in one request could be read in two ways.
func TestClaimsMadeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixture{}.connect(t)
		for name, value := range map[string]string{
			"protocolVersion": `"2026-07-28"`, "clientCapabilities": `{}`, "clientInfo": `{"name":"n","version":"1"}`, "logLevel": `"info"`,
		} {
			member := `"io.modelcontextprotocol/` + name + `":` + value + `,`
			line := strings.Replace(modern("1", "tools/list", ""), `"_meta":{`, `"_meta":{`+member+member, 1)
			if a := p.ask(line); a.Result != nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, name) || !strings.Contains(a.Error.Message, "twice") {
				t.Errorf("%s: %+v", name, a)
			}
		}
		p.handshake("2025-11-25")
		if a := p.ask(request("2", "tools/list", `"_meta":{"progressToken":1,"progressToken":2}`)); a.Result != nil || a.Error.Code != -32602 {
			t.Errorf("progress tokens: %+v", a)
		}
	})
}
