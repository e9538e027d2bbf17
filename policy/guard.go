package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The statuses of a [Refusal].
const (
	statusForbidden   int = 403
	statusMisdirected int = 421
)

// The options that a guard's sentences name.
const (
	optionHost   string = "--allowed-host"
	optionOrigin string = "--allowed-origin"
	optionCORS   string = "--cors-origin"
)

// maxQuoted is how much of a peer's or an operator's text a sentence repeats,
// in bytes before quoting.
const maxQuoted int = 100

// GuardOptions says which hosts and origins a [Guard] lets through. The zero
// value is a guard for a bind that is not loopback: it does not check Host, and
// of all web pages it lets through those of this machine.
//
// A host pattern is HOST, HOST:PORT or HOST:* for every port, where HOST is a
// name, an address (IPv6 in brackets) or *.NAME for all names below NAME. An
// origin pattern is SCHEME:// and a host pattern. Without a port it means the
// default port of its scheme, and for a host those of http and https. Case and
// a trailing dot do not matter. A lone * is an error everywhere.
type GuardOptions struct {
	// AllowedHosts are the names that clients reach the server by. They
	// replace the default, so a server that is to answer to localhost as well
	// lists that too.
	AllowedHosts []string

	// AllowedOrigins are the origins of the web pages whose requests are
	// served. They replace the default, which is http and https on localhost
	// and on loopback addresses, any port. The value null allows pages that
	// have no origin; since every page can make such a frame, this allows every
	// page.
	AllowedOrigins []string

	// CORSOrigins are the origins of the web pages that may read what the
	// server answers. They are allowed origins too, beside AllowedOrigins or
	// its default. Null is an error here.
	CORSOrigins []string

	// LoopbackBind says that the server listens on loopback addresses only, so
	// that without AllowedHosts only loopback names can be meant.
	LoopbackBind bool
}

// A Guard decides by the Host and Origin of a request whether it may go on. It
// keeps web pages from using a server that they cannot read: PROTOCOL.md R4.2
// to R4.5 and R21.1, against cross-site requests and DNS rebinding. It is
// applied to every request, before the credential and the body.
//
// A guard does not change and may be used by many goroutines at once.
type Guard struct {
	hosts   []hostPattern   // empty: loopback names, or no check
	origins []originPattern // allowed, those of cors included
	cors    []originPattern

	loopbackBind  bool
	loopbackPages bool // no origins were listed, so those of this machine are allowed
}

// NewGuard returns a guard. The error names the option with the bad pattern
// and what would be right.
func NewGuard(o GuardOptions) (*Guard, error) {
	hosts, err := parsePatterns(optionHost, o.AllowedHosts, parseHostPattern)
	if err != nil {
		return nil, err
	}
	origins, err := parsePatterns(optionOrigin, o.AllowedOrigins, parseOriginPattern)
	if err != nil {
		return nil, err
	}
	cors, err := parsePatterns(optionCORS, o.CORSOrigins, parseCORSPattern)
	if err != nil {
		return nil, err
	}
	return &Guard{
		hosts:         hosts,
		origins:       slices.Concat(origins, cors),
		cors:          cors,
		loopbackBind:  o.LoopbackBind,
		loopbackPages: len(origins) == 0,
	}, nil
}

// parseCORSPattern is parseOriginPattern without null, which in CORS is as good
// as a star.
func parseCORSPattern(s string) (originPattern, error) {
	if s == nullOrigin {
		return originPattern{}, errors.New("lets every page read the answers from a sandboxed frame: serve the page from an origin and list that")
	}
	return parseOriginPattern(s)
}

// parsePatterns parses the values of one option.
func parsePatterns[P any](option string, values []string, parse func(string) (P, error)) ([]P, error) {
	patterns := make([]P, 0, len(values))
	for _, v := range values {
		p, err := parse(v)
		if err != nil {
			return nil, fmt.Errorf("%s %s %w", option, quote(v), err)
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// A GuardRequest is what a [Guard] looks at.
type GuardRequest struct {
	Host    string   // the Host header or :authority, as it came
	HasHost bool     // false when the request had none
	Origins []string // all values of the Origin header, as they came
	TLS     bool     // this server itself ended TLS
}

// A Refusal is a guard's No. It is not an error value, so that a nil one cannot
// turn into an error on its way.
type Refusal struct {
	Status  int    // 421 for a Host, 403 for an Origin (PROTOCOL.md R4.2, R4.5)
	Message string // one sentence of printable ASCII, at most 1,024 bytes: what was seen, and the option that would allow it
}

// Check returns nil when the request may go on.
//
// Host is checked against the allowed hosts; without them a loopback bind
// accepts loopback names only, and any other bind cannot know its names and
// accepts all. An absent Origin passes: its sender is no browser. A present one
// must be allowed, or be the origin of the server itself; the latter counts
// only where Host was checked, because who rebinds a name controls both.
func (g *Guard) Check(r GuardRequest) *Refusal {
	host, valid := parseAuthority(r.Host)
	valid = valid && r.HasHost
	checked := g.loopbackBind || len(g.hosts) > 0
	if checked && !(valid && g.allowsHost(host)) {
		return g.refuseHost(r, host, valid)
	}
	if len(r.Origins) == 0 {
		return nil
	}
	o, valid := parseOrigin(r.Origins[0])
	if len(r.Origins) == 1 && valid && (g.allowsOrigin(o) || checked && o.sameAs(host, r.TLS)) {
		return nil
	}
	return refuseOrigin(r.Origins, o, valid)
}

// CORS reports whether pages of the origin, which is the only value of an Origin
// header, may read the answer. The answer then has exactly this value in
// Access-Control-Allow-Origin, never a star, and never allows credentials.
func (g *Guard) CORS(origin string) bool {
	if len(g.cors) == 0 {
		return false
	}
	o, valid := parseOrigin(origin)
	return valid && covered(g.cors, o)
}

// HasCORS reports whether any origin may read answers. All answers then depend
// on the Origin header and say so: Vary: Origin.
func (g *Guard) HasCORS() bool { return len(g.cors) > 0 }

// allowsHost judges a valid Host header where one is checked.
func (g *Guard) allowsHost(host authority) bool {
	if len(g.hosts) == 0 {
		return host.loopback()
	}
	for i := range g.hosts {
		if g.hosts[i].matches(host) {
			return true
		}
	}
	return false
}

// allowsOrigin judges a valid origin by itself, whatever the Host.
func (g *Guard) allowsOrigin(o origin) bool {
	return g.loopbackPages && o.web() && o.loopback() || covered(g.origins, o)
}

// refuseHost words the refusal of a Host header, which is valid or not.
func (g *Guard) refuseHost(r GuardRequest, host authority, valid bool) *Refusal {
	expected := "a host that " + optionHost + " lists"
	if len(g.hosts) == 0 {
		expected = "localhost or a loopback address, or a host that " + optionHost + " lists"
	}
	var message string
	switch {
	case !r.HasHost || r.Host == "":
		message = "the request has no Host header: this server expects " + expected
	case !valid:
		message = fmt.Sprintf("the Host header %s is not a host: this server expects %s", quote(r.Host), expected)
	default:
		message = fmt.Sprintf("the Host %s is not allowed: this server expects %s; start it with %s %s to serve that host", quote(r.Host), expected, optionHost, host)
	}
	return &Refusal{statusMisdirected, message}
}

// refuseOrigin words the refusal of the values of an Origin header, of which
// the first one is o, valid or not.
func refuseOrigin(values []string, o origin, valid bool) *Refusal {
	seen := quote(values[0])
	var message string
	switch {
	case len(values) > 1:
		message = fmt.Sprintf("the request has %d Origin headers, the first one %s: this server expects at most one, which %s lists", len(values), seen, optionOrigin)
	case !valid:
		message = fmt.Sprintf("the Origin header %s is not an origin: this server expects none, or SCHEME://HOST[:PORT] that %s lists", seen, optionOrigin)
	case o.null():
		message = fmt.Sprintf("the Origin %s, a page without an origin, is not allowed: serve the page from an origin that %s lists", seen, optionOrigin)
	default:
		message = fmt.Sprintf("the Origin %s is not allowed: start the server with %s %s to serve pages from there, or with %s to let them read the answers too", seen, optionOrigin, o, optionCORS)
	}
	return &Refusal{statusForbidden, message}
}

// quote returns the beginning of s as a quoted string of printable ASCII.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.QuoteToASCII(s)
	}
	n := maxQuoted
	for n > maxQuoted-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return strconv.QuoteToASCII(s[:n]) + "..."
}
