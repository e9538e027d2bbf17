package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/policy"
)

// The addresses that are no HOST:PORT.
const (
	unixPrefix    = "unix:"
	systemdListen = "systemd"
)

// checkListen accepts what --listen may be.
func checkListen(v string) error {
	wrong := errors.New("want HOST:PORT such as 127.0.0.1:8765, unix:PATH, or systemd")
	if v == systemdListen {
		return nil
	}
	if path, ok := strings.CutPrefix(v, unixPrefix); ok {
		if path == "" {
			return wrong
		}
		return nil
	}
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return wrong
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("the port must be a number from 0 to 65535")
	}
	return nil
}

// checkPath accepts a path of a URL that needs no escapes.
func checkPath(v string) error {
	dots := func(segment string) bool { return segment == "." || segment == ".." } // which clients resolve
	if v[0] != '/' || strings.ContainsFunc(v, needsEscape) || strings.Contains(v, "//") || slices.ContainsFunc(strings.Split(v, "/"), dots) {
		return errors.New("want a path such as /mcp, without a query, escapes, and segments of dots")
	}
	return nil
}

// addProxy adds an address, or a range of them.
func addProxy(list *[]netip.Prefix, v string) error {
	p, err := netip.ParsePrefix(v)
	if a, single := netip.ParseAddr(v); single == nil {
		p, err = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	if err != nil || p.Addr().Zone() != "" {
		return fmt.Errorf("%q is no address: want one such as 10.0.0.7, or a range such as 10.0.0.0/24", v)
	}
	*list = append(*list, p.Masked())
	return nil
}

func needsEscape(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`?#%\`, r)
}

// checkTransport refuses options that have no effect with the transport.
func (p *parser) checkTransport() error {
	kind := p.set.transport
	for i := range p.options {
		o := &p.options[i]
		switch {
		case !p.seen[o.name] || o.only.covers(kind):
		case kind.overHTTP():
			return usagef("%s has no effect with --transport %s: it is for --transport %s", o.name, kind, o.only)
		default:
			return usagef("%s is for --transport %s, and without that option cloudg serves standard input and output: add --transport http", o.name, o.only)
		}
	}
	if kind.overHTTP() {
		return p.checkHTTP()
	}
	return nil
}

// checkHTTP refuses combinations of options that cannot be meant.
func (p *parser) checkHTTP() error {
	h := &p.set.http
	switch {
	case h.jsonResponse && h.alwaysSSE:
		return usagef("--json-response and --always-sse exclude each other: want one of them")
	case h.certFile != "" && h.keyFile == "":
		return usagef("--tls-cert needs --tls-key, the private key of the certificate")
	case h.certFile == "" && h.keyFile != "":
		return usagef("--tls-key needs --tls-cert, the certificate of the key")
	case h.certFile == "" && h.clientCA != "":
		return usagef("--tls-client-ca needs --tls-cert and --tls-key: a client shows its certificate over TLS only")
	case h.publicPath != "" && len(h.trustedProxies) > 0:
		return usagef("--trusted-proxy has no effect with --public-path, which says already what it would ask the proxy for")
	case h.noAuth && len(h.tokens) > 0:
		return usagef("--insecure-no-auth and --auth-token exclude each other: want one of them")
	case h.noAuth && h.clientCA != "":
		return usagef("--insecure-no-auth and --tls-client-ca exclude each other: want one of them")
	}
	if err := p.checkStateless(); err != nil {
		return err
	}
	if slices.Contains(p.set.reservedPaths(), strings.TrimRight(h.path, "/")) {
		return usagef("--path: something else is served there: want another path than %s", strings.Join(p.set.reservedPaths(), ", "))
	}
	if _, err := policy.NewGuard(h.guardOptions(false)); err != nil {
		return usagef("%v", err) // it names the option
	}
	return nil
}

// checkStateless refuses what needs sessions when there are none.
func (p *parser) checkStateless() error {
	if !p.set.http.stateless {
		return nil
	}
	if p.set.transport == overSSE {
		return usagef("--stateless has no effect with --transport sse, whose endpoints need sessions: want --transport http")
	}
	for _, name := range []string{"--max-sessions", "--max-sessions-per-principal", "--max-streams", "--session-idle"} {
		if p.seen[name] {
			return usagef("%s has no effect with --stateless: there are no sessions", name)
		}
	}
	return nil
}

// reservedPaths are where something other than the MCP endpoint is served.
func (s *settings) reservedPaths() []string {
	paths := []string{"/healthz", "/readyz"}
	if s.transport == overSSE {
		paths = append(paths, "/sse", "/messages")
	}
	return paths
}

// guardOptions returns what the guard has to know.
func (h *httpSettings) guardOptions(loopback bool) policy.GuardOptions {
	return policy.GuardOptions{
		AllowedHosts: h.allowedHosts, AllowedOrigins: h.allowedOrigins, CORSOrigins: h.corsOrigins, LoopbackBind: loopback,
	}
}
