package policy_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
	"github.com/google/go-cmp/cmp"
)

func newGuard(t testing.TB, o policy.GuardOptions) *policy.Guard {
	t.Helper()
	g, err := policy.NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// status returns the status of a refusal, 0 when there is none.
func status(r *policy.Refusal) int {
	if r == nil {
		return 0
	}
	return r.Status
}

var loopback = policy.GuardOptions{LoopbackBind: true}

func TestGuard_Host(t *testing.T) {
	listed := policy.GuardOptions{
		AllowedHosts: []string{"mcp.corp.example", "any.example:*", "one.example:8080", "*.sub.example", "*.deep.example:*", "10.0.0.1", "[2001:db8::1]:8443", "tls.example:443", "UPPER.example."},
		LoopbackBind: true,
	}
	open := policy.GuardOptions{}
	tests := []struct {
		name string
		o    policy.GuardOptions
		in   string
		want int
	}{
		{"loopback: localhost", loopback, "localhost", 0},
		{"loopback: port", loopback, "localhost:8765", 0},
		{"loopback: colon without port", loopback, "localhost:", 0},
		{"loopback: upper case", loopback, "LocalHost:80", 0},
		{"loopback: trailing dot", loopback, "localhost.:80", 0},
		{"loopback: IPv4", loopback, "127.0.0.1:8765", 0},
		{"loopback: other IPv4 of 127/8", loopback, "127.8.9.10", 0},
		{"loopback: IPv6", loopback, "[::1]:8765", 0},
		{"loopback: IPv6 without port", loopback, "[::1]", 0},
		{"loopback: IPv6 in full", loopback, "[0:0:0:0:0:0:0:1]:1", 0},
		{"loopback: IPv4 in IPv6", loopback, "[::ffff:127.0.0.1]:1", 0},
		{"loopback: name", loopback, "evil.example", 421},
		{"loopback: name of which localhost is a label", loopback, "localhost.evil.example", 421},
		{"loopback: name below localhost", loopback, "evil.localhost", 421},
		{"loopback: name that ends in localhost", loopback, "evillocalhost", 421},
		{"loopback: name that starts with an address", loopback, "127.0.0.1.evil.example", 421},
		{"loopback: other address", loopback, "10.0.0.1", 421},
		{"loopback: unspecified IPv4", loopback, "0.0.0.0:8765", 421},
		{"loopback: unspecified IPv6", loopback, "[::]:8765", 421},
		{"loopback: short IPv4", loopback, "127.1", 421},
		{"loopback: number", loopback, "2130706433", 421},
		{"loopback: hexadecimal", loopback, "0x7f.0.0.1", 421},
		{"loopback: octal", loopback, "0177.0.0.1", 421},
		{"loopback: two trailing dots", loopback, "localhost..", 421},
		{"loopback: IPv6 without brackets", loopback, "::1", 421},
		{"loopback: IPv6 with zone", loopback, "[::1%lo]", 421},
		{"loopback: IPv6 with encoded zone", loopback, "[::1%25lo]", 421},
		{"loopback: IPv4 in brackets", loopback, "[127.0.0.1]", 421},
		{"loopback: open bracket", loopback, "[::1", 421},
		{"loopback: text after bracket", loopback, "[::1]x", 421},
		{"loopback: empty", loopback, "", 421},
		{"loopback: only a port", loopback, ":80", 421},
		{"loopback: only a dot", loopback, ".", 421},
		{"loopback: userinfo", loopback, "localhost@evil.example", 421},
		{"loopback: userinfo before", loopback, "evil@localhost", 421},
		{"loopback: path", loopback, "localhost/x", 421},
		{"loopback: query", loopback, "localhost?x", 421},
		{"loopback: scheme", loopback, "http://localhost", 421},
		{"loopback: space before", loopback, " localhost", 421},
		{"loopback: space after", loopback, "localhost ", 421},
		{"loopback: two hosts", loopback, "localhost, localhost", 421},
		{"loopback: NUL", loopback, "localhost\x00", 421},
		{"loopback: escape", loopback, "local%68ost", 421},
		{"loopback: non-ASCII dot", loopback, "localhost。", 421},
		{"loopback: Kelvin sign and long s", loopback, "localhoſt", 421},
		{"loopback: port with letters", loopback, "localhost:80a", 421},
		{"loopback: port with sign", loopback, "localhost:+80", 421},
		{"loopback: port out of range", loopback, "localhost:65536", 421},
		{"loopback: long port", loopback, "localhost:000080", 421},
		{"loopback: two ports", loopback, "localhost:80:80", 421},
		{"loopback: star", loopback, "*", 421},
		{"loopback: longer than a name may be", loopback, strings.Repeat("a.", 127), 421},
		{"loopback: very long", loopback, strings.Repeat("a.", 5000) + "localhost", 421},

		{"list: name", listed, "mcp.corp.example", 0},
		{"list: upper case", listed, "MCP.corp.EXAMPLE", 0},
		{"list: trailing dot", listed, "mcp.corp.example.", 0},
		{"list: pattern in upper case with dot", listed, "upper.example", 0},
		{"list: default port of http", listed, "mcp.corp.example:80", 0},
		{"list: default port of https", listed, "mcp.corp.example:443", 0},
		{"list: other port", listed, "mcp.corp.example:8080", 421},
		{"list: any port", listed, "any.example:12345", 0},
		{"list: any port, none", listed, "any.example", 0},
		{"list: one port", listed, "one.example:8080", 0},
		{"list: port missing", listed, "one.example", 421},
		{"list: port that is a default, none", listed, "tls.example", 0},
		{"list: port that is a default, the other one", listed, "tls.example:80", 421},
		{"list: below", listed, "a.sub.example", 0},
		{"list: far below", listed, "a.b.sub.example:443", 0},
		{"list: below, other port", listed, "a.sub.example:8080", 421},
		{"list: below, any port", listed, "a.deep.example:8080", 0},
		{"list: not below", listed, "sub.example", 421},
		{"list: not below a label", listed, "asub.example", 421},
		{"list: nothing before the dot", listed, ".sub.example", 421},
		{"list: IPv4", listed, "10.0.0.1:80", 0},
		{"list: IPv4 in IPv6", listed, "[::ffff:10.0.0.1]", 0},
		{"list: IPv6", listed, "[2001:DB8:0::1]:8443", 0},
		{"list: IPv6, other port", listed, "[2001:db8::1]", 421},
		{"list: other", listed, "evil.example", 421},
		{"list replaces loopback names", listed, "localhost", 421},
		{"list: empty", listed, "", 421},

		{"open: name", open, "whatever.example", 0},
		{"open: no host", open, "a b", 0},
		{"open: empty", open, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := newGuard(t, tt.o).Check(policy.GuardRequest{Host: tt.in, HasHost: true})
			if status(got) != tt.want {
				t.Errorf("Check(Host %q) = %+v, want status %d", tt.in, got, tt.want)
			}
		})
	}
}

func TestGuard_missingHost(t *testing.T) {
	tests := []struct {
		name string
		in   policy.GuardOptions
		want int
	}{
		{"loopback", loopback, 421},
		{"list", policy.GuardOptions{AllowedHosts: []string{"mcp.example:*"}}, 421},
		{"open", policy.GuardOptions{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := newGuard(t, tt.in).Check(policy.GuardRequest{}); status(got) != tt.want {
				t.Errorf("Check = %+v, want status %d", got, tt.want)
			}
			// What Host says does not count when there was none.
			if got := newGuard(t, tt.in).Check(policy.GuardRequest{Host: "localhost"}); status(got) != tt.want {
				t.Errorf("Check with a stray Host = %+v, want status %d", got, tt.want)
			}
		})
	}
}

func TestGuard_Origin(t *testing.T) {
	public := policy.GuardOptions{AllowedHosts: []string{"mcp.example:*", "[2001:db8::1]:*"}}
	listed := policy.GuardOptions{
		AllowedOrigins: []string{"https://app.example", "http://one.example:3000", "https://any.example:*", "https://*.sub.example", "vscode-webview://abc123", "HTTPS://Upper.Example."},
		CORSOrigins:    []string{"https://cors.example"},
	}
	corsOnly := policy.GuardOptions{CORSOrigins: []string{"https://cors.example"}}
	null := policy.GuardOptions{AllowedOrigins: []string{"null"}}
	tests := []struct {
		name string
		o    policy.GuardOptions
		host string
		tls  bool
		in   []string
		want int
	}{
		{"absent", loopback, "localhost", false, nil, 0},
		{"absent on any bind", policy.GuardOptions{}, "x.example", false, nil, 0},

		{"loopback page", loopback, "localhost:8765", false, []string{"http://localhost:6274"}, 0},
		{"loopback page, default port", loopback, "localhost:8765", false, []string{"http://localhost"}, 0},
		{"loopback page, https", loopback, "localhost:8765", false, []string{"https://127.0.0.1:1"}, 0},
		{"loopback page, IPv6", loopback, "localhost:8765", false, []string{"http://[::1]:3000"}, 0},
		{"loopback page, upper case", loopback, "localhost:8765", false, []string{"HTTP://LOCALHOST:1"}, 0},
		{"loopback page, trailing dot", loopback, "localhost:8765", false, []string{"http://localhost.:1"}, 0},
		{"loopback page of another bind", policy.GuardOptions{}, "mcp.example", false, []string{"http://localhost:1"}, 0},
		{"loopback page, other scheme", loopback, "localhost:8765", false, []string{"ftp://localhost"}, 403},
		{"foreign page", loopback, "localhost:8765", false, []string{"https://evil.example"}, 403},
		{"foreign page on any bind", policy.GuardOptions{}, "mcp.example", false, []string{"https://evil.example"}, 403},
		{"page below localhost", loopback, "localhost:8765", false, []string{"http://evil.localhost"}, 403},
		{"page of the unspecified address", loopback, "localhost:8765", false, []string{"http://0.0.0.0:8765"}, 403},

		{"empty", loopback, "localhost", false, []string{""}, 403},
		{"space", loopback, "localhost", false, []string{" "}, 403},
		{"null", loopback, "localhost", false, []string{"null"}, 403},
		{"null in upper case", null, "localhost", false, []string{"NULL"}, 403},
		{"null that is allowed", null, "localhost", false, []string{"null"}, 0},
		{"null that is not the only value", null, "localhost", false, []string{"null", "null"}, 403},
		{"scheme null", null, "localhost", false, []string{"null://x"}, 403},
		{"two equal values", loopback, "localhost", false, []string{"http://localhost", "http://localhost"}, 403},
		{"good and bad value", loopback, "localhost", false, []string{"http://localhost", "https://evil.example"}, 403},
		{"list in one value", loopback, "localhost", false, []string{"http://localhost http://evil.example"}, 403},
		{"list with comma", loopback, "localhost", false, []string{"http://localhost, http://localhost"}, 403},
		{"no scheme", loopback, "localhost", false, []string{"localhost"}, 403},
		{"empty scheme", loopback, "localhost", false, []string{"://localhost"}, 403},
		{"scheme with digit first", loopback, "localhost", false, []string{"1http://localhost"}, 403},
		{"scheme with a space", loopback, "localhost", false, []string{"ht tp://localhost"}, 403},
		{"one slash", loopback, "localhost", false, []string{"http:/localhost"}, 403},
		{"no host", loopback, "localhost", false, []string{"http://"}, 403},
		{"file", loopback, "localhost", false, []string{"file://"}, 403},
		{"slash", loopback, "localhost", false, []string{"http://localhost/"}, 403},
		{"path", loopback, "localhost", false, []string{"http://localhost/x"}, 403},
		{"query", loopback, "localhost", false, []string{"http://localhost?x"}, 403},
		{"fragment", loopback, "localhost", false, []string{"http://localhost#x"}, 403},
		{"backslash", loopback, "localhost", false, []string{`http://localhost\.evil.example`}, 403},
		{"userinfo", loopback, "localhost", false, []string{"http://localhost@evil.example"}, 403},
		{"userinfo with password", loopback, "localhost", false, []string{"http://a:b@localhost"}, 403},
		{"space before", loopback, "localhost", false, []string{" http://localhost"}, 403},
		{"space after", loopback, "localhost", false, []string{"http://localhost "}, 403},
		{"non-ASCII", loopback, "localhost", false, []string{"http://löcalhost"}, 403},
		{"invalid UTF-8", loopback, "localhost", false, []string{"http://\xff"}, 403},
		{"zone", loopback, "localhost", false, []string{"http://[::1%25lo]"}, 403},

		{"listed", listed, "x", false, []string{"https://app.example"}, 0},
		{"listed, default port written", listed, "x", false, []string{"https://app.example:443"}, 0},
		{"listed, upper case", listed, "x", false, []string{"https://APP.example"}, 0},
		{"listed in upper case with dot", listed, "x", false, []string{"https://upper.example"}, 0},
		{"listed, other scheme", listed, "x", false, []string{"http://app.example"}, 403},
		{"listed, other scheme on the port", listed, "x", false, []string{"http://app.example:443"}, 403},
		{"listed, other port", listed, "x", false, []string{"https://app.example:8443"}, 403},
		{"listed with port", listed, "x", false, []string{"http://one.example:3000"}, 0},
		{"listed with port, none", listed, "x", false, []string{"http://one.example"}, 403},
		{"any port", listed, "x", false, []string{"https://any.example:1"}, 0},
		{"any port, none", listed, "x", false, []string{"https://any.example"}, 0},
		{"below", listed, "x", false, []string{"https://a.b.sub.example"}, 0},
		{"not below", listed, "x", false, []string{"https://sub.example"}, 403},
		{"not below a label", listed, "x", false, []string{"https://evilsub.example"}, 403},
		{"listed as a prefix", listed, "x", false, []string{"https://app.example.evil.example"}, 403},
		{"webview", listed, "x", false, []string{"vscode-webview://abc123"}, 0},
		{"other webview", listed, "x", false, []string{"vscode-webview://abc124"}, 403},
		{"list replaces loopback", listed, "x", false, []string{"http://localhost"}, 403},
		{"CORS is allowed", listed, "x", false, []string{"https://cors.example"}, 0},
		{"CORS leaves the default", corsOnly, "x", false, []string{"http://localhost:1"}, 0},
		{"CORS beside the default", corsOnly, "x", false, []string{"https://cors.example"}, 0},
		{"CORS, foreign", corsOnly, "x", false, []string{"https://evil.example"}, 403},

		{"same origin", public, "mcp.example:8080", false, []string{"http://mcp.example:8080"}, 0},
		{"same origin, upper case and dot", public, "MCP.example.:8080", false, []string{"http://mcp.example:8080"}, 0},
		{"same origin, IPv6 spelled otherwise", public, "[2001:db8:0::1]:8080", false, []string{"http://[2001:db8::1]:8080"}, 0},
		{"same origin behind a TLS proxy", public, "mcp.example", false, []string{"https://mcp.example"}, 0},
		{"same origin behind a TLS proxy that writes its port", public, "mcp.example:443", false, []string{"https://mcp.example"}, 0},
		{"same origin, TLS", public, "mcp.example", true, []string{"https://mcp.example"}, 0},
		{"same host unencrypted, TLS", public, "mcp.example", true, []string{"http://mcp.example"}, 403},
		{"same host and port unencrypted, TLS", public, "mcp.example:443", true, []string{"http://mcp.example:443"}, 403},
		{"other port", public, "mcp.example:8080", false, []string{"http://mcp.example:8081"}, 403},
		{"other port, none in Host", public, "mcp.example", false, []string{"https://mcp.example:80"}, 403},
		{"other scheme", public, "mcp.example", false, []string{"ftp://mcp.example"}, 403},
		{"same origin on a bind without a list (DNS rebinding)", policy.GuardOptions{}, "evil.example", false, []string{"http://evil.example"}, 403},
		{"same origin with origins but no hosts listed (DNS rebinding)", listed, "evil.example", false, []string{"http://evil.example"}, 403},
		{"same origin that is not listed, loopback bind", policy.GuardOptions{LoopbackBind: true, AllowedOrigins: []string{"https://app.example"}}, "localhost:8765", false, []string{"http://localhost:8765"}, 0},

		{"foreign Host first (DNS rebinding)", loopback, "evil.example", false, []string{"http://evil.example"}, 421},
		{"foreign Host with a good origin", loopback, "evil.example", false, []string{"http://localhost"}, 421},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := newGuard(t, tt.o).Check(policy.GuardRequest{Host: tt.host, HasHost: true, Origins: tt.in, TLS: tt.tls})
			if status(got) != tt.want {
				t.Errorf("Check(Host %q, Origin %q) = %+v, want status %d", tt.host, tt.in, got, tt.want)
			}
		})
	}
}

// Field cases A42 and A43: the refusal says what was seen and what to set.
func TestGuard_sentences(t *testing.T) {
	listed := policy.GuardOptions{AllowedHosts: []string{"mcp.example"}}
	const expected = "this server expects localhost or a loopback address, or a host that --allowed-host lists"
	tests := []struct {
		name string
		o    policy.GuardOptions
		in   policy.GuardRequest
		want string
	}{
		{"host", loopback, policy.GuardRequest{Host: "MCP.corp.example.:8443", HasHost: true},
			`the Host "MCP.corp.example.:8443" is not allowed: ` + expected + `; start it with --allowed-host mcp.corp.example:8443 to serve that host`},
		{"IPv6 host", loopback, policy.GuardRequest{Host: "[2001:DB8::1]:1", HasHost: true},
			`the Host "[2001:DB8::1]:1" is not allowed: ` + expected + `; start it with --allowed-host [2001:db8::1]:1 to serve that host`},
		{"no host", loopback, policy.GuardRequest{}, `the request has no Host header: ` + expected},
		{"bad host", loopback, policy.GuardRequest{Host: "é\n\"", HasHost: true},
			`the Host header "\u00e9\n\"" is not a host: ` + expected},
		{"host, list", listed, policy.GuardRequest{Host: "localhost", HasHost: true},
			`the Host "localhost" is not allowed: this server expects a host that --allowed-host lists; start it with --allowed-host localhost to serve that host`},
		{"origin", loopback, policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"https://EVIL.example:443"}},
			`the Origin "https://EVIL.example:443" is not allowed: start the server with --allowed-origin https://evil.example to serve pages from there, or with --cors-origin to let them read the answers too`},
		{"null", loopback, policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"null"}},
			`the Origin "null", a page without an origin, is not allowed: serve the page from an origin that --allowed-origin lists`},
		{"bad origin", loopback, policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{""}},
			`the Origin header "" is not an origin: this server expects none, or SCHEME://HOST[:PORT] that --allowed-origin lists`},
		{"two origins", loopback, policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"a", "b"}},
			`the request has 2 Origin headers, the first one "a": this server expects at most one, which --allowed-origin lists`},
		{"long", loopback, policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{strings.Repeat("x", 99) + "日本"}},
			`the Origin header "` + strings.Repeat("x", 99) + `"... is not an origin: this server expects none, or SCHEME://HOST[:PORT] that --allowed-origin lists`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := newGuard(t, tt.o).Check(tt.in)
			if got == nil {
				t.Fatal("Check = nil, want a refusal")
			}
			if diff := cmp.Diff(tt.want, got.Message); diff != "" {
				t.Errorf("message mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// What the sentence tells to set works.
func TestGuard_adviceWorks(t *testing.T) {
	tests := []struct {
		name   string
		in     policy.GuardRequest
		option string
	}{
		{"name", policy.GuardRequest{Host: "Mcp.example", HasHost: true}, "--allowed-host"},
		{"port", policy.GuardRequest{Host: "mcp.example:81", HasHost: true}, "--allowed-host"},
		{"IPv6", policy.GuardRequest{Host: "[2001:db8::1]", HasHost: true}, "--allowed-host"},
		{"origin", policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"https://app.example"}}, "--allowed-origin"},
		{"origin with port", policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"http://[2001:db8::1]:443"}}, "--allowed-origin"},
		{"origin of an extension", policy.GuardRequest{Host: "localhost", HasHost: true, Origins: []string{"chrome-extension://abcdef"}}, "--allowed-origin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refusal := newGuard(t, loopback).Check(tt.in)
			if refusal == nil {
				t.Fatal("Check = nil, want a refusal")
			}
			_, after, _ := strings.Cut(refusal.Message, "start")
			_, after, found := strings.Cut(after, tt.option+" ")
			if !found {
				t.Fatalf("%q does not name %s", refusal.Message, tt.option)
			}
			value, _, _ := strings.Cut(after, " ")
			o := policy.GuardOptions{LoopbackBind: true}
			if tt.option == "--allowed-host" {
				o.AllowedHosts = []string{value}
			} else {
				o.AllowedOrigins = []string{value}
			}
			if got := newGuard(t, o).Check(tt.in); got != nil {
				t.Errorf("with %s %s: %+v, want nil", tt.option, value, got)
			}
		})
	}
}

func TestGuard_CORS(t *testing.T) {
	g := newGuard(t, policy.GuardOptions{
		AllowedOrigins: []string{"https://allowed.example"},
		CORSOrigins:    []string{"https://app.example", "http://localhost:*"},
	})
	tests := []struct {
		name string
		in   string
		want bool
	}{
		{"listed", "https://app.example", true},
		{"any port", "http://localhost:6274", true},
		{"allowed, not CORS", "https://allowed.example", false},
		{"default loopback, not CORS", "http://127.0.0.1:6274", false},
		{"foreign", "https://evil.example", false},
		{"null", "null", false},
		{"star", "*", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := g.CORS(tt.in); got != tt.want {
				t.Errorf("CORS(%q) = %v, want %v", tt.in, got, tt.want)
			}
		})
	}
	if !g.HasCORS() {
		t.Error("HasCORS = false, want true")
	}
	none := newGuard(t, loopback)
	if none.HasCORS() || none.CORS("http://localhost") {
		t.Error("a guard without CORS origins grants CORS")
	}
}

func TestNewGuard_badPatterns(t *testing.T) {
	hosts := func(s string) policy.GuardOptions {
		return policy.GuardOptions{AllowedHosts: []string{"good.example", s}}
	}
	origins := func(s string) policy.GuardOptions {
		return policy.GuardOptions{AllowedOrigins: []string{"https://good.example", s}}
	}
	cors := func(s string) policy.GuardOptions { return policy.GuardOptions{CORSOrigins: []string{s}} }
	tests := []struct {
		name string
		in   policy.GuardOptions
		want string // beginning
	}{
		{"host: empty", hosts(""), `--allowed-host "" is not a host`},
		{"host: star", hosts("*"), `--allowed-host "*" allows every host`},
		{"host: star with any port", hosts("*:*"), `--allowed-host "*:*" allows every host`},
		{"host: star with port", hosts("*:80"), `--allowed-host "*:80" has a * in a place`},
		{"host: star inside", hosts("a.*.example"), `--allowed-host "a.*.example" has a * in a place`},
		{"host: star in a label", hosts("a*.example"), `--allowed-host "a*.example" has a * in a place`},
		{"host: star twice", hosts("*.*.example"), `--allowed-host "*.*.example" has a * in a place`},
		{"host: star before nothing", hosts("*."), `--allowed-host "*." is not a host`},
		{"host: star before an address", hosts("*.127.0.0.1"), `--allowed-host "*.127.0.0.1" has a * before an address`},
		{"host: URL", hosts("https://mcp.example"), `--allowed-host "https://mcp.example" is a URL`},
		{"host: IPv6 without brackets", hosts("::1"), `--allowed-host "::1" looks like an IPv6 address`},
		{"host: two ports", hosts("[::1]:80:*"), `--allowed-host "[::1]:80:*" has two ports`},
		{"host: no port after the colon", hosts("mcp.example:"), `--allowed-host "mcp.example:" is not a host`},
		{"host: port out of range", hosts("mcp.example:70000"), `--allowed-host "mcp.example:70000" is not a host`},
		{"host: non-ASCII", hosts("bücher.example"), `--allowed-host "b\u00fccher.example" is not a host`},
		{"host: space", hosts(" mcp.example"), `--allowed-host " mcp.example" is not a host`},
		{"host: list", hosts("a.example,b.example"), `--allowed-host "a.example,b.example" is not a host`},
		{"host: long label", hosts(strings.Repeat("a", 64)), `--allowed-host "` + strings.Repeat("a", 64) + `" is not a host`},
		{"origin: empty", origins(""), `--allowed-origin "" is not an origin`},
		{"origin: star", origins("*"), `--allowed-origin "*" allows every web page`},
		{"origin: star as host", origins("https://*"), `--allowed-origin "https://*" allows every host`},
		{"origin: no scheme", origins("app.example"), `--allowed-origin "app.example" is not an origin`},
		{"origin: star as scheme", origins("*://app.example"), `--allowed-origin "*://app.example" is not an origin`},
		{"origin: slash", origins("https://app.example/"), `--allowed-origin "https://app.example/" has a path, which an origin never has: leave "/" out`},
		{"origin: path", origins("https://app.example/x"), `--allowed-origin "https://app.example/x" has a path`},
		{"origin: no host", origins("https://"), `--allowed-origin "https://" is not a host`},
		{"origin: userinfo", origins("https://u@app.example"), `--allowed-origin "https://u@app.example" is not a host`},
		{"CORS: star", cors("*"), `--cors-origin "*" allows every web page`},
		{"CORS: null", cors("null"), `--cors-origin "null" lets every page read`},
		{"CORS: no scheme", cors("localhost:*"), `--cors-origin "localhost:*" is not an origin`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := policy.NewGuard(tt.in)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("NewGuard = %v, %v, want an error that starts with %q", g, err, tt.want)
			}
		})
	}
}

func TestGuard_allocatesNothing(t *testing.T) {
	for _, tt := range guardBenchmarks {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuard(t, tt.o)
			if refusal := g.Check(tt.in); refusal != nil {
				t.Fatalf("Check = %+v, want nil", refusal)
			}
			if got := testing.AllocsPerRun(100, func() { g.Check(tt.in) }); got != 0 {
				t.Errorf("Check allocates %v times, want 0", got)
			}
		})
	}
}

var guardBenchmarks = []struct {
	name string
	o    policy.GuardOptions
	in   policy.GuardRequest
}{
	{"loopback", loopback, policy.GuardRequest{Host: "127.0.0.1:8765", HasHost: true}},
	{"loopback/page", loopback, policy.GuardRequest{Host: "localhost:8765", HasHost: true, Origins: []string{"http://localhost:6274"}}},
	{"list/page", policy.GuardOptions{
		AllowedHosts: []string{"a.example", "*.b.example", "mcp.corp.example:*"}, AllowedOrigins: []string{"https://a.example", "https://*.corp.example"},
	}, policy.GuardRequest{Host: "mcp.corp.example", HasHost: true, Origins: []string{"https://app.corp.example"}, TLS: true}},
}

func BenchmarkGuard(b *testing.B) {
	for _, bb := range guardBenchmarks {
		b.Run(bb.name, func(b *testing.B) {
			g := newGuard(b, bb.o)
			b.ReportAllocs()
			for b.Loop() {
				g.Check(bb.in)
			}
		})
	}
}
