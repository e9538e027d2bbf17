package notify

import (
	"errors"
	"fmt"
	"iter"
	"strings"
)

// MaxURIBytes is the length of the longest URI that can be subscribed to. An
// event may carry a longer one; it is then reported under the subscribed URI
// that covers it.
const MaxURIBytes = 4096

// ErrURI is the error for a URI that cannot be subscribed to: it is empty or
// longer than [MaxURIBytes]. Test for it with errors.Is.
var ErrURI = errors.New("notify: unusable resource uri")

// Filter says which events a subscriber wants. The zero Filter wants none, and
// is a proper one: resources may be added later.
type Filter struct {
	Tools     bool // wants ToolsChanged
	Prompts   bool // wants PromptsChanged
	Resources bool // wants ResourcesChanged

	// URIs are the resources whose updates are wanted. A URI covers itself and
	// everything below it: "file:///a" covers "file:///a", "file:///a/" and
	// "file:///a/b" but not "file:///ab"; "file:///a/" covers "file:///a/b" but
	// not "file:///a". Comparison is byte by byte, without normalisation.
	// Repetitions count once.
	URIs []string
}

// lists returns the list kinds that f wants.
func (f Filter) lists() kindSet {
	var s kindSet
	if f.Tools {
		s = s.with(ToolsChanged)
	}
	if f.Prompts {
		s = s.with(PromptsChanged)
	}
	if f.Resources {
		s = s.with(ResourcesChanged)
	}
	return s
}

// uriSet returns f's URIs as a set, nil if there are none, or the first reason to refuse them.
func (f Filter) uriSet(maximum int) (map[string]struct{}, error) {
	if len(f.URIs) == 0 {
		return nil, nil // a subscriber without resources, as most are, costs no map
	}
	set := make(map[string]struct{}, min(len(f.URIs), maximum))
	for _, uri := range f.URIs {
		if err := checkURI(uri); err != nil {
			return nil, err
		}
		if _, known := set[uri]; known {
			continue
		}
		if len(set) == maximum {
			return nil, tooManyURIs(maximum)
		}
		// A clone, because a URI is often a slice of a large frame which would
		// stay in memory for as long as the subscription.
		set[strings.Clone(uri)] = struct{}{}
	}
	return set, nil
}

// checkURI says whether uri can be subscribed to.
func checkURI(uri string) error {
	switch {
	case uri == "":
		return fmt.Errorf("%w: it is empty", ErrURI)
	case len(uri) > MaxURIBytes:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrURI, len(uri), MaxURIBytes)
	}
	return nil
}

// covering yields every URI that, when subscribed to, covers uri: uri itself and
// then its ancestors from the longest to the shortest, each once. Those that are
// too long to be subscribed to are passed over, but for one byte, which bounds the
// work on hostile input.
func covering(uri string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(uri) <= MaxURIBytes && !yield(uri) {
			return
		}
		// The longest of them may be followed by a slash.
		head := uri[:min(len(uri), MaxURIBytes+1)]
		for i := strings.LastIndexByte(head, '/'); i >= 0; i = strings.LastIndexByte(uri[:i], '/') {
			// The ancestor that ends with this slash.
			if i+1 < len(uri) && !yield(uri[:i+1]) {
				return
			}
			// The one before it, unless that ends with a slash as well: then it is
			// the next one's first case.
			if i > 0 && uri[i-1] != '/' && !yield(uri[:i]) {
				return
			}
		}
	}
}
