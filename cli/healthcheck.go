package cli

import (
	"cmp"
	"context"
	"net"
	"strings"

	"cloudg.dev/cloudg/transport"
)

// healthcheck asks the server that serve with the same options has started.
func (inv *invocation) healthcheck(ctx context.Context) error {
	h := &inv.set.http
	switch {
	case !inv.set.transport.overHTTP():
		return usagef("--transport stdio: there is nothing to ask, since only the client that started the server reaches it: want http or sse")
	case h.listen == systemdListen:
		return usagef("--listen systemd: the address is in the .socket unit: give that one, as HOST:PORT or unix:PATH")
	case !strings.HasPrefix(h.listen, unixPrefix):
		// The error was found when the option was read.
		if _, port, _ := net.SplitHostPort(h.listen); strings.Trim(port, "0") == "" {
			return usagef("--listen: port 0 stands for a free one: give the one that the server has told on standard error")
		}
	}
	err := transport.Probe(ctx, &transport.ProbeOptions{
		Address: h.listen, TLS: h.certFile != "", Host: h.probeHost(), Timeout: inv.set.within,
	})
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case err != nil:
		return err
	}
	inv.out.WriteString("ok\n")
	return nil
}

// probeHost returns a host that the server accepts: one that is allowed, or a
// loopback name, for which it either looks, or it looks for none.
func (h *httpSettings) probeHost() string {
	if len(h.allowedHosts) == 0 {
		return "localhost"
	}
	host, _ := strings.CutSuffix(h.allowedHosts[0], ":*")
	if name, ok := strings.CutPrefix(host, "*."); ok {
		host = "healthcheck." + name
	}
	return cmp.Or(host, "localhost")
}
