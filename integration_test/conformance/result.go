package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// alwaysSkipped is the one scenario that the suite never runs.
const alwaysSkipped = "tasks-status-notifications"

// result is what became of one scenario in one set.
type result struct {
	set, scenario string
	checks        []check // nil: there is no result
}

// check is one finding of the suite.
type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

// The statuses of a check.
const (
	success = "SUCCESS"
	failure = "FAILURE"
	warning = "WARNING"
	skipped = "SKIPPED"
	info    = "INFO"
)

// name identifies the result in the baseline and in messages.
func (r *result) name() string { return r.set + "/" + r.scenario }

// count returns how many checks have the status.
func (r *result) count(status string) int {
	n := 0
	for i := range r.checks {
		if r.checks[i].Status == status {
			n++
		}
	}
	return n
}

// faults says why the scenario fails; it passes if there are none.
func (r *result) faults() []string {
	if len(r.checks) == 0 {
		return []string{"there is no result of this scenario"}
	}
	var list []string
	for i := range r.checks {
		c := &r.checks[i]
		if c.Status == success || c.Status == info || c.Status == skipped && r.scenario == alwaysSkipped {
			continue
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Status, c.ID, oneLine(c.ErrorMessage))))
	}
	if list == nil && r.count(success) == 0 && r.scenario != alwaysSkipped {
		list = append(list, "nothing was checked")
	}
	return list
}

// signature is what must be the same each time.
func (r *result) signature() []string {
	var list []string
	for i := range r.checks {
		if c := &r.checks[i]; c.Status != info {
			list = append(list, c.ID+" "+c.Status)
		}
	}
	slices.Sort(list)
	return list
}

// readResults reads what the suite wrote about the scenarios.
func readResults(set string, scenarios []string, dir string) ([]result, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := make(map[string][]check)
	for _, e := range entries {
		scenario, ok := scenarioOf(e.Name())
		if !ok {
			continue
		}
		if !slices.Contains(scenarios, scenario) {
			return nil, fmt.Errorf("%s: a result of a scenario that is not listed", e.Name())
		}
		if found[scenario] != nil {
			return nil, fmt.Errorf("%s: a second result of this scenario", e.Name())
		}
		if found[scenario], err = readChecks(filepath.Join(dir, e.Name(), "checks.json")); err != nil {
			return nil, err
		}
	}
	results := make([]result, len(scenarios))
	for i, s := range scenarios {
		results[i] = result{set, s, found[s]}
	}
	return results, nil
}

// stamp is the time at the end of a directory's name.
var stamp = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}T[-\d]+Z$`)

// scenarioOf returns the scenario whose results a directory holds.
func scenarioOf(dir string) (string, bool) {
	name, ok := strings.CutPrefix(dir, "server-")
	at := stamp.FindStringIndex(name)
	if !ok || at == nil {
		return "", false
	}
	return name[:at[0]], true
}

func readChecks(file string) ([]check, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	checks := []check{}
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	slices.SortStableFunc(checks, func(a, b check) int { return cmp.Compare(a.ID, b.ID) })
	return checks, nil
}

// oneLine shortens a message to what fits on a line.
func oneLine(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
