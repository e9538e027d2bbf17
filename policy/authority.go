package policy

import (
	"net/netip"
	"strconv"
	"strings"
)

// Values of authority.port that are no port.
const (
	noPort  int = -1 // none was written
	anyPort int = -2 // patterns only: host:*
)

// The limits of what is parsed at all; a longer value is not a host.
const (
	maxName      int = 253                      // of a DNS name, without the trailing dot
	maxLabel     int = 63                       // of one label of a name
	maxAuthority int = maxName + len(".:65535") // of the whole
)

// An authority is the host[:port] of a Host header or of an origin in one
// spelling, so that two of them are the same host when their fields are equal.
type authority struct {
	name string     // lower case, no trailing dot; empty when addr is valid
	addr netip.Addr // never IPv4-mapped, never with a zone
	port int
}

// parseAuthority reads host[:port]. It knows nothing but names and addresses:
// userinfo, paths, lists, zones and anything outside ASCII are no authority.
func parseAuthority(s string) (authority, bool) {
	if s == "" || len(s) > maxAuthority {
		return authority{}, false
	}
	if s[0] == '[' {
		return parseBracketed(s)
	}
	host, rest := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		host, rest = s[:i], s[i:]
	}
	port, ok := parsePort(rest)
	if !ok {
		return authority{}, false
	}
	host = strings.TrimSuffix(host, ".")
	if !validName(host) {
		return authority{}, false
	}
	if !numeric(host) {
		return authority{name: strings.ToLower(host), port: port}, true
	}
	// Browsers read every host that ends in a number as an IPv4 address, in
	// whatever spelling; only the usual spelling is one here, the rest nothing.
	addr, err := netip.ParseAddr(host)
	return authority{addr: addr, port: port}, err == nil
}

// parseBracketed reads [IPv6 address][:port].
func parseBracketed(s string) (authority, bool) {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return authority{}, false
	}
	port, ok := parsePort(s[end+1:])
	if !ok {
		return authority{}, false
	}
	addr, err := netip.ParseAddr(s[1:end])
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return authority{}, false
	}
	return authority{addr: addr.Unmap(), port: port}, true
}

// parsePort reads what follows a host: nothing, a colon, or a colon and a
// number.
func parsePort(s string) (int, bool) {
	if s == "" || s == ":" {
		return noPort, true
	}
	if s[0] != ':' || len(s) > len(":65535") {
		return 0, false
	}
	port := 0
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		port = port*10 + int(c-'0')
	}
	return port, port <= 65535
}

// validName reports whether s has the form of a host name. An underscore
// counts, because container networks use it.
func validName(s string) bool {
	if len(s) > maxName {
		return false
	}
	label := 0
	for _, c := range []byte(s) {
		switch {
		case c == '.' && label == 0:
			return false
		case c == '.':
			label = 0
		case !alphanumeric(c) && c != '-' && c != '_', label == maxLabel:
			return false
		default:
			label++
		}
	}
	return label > 0
}

// numeric reports whether the last label of the name is a number.
func numeric(name string) bool {
	for i := len(name) - 1; i >= 0 && name[i] != '.'; i-- {
		if name[i] < '0' || name[i] > '9' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// sameHost reports whether both have the same name or address, whatever their
// ports.
func (a authority) sameHost(b authority) bool { return a.name == b.name && a.addr == b.addr }

// loopback reports whether a is a name that a browser resolves to this machine
// and nobody can register: localhost or a loopback address.
func (a authority) loopback() bool { return a.name == "localhost" || a.addr.IsLoopback() }

// String returns host[:port] in the spelling that the options take.
func (a authority) String() string {
	host := a.name
	switch {
	case a.addr.Is4():
		host = a.addr.String()
	case a.addr.IsValid():
		host = "[" + a.addr.String() + "]"
	}
	if a.port == noPort {
		return host
	}
	return host + ":" + strconv.Itoa(a.port)
}
