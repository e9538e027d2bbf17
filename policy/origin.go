package policy

import "strings"

// nullOrigin is what a browser sends for a page that has no origin of its own:
// a sandboxed frame, a file, a page reached by some redirects.
const nullOrigin string = "null"

// maxScheme is the longest scheme of an origin that is parsed, in bytes.
const maxScheme int = 32

// An origin is a parsed Origin header. Its port is the scheme's default port
// when none was written, and noPort for a scheme that has no default. The null
// origin has the scheme null and no host, which no other origin can have.
type origin struct {
	scheme string // lower case
	authority
}

// parseOrigin reads null or scheme://host[:port] and nothing more: a path, a
// list or userinfo is no origin.
func parseOrigin(s string) (origin, bool) {
	if s == nullOrigin {
		return origin{scheme: nullOrigin, authority: authority{port: noPort}}, true
	}
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !validScheme(scheme) {
		return origin{}, false
	}
	a, ok := parseAuthority(rest)
	o := origin{scheme: strings.ToLower(scheme), authority: a}
	if o.port == noPort {
		o.port = defaultPort(o.scheme)
	}
	return o, ok
}

func validScheme(s string) bool {
	if s == "" || len(s) > maxScheme || !alphanumeric(s[0]) || s[0] <= '9' {
		return false
	}
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// defaultPort returns the port that a URL of the scheme leaves out.
func defaultPort(scheme string) int {
	switch scheme {
	case "http":
		return 80
	case "https":
		return 443
	}
	return noPort
}

// web reports whether pages of the origin come from a web server.
func (o origin) web() bool { return o.scheme == "http" || o.scheme == "https" }

// null reports whether o is the origin of a page that has none.
func (o origin) null() bool {
	return o.scheme == nullOrigin && o.name == "" && !o.addr.IsValid()
}

// sameAs reports whether a page of the origin and a request to host belong
// together. Behind a proxy that ends TLS this server cannot know the scheme
// that the browser saw, so without tls either scheme counts; with tls a page
// that came unencrypted does not.
func (o origin) sameAs(host authority, tls bool) bool {
	if !o.web() || tls && o.scheme != "https" || !o.sameHost(host) {
		return false
	}
	return o.port == host.port || host.port == noPort && o.port == defaultPort(o.scheme)
}

// String returns an origin that is not null as a browser serialises it.
func (o origin) String() string {
	a := o.authority
	if a.port == defaultPort(o.scheme) {
		a.port = noPort
	}
	return o.scheme + "://" + a.String()
}
