package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// runLimit is the time for one run of the suite.
const runLimit = 10 * time.Minute

// suite is the installed suite and the server that it is run against.
type suite struct {
	node, index, url string
}

// set is one selection of scenarios.
type set struct {
	name string
	list []string // arguments that list its scenarios
	run  []string // arguments that run them
	want int      // how many scenarios of servers the pinned suite has in it
}

// sets returns the selections, in the order in which they are run.
func sets() []set {
	requirements := func(revision string, want int) set {
		return set{revision, []string{"list", "--requirements", revision}, []string{"--requirements", revision}, want}
	}
	return []set{
		{"all", []string{"list", "--server"}, []string{"--suite", "all"}, 65},
		requirements("2025-11-25", 33),
		requirements("2026-07-28", 50),
	}
}

// runAll runs every set and returns the results of all scenarios, in the order
// in which the suite lists them.
func (s *suite) runAll(ctx context.Context, out string) ([]result, error) {
	var all []result
	for _, set := range sets() {
		results, err := s.runSet(ctx, &set, filepath.Join(out, set.name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
		all = append(all, results...)
	}
	return all, nil
}

func (s *suite) runSet(ctx context.Context, set *set, out string) ([]result, error) {
	list, err := s.command(ctx, set.list...)
	if err != nil {
		return nil, err
	}
	scenarios := parseList(list)
	if len(scenarios) != set.want {
		return nil, fmt.Errorf("the suite lists %d scenarios, want %d: this is not the pinned version", len(scenarios), set.want)
	}
	args := append([]string{"server", "--url", s.url, "-o", out}, set.run...)
	log, failed := s.command(ctx, args...)
	if err := os.WriteFile(out+".log", log, 0o644); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := readResults(set.name, scenarios, out)
	if err != nil {
		return nil, err
	}
	// The suite exits with 1 when a check failed; then the results say so too.
	var exit *exec.ExitError
	if failed != nil && (!errors.As(failed, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("the suite did not come to its end: %w: see %s.log", failed, out)
	}
	return results, nil
}

// command runs the suite and returns what it printed.
func (s *suite) command(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.index}, args...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return cmd.CombinedOutput()
}

// parseList returns the scenarios of servers in a listing: those below the
// heading for servers, and those that are marked as such.
func parseList(list []byte) []string {
	var names []string
	servers := false
	for line := range bytes.Lines(list) {
		text := strings.TrimSpace(string(line))
		name, isEntry := strings.CutPrefix(text, "- ")
		switch {
		case !isEntry && strings.HasSuffix(text, ":"):
			servers = strings.HasPrefix(text, "Server scenarios")
		case !isEntry:
		case strings.HasSuffix(name, "[server]"), servers:
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	return names
}
