// Command wiretap stands between a client and a server that talk over stdio.
//
//	wiretap record FOLDER COMMAND [ARGUMENT...]
//	wiretap check FOLDER
//
// The first form runs the server command, passes every line on unchanged and
// writes a transcript of the conversation into the folder, which must exist.
// The second form judges all transcripts of a folder: it prints one finding per
// line and exits with 1 when there is one.
package main

import (
	"errors"
	"fmt"
	"os"
)

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
		return 2, errors.New("usage: wiretap record FOLDER COMMAND [ARGUMENT...] | wiretap check FOLDER")
	}
}
