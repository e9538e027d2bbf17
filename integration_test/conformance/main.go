package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := parseFlags(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	ok, err := run(ctx, c, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	server   string // the binary
	node     string // to run the suite with
	suite    string // its index.js
	out      string // for logs and results; emptied first
	baseline string // or empty
	repeat   int
}

func parseFlags(args []string) (*config, error) {
	c := new(config)
	f := flag.NewFlagSet("conformance", flag.ContinueOnError)
	f.StringVar(&c.server, "server", "", "the server's binary, started with -http 127.0.0.1:0")
	f.StringVar(&c.node, "node", "node", "the Node.js that runs the suite, 22 or newer")
	f.StringVar(&c.suite, "suite", "", "the suite's dist/index.js")
	f.StringVar(&c.out, "out", "", "directory for logs and results; what is in it is removed")
	f.StringVar(&c.baseline, "baseline", "", "file with the scenarios that are known to fail")
	f.IntVar(&c.repeat, "repeat", 1, "how often everything is run; all results must be the same")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	for _, o := range []struct{ name, value string }{{"-server", c.server}, {"-suite", c.suite}, {"-out", c.out}} {
		if o.value == "" {
			return nil, fmt.Errorf("%s is needed", o.name)
		}
	}
	if c.repeat < 1 {
		return nil, fmt.Errorf("-repeat %d: want 1 or more", c.repeat)
	}
	return c, nil
}

// run runs everything and reports whether it is as the baseline says.
func run(ctx context.Context, c *config, w io.Writer) (ok bool, err error) {
	known, err := readBaseline(c.baseline)
	if err != nil {
		return false, err
	}
	if err := os.RemoveAll(c.out); err != nil {
		return false, err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return false, err
	}
	server, err := startServer(ctx, c.server, filepath.Join(c.out, "server.log"))
	if err != nil {
		return false, err
	}
	s := &suite{node: c.node, index: c.suite, url: server.url}
	first, same, err := repeat(ctx, s, c, w)
	if err = errors.Join(err, server.stop()); err != nil {
		return false, err
	}
	exact := writeDeviations(w, known, first)
	writeTotals(w, first)
	return same && exact, nil
}

// repeat runs everything as often as wanted. It returns the results of the first
// time, and whether those of the others are the same.
func repeat(ctx context.Context, s *suite, c *config, w io.Writer) (first []result, same bool, err error) {
	same = true
	for n := 1; n <= c.repeat; n++ {
		results, err := s.runAll(ctx, filepath.Join(c.out, strconv.Itoa(n)))
		if err != nil {
			return nil, false, err
		}
		if n == 1 {
			first = results
			writeTables(w, results)
			continue
		}
		if writeChanges(w, n, first, results) {
			fmt.Fprintf(w, "run %d is like the first one\n", n)
		} else {
			same = false
		}
	}
	return first, same, nil
}
