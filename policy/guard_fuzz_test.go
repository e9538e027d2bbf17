package policy_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
)

// FuzzGuard holds what a guard lets through against net/url, which reads hosts
// and origins in its own way, and checks the form of every refusal.
func FuzzGuard(f *testing.F) {
	for _, host := range []string{"localhost", "127.0.0.1:80", "[::1]:8765", "mcp.example:443", "a.mcp.example", "", "evil.example", "localhost@x", "0x7f.1"} {
		for _, origin := range []string{"", "null", "http://localhost:1", "https://app.example", "https://evil.example", "http://mcp.example", "http://[::1%25lo]", "http://localhost/", "a://b c"} {
			f.Add(host, origin, true, false)
			f.Add(host, origin, false, true)
		}
	}
	loop := newGuard(f, loopback)
	list := newGuard(f, policy.GuardOptions{AllowedHosts: []string{"mcp.example", "*.mcp.example:*"}, CORSOrigins: []string{"https://app.example"}})
	open := newGuard(f, policy.GuardOptions{})
	f.Fuzz(func(t *testing.T, host, origin string, hasOrigin, tls bool) {
		r := policy.GuardRequest{Host: host, HasHost: true, TLS: tls}
		if hasOrigin {
			r.Origins = []string{origin}
		}
		checkRefusals(t, r, loop, list, open)

		if loop.Check(r) == nil {
			h := parseURL(t, "http://"+host)
			if !local(h) {
				t.Errorf("a loopback bind lets Host %q through", host)
			}
			if o := parseURL(t, origin); hasOrigin && !local(o) {
				t.Errorf("a loopback bind lets Origin %q through", origin)
			}
		}
		if list.Check(r) == nil {
			h := name(parseURL(t, "http://"+host))
			if h != "mcp.example" && !strings.HasSuffix(h, ".mcp.example") {
				t.Errorf("the list lets Host %q through", host)
			}
			if o := parseURL(t, origin); hasOrigin && !local(o) && name(o) != "app.example" && name(o) != h {
				t.Errorf("the list lets Origin %q through for Host %q", origin, host)
			}
		}
		if o := parseURL(t, origin); hasOrigin && open.Check(r) == nil && !local(o) {
			t.Errorf("a bind without a list lets Origin %q through", origin)
		}
		if list.CORS(origin) && list.Check(policy.GuardRequest{Host: "mcp.example", HasHost: true, Origins: []string{origin}}) != nil {
			t.Errorf("CORS grants %q what Check refuses", origin)
		}
	})
}

// checkRefusals checks the form of what the guards answer, and that an origin
// never makes a refused Host pass.
func checkRefusals(t *testing.T, r policy.GuardRequest, guards ...*policy.Guard) {
	t.Helper()
	for i, g := range guards {
		bare := r
		bare.Origins = nil
		got := g.Check(r)
		if before := g.Check(bare); before != nil && status(got) != before.Status {
			t.Errorf("guard %d refuses Host %q with %v, and with Origin %q: %v", i, r.Host, before, r.Origins, got)
		}
		if got == nil {
			continue
		}
		if got.Status != 403 && got.Status != 421 {
			t.Errorf("guard %d: status %d", i, got.Status)
		}
		if len(got.Message) > 1024 || !strings.Contains(got.Message, "--allowed-") {
			t.Errorf("guard %d: message of %d bytes: %q", i, len(got.Message), got.Message)
		}
		if strings.ContainsFunc(got.Message, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("guard %d: message with strange characters: %q", i, got.Message)
		}
	}
}

// parseURL returns the URL that s is, or an empty one.
func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Path != "" {
		return &url.URL{}
	}
	return u
}

func name(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

func local(u *url.URL) bool {
	if name(u) == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name(u))
	return err == nil && addr.Unmap().IsLoopback()
}
