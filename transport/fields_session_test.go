package transport_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
)

func TestA33UnknownSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		gone := s.open("2025-11-25", nil)
		s.do("DELETE", "/mcp", "", gone)
		for _, h := range []header{gone, {"Mcp-Session-Id": "nope"}} {
			for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, call("1", "steps", `{"n":3}`)} {
				if a := s.post(body, h); a.status != 404 || !strings.Contains(a.body, `"id":1`) {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		}
	})
}

// Clients that cannot recover from a restart have a server without sessions.
func TestA33WithoutSessions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{stateless: true})
		a := s.post(initialize("2025-11-25"), nil)
		if a.status != 200 || a.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("initialize: %d %v", a.status, a.header)
		}
		h := header{"Mcp-Protocol-Version": "2025-11-25"}
		if a := s.post(initialized, h); a.status != 202 {
			t.Errorf("initialized: %d %s", a.status, a.body)
		}
		for _, h := range []header{h, nil, h.with(header{"Mcp-Session-Id": "of a server before"})} {
			if a := s.post(call("1", "echo", `{"text":"hello"}`), h); a.status != 200 || !strings.Contains(a.body, "hello") {
				t.Errorf("echo: %d %s", a.status, a.body)
			}
		}
		st := s.stream(s.request("POST", "/mcp", call("2", "steps", `{"n":2}`), h))
		if events := st.rest(); len(events) < 3 {
			t.Errorf("%+v", events)
		}
	})
}

func TestA34StaleIDOnInitialize(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		a := s.post(initialize("2025-11-25"), header{"Mcp-Session-Id": "stale", "Mcp-Protocol-Version": "2025-11-25"})
		if id := a.header.Get("Mcp-Session-Id"); a.status != 200 || id == "" || id == "stale" {
			t.Errorf("%d %q %s", a.status, id, a.body)
		}
	})
}

func TestA58VersionNegotiation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		for _, claimed := range []string{"2099-01-01", "2026-07-28", "2025-06-18", ""} {
			a := s.post(initialize("2099-01-01"), header{"Mcp-Protocol-Version": claimed})
			if a.status != 200 || !strings.Contains(a.body, `"protocolVersion":"2025-11-25"`) {
				t.Errorf("header %q: %d %s", claimed, a.status, a.body)
			}
		}
		for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
			if a := s.post(initialize(version), nil); !strings.Contains(a.body, `"protocolVersion":"`+version+`"`) {
				t.Errorf("%s: %s", version, a.body)
			}
		}
	})
}

func TestSessionsBelongToPrincipals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one", "two")}})
		one, two := header{"Authorization": "Bearer one"}, header{"Authorization": "Bearer two"}
		h := s.open("2025-11-25", one)
		foreign := h.with(two)
		requests := []*http.Request{
			s.request("POST", "/mcp", call("1", "side", "{}"), foreign),
			s.request("POST", "/mcp", initialized, foreign),
			s.request("GET", "/mcp", "", foreign.with(header{"Accept": "text/event-stream"})),
			s.request("DELETE", "/mcp", "", foreign),
		}
		for _, r := range requests {
			if a := s.send(r); a.status != 404 {
				t.Errorf("%s by another principal: %d %s", r.Method, a.status, a.body)
			}
		}
		if a := s.post(call("1", "side", "{}"), h); a.status != 200 || s.sideRuns() != 1 {
			t.Errorf("by its own: %d, ran %d times", a.status, s.sideRuns())
		}
		if a := s.post(initialize("2025-11-25"), foreign); a.status != 200 || a.header.Get("Mcp-Session-Id") == h["Mcp-Session-Id"] {
			t.Errorf("initialize by another principal: %d %s", a.status, a.body)
		}
	})
}

// A resolver that takes a role away takes the session with it.
func TestSessionsEndWithTheRolesOfTheirPrincipal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		roles := []string{"admin"}
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Resolver: func(policy.RequestInfo) (*policy.Principal, error) {
			return policy.NewPrincipal("ada", roles...), nil
		}}})
		h := s.open("2025-11-25", nil)
		if a := s.post(call("1", "side", "{}"), h); a.status != 200 {
			t.Errorf("with the same roles: %d %s", a.status, a.body)
		}
		roles = nil
		if a := s.post(call("1", "side", "{}"), h); a.status != 404 {
			t.Errorf("with other roles: %d %s", a.status, a.body)
		}
	})
}

func TestResolver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var seen policy.RequestInfo
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Resolver: func(r policy.RequestInfo) (*policy.Principal, error) {
			if seen = r; len(r.Header("x-user")) == 0 {
				return nil, errors.New("secret reason")
			}
			return policy.NewPrincipal(r.Header("x-user")[0]), nil
		}}})
		if a := s.post(initialize("2025-11-25"), nil); a.status != 401 || strings.Contains(a.body, "secret") {
			t.Errorf("denied: %d %s", a.status, a.body)
		}
		if a := s.post(initialize("2025-11-25"), header{"X-User": "ada"}); a.status != 200 {
			t.Errorf("allowed: %d %s", a.status, a.body)
		}
		if seen.Method != "POST" || seen.Path != "/mcp" || seen.Host != "127.0.0.1:1" || seen.RemoteAddr == "" || seen.PeerSubject != "" {
			t.Errorf("%+v", seen)
		}
	})
}

func TestA86EveryRequestIsAuthenticated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one")}})
		h := s.open("2025-11-25", header{"Authorization": "Bearer one"})
		if a := s.post(call("1", "side", "{}"), h.with(header{"Authorization": ""})); a.status != 401 || !strings.Contains(a.body, "Authorization header") || s.sideRuns() != 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestA85NoOAuthHints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one")}})
		if a := s.post(initialize("2025-11-25"), nil); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %v", a.status, a.header)
		}
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"} {
			if a := s.do("GET", path, "", nil); a.status != 404 || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %v", path, a.status, a.header)
			}
		}
	})
}

func TestFailedAuthenticationIsSlowed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{
			Tokens: tokens(t, "one"), Failures: policy.NewFailures(policy.FailureOptions{Burst: 3, Interval: 10 * time.Second}),
		}})
		wrong, right := header{"Authorization": "Bearer guess"}, header{"Authorization": "Bearer one"}
		for range 3 {
			if a := s.post(initialize("2025-11-25"), wrong); a.status != 401 {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		if a := s.post(initialize("2025-11-25"), right); a.status != 429 || a.header.Get("Retry-After") != "10" {
			t.Errorf("blocked: %d %v", a.status, a.header)
		}
		if a := s.do("GET", "/healthz", "", nil); a.status != 200 {
			t.Errorf("health of a blocked address: %d", a.status)
		}
		time.Sleep(10 * time.Second)
		if a := s.post(initialize("2025-11-25"), right); a.status != 200 {
			t.Errorf("later: %d %s", a.status, a.body)
		}
	})
}

func TestSessionLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{
			http:  transport.HTTPOptions{Tokens: tokens(t, "one", "two", "three")},
			store: session.StoreOptions{MaxPerPrincipal: 2, MaxSessions: 3},
		})
		one, two, three := header{"Authorization": "Bearer one"}, header{"Authorization": "Bearer two"}, header{"Authorization": "Bearer three"}
		busy := s.open("2025-06-18", one)
		s.listen(busy)
		idle := s.open("2025-06-18", one)
		s.listen(s.open("2025-06-18", two))
		// The oldest idle session of the principal makes room.
		h := s.open("2025-06-18", one)
		if a := s.post(call("1", "side", "{}"), idle); a.status != 404 {
			t.Errorf("the idle session: %d", a.status)
		}
		if a := s.post(call("1", "side", "{}"), busy); a.status != 200 {
			t.Errorf("the session in use: %d", a.status)
		}
		// None is idle any more.
		s.listen(h)
		if a := s.post(initialize("2025-06-18"), one); a.status != 429 || a.header.Get("Retry-After") == "" || a.header.Get("Mcp-Session-Id") != "" || !strings.Contains(a.body, `"id":"i"`) {
			t.Errorf("at the principal's limit: %d %v %s", a.status, a.header, a.body)
		}
		if a := s.post(initialize("2025-06-18"), three); a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("at the limit of all: %d %v", a.status, a.header)
		}
	})
}

func TestCallLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{MaxCalls: 1}})
		h := s.open("2025-06-18", nil)
		st := s.stream(s.request("POST", "/mcp", call("1", "steps", `{"n":2}`), h))
		if a := s.post(call("2", "side", "{}"), h); a.status != 429 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, `"id":2`) {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		st.rest()
		if a := s.post(call("2", "side", "{}"), h); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// Requests in flight and open streams count as activity.
func TestIdleTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{store: session.StoreOptions{IdleTimeout: time.Minute}})
		idle, calling, listening := s.open("2025-06-18", nil), s.open("2025-06-18", nil), s.open("2025-06-18", nil)
		st := s.stream(s.request("POST", "/mcp", call("1", "steps", `{"n":300}`), calling))
		s.listen(listening)
		time.Sleep(2 * time.Minute)
		for name, h := range map[string]header{"calling": calling, "listening": listening} {
			if a := s.post(call("2", "side", "{}"), h); a.status != 200 {
				t.Errorf("%s: %d", name, a.status)
			}
		}
		if a := s.post(call("2", "side", "{}"), idle); a.status != 404 {
			t.Errorf("idle: %d", a.status)
		}
		if events := st.rest(); !strings.Contains(events[len(events)-1].data, "done 300") {
			t.Errorf("the call was ended: %+v", events[len(events)-1])
		}
		time.Sleep(2 * time.Minute)
		if got := s.store.Stats(); got.Sessions != 1 || got.InUse != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestDeleteEndsCallsAndStreams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		own := s.listen(h)
		st := s.stream(s.request("POST", "/mcp", call("1", "wait", "{}"), h))
		st.must()
		if a := s.do("DELETE", "/mcp", "", h); a.status != http.StatusNoContent || a.body != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
		own.rest()
		if events := st.rest(); len(events) > 0 && strings.Contains(events[0].data, "incident") {
			t.Errorf("%+v", events)
		}
		synctest.Wait()
		if got := s.waitCauses(); !slices.Equal(got, []string{"the session has ended: the connection is closed"}) {
			t.Errorf("causes: %q", got)
		}
		if log := s.log(); strings.Contains(log, "level=ERROR") {
			t.Error(log)
		}
	})
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}`
	t.Run("stream", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := startSite(t, nil)
			h := s.open("2025-11-25", nil)
			st := s.stream(s.request("POST", "/mcp", call("1", "wait", "{}"), h))
			seen := st.must()
			st2 := s.stream(s.request("GET", "/mcp", "", h.with(header{"Accept": "text/event-stream", "Last-Event-ID": seen.id})))
			if a := s.post(cancelled, h); a.status != 202 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if events := append(st.rest(), st2.rest()...); len(events) != 0 {
				t.Errorf("%+v", events)
			}
			if got := s.waitCauses(); len(got) != 1 || !strings.Contains(got[0], "bored") {
				t.Errorf("%q", got)
			}
		})
	})
	t.Run("JSON", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := startSite(t, nil)
			h := s.open("2025-11-25", nil)
			done := make(chan struct{})
			time.AfterFunc(time.Minute, func() {
				defer close(done)
				if _, err := s.try(s.request("POST", "/mcp", cancelled, h)); err != nil {
					t.Error(err)
				}
			})
			if a := s.post(call("1", "wait", "{}"), h.with(header{"Accept": "application/json"})); a.status != 202 || a.body != "" {
				t.Errorf("%d %s", a.status, a.body)
			}
			<-done
		})
	})
	t.Run("another session", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := startSite(t, nil)
			st := s.stream(s.request("POST", "/mcp", call("1", "steps", `{"n":2}`), s.open("2025-11-25", nil)))
			s.post(cancelled, s.open("2025-11-25", nil))
			if events := st.rest(); !strings.Contains(events[len(events)-1].data, "done 2") {
				t.Errorf("%+v", events)
			}
		})
	})
}

// Leaving is cancelling in the stateless era only (R4.24, R4.57, R4.58).
func TestDisconnect(t *testing.T) {
	for _, accept := range []string{"application/json, text/event-stream", "application/json"} {
		t.Run("stateless, "+accept, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startSite(t, nil)
				body, h := modernCall("1", "wait", "{}")
				s.leave(s.request("POST", "/mcp", body, h.with(header{"Accept": accept})))
				if got := s.waitCauses(); len(got) != 1 {
					t.Errorf("%q", got)
				}
				if log := s.log(); strings.Contains(log, "level=ERROR") {
					t.Error(log)
				}
			})
		})
		t.Run("handshake, "+accept, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startSite(t, nil)
				h := s.open("2025-11-25", nil)
				s.leave(s.request("POST", "/mcp", call("1", "wait", "{}"), h.with(header{"Accept": accept})))
				if got := s.waitCauses(); len(got) != 0 {
					t.Errorf("%q", got)
				}
				s.do("DELETE", "/mcp", "", h)
				synctest.Wait()
				if got := s.waitCauses(); len(got) != 1 {
					t.Errorf("after DELETE: %q", got)
				}
			})
		})
	}
}

// leave sends a request and leaves after a minute, without an answer.
func (s *site) leave(req *http.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = s.try(req.WithContext(ctx))
	synctest.Wait()
}

func TestListen(t *testing.T) {
	listen := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	h := header{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
	for _, jsonOnly := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			s := startSite(t, &siteOptions{http: transport.HTTPOptions{JSONResponse: jsonOnly}})
			st := s.stream(s.request("POST", "/mcp", listen, h))
			if e := st.must(); e.id != "" || !strings.Contains(e.data, "acknowledged") {
				t.Errorf("%+v", e)
			}
			if e := st.must(); e.comment == "" {
				t.Errorf("%+v", e)
			}
			s.hub.Publish(notify.Event{Kind: notify.ToolsChanged})
			if e := st.must(); !strings.Contains(e.data, "tools/list_changed") {
				t.Errorf("%+v", e)
			}
			ended := make(chan error)
			go func() { ended <- s.handler.Shutdown(t.Context()) }() // its result is taken below
			if events := st.rest(); len(events) != 1 || !strings.Contains(events[0].data, `"result":{"resultType":"complete"`) {
				t.Errorf("at the end: %+v", events)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if got := s.store.Stats(); got.Sessions != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		own := s.listen(h)
		own.must()
		st := s.stream(s.request("POST", "/mcp", call("1", "steps", `{"n":3}`), h))
		stuck := s.stream(s.request("POST", "/mcp", call("2", "wait", "{}"), h))
		body, mh := modernCall("3", "wait", "{}")
		modern := s.stream(s.request("POST", "/mcp", body, mh))
		grace, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ended := make(chan error)
		start := time.Now()
		go func() { ended <- s.handler.Shutdown(grace) }() // its result is taken below
		own.rest()
		if waited := time.Since(start); waited > 2*time.Second {
			t.Errorf("the standalone stream ended after %v", waited)
		}
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/mcp": 503} {
			if a := s.do("GET", path, "", nil); a.status != want || want == 503 && a.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %v", path, a.status, a.header)
			}
		}
		if events := st.rest(); !strings.Contains(events[len(events)-1].data, "done 3") {
			t.Errorf("the call in flight: %+v", events)
		}
		for _, st := range []*stream{stuck, modern} {
			if events := st.rest(); !strings.Contains(events[len(events)-1].data, "shutting down") {
				t.Errorf("the call that does not end: %+v", events)
			}
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if waited := time.Since(start); waited > 12*time.Second {
			t.Errorf("it took %v", waited)
		}
	})
}

func TestBatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-03-26", nil)
		batch := `[` + call("1", "echo", `{"text":"one"}`) + `,` + initialized + `,5,` + call("2", "echo", `{"text":"two"}`) + `]`
		a := s.post(batch, h)
		if a.status != 200 || !strings.HasPrefix(a.body, `[{"jsonrpc":"2.0","id":1,"result"`) || !strings.Contains(a.body, `},{"jsonrpc":"2.0","id":null,"error":`) || !strings.HasSuffix(a.body, `}]`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		st := s.stream(s.request("POST", "/mcp", batch, h.with(header{"Accept": "text/event-stream"})))
		if events := st.rest(); len(events) != 3 || !strings.HasPrefix(events[0].data, "{") {
			t.Errorf("%+v", events)
		}
		if a := s.post(`[`+initialized+`]`, h); a.status != 202 || a.body != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := s.post(`[`+initialize("2025-03-26")+`]`, h); a.status != 200 || !strings.Contains(a.body, "-32600") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
