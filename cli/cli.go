package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

// The exit codes of the command.
const (
	ExitOK      int = 0
	ExitFailure int = 1 // it was understood and did not succeed
	ExitUsage   int = 2 // the command line is wrong
)

// Env is what the command has of the world. Fields that are nil stand for
// nothing: no input, output that is dropped, an empty environment.
type Env struct {
	Args   []string // without the name of the program
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Build  *debug.BuildInfo // nil: unknown
	// Register fills a registry and returns what to close when it is not used
	// any more. Nil means the built-in catalog.
	Register func(*registry.Registry, *catalog.Options) (io.Closer, error)
}

// withDefaults returns the environment with its gaps filled. What goes to
// Stderr is serialized from here on: several goroutines log.
func (e Env) withDefaults() *Env {
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	if e.Stdout == nil {
		e.Stdout = io.Discard
	}
	if e.Stderr == nil {
		e.Stderr = io.Discard
	}
	e.Stderr = &serialWriter{w: e.Stderr}
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.Register == nil {
		e.Register = registerCatalog
	}
	return &e
}

func registerCatalog(reg *registry.Registry, o *catalog.Options) (io.Closer, error) {
	c, err := catalog.Register(reg, o)
	if err != nil {
		return nil, err // not c, which is a nil that an interface hides
	}
	return c, nil
}

// serialWriter lets one goroutine at a time write.
type serialWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (s *serialWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// invocation is one run of a subcommand.
type invocation struct {
	env      *Env
	cmd      *command
	set      *settings
	operands []string
	log      *slog.Logger
	out      bytes.Buffer // the result, written at the end
}

// Run runs the command until it is done or ctx is, and returns its exit code.
// The end of ctx ends serve in an orderly way, which is a success.
func Run(ctx context.Context, env Env) int {
	e := env.withDefaults()
	cmd, args, err := choose(e.Args)
	if err != nil {
		return report(e, "", err)
	}
	return report(e, cmd.name, run(ctx, e, cmd, args))
}

// run runs a subcommand and writes its result.
func run(ctx context.Context, e *Env, cmd *command, args []string) error {
	p, err := parse(cmd, args, e.Getenv)
	if err != nil {
		return err
	}
	inv := &invocation{env: e, cmd: cmd, set: p.set, operands: p.operands, log: p.set.logger(e.Stderr)}
	if p.help {
		inv.operands = []string{cmd.name}
		err = inv.help(ctx)
	} else {
		err = cmd.run(inv, ctx)
	}
	if inv.out.Len() == 0 {
		return err
	}
	if _, werr := e.Stdout.Write(inv.out.Bytes()); werr != nil {
		return fmt.Errorf("writing the result: %w", werr)
	}
	return err
}

// errFailed means that the result itself, which was written, says what failed.
var errFailed = errors.New("failed")

// usageError is a wrong command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// report tells of an error and returns the exit code that goes with it.
func report(e *Env, command string, err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, errFailed) {
		return ExitFailure
	}
	name := "cloudg"
	if command != "" {
		name += " " + command
	}
	var usage *usageError
	if !errors.As(err, &usage) {
		fmt.Fprintf(e.Stderr, "%s: %v\n", name, err)
		return ExitFailure
	}
	fmt.Fprintf(e.Stderr, "%s: %v\nRun '%s' for help.\n", name, err, strings.TrimSpace("cloudg help "+command))
	return ExitUsage
}
