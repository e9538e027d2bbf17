package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/transport"
)

// serve serves until the input ends or ctx does; both are success.
func (inv *invocation) serve(ctx context.Context) (err error) {
	keys, err := inv.readStateKeys()
	if err != nil {
		return err
	}
	serve := inv.serveStdio
	if inv.set.transport.overHTTP() {
		if serve, err = inv.prepareHTTP(); err != nil {
			return err
		}
	}
	a, err := inv.assemble(&serving{inv.log, keys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return serve(ctx, a)
}

// serveStdio serves one client on standard input and output.
func (inv *invocation) serveStdio(ctx context.Context, a *assembly) error {
	inv.announce(ctx, a, "serving on standard input and output")
	if inv.hasTokens() {
		inv.log.InfoContext(ctx, "tokens are ignored on standard input and output: the client is whoever started this process")
	}
	defer inv.watch(ctx)()
	in := &countingReader{r: inv.env.Stdin}
	stream := transport.NewLines(in, inv.env.Stdout, &transport.LinesOptions{MaxLine: inv.set.maxLine})
	err := a.sessions.Serve(ctx, stream, policy.Local(), &jsonrpc.Options{
		MaxInFlight: cmp.Or(inv.set.maxInFlight, maxInFlightStdio), DrainTime: inv.set.drain, Logger: inv.log,
	})
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		inv.log.InfoContext(ctx, "stopped")
		return nil
	case err != nil:
		return err
	case in.n.Load() == 0:
		inv.log.WarnContext(ctx, "standard input was closed before a client sent anything; "+
			"a container needs its standard input open (docker run -i), and a client starts cloudg by itself")
	}
	return nil
}

// maxInFlightStdio is the default of --max-in-flight on standard input and
// output, where one client has the server for itself.
const maxInFlightStdio = 1024

// announce logs the one line that says what is served.
func (inv *invocation) announce(ctx context.Context, a *assembly, how string, more ...any) {
	roots := inv.set.roots
	if roots == nil {
		roots = []string{}
	}
	inv.log.InfoContext(ctx, how, append(more,
		"version", readBuild(inv.env.Build).version,
		"tools", len(a.snapshot.Tools),
		"resources", len(a.snapshot.Resources)+len(a.snapshot.Templates),
		"prompts", len(a.snapshot.Prompts),
		"roots", roots,
		"write", inv.set.allowWrite,
		"protocol", versionNames())...)
}

// watch logs when ctx ends before the function that it returns is called, which
// waits for the goroutine.
func (inv *invocation) watch(ctx context.Context) (end func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ctx.Done():
			inv.log.InfoContext(ctx, "stopping: requests in flight may finish", "cause", context.Cause(ctx).Error(), "drain", max(inv.set.drain, 0))
		case <-done:
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// countingReader counts what was read.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Close closes the reader if that is possible.
func (c *countingReader) Close() error {
	if r, ok := c.r.(io.Closer); ok {
		return r.Close()
	}
	return nil
}
