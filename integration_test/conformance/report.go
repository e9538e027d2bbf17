package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// writeTables writes one table for each set, and below each scenario that fails
// the reasons.
func writeTables(w io.Writer, results []result) {
	for len(results) > 0 {
		n := slices.IndexFunc(results, func(r result) bool { return r.set != results[0].set })
		if n < 0 {
			n = len(results)
		}
		writeTable(w, results[:n])
		results = results[n:]
	}
}

func writeTable(w io.Writer, results []result) {
	fmt.Fprintf(w, "== %s: %d scenarios\n", results[0].set, len(results))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\tscenario\tpassed\tfailed\twarnings\tskipped\n")
	for i := range results {
		r := &results[i]
		mark := "ok"
		if len(r.faults()) > 0 {
			mark = "FAIL"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\n", mark, r.scenario, r.count(success), r.count(failure), r.count(warning), r.count(skipped))
	}
	t.Flush()
	for i := range results {
		for _, f := range results[i].faults() {
			fmt.Fprintf(w, "%s: %s\n", results[i].scenario, f)
		}
	}
	fmt.Fprintln(w)
}

// writeChanges reports what is different in the nth run from the first one, and
// whether nothing is.
func writeChanges(w io.Writer, n int, first, now []result) bool {
	same := true
	for i := range now {
		if was, is := first[i].signature(), now[i].signature(); !slices.Equal(was, is) {
			fmt.Fprintf(w, "run %d: %s differs from the first run: %s\n", n, now[i].name(), difference(was, is))
			same = false
		}
	}
	return same
}

// difference returns what only one of two sorted lists has.
func difference(was, is []string) string {
	var list []string
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0] < is[0]:
			list, was = append(list, "-"+was[0]), was[1:]
		case len(was) == 0 || is[0] < was[0]:
			list, is = append(list, "+"+is[0]), is[1:]
		default:
			was, is = was[1:], is[1:]
		}
	}
	return fmt.Sprint(list)
}

// writeDeviations reports where the results are not what the baseline says, and
// whether they are.
func writeDeviations(w io.Writer, known []string, results []result) bool {
	exact := true
	var names []string
	for i := range results {
		r := &results[i]
		names = append(names, r.name())
		switch failed, expected := len(r.faults()) > 0, slices.Contains(known, r.name()); {
		case failed && !expected:
			fmt.Fprintf(w, "%s fails and is not in the baseline\n", r.name())
			exact = false
		case !failed && expected:
			fmt.Fprintf(w, "%s passes: take it out of the baseline\n", r.name())
			exact = false
		}
	}
	for _, k := range known {
		if !slices.Contains(names, k) {
			fmt.Fprintf(w, "%s is in the baseline, but there is no such scenario\n", k)
			exact = false
		}
	}
	return exact
}

// writeTotals writes the last line.
func writeTotals(w io.Writer, results []result) {
	failed := 0
	for i := range results {
		if len(results[i].faults()) > 0 {
			failed++
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", len(results)-failed, failed)
}
