package transport_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/transport"
)

// page is a site that pages from an origin may use.
func page(t *testing.T, secret string) *siteOptions {
	o := &siteOptions{http: transport.HTTPOptions{Guard: guard(t, policy.GuardOptions{LoopbackBind: true, CORSOrigins: []string{"https://app.example"}})}}
	if secret != "" {
		o.http.Tokens = tokens(t, secret)
	}
	return o
}

func TestA39AndA40Preflight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, page(t, "sesame"))
		a := s.do("OPTIONS", "/mcp", "", header{
			"Origin": "https://app.example", "Access-Control-Request-Method": "POST",
			// Those of parameters are granted if they are asked for, whatever tools
			// there are: who asks has not said yet who it is.
			"Access-Control-Request-Headers": "mcp-protocol-version,mcp-method,mcp-name, Mcp-Param-Region,mcp-param-any,mcp-param-,mcp-param-b d,x-other,authorization",
		})
		want := map[string]string{
			"Access-Control-Allow-Origin":      "https://app.example",
			"Access-Control-Allow-Methods":     "GET, POST, DELETE, OPTIONS",
			"Access-Control-Allow-Headers":     "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Param-Region, mcp-param-any",
			"Access-Control-Max-Age":           "600",
			"Access-Control-Allow-Credentials": "",
		}
		if a.status != http.StatusNoContent || a.body != "" {
			t.Errorf("%d %s", a.status, a.body)
		}
		for name, value := range want {
			if got := a.header.Get(name); got != value {
				t.Errorf("%s: %q, want %q", name, got, value)
			}
		}
		if got := strings.Join(a.header["Vary"], ", "); !strings.Contains(got, "Origin") {
			t.Errorf("Vary: %q", got)
		}
	})
}

func TestA41ExposedHeadersOnEveryAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, page(t, "sesame"))
		origin := header{"Origin": "https://app.example"}
		token := origin.with(header{"Authorization": "Bearer sesame"})
		answers := map[string]answer{
			"initialize": s.post(initialize("2025-11-25"), token),
			"401":        s.post(initialize("2025-11-25"), origin),
			"404":        s.do("GET", "/nothing", "", origin),
			"400":        s.post("{", token),
			"421":        s.post("{}", token.with(header{"Host": "evil.example"})),
			"405":        s.do("PUT", "/mcp", "", token),
		}
		st := s.stream(s.request("POST", "/mcp", call("1", "storm", `{"n":1}`), s.open("2025-11-25", token)))
		answers["stream"] = answer{header: st.resp.Header}
		for name, a := range answers {
			if a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || a.header.Get("Vary") != "Origin" {
				t.Errorf("%s: %v", name, a.header)
			}
			for _, exposed := range []string{"Mcp-Session-Id", "WWW-Authenticate", "Retry-After"} {
				if !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), exposed) {
					t.Errorf("%s does not expose %s: %v", name, exposed, a.header)
				}
			}
		}
		// A page that may use the server, but not read it.
		if a := s.post("{", header{"Origin": "http://localhost:3000", "Authorization": "Bearer sesame"}); a.status != 400 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
}

func TestA42ForeignPagesRunNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, page(t, ""))
		h := s.open("2025-11-25", nil)
		body, mh := modernCall("1", "side", "{}")
		for _, foreign := range []header{{"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Host": "evil.example", "Origin": "http://evil.example"}, {"Origin": "null"}} {
			for _, a := range []answer{s.post(call("1", "side", "{}"), h.with(foreign)), s.post(body, mh.with(foreign))} {
				if a.status != 403 && a.status != 421 {
					t.Errorf("%v: %d %s", foreign, a.status, a.body)
				}
			}
		}
		if n := s.sideRuns(); n != 0 {
			t.Errorf("the tool ran %d times", n)
		}
	})
}

func TestA43HostBehindAProxy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Guard: guard(t, policy.GuardOptions{AllowedHosts: []string{"mcp.corp.example"}})}})
		if a := s.post(initialize("2025-11-25"), header{"Host": "mcp.corp.example", "Origin": "https://mcp.corp.example"}); a.status != 200 {
			t.Errorf("a page of that host: %d %s", a.status, a.body)
		}
		if a := s.post(initialize("2025-11-25"), header{"Host": "mcp.corp.example"}); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := s.post(initialize("2025-11-25"), header{"Host": "other.example"}); a.status != 421 || !strings.Contains(a.body, "--allowed-host other.example") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestA45NoRedirects(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for _, target := range []string{"/mcp", "/mcp/", "//mcp", "/mcp?x=1", "//mcp//"} {
			if a := s.do("POST", target, initialize("2025-11-25"), nil); a.status != 200 {
				t.Errorf("%s: %d %v", target, a.status, a.header)
			}
		}
	})
}

func TestA46FailuresAreAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		for _, body := range []string{call("1", "no such tool", "{}"), call("1", "echo", `{"text":5}`), `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:y"}}`} {
			if a := s.post(body, h); a.status != 200 || !strings.Contains(a.body, `"error"`) && !strings.Contains(a.body, `"isError":true`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
	})
}

func TestA47ContentTypeParameters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		for value, want := range map[string]int{
			"application/json": 200, "application/json;charset=UTF-8": 200, "Application/JSON ; charset=utf-8": 200,
			"text/plain": 415, "": 415, "application/json, text/plain": 415, "application/x-www-form-urlencoded": 415,
		} {
			if a := s.post(initialize("2025-11-25"), header{"Content-Type": value}); a.status != want {
				t.Errorf("%q: %d, want %d", value, a.status, want)
			}
		}
	})
}

func TestA48AcceptDecidesTheForm(t *testing.T) {
	const (
		asJSON   = "application/json"
		asEvents = "text/event-stream"
	)
	tests := []struct {
		name, accept string
		opts         transport.HTTPOptions
		quick, slow  string // the form of an answer with nothing before it, and of one with progress
	}{
		{"both", "application/json, text/event-stream", transport.HTTPOptions{}, asJSON, asEvents},
		{"other order, weights", "text/event-stream;q=0.5,application/json;q=0.1", transport.HTTPOptions{}, asJSON, asEvents},
		{"absent", "", transport.HTTPOptions{}, asJSON, asEvents},
		{"anything", "*/*", transport.HTTPOptions{}, asJSON, asEvents},
		{"JSON", "application/json", transport.HTTPOptions{}, asJSON, asJSON},
		{"JSON of a family", "application/*", transport.HTTPOptions{}, asJSON, asJSON},
		{"events", "text/event-stream", transport.HTTPOptions{}, asEvents, asEvents},
		{"events of a family", "text/*", transport.HTTPOptions{}, asEvents, asEvents},
		{"anything but events", "*/*, text/event-stream;q=0", transport.HTTPOptions{}, asJSON, asJSON},
		{"anything but JSON", "*/*, application/json;q=0.0", transport.HTTPOptions{}, asEvents, asEvents},
		{"both, JSON only", "application/json, text/event-stream", transport.HTTPOptions{JSONResponse: true}, asJSON, asJSON},
		{"events, JSON only", "text/event-stream", transport.HTTPOptions{JSONResponse: true}, asEvents, asEvents},
		{"both, always events", "application/json, text/event-stream", transport.HTTPOptions{AlwaysSSE: true}, asEvents, asEvents},
		{"JSON, always events", "application/json", transport.HTTPOptions{AlwaysSSE: true}, asJSON, asJSON},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := startSite(t, &siteOptions{http: test.opts})
				h := s.open("2025-11-25", nil).with(header{"Accept": test.accept})
				if a := s.post(call("1", "echo", `{"text":"x"}`), h); a.status != 200 || a.header.Get("Content-Type") != test.quick {
					t.Errorf("echo: %d %q, want %q", a.status, a.header.Get("Content-Type"), test.quick)
				}
				if a := s.post(call("1", "storm", `{"n":1}`), h); a.status != 200 || a.header.Get("Content-Type") != test.slow || !strings.Contains(a.body, "done 1") {
					t.Errorf("storm: %d %q, want %q", a.status, a.header.Get("Content-Type"), test.slow)
				}
			})
		})
	}
}

func TestA49GETOfABrowserAndOfAClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		a := s.do("GET", "/mcp", "", header{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
		if a.status != 405 || a.header.Get("Allow") == "" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || len(a.body) > 300 {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		if a := s.do("GET", "/mcp", "", header{"Accept": "text/event-stream"}); a.status != 405 || a.header.Get("Allow") == "" {
			t.Errorf("%d %v", a.status, a.header)
		}
		if e := s.listen(s.open("2025-11-25", nil)).must(); e.id == "" {
			t.Errorf("%+v", e)
		}
	})
}

// The clock that decides is that of the first keep-alive or less, so that a
// client has an id to come back with.
func TestSlowAnswerBecomesAStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		h := s.open("2025-11-25", nil)
		start := time.Now()
		st := s.stream(s.request("POST", "/mcp", strings.Replace(call("1", "steps", `{"n":2}`), `,"_meta":{"progressToken":1}`, "", 1), h))
		if waited := time.Since(start); waited != transport.DefaultUpgradeAfter {
			t.Errorf("after %v", waited)
		}
		if events := st.rest(); len(events) != 2 || events[0].data != "" || !strings.Contains(events[1].data, "done 2") {
			t.Errorf("%+v", events)
		}
	})
}

func TestA94UnknownVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body, h := modern("1", "tools/list")
		a := s.post(strings.ReplaceAll(body, "2026-07-28", "1900-01-01"), h.with(header{"Mcp-Protocol-Version": "1900-01-01"}))
		if a.status != 400 || !strings.Contains(a.body, `"code":-32022`) || !strings.Contains(a.body, `"supported":["2026-07-28"]`) || !strings.Contains(a.body, `"requested":"1900-01-01"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		body, h = modern("1", "server/discover")
		if a := s.post(body, h); a.status != 200 || !strings.Contains(a.body, `"supportedVersions":["2026-07-28"]`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestA95HeadersAgreeWithTheBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body, h := modernCall("1", "side", "{}")
		if a := s.post(body, h.with(header{"Mcp-Name": "echo"})); a.status != 400 || !strings.Contains(a.body, "-32020") || s.sideRuns() != 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
		body, h = modernCall("1", "echo", `{"text":"x"}`)
		region, rh := modernCall("1", "region", `{"region":"=?base64?SGVsbG8=","level":42}`)
		for name, req := range map[string]*http.Request{
			"base64":               s.request("POST", "/mcp", body, h.with(header{"Mcp-Name": "=?base64?ZWNobw==?="})),
			"white space":          s.request("POST", "/mcp", body, h.with(header{"Mcp-Name": "  echo  "})),
			"parameter headers":    s.request("POST", "/mcp", region, rh.with(header{"Mcp-Param-Region": "=?base64?SGVsbG8=", "Mcp-Param-Level": "42.0"})),
			"unknown parameter":    s.request("POST", "/mcp", body, h.with(header{"Mcp-Param-Other": "x"})),
			"a session is ignored": s.request("POST", "/mcp", body, h.with(header{"Mcp-Session-Id": "stale", "Last-Event-ID": "x"})),
		} {
			if a := s.send(req); a.status != 200 || a.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		twice := s.request("POST", "/mcp", body, h)
		twice.Header.Add("Mcp-Name", "echo")
		if a := s.send(twice); a.status != 400 || !strings.Contains(a.body, "-32020") {
			t.Errorf("twice: %d %s", a.status, a.body)
		}
		legacy := s.open("2025-11-25", nil)
		if a := s.post(call("1", "echo", `{"text":"x"}`), legacy.with(header{"Mcp-Method": "tools/call", "Mcp-Name": "echo"})); a.status != 200 {
			t.Errorf("volunteered: %d %s", a.status, a.body)
		}
	})
}

func TestA96StatusOfAnUnknownMethod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body, h := modern("1", "no/such")
		if a := s.post(body, h); a.status != 404 || !strings.Contains(a.body, "-32601") {
			t.Errorf("stateless: %d %s", a.status, a.body)
		}
		if a := s.post(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, s.open("2025-11-25", nil)); a.status != 200 || !strings.Contains(a.body, "-32601") {
			t.Errorf("handshake: %d %s", a.status, a.body)
		}
	})
}

func TestA97DiscoverIsModernHoweverItIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, nil)
		body, h := modern("1", "server/discover")
		bare := `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`
		tests := []struct {
			name   string
			body   string
			header header
			status int
			says   string
		}{
			{"header only", bare, h, 400, `"code":-32602,"message":"_meta must have`},
			{"_meta only", body, nil, 400, `"code":-32020,"message":"the MCP-Protocol-Version header is missing`},
			{"both", body, h, 200, `"supportedVersions"`},
			{"none", bare, nil, 400, `"code":-32602,"message":"_meta must have`},
		}
		for _, test := range tests {
			if a := s.post(test.body, test.header); a.status != test.status || !strings.Contains(a.body, test.says) {
				t.Errorf("%s: %d %s", test.name, a.status, a.body)
			}
		}
	})
}

func TestA99CacheHints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one", "two")}})
		body, h := modern("1", "tools/list")
		for _, token := range []string{"one", "two"} {
			a := s.post(body, h.with(header{"Authorization": "Bearer " + token}))
			if a.status != 200 || !strings.Contains(a.body, `"ttlMs":`) || !strings.Contains(a.body, `"cacheScope":"`) || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%d %v %s", a.status, a.header, a.body)
			}
		}
	})
}

func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := startSite(t, &siteOptions{http: transport.HTTPOptions{Tokens: tokens(t, "one"), HealthPath: "/live"}})
		for _, path := range []string{"/live", "/readyz"} {
			if a := s.do("GET", path, "", nil); a.status != 200 || a.body != "ok\n" {
				t.Errorf("GET %s: %d %q", path, a.status, a.body)
			}
			if a := s.do("HEAD", path, "", nil); a.status != 200 || a.body != "" || a.header.Get("Content-Length") != "3" {
				t.Errorf("HEAD %s: %d %q %v", path, a.status, a.body, a.header)
			}
		}
		if a := s.do("OPTIONS", "/live", "", nil); a.status != 204 || a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("OPTIONS: %d %v", a.status, a.header)
		}
	})
}
