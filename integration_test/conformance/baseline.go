package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// readBaseline reads the names of the scenarios that are known to fail, one a
// line as SET/SCENARIO; what is behind a # is a comment. No file has no names.
func readBaseline(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var names []string
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		name := strings.TrimSpace(line)
		switch {
		case name == "":
			continue
		case !strings.Contains(name, "/"):
			return nil, fmt.Errorf("%s:%d: %q is not of the form SET/SCENARIO", file, n, name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%s:%d: %s is there twice", file, n, name)
		}
		names = append(names, name)
	}
	return names, nil
}
