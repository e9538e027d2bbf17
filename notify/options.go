package notify

import (
	"cmp"
	"time"
)

// Defaults of [Options].
const (
	DefaultWindow         = 100 * time.Millisecond // [Options.Window]
	DefaultMaxSubscribers = 4096                   // [Options.MaxSubscribers]
	DefaultMaxURIs        = 1024                   // [Options.MaxURIs]
	DefaultMaxTotalURIs   = 65536                  // [Options.MaxTotalURIs]: at most 256 MiB of URIs
	DefaultMaxPending     = 1024                   // [Options.MaxPending]
)

// Options bound a hub. A field that is zero or negative stands for its default.
type Options struct {
	// Window is how long events collect before they are delivered.
	Window time.Duration

	// MaxSubscribers is how many subscribers there may be at one time.
	MaxSubscribers int

	// MaxURIs is how many resources one subscriber may subscribe to.
	MaxURIs int

	// MaxTotalURIs is how many resources all subscribers together may subscribe
	// to; a resource counts once for each of its subscribers.
	MaxTotalURIs int

	// MaxPending is how many resource updates wait for a subscriber under their
	// own URI. An update beyond that is reported as an update of the subscribed
	// URI that covers it: less exact, still true, and nothing that was not
	// asked for. So at most MaxPending + MaxURIs updates ever wait.
	MaxPending int
}

// withDefaults returns o with its gaps filled; o may be nil.
func (o *Options) withDefaults() Options {
	if o == nil {
		o = &Options{}
	}
	return Options{
		Window:         cmp.Or(max(o.Window, 0), DefaultWindow),
		MaxSubscribers: cmp.Or(max(o.MaxSubscribers, 0), DefaultMaxSubscribers),
		MaxURIs:        cmp.Or(max(o.MaxURIs, 0), DefaultMaxURIs),
		MaxTotalURIs:   cmp.Or(max(o.MaxTotalURIs, 0), DefaultMaxTotalURIs),
		MaxPending:     cmp.Or(max(o.MaxPending, 0), DefaultMaxPending),
	}
}
