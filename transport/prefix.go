package transport

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxPrefix bounds what a proxy says it strips from paths, in bytes.
const maxPrefix = 256

// prefix returns the path that is known to stand before ours: the one that the
// program was given or, if there is none, the one that a proxy it trusts says
// it has stripped. It is empty if neither is known.
func (h *Handler) prefix(r *http.Request) string {
	if h.opts.PublicPath != "" || len(h.opts.TrustedProxies) == 0 || !h.trusts(r.RemoteAddr) {
		return h.opts.PublicPath
	}
	// Proxies in a row may each have added theirs. Which of them is whose is not
	// known, and a header that is there twice is anybody's.
	values := r.Header["X-Forwarded-Prefix"]
	if len(values) != 1 {
		return ""
	}
	prefix := strings.TrimRight(values[0], "/")
	if len(prefix) > maxPrefix || !strings.HasPrefix(prefix, "/") || strings.HasPrefix(prefix, "//") || strings.ContainsFunc(prefix, notInPath) {
		return ""
	}
	return prefix
}

// trusts reports whether address is that of a proxy whose headers count.
func (h *Handler) trusts(address string) bool {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return false // not an IP address: a unix socket
	}
	ip := a.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(h.opts.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// notInPath reports whether a character cannot be in the path of a URI as it is.
func notInPath(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("/-._~!$&'()*+,;=:@%", c)
}
