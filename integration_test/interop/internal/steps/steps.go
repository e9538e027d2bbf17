// Package steps holds what the Go clients of this module share: their command
// line, the fixtures they expect of the server, and the report they print, one
// line per step.
package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"
)

// The modes a client can be run in.
const (
	// Legacy makes the client open with initialize, at version 2025-11-25.
	Legacy = "legacy"
	// Modern lets the client negotiate as it does by default: it probes with
	// server/discover and must end up at version 2026-07-28.
	Modern = "modern"
)

// Time limits of one step, of the return of a cancelled call, and of the first
// call after it.
const (
	Limit       = 20 * time.Second
	PromptLimit = time.Second
)

// Fixtures of the server under test, which is started with -more ExtraTools.
const (
	ServerName = "everything"

	// ExtraTools is more than one page, so that a client must follow nextCursor.
	ExtraTools = 1200

	// EchoText has everything that careless escaping breaks.
	EchoText = "quote \" backslash \\ newline \n tab \t <b>&amp;</b> \u00e9 \u6f22 \U0001f642 \u2028 end"

	BenchURI   = "bench://text"
	BenchSize  = 1024
	StaticURI  = "test://static-text"
	StaticText = "This is the content of the static text resource."
	Template   = "test://template/{id}/data"

	Prompt     = "test_prompt_with_arguments"
	Arg1, Arg2 = "first value", "second value"

	CompleteArgument, CompletePrefix, CompleteWant = "arg1", "te", "testValue1"

	ProgressSteps = 5
	SleepMillis   = 20_000
)

// Tools returns the names of the tools that the server must list, among others.
func Tools() []string {
	names := []string{"echo", "add", "progress", "sleep"}
	for i := 1; i <= ExtraTools; i++ {
		names = append(names, fmt.Sprintf("tool_%04d", i))
	}
	return names
}

// Options are what the command line and the environment of a client say.
type Options struct {
	Mode    string   // Legacy or Modern
	Command []string // server command for the stdio transport, empty for HTTP
	URL     string   // endpoint for HTTP, empty for stdio
	Token   string   // bearer token for HTTP, empty for none
}

// ParseOptions reads "--mode MODE --stdio COMMAND [ARGUMENT...]", where the words
// after --stdio all belong to the server command, or "--mode MODE --url URL". The
// token is in the environment variable INTEROP_TOKEN.
func ParseOptions(args []string, getenv func(string) string) (Options, error) {
	if len(args) < 4 || args[0] != "--mode" || args[2] != "--stdio" && (args[2] != "--url" || len(args) != 4) {
		return Options{}, errors.New("usage: --mode legacy|modern (--stdio COMMAND [ARGUMENT...] | --url URL)")
	}
	if args[1] != Legacy && args[1] != Modern {
		return Options{}, fmt.Errorf("mode %q is not one of legacy and modern", args[1])
	}
	if args[2] == "--url" {
		return Options{Mode: args[1], URL: args[3], Token: getenv("INTEROP_TOKEN")}, nil
	}
	return Options{Mode: args[1], Command: args[3:]}, nil
}

// Version is the protocol version that the client must end up with.
func (o Options) Version() string {
	if o.Mode == Legacy {
		return "2025-11-25"
	}
	return "2026-07-28"
}

// ModuleVersion returns the version, without its v, of the module that this
// binary was really built with, or "unknown".
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == path && len(dep.Version) > 1 {
			return dep.Version[1:]
		}
	}
	return "unknown"
}

// Report prints one line per step and remembers whether all passed.
type Report struct {
	w      io.Writer
	label  string
	failed bool
}

// NewReport returns a report whose lines go to w and carry the label.
func NewReport(w io.Writer, label string) *Report {
	return &Report{w: w, label: label}
}

// Step runs one step within Limit and reports it. It returns whether it passed.
func (r *Report) Step(ctx context.Context, name string, run func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	if err := run(ctx); err != nil {
		r.failed = true
		fmt.Fprintf(r.w, "FAIL %s: %s: %q\n", r.label, name, err)
		return false
	}
	fmt.Fprintf(r.w, "ok   %s: %s\n", r.label, name)
	return true
}

// ExitCode is 0 when all steps so far passed, else 1.
func (r *Report) ExitCode() int {
	if r.failed {
		return 1
	}
	return 0
}

// Equal reports a difference between two values as an error.
func Equal[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %#v, want %#v", what, got, want)
	}
	return nil
}

// Listed reports an error unless the names are distinct and contain all wanted ones.
func Listed(names []string, want ...string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("%q is listed twice", name)
		}
		seen[name] = true
	}
	for _, name := range want {
		if !seen[name] {
			return fmt.Errorf("%q is missing among %d entries", name, len(names))
		}
	}
	return nil
}

// Completed reports an error unless the values contain CompleteWant.
func Completed(values []string) error {
	if !slices.Contains(values, CompleteWant) {
		return fmt.Errorf("completion of %q is %q, want %q among it", CompletePrefix, values, CompleteWant)
	}
	return nil
}

// Progress is one progress notification.
type Progress struct{ Progress, Total float64 }

// ReceiveAll reads ProgressSteps notifications and reports an error unless they
// count from 1 to the total. SDKs may deliver the last ones a little after the
// result, hence the wait; that the server wrote none after it is for wiretap to check.
func ReceiveAll(ctx context.Context, ch <-chan Progress) error {
	for i := range ProgressSteps {
		select {
		case got := <-ch:
			want := Progress{Progress: float64(i + 1), Total: ProgressSteps}
			if got != want {
				return fmt.Errorf("notification %d is %+v, want %+v", i+1, got, want)
			}
		case <-time.After(PromptLimit):
			return fmt.Errorf("got %d progress notifications, want %d", i, ProgressSteps)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Cancel starts a call that runs long, cancels it once its first progress says
// that the server is at work on it, and reports an error unless the call ends
// promptly. Then the server must be of use, as after finds out within
// PromptLimit, and must have stopped the work.
func Cancel(ctx context.Context, call func(context.Context) error, progress <-chan Progress, after func(context.Context) error) error {
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(callCtx) }()

	select {
	case <-progress:
	case err := <-done:
		return fmt.Errorf("the call ended before it was cancelled: %v", err)
	case <-ctx.Done():
		return errors.New("the call sent no progress")
	}
	cancel()
	select {
	case err := <-done:
		if err == nil {
			return errors.New("the cancelled call returned a result")
		}
	case <-time.After(PromptLimit):
		return fmt.Errorf("the call did not end within %v of being cancelled", PromptLimit)
	}

	afterCtx, cancelAfter := context.WithTimeout(ctx, PromptLimit)
	defer cancelAfter()
	if err := after(afterCtx); err != nil {
		return fmt.Errorf("after the cancelled call: %w", err)
	}
	return awaitSilence(progress)
}

// awaitSilence waits until progress stops. The SDKs send the cancellation in the
// background; without the wait, the end of the session could overtake it.
func awaitSilence(progress <-chan Progress) error {
	const silence = 5 * 50 * time.Millisecond // five times the interval of sleep
	limit := time.After(PromptLimit)
	for {
		select {
		case <-progress:
		case <-time.After(silence):
			return nil
		case <-limit:
			return fmt.Errorf("the cancelled call still sends progress after %v", PromptLimit)
		}
	}
}
