// Command nginx measures how a server gets on behind nginx, which buffers what
// proxied servers send unless they ask it not to.
//
//	nginx --mode legacy|modern --stdio SERVER [ARGUMENT...]
//
// The server command is run with "-http" and the host names that it is to
// answer to. It reports the steps progress-1.0, progress-1.1 and host, one line
// each; the numbers are the versions of HTTP between nginx and the server.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cloudg.dev/cloudg/integration_test/interop/internal/child"
	"cloudg.dev/cloudg/integration_test/interop/internal/steps"
)

const (
	// maxDelay is how long a progress notification may take from the server
	// through nginx to the client.
	maxDelay = 100 * time.Millisecond

	// tries is how often a measurement may be repeated: on a machine that has
	// much else to do any process may be late.
	tries = 3

	// publicHost is the name of the server for its clients, wrongHost is not.
	publicHost = "mcp.example"
	wrongHost  = "other.example"
)

func main() {
	options, err := steps.ParseOptions(os.Args[1:], os.Getenv)
	if err == nil && options.URL != "" {
		err = errors.New("nginx needs a server command, not a URL")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	report := steps.NewReport(os.Stdout, "nginx "+options.Mode)
	if err := run(ctx, report, options); err != nil {
		fmt.Fprintln(os.Stderr, "nginx:", err)
		stop()
		os.Exit(1)
	}
	os.Exit(report.ExitCode())
}

// run starts the server, the relay before it and nginx before that, and makes
// the steps.
func run(ctx context.Context, report *steps.Report, options steps.Options) (err error) {
	command := append(options.Command[:len(options.Command):len(options.Command)], "-allowed-host", publicHost, "-allowed-host", "127.0.0.1:*")
	server, err := child.Start(command, os.Stderr)
	if err != nil {
		return err
	}
	defer func() {
		code, stopErr := server.Stop()
		err = errors.Join(err, stopErr, steps.Equal("exit code of the server", code, 0))
	}()
	r, err := newRelay(server.Address)
	if err != nil {
		return err
	}
	defer r.close()
	proxy, err := startNginx(ctx, r.address())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proxy.stop()) }()

	report.Step(ctx, "progress-1.0", func(ctx context.Context) error { return timely(ctx, r, newClient(options, proxy.plain, "")) })
	report.Step(ctx, "progress-1.1", func(ctx context.Context) error {
		return timely(ctx, r, newClient(options, proxy.named, publicHost))
	})
	report.Step(ctx, "host", func(ctx context.Context) error { return hosts(ctx, options, proxy.named) })
	return nil
}

// timely reports an error unless in one of several tries every notification
// arrives within maxDelay of having left the server.
func timely(ctx context.Context, r *relay, c *client) error {
	var err error
	for range tries {
		if err = measure(ctx, r, c); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func measure(ctx context.Context, r *relay, c *client) error {
	r.forget()
	arrived, err := c.sleep(ctx)
	if err != nil {
		return err
	}
	sent := r.sent()
	const wanted = 10 // one every 50 ms for a second, with room for a slow machine
	if len(arrived) < wanted || len(sent) != len(arrived) {
		return fmt.Errorf("%d of %d notifications arrived, want all and at least %d", len(arrived), len(sent), wanted)
	}
	for i, at := range arrived {
		if delay := at.Sub(sent[i]); delay > maxDelay {
			return fmt.Errorf("notification %d of %d took %v through nginx, want at most %v", i+1, len(arrived), delay.Round(time.Millisecond), maxDelay)
		}
	}
	return nil
}

// hosts reports an error unless the server, which nginx tells the name that the
// client used, answers to its own name and to no other.
func hosts(ctx context.Context, options steps.Options, address string) error {
	for _, test := range []struct {
		host string
		want int
	}{
		{publicHost, http.StatusOK},
		{wrongHost, http.StatusMisdirectedRequest},
	} {
		status, err := newClient(options, address, test.host).echo(ctx)
		if err != nil {
			return err
		}
		if err := steps.Equal("status for "+test.host, status, test.want); err != nil {
			return err
		}
	}
	return nil
}
