// Package cli is the command cloudg: its subcommands, their options and its
// manual. [Run] is the whole of it; what it reads and writes is in [Env], so a
// test runs it as the shell does.
//
// Every subcommand that uses a primitive is a client in the same process: it
// sends a request to a session and prints the result, so what it shows is what
// a client over a transport gets.
//
// Only results go to Stdout. Everything else, logs and progress included, goes
// to Stderr.
package cli
