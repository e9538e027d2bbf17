package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a [Conn]. The zero value is usable.
type Options struct {
	Decoder     Decoder
	MaxInFlight int           // requests of the peer at one time; 0 means 1024
	MaxBatch    int           // members of a batch; 0 means DefaultMaxBatch
	DrainTime   time.Duration // grace for requests in flight at the end; 0 means 2 s, negative none
	Logger      *slog.Logger  // nil discards
	// Ordered names requests that are handled in the order in which they come,
	// before anything behind them is read; nil means none. Such a request cannot
	// be cancelled, be part of a batch, or call the peer.
	Ordered func(method string) bool
}

const (
	defaultInFlight = 1024
	// Clients kill a server that has not ended some seconds after they closed its
	// input.
	defaultDrain = 2 * time.Second
	// killTime is how long requests that were cancelled at the end may take to
	// return and to be answered.
	killTime = time.Second
)

// Conn serves a [Handler] over a [Stream]. It is also the [Peer] that the
// handler sees.
type Conn struct {
	stream  Stream
	handler Handler
	opts    Options
	log     *slog.Logger

	out  outbox
	bufs buffers
	lead lead
	now  time.Time  // when the reader last waited; the holder of the lead's
	work chan *call // to a worker that waits
	idle atomic.Int32

	running atomic.Bool   // Run has begun
	begun   chan struct{} // closed then

	wg    sync.WaitGroup  // the reader, the watcher, the workers and the writers
	stop  chan struct{}   // closed when the connection ends
	ended chan struct{}   // closed when nothing more can be read
	life  context.Context // what the stream is used under; ends with the connection
	base  context.Context // what requests run under; ends when they are given up
	abort context.CancelCauseFunc

	state connState
}

// NewConn returns a connection that [Conn.Run] serves.
func NewConn(stream Stream, handler Handler, o *Options) *Conn {
	c := &Conn{stream: stream, handler: handler}
	if o != nil {
		c.opts = *o
	}
	if c.opts.MaxInFlight <= 0 {
		c.opts.MaxInFlight = defaultInFlight
	}
	switch {
	case c.opts.DrainTime == 0:
		c.opts.DrainTime = defaultDrain
	case c.opts.DrainTime < 0:
		c.opts.DrainTime = 0
	}
	if c.log = c.opts.Logger; c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.out.stream = stream
	c.work = make(chan *call)
	c.stop = make(chan struct{})
	c.ended = make(chan struct{})
	c.begun = make(chan struct{})
	c.lead.wake = make(chan struct{}, 1)
	c.state.calls = make(map[string]*call)
	c.state.quiet = make(chan struct{})
	return c
}

// Run serves the connection until the stream ends, writing fails or ctx does.
// Then it refuses new requests, lets those in flight finish within the grace
// time, cancels the rest, writes what waits, and closes the stream. It returns
// nil at the end of the stream, the cause of ctx, or the failure, whichever came
// first. It may be called once.
func (c *Conn) Run(ctx context.Context) error {
	// Requests outlive ctx by the grace time.
	life, endLife := context.WithCancelCause(context.WithoutCancel(ctx))
	c.life = life
	c.base, c.abort = context.WithCancelCause(life)
	c.out.onFail = func(err error) {
		c.log.Debug("writing failed", "error", err)
		c.state.finish(fmt.Errorf("writing: %w", err))
		endLife(fmt.Errorf("%w: %w", ErrClosed, err))
	}
	c.running.Store(true)
	close(c.begun)
	c.wg.Go(c.read)
	c.wg.Go(func() { c.lead.watch(c.stop, c.tick, c.takeOver) })
	select {
	case <-c.ended:
	case <-life.Done():
	case <-ctx.Done():
		c.state.finish(context.Cause(ctx))
	}
	return c.end(ctx, endLife)
}

// end brings the connection to its end. What the peer sends meanwhile is still
// read: it may cancel a request in flight, or answer one of ours that such a
// request waits for.
func (c *Conn) end(ctx context.Context, endLife context.CancelCauseFunc) error {
	var hurry <-chan struct{} // ctx, unless it is what ends the connection
	if ctx.Err() == nil {
		hurry = ctx.Done()
	}
	c.state.update(func(s *stateLocked) { s.draining = true })
	c.wg.Go(c.handler.Drain) // it may wait for the peer, so it is not waited for here
	if c.life.Err() != nil || !c.settle(c.opts.DrainTime, hurry) {
		c.abort(c.giveUpCause())
		if !c.settle(killTime, nil) {
			c.log.Warn("requests did not return after they were cancelled, or the peer does not read", "count", c.InFlight())
		}
	}
	endLife(ErrClosed)
	c.out.close(ErrClosed)
	close(c.stop)
	closeErr := c.stream.Close()
	c.join()
	var err error
	c.state.update(func(s *stateLocked) { err = s.err })
	if err != nil {
		return err
	}
	return closeErr
}

// giveUpCause is why requests in flight are given up. A stream that failed says
// so itself: its end may not have reached c.base yet when Run sees it.
func (c *Conn) giveUpCause() error {
	if c.life.Err() != nil {
		return context.Cause(c.life)
	}
	return ErrShutdown
}

// settle waits until nothing is in flight and all answers are written, for d at
// most, or until hurry is closed. It reports whether that is so.
func (c *Conn) settle(d time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	if !await(c.state.quiet, timer, hurry) {
		return false
	}
	c.wg.Go(func() { c.out.flush(c.life) }) // the peer decides how long this takes
	return await(c.out.settled(), timer, hurry)
}

// await waits for done, until the timer fires or hurry is closed. It reports
// whether done is.
func await(done <-chan struct{}, timer *time.Timer, hurry <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	case <-hurry:
		return false
	}
}

// join waits for the goroutines of the connection. A read of a terminal or a
// pipe cannot always be interrupted, and a handler may ignore its context; such
// a goroutine is left behind, and ends when what it waits for does.
func (c *Conn) join() {
	done := make(chan struct{})
	go func() { // ends with the goroutines that it waits for
		c.wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// InFlight returns the number of requests of the peer that are not answered.
func (c *Conn) InFlight() (n int) {
	c.state.update(func(s *stateLocked) { n = len(s.calls) })
	return n
}

// readError handles an error of the stream. It reports whether to read on.
func (c *Conn) readError(err error) bool {
	var fe *FrameError
	if errors.As(err, &fe) {
		c.refuse("", fe.Err)
		return true
	}
	switch {
	case errors.Is(err, io.EOF):
		c.state.finish(nil)
	case c.life.Err() == nil:
		c.state.finish(fmt.Errorf("reading a frame: %w", err))
	}
	close(c.ended)
	return false
}

// frame handles one frame. It reports false if the lead was lost meanwhile.
func (c *Conn) frame(frame []byte) bool {
	if IsBatch(frame) {
		c.batch(frame)
		return true
	}
	call, refusal := c.accept(frame, nil)
	switch {
	case refusal != nil:
		c.answer(func() []byte { return refusal })
	case call == nil:
	case call.ordered:
		c.serveOrdered(call)
	case c.lead.mayRun():
		return c.run(call)
	default:
		c.handOff(call)
	}
	return true
}

func (c *Conn) ordered(method string) bool {
	return c.opts.Ordered != nil && c.opts.Ordered(method)
}

// accept decodes one message, of batch b if that is not nil, and handles it
// unless it is a request. It returns the request, entered as in flight, or a
// refusal to send, or neither.
func (c *Conn) accept(frame []byte, b *batch) (*call, []byte) {
	in := &call{batch: b}
	m, err := c.opts.Decoder.decode(frame, &in.req)
	if err != nil {
		var de *DecodeError
		switch {
		case !errors.As(err, &de), de.Notification:
			c.log.Warn("ignoring an invalid notification", "error", err)
			return nil, nil
		case de.Response:
			c.badResponse(de)
			return nil, nil
		}
		return nil, c.refusal(de.ID, de.Err)
	}
	switch m := m.(type) {
	case *Response:
		c.response(m)
		return nil, nil
	case *Request:
		if m.IsNotification() {
			c.notify(m)
			return nil, nil
		}
		if b != nil && c.ordered(m.Method) {
			return nil, c.refusal(m.ID, Errorf(CodeInvalidRequest, "%s cannot be part of a batch", m.Method))
		}
		return c.enter(in)
	}
	panic("jsonrpc: internal error: unknown kind of message")
}

// notify hands a notification to the handler. A panic in it is logged.
func (c *Conn) notify(n *Request) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("handling a notification", "method", n.Method, "panic", v)
		}
	}()
	c.handler.Notify(c.base, n, c)
}

func (c *Conn) refusal(id ID, e *Error) []byte {
	return AppendError(nil, id, c.handler.Dialect().OmitUnknownID, e)
}

// refuse answers a frame that could not be accepted.
func (c *Conn) refuse(id ID, e *Error) {
	refusal := c.refusal(id, e)
	c.answer(func() []byte { return refusal })
}

// answer queues a frame of the reader's own. It is written when nothing more can
// be read without waiting, or at the watcher's next tick.
func (c *Conn) answer(commit func() []byte) {
	if c.out.answerAsReader(c.life, commit) {
		c.now = time.Now() // what is read already has come in long ago, but was not late then
	}
	c.lead.stir()
}

// Send implements [Peer]. Before Run has begun it waits for that.
func (c *Conn) Send(ctx context.Context, frame []byte) error {
	if err := c.awaitRun(ctx); err != nil {
		return err
	}
	return c.send(ctx, frame)
}

// awaitRun waits until Run has begun: whoever starts it in a goroutine of its own
// may be faster than that.
func (c *Conn) awaitRun(ctx context.Context) error {
	if c.running.Load() {
		return nil
	}
	select {
	case <-c.begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
