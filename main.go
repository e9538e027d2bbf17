// Command cloudg is an MCP server on the standard library alone: facts about
// the machine that it runs on and the files below the directories that its
// operator allows, as tools, resources and prompts for an AI client.
//
//	cloudg serve --root DIR         serve one client on standard input and output
//	cloudg serve --transport http   serve many clients by HTTP
//	cloudg tools --root DIR         show what that client would see
//	cloudg call host_status         call one tool from the shell
//	cloudg help                     the whole manual, by topics
//
// Standard output carries results only: the messages of the protocol, or what
// a subcommand was asked for. Everything else goes to standard error. The exit
// code is 0 for success, 1 for failure and 2 for a wrong command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"cloudg.dev/cloudg/cli"
)

func main() {
	stdout := os.Stdout
	os.Stdout = os.Stderr // nothing else in the process finds the real one
	os.Exit(run(stdout))
}

// run runs the command with the signals that end it. The first one lets serve
// come to an orderly end; the second ends the process at once.
func run(stdout *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	// Whoever asks for SIGPIPE gets an error from a write to a pipe that nobody
	// reads, instead of being killed. Nobody needs the signals themselves, and
	// ignoring them would be passed on to children.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)

	build, _ := debug.ReadBuildInfo()
	return cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Getenv: os.Getenv, Build: build,
	})
}
