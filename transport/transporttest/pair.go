package transporttest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// pair is a stream under test and its peer.
type pair struct {
	stream  jsonrpc.Stream
	far     Far
	opts    *Options
	closing sync.Once
}

// follow checks one rule. It gives up when that takes too long, and then leaves
// the goroutine behind that waits.
func (p *pair) follow(r rule) error {
	timer := time.NewTimer(p.opts.Patience)
	defer timer.Stop()
	select {
	case err := <-p.start(func() error { return r.check(p) }):
		return err
	case <-timer.C:
		return fmt.Errorf("nothing had come of it after %v", p.opts.Patience)
	}
}

// close closes the stream if it has not been. Its error is the transport's
// affair.
func (p *pair) close() { p.closing.Do(func() { _ = p.stream.Close() }) }

// start calls f in a goroutine, and returns where its error will be.
func (p *pair) start(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }() // ends with f, whose result its starter takes
	return result
}

// sendAll has the peer send frames.
func (p *pair) sendAll(frames [][]byte) <-chan error {
	return p.start(func() error {
		for i, f := range frames {
			if err := p.far.Send(f); err != nil {
				return fmt.Errorf("the peer could not send frame %d: %w", i, err)
			}
		}
		return nil
	})
}

// receiveAll has the peer receive frames and compares them.
func (p *pair) receiveAll(frames [][]byte) <-chan error {
	return p.start(func() error {
		for i, want := range frames {
			got, err := p.far.Receive()
			if err != nil {
				return fmt.Errorf("the peer could not receive frame %d: %w", i, err)
			}
			if err := same(i, want, got); err != nil {
				return err
			}
		}
		return nil
	})
}

// write writes frames with one call.
func (p *pair) write(frames ...[]byte) error {
	var b []byte
	for _, f := range frames {
		b = append(append(b, f...), p.stream.Delimiter()...)
	}
	return p.stream.Write(context.Background(), b)
}

// exchange writes frames with one call, and has the peer receive them.
func (p *pair) exchange(frames ...[]byte) error {
	receiving := p.receiveAll(frames)
	if err := p.write(frames...); err != nil {
		return err
	}
	return <-receiving
}

// same compares the i-th frame.
func same(i int, want, got []byte) error {
	if bytes.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("frame %d is %.200q (%d bytes), want %.200q (%d bytes)", i, got, len(got), want, len(want))
}
