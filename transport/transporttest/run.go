package transporttest

import (
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// Far is the peer's end of a stream under test. It speaks whatever the transport
// speaks on the wire. One goroutine at a time calls Send, and one Receive; both
// may wait for the stream.
type Far interface {
	// Send sends one frame.
	Send(frame []byte) error
	// Receive returns the next frame that the stream has written.
	Receive() ([]byte, error)
	// CloseSend ends what the peer sends. It still receives.
	CloseSend() error
}

// Options says what is special about a transport. The zero value is usable.
type Options struct {
	// TooLong is a frame that the stream refuses for its length; nil if there
	// is none, and rule 2 is not tested.
	TooLong []byte
	// Patience is how long a rule may take; 0 means 20 s.
	Patience time.Duration
}

const defaultPatience = 20 * time.Second

// Run tests every rule on a stream of its own, which open returns together with
// its peer, each as a subtest. What open needs to be closed apart from the
// stream it leaves to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) (jsonrpc.Stream, Far), o *Options) {
	t.Helper()
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if r.needs != nil && !r.needs(&opts) {
				t.Skip("this transport has nothing that the rule is about")
			}
			stream, far := open(t)
			p := &pair{stream: stream, far: far, opts: &opts}
			defer p.close()
			if err := p.follow(r); err != nil {
				t.Errorf("%s\n%v", r.text, err)
			}
		})
	}
}
