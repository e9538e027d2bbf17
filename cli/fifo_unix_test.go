//go:build unix

package cli_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloudg.dev/cloudg/cli"
)

// A pipe that nobody writes to does not keep a signal from ending the command.
func TestCall_argumentsFromAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "p")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer stop()
	var stdout, stderr strings.Builder
	code := cli.Run(ctx, cli.Env{Args: []string{"call", "echo", "--args", "@" + pipe}, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Register: new(fake).register})
	if code != 1 || stdout.String() != "" || stderr.String() != "cloudg call: interrupted: enough\n" {
		t.Errorf("got %d, %q, %q", code, stdout.String(), stderr.String())
	}
	// What waits for a writer gets one, and ends.
	fd, err := syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
}
