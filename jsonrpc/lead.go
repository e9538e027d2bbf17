package jsonrpc

import (
	"context"
	"sync/atomic"
	"time"
)

// How the watcher works; see the package comment.
const (
	watchTick  = time.Millisecond
	watchIdle  = 16 // ticks without a request after which the watcher sleeps
	minPenalty = 8
	maxPenalty = 4096
)

// lead is the right to read. It is held by one goroutine, which may run a
// request while it has it; the watcher takes it away when that takes long.
//
// The state is a count of the runs so far and what became of the latest. Only
// the holder begins and ends a run; only the watcher, or a handler that is
// about to wait, takes the lead, and all change the state by compare-and-swap,
// so that exactly one of end and take succeeds.
type lead struct {
	state  atomic.Uint64
	asleep atomic.Bool
	wake   chan struct{} // has room for one; sent to when the watcher sleeps

	// The next requests that must go to a worker, because one was slow; the
	// holder counts down.
	penalty     int
	nextPenalty int
}

const (
	leadIdle  = iota // no run
	leadBusy         // a run is under way
	leadTaken        // the run goes on, but its goroutine has lost the lead
	leadMask  = 3
)

// begin starts a run and wakes the watcher if it sleeps.
func (l *lead) begin() uint64 { return l.next(leadBusy) }

// next counts one more run, which is under way or over, and wakes the watcher if
// it sleeps.
func (l *lead) next(became uint64) uint64 {
	s := l.state.Load()&^leadMask + leadMask + 1 | became
	l.state.Store(s)
	if l.asleep.Load() && l.asleep.CompareAndSwap(true, false) {
		l.wake <- struct{}{}
	}
	return s
}

// end ends a run. It reports false if the lead was taken meanwhile.
func (l *lead) end(s uint64) bool {
	return l.state.CompareAndSwap(s, s&^leadMask) // leadIdle is zero
}

// stir keeps the watcher awake for a while: something waits to be written. It is no
// run, during which the lead could be taken from a holder that does not ask.
func (l *lead) stir() { l.next(leadIdle) }

// take takes the lead from a run that is under way. The caller must see to it
// that somebody reads.
func (l *lead) take(s uint64) bool {
	return s&leadMask == leadBusy && l.state.CompareAndSwap(s, s&^leadMask|leadTaken)
}

// slow notes that a run was slow; only the new holder calls it.
func (l *lead) slow() {
	l.nextPenalty = min(max(2*l.nextPenalty, minPenalty), maxPenalty)
	l.penalty = l.nextPenalty
}

// mayRun reports whether the holder may run the next request itself.
func (l *lead) mayRun() bool {
	if l.penalty > 0 {
		l.penalty--
		return false
	}
	return true
}

// busy reports whether a run is under way whose goroutine will write what is
// queued when it is done.
func (l *lead) busy() bool { return l.state.Load()&leadMask == leadBusy }

// watch looks after the runs until stop is closed. It calls tick once per
// interval while it is awake, and takeOver when a run has lasted for a whole
// interval.
func (l *lead) watch(stop <-chan struct{}, tick func(), takeOver func(uint64)) {
	timer := time.NewTimer(watchTick)
	defer timer.Stop()
	last := l.state.Load()
	for idle := 0; ; {
		timer.Reset(watchTick)
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		s := l.state.Load()
		switch {
		case s != last:
			idle = 0
		case s&leadMask == leadBusy:
			takeOver(s)
			idle = 0
		default:
			idle++
		}
		last = s
		tick()
		if idle < watchIdle {
			continue
		}
		idle = 0
		if !l.sleep(stop, last) {
			return
		}
		last = l.state.Load()
	}
}

// sleep waits for the next run, unless one has begun since the state was last.
// It reports false when stop is closed.
func (l *lead) sleep(stop <-chan struct{}, last uint64) bool {
	// A run that begins now either sees that the watcher sleeps, or is seen here.
	l.asleep.Store(true)
	if l.state.Load() != last && l.asleep.CompareAndSwap(true, false) {
		return true
	}
	select {
	case <-stop:
		return false
	case <-l.wake:
		return true
	}
}

// yield gives the reading to another goroutine at once, if a run is under way,
// because the caller is about to wait for the peer.
func (c *Conn) yield() {
	if s := c.lead.state.Load(); s&leadMask == leadBusy {
		c.takeOver(s)
	}
}

// takeOver takes the lead from run s and starts a goroutine that reads on.
func (c *Conn) takeOver(s uint64) {
	if c.lead.take(s) {
		c.wg.Go(func() {
			c.lead.slow()
			c.read()
		})
	}
}

// checkQueue is after how many frames that needed no waiting the holder of the
// lead looks whether the answers should be written; large ones are written at
// once.
const checkQueue = 8

// read holds the lead: it reads frames and handles them until the stream ends
// or the lead is taken.
func (c *Conn) read() {
	for n := uint(0); ; n++ {
		waits := !c.stream.Buffered()
		if waits || n%checkQueue == 0 && c.out.full() {
			if !c.flushAsLeader() {
				return
			}
		}
		frame, err := c.stream.Read(c.life)
		if waits {
			c.now = time.Now()
		}
		if err != nil {
			if !c.readError(err) {
				return
			}
			continue
		}
		if !c.frame(frame) {
			return
		}
	}
}

// flushAsLeader writes what waits. The write may take as long as the peer
// likes, so it counts as a run. It reports false if the lead was taken. What
// others add when all has been written but the run has not ended is left to the
// watcher.
func (c *Conn) flushAsLeader() bool {
	if !c.out.dirty() {
		return true
	}
	s := c.lead.begin()
	c.out.flush(c.life)
	return c.lead.end(s)
}

// run runs a request in the goroutine that read it. It reports false if the
// lead was taken.
func (c *Conn) run(call *call) bool {
	s := c.lead.begin()
	c.serve(call)
	if c.lead.end(s) {
		c.lead.nextPenalty = 0 // a quick one ends the swarm
		return true
	}
	c.out.flush(c.life)
	return false
}

// idleWorkers is how many workers wait for work, at most.
const idleWorkers = 64

// handOff gives a request to a worker.
func (c *Conn) handOff(call *call) {
	select {
	case c.work <- call:
	default:
		c.wg.Go(func() { c.worker(call) })
	}
}

// worker serves requests. It is kept when it is done, since its stack has grown
// to what requests need, unless enough others are.
func (c *Conn) worker(call *call) {
	for {
		c.serve(call)
		c.out.flush(c.life)
		if c.idle.Add(1) > idleWorkers {
			c.idle.Add(-1)
			return
		}
		select {
		case call = <-c.work:
			c.idle.Add(-1)
		case <-c.stop:
			c.idle.Add(-1)
			return
		}
	}
}

// send queues a frame of a handler. Within a run the frame is written when the
// run ends or at the watcher's next tick, so that many become one write.
func (c *Conn) send(ctx context.Context, frame []byte) error {
	if err := c.out.add(ctx, frame); err != nil {
		return err
	}
	if !c.lead.busy() || c.out.full() {
		c.out.flush(c.life)
	}
	return nil
}

// tick writes what handlers have queued during a run. The watcher must not wait
// for the peer, so another goroutine writes.
func (c *Conn) tick() {
	if c.out.dirty() {
		c.wg.Go(func() { c.out.flush(c.life) })
	}
}
