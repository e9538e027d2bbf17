package policy

import (
	"errors"
	"fmt"
	"strings"
)

// A hostPattern is one value of --allowed-host.
type hostPattern struct {
	authority        // what follows "*." when sub is set
	sub       bool   // every name below the authority's, not that name itself
	dotted    string // "." and the name, when sub is set
}

// parseHostPattern reads HOST, HOST:PORT or HOST:*, where HOST is a name, an
// address or *.NAME.
func parseHostPattern(s string) (hostPattern, error) {
	rest, sub := strings.CutPrefix(s, "*.")
	rest, every := strings.CutSuffix(rest, ":*")
	switch {
	case s == "*" || s == "*:*":
		return hostPattern{}, errors.New("allows every host, which is no protection: list the names that clients use")
	case strings.Contains(rest, "*"):
		return hostPattern{}, errors.New("has a * in a place where it means nothing: want *.NAME for the names below one, or HOST:* for every port")
	case strings.Contains(rest, "/"):
		return hostPattern{}, errors.New("is a URL: want only HOST or HOST:PORT")
	case strings.Count(rest, ":") > 1 && rest[0] != '[':
		return hostPattern{}, errors.New("looks like an IPv6 address without brackets: want [ADDRESS] or [ADDRESS]:PORT")
	}
	a, ok := parseAuthority(rest)
	if !ok || strings.HasSuffix(rest, ":") {
		return hostPattern{}, errors.New("is not a host: want a name (in ASCII, punycode for others), an IPv4 address or an IPv6 address in brackets, and perhaps :PORT or :*")
	}
	if every && a.port != noPort {
		return hostPattern{}, errors.New("has two ports: want :PORT or :*")
	}
	if sub && a.addr.IsValid() {
		return hostPattern{}, errors.New("has a * before an address: want *.NAME")
	}
	if every {
		a.port = anyPort
	}
	return hostPattern{a, sub, "." + a.name}, nil
}

// host reports whether the pattern covers the host of a, whatever its port.
func (p *hostPattern) host(a authority) bool {
	if p.sub {
		return strings.HasSuffix(a.name, p.dotted) // no name starts with a dot
	}
	return p.sameHost(a)
}

// matches reports whether the pattern covers a Host header. One side without a
// port stands for the default port of both schemes, since a proxy may have
// ended TLS and some proxies write the port that they listen on.
func (p *hostPattern) matches(a authority) bool {
	if !p.host(a) {
		return false
	}
	switch {
	case p.port == anyPort, p.port == a.port:
		return true
	case p.port == noPort:
		return a.port == 80 || a.port == 443
	case a.port == noPort:
		return p.port == 80 || p.port == 443
	}
	return false
}

// An originPattern is one value of --allowed-origin or --cors-origin.
type originPattern struct {
	scheme string
	hostPattern
}

// parseOriginPattern reads SCHEME:// and a host pattern, or null.
func parseOriginPattern(s string) (originPattern, error) {
	if s == nullOrigin {
		o, _ := parseOrigin(s)
		return originPattern{o.scheme, hostPattern{authority: o.authority}}, nil
	}
	if s == "*" {
		return originPattern{}, errors.New("allows every web page, which is no protection: list the origins, such as https://app.example or http://localhost:*")
	}
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !validScheme(scheme) {
		return originPattern{}, errors.New("is not an origin: want SCHEME://HOST, SCHEME://HOST:PORT or SCHEME://HOST:*")
	}
	if host, path, found := strings.Cut(rest, "/"); found && host != "" {
		return originPattern{}, fmt.Errorf("has a path, which an origin never has: leave %s out", quote("/"+path))
	}
	p, err := parseHostPattern(rest)
	if err != nil {
		return originPattern{}, err
	}
	scheme = strings.ToLower(scheme)
	if p.port == noPort {
		p.port = defaultPort(scheme)
	}
	return originPattern{scheme, p}, nil
}

// matches reports whether the pattern covers the origin.
func (p *originPattern) matches(o origin) bool {
	return p.scheme == o.scheme && p.host(o.authority) && (p.port == anyPort || p.port == o.port)
}

// covered reports whether one of the patterns covers the origin.
func covered(patterns []originPattern, o origin) bool {
	for i := range patterns {
		if patterns[i].matches(o) {
			return true
		}
	}
	return false
}
