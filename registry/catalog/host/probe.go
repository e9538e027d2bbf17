package host

import (
	"context"
	"errors"
	"time"
)

const (
	// patience is how long a survey waits for all its disks together.
	patience = 2 * time.Second

	// maxProbes bounds the measurements under way at one time.
	maxProbes = 32
)

var errNoAnswer = errors.New("no answer")

// probe is one statfs under way. The fields are set before done is closed.
//
// The kernel has no way to interrupt statfs on a mount whose server is dead, so
// this is the one goroutine that its starter may leave behind. It is bounded
// instead: the Host has one per mount point and at most maxProbes of them, and a
// later survey joins the one that is under way.
type probe struct {
	done  chan struct{}
	usage Usage
	err   error
}

// measure asks for every path, at most maxProbes at a time, and waits for the
// answers until patience or ctx ends. A late path has errNoAnswer.
func (h *Host) measure(ctx context.Context, paths []string) []probe {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	started := make([]*probe, len(paths))
	for i, path := range paths {
		started[i] = h.start(ctx, path)
	}
	answers := make([]probe, len(paths))
	for i, p := range started {
		answers[i] = p.wait(ctx)
	}
	return answers
}

// start begins to measure path, or joins who already does. It is nil when no slot
// became free in time.
func (h *Host) start(ctx context.Context, path string) *probe {
	if p := h.underWay(path); p != nil {
		return p
	}
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.pending[path]; p != nil { // another survey was faster
		<-h.slots
		return p
	}
	p := &probe{done: make(chan struct{})}
	h.pending[path] = p
	go h.run(p, path) // ends when statfs returns; see probe
	return p
}

func (h *Host) underWay(path string) *probe {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pending[path]
}

func (h *Host) run(p *probe, path string) {
	p.usage, p.err = h.src.Statfs(path)
	h.mu.Lock()
	delete(h.pending, path)
	h.mu.Unlock()
	<-h.slots
	close(p.done)
}

func (p *probe) wait(ctx context.Context) probe {
	if p == nil {
		return probe{err: errNoAnswer}
	}
	select {
	case <-p.done:
		return probe{usage: p.usage, err: p.err}
	default:
	}
	select {
	case <-p.done:
		return probe{usage: p.usage, err: p.err}
	case <-ctx.Done():
		return probe{err: errNoAnswer}
	}
}
