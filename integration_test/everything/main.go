// Command everything is the server under test: it has every fixture that the
// official conformance suite, the field cases and the benchmark call, and is
// built on the public packages as any program would be.
//
//	everything -stdio                 serve on standard input and output
//	everything -stdio -more 1000      with so many more tools
//	everything -stdio -tools 1000     what the benchmark calls, and so many more tools
//	everything -http 127.0.0.1:8080   serve over HTTP, at /mcp
//
// With the build tag benchdebug, -debug ADDR serves profiles and counters.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/task"
	"cloudg.dev/cloudg/transport"
)

func main() {
	stdout := os.Stdout
	os.Stdout = os.Stderr // nothing but messages goes to the real one
	os.Exit(run(os.Args[1:], os.Stdin, stdout))
}

// config is what the flags say.
type config struct {
	stdio        bool
	http         string
	mode         string
	stateless    bool
	tools        int // -1: all fixtures
	more         int
	pageSize     int
	maxLine      int
	maxOutput    int
	timeout      time.Duration
	writeTimeout time.Duration
	sideFile     string
	taskDir      string
	logLevel     string
	debug        string
	stateKey     string
	border       border
}

func parseFlags(args []string) (*config, error) {
	c := new(config)
	f := flag.NewFlagSet("everything", flag.ContinueOnError)
	f.BoolVar(&c.stdio, "stdio", false, "serve on standard input and output")
	f.StringVar(&c.http, "http", "", "serve over HTTP on this address")
	f.StringVar(&c.mode, "mode", "auto", "form of answers over HTTP: auto, json or sse")
	f.BoolVar(&c.stateless, "stateless", false, "accepted for the benchmark: both eras are always served")
	f.IntVar(&c.tools, "tools", -1, "only what the benchmark calls, and so many more tools")
	f.IntVar(&c.more, "more", 0, "number of tools besides the fixtures")
	f.IntVar(&c.pageSize, "page-size", 0, "entries of a page of a list; 0 is the default")
	f.IntVar(&c.maxLine, "max-line", 0, "bytes of a line; 0 is the default")
	f.IntVar(&c.maxOutput, "max-output", -1, "bytes of text of a result; -1 is no limit")
	f.DurationVar(&c.timeout, "timeout", 0, "time for a call; 0 is the default")
	f.DurationVar(&c.writeTimeout, "write-timeout", 0, "time for one write over HTTP; 0 is the default")
	f.StringVar(&c.sideFile, "side", "", "file that the tool side appends to")
	f.StringVar(&c.taskDir, "task-dir", "", "directory that keeps tasks; in memory without it")
	f.StringVar(&c.stateKey, "state-key", "", "secret under which replicas seal the state of calls and the cursors of lists; without it they are for one process")
	c.border.flags(f)
	f.StringVar(&c.logLevel, "log-level", "warn", "what is logged to standard error: debug, info, warn or error")
	f.StringVar(&c.debug, "debug", "", "address of the diagnostics listener, in a benchdebug build")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if c.stdio == (c.http != "") {
		return nil, fmt.Errorf("either -stdio or -http ADDR is needed")
	}
	return c, nil
}

func run(args []string, stdin io.Reader, stdout io.Writer) int {
	c, err := parseFlags(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "everything:", err)
		return 2
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.logLevel)); err != nil {
		fmt.Fprintln(os.Stderr, "everything: -log-level:", err)
		return 2
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	if err := serveDebug(c.debug); err != nil {
		fmt.Fprintln(os.Stderr, "everything: -debug:", err)
		return 1
	}
	signal.Ignore(syscall.SIGPIPE) // a client may close our standard error before it waits for us
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, c, log, stdin, stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "everything:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, c *config, log *slog.Logger, stdin io.Reader, stdout io.Writer) (err error) {
	hub := notify.New(&notify.Options{MaxSubscribers: maxSubscribers})
	defer hub.Close()
	reg := registry.New(&registry.Options{OnChange: session.Announce(hub)})
	f := &fixtures{reg: reg, hub: hub, log: log, sideFile: c.sideFile}
	register := func() error { return f.register(c.more) }
	if c.tools >= 0 {
		register = func() error { return f.registerBench(c.tools) }
	}
	if err := register(); err != nil {
		return err
	}
	var tasks session.TaskOptions
	if c.taskDir != "" {
		dir, err := task.OpenDir(c.taskDir, &task.Options{Logger: log})
		if err != nil {
			return err
		}
		defer dir.Close()
		tasks.Store = dir
	}
	skills, err := openSkills(reg, log)
	if err != nil {
		return err
	}
	defer skills.Close()
	stateKeys, cursorKey, err := c.keys()
	if err != nil {
		return err
	}
	server, err := session.NewServer(&session.Options{
		Layer:        layer.New(&layer.Options{Registry: reg, Timeout: c.timeout, MaxOutput: c.maxOutput, PageSize: c.pageSize, CursorKey: cursorKey, Logger: log}),
		Info:         protocol.Implementation{Name: "everything", Title: "Everything", Version: "1.0.0"},
		Instructions: "Fixtures for tests. Nothing here is useful.",
		Hub:          hub,
		StateKeys:    stateKeys,
		Tasks:        tasks,
		Extensions:   []session.Extension{skillsExtension(skills)},
		Logger:       log,
	})
	if err != nil {
		return err
	}
	defer func() {
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err = errors.Join(err, server.Shutdown(grace))
	}()
	if c.http != "" {
		return serveHTTP(ctx, c, server, log)
	}
	stream := transport.NewLines(stdin, stdout, &transport.LinesOptions{MaxLine: c.maxLine})
	return server.Serve(ctx, stream, policy.Local(), &jsonrpc.Options{Logger: log})
}

// keys returns what replicas have in common, or nothing, and then this process
// makes its own.
func (c *config) keys() (state [][]byte, cursor []byte, err error) {
	if c.stateKey != "" {
		state = [][]byte{[]byte(c.stateKey)}
	}
	cursor, err = session.CursorKey(state)
	return state, cursor, err
}
