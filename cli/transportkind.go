package cli

import (
	"fmt"
	"strings"
)

// transportKind is a way to serve.
type transportKind uint8

const (
	overStdio transportKind = iota // the default
	overHTTP
	overSSE // HTTP, and the endpoints of 2024-11-05 beside it
)

// transportNames are the names of the kinds, in their order.
func transportNames() []string { return []string{"stdio", "http", "sse"} }

func (k transportKind) String() string { return transportNames()[k] }

// overHTTP reports whether clients come by HTTP.
func (k transportKind) overHTTP() bool { return k != overStdio }

func parseTransport(v string) (transportKind, error) {
	for i, name := range transportNames() {
		if v == name {
			return transportKind(i), nil
		}
	}
	return 0, fmt.Errorf("want stdio, http or sse")
}

// transportSet is a set of transports, for which an option is meant.
type transportSet uint8

const (
	justStdio transportSet = 1 << overStdio
	justHTTP  transportSet = 1<<overHTTP | 1<<overSSE
)

// covers reports whether an option for the set has an effect with the kind.
func (s transportSet) covers(k transportKind) bool { return s == 0 || s&(1<<k) != 0 }

// String returns the names of the members.
func (s transportSet) String() string {
	var names []string
	for i, name := range transportNames() {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
