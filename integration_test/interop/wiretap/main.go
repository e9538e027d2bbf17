// Command wiretap stands between a client and its server.
//
//	wiretap record FOLDER SERVER [ARGUMENT...]
//	wiretap serve FOLDER COUNT SERVER [ARGUMENT...] -- CLIENT [ARGUMENT...]
//	wiretap check FOLDER
//
// The first form runs the server command, passes every line on unchanged and
// writes a transcript of the conversation into the folder, which must exist.
//
// The second form does the same over HTTP. It runs COUNT servers and the client,
// which finds "--url URL" added to its arguments; behind that address the servers
// take turns. With INTEROP_TOKEN in the environment the servers must ask for it.
//
// The third form judges all transcripts of a folder: it prints one finding per
// line and exits with 1 when there is one.
package main

import (
	"errors"
	"fmt"
	"os"
)

var errUsage = errors.New("usage: wiretap record FOLDER SERVER [ARGUMENT...] | " +
	"wiretap serve FOLDER COUNT SERVER [ARGUMENT...] -- CLIENT [ARGUMENT...] | wiretap check FOLDER")

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretap:", err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	switch {
	case len(args) >= 3 && args[0] == "record":
		return record(args[1], args[2:])
	case len(args) >= 4 && args[0] == "serve":
		return serve(args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "check":
		findings, err := checkFolder(args[1])
		if err != nil {
			return 1, err
		}
		for _, finding := range findings {
			fmt.Println(finding)
		}
		return min(len(findings), 1), nil
	default:
		return 2, errUsage
	}
}
