package policy

import (
	"errors"
	"slices"
)

// RequestInfo is what a [Resolver] may know about an HTTP request. All of it has
// passed the [Guard], and none of it was in the body.
type RequestInfo struct {
	Method      string
	Path        string // decoded, without the query
	Host        string // the Host header or :authority
	RemoteAddr  string // IP:port of the other end of the connection, which may be a proxy
	PeerSubject string // subject of the verified client certificate; empty without one

	// Header returns all values of a header in the order they came in, none
	// when it is absent. The name may be in any case. The values must not be
	// changed.
	Header func(name string) []string
}

// A Resolver says who sends a request, in place of [Tokens]. It is called for
// every request, by many goroutines at once. What it returns decides what the
// request may do and which sessions belong to it, so it believes no header that
// a client can make up. An error refuses the request; its text is for the log
// and not shown to the client.
type Resolver func(RequestInfo) (*Principal, error)

// errNobody is the error of a resolver that returned neither a principal nor an
// error.
var errNobody = errors.New("the resolver returned no principal")

// Resolve calls r and returns a principal that is ready for use, or an error,
// never neither. No principal, or one without an id, is an error: when in doubt,
// nobody gets in. Roles are put into order, each once, and [RoleDefault] is added
// where the resolver left that out.
func (r Resolver) Resolve(info RequestInfo) (*Principal, error) {
	p, err := r(info)
	switch {
	case err != nil:
		return nil, err
	case p == nil || p.ID == "":
		return nil, errNobody
	case !slices.IsSorted(p.Roles) || !p.HasRole(RoleDefault) || hasTwice(p.Roles):
		return NewPrincipal(p.ID, p.Roles...), nil
	}
	return p, nil
}

// hasTwice reports whether sorted roles have duplicates.
func hasTwice(roles []string) bool {
	for i := range roles[1:] {
		if roles[i] == roles[i+1] {
			return true
		}
	}
	return false
}
