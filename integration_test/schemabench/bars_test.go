package schemabench_test

import (
	"encoding/json"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/schema"
)

// TestBars holds the engine to what it promises, in one run on one machine:
// checking raw JSON takes at most a fifth of the time of decoding into a map
// and checking that with santhosh-tekuri, no more time than encoding/json into
// a struct without any check, and allocates nothing.
func TestBars(t *testing.T) {
	if testing.Short() {
		t.Skip("measuring takes a few seconds, which -short leaves out")
	}
	for _, w := range workloads() {
		ours, err := schema.Compile([]byte(w.schema), nil)
		if err != nil {
			t.Fatal(err)
		}
		other := compileSanthosh(t, w.schema)
		mine, allocs := measure(t, func() error { return ours.Validate(w.doc) })
		pair, _ := measure(t, func() error {
			var v any
			if err := json.Unmarshal(w.doc, &v); err != nil {
				return err
			}
			return other.Validate(v)
		})
		plain, _ := measure(t, func() error { return json.Unmarshal(w.doc, w.target()) })
		t.Logf("%s: %v, json and santhosh %v (%.1f times), json into a struct %v (%.1f times)", w.name,
			mine, pair, float64(pair)/float64(mine), plain, float64(plain)/float64(mine))
		if pair < 5*mine {
			t.Errorf("%s: %v is more than a fifth of %v", w.name, mine, pair)
		}
		if plain < mine {
			t.Errorf("%s: %v is more than the %v of encoding/json", w.name, mine, plain)
		}
		if allocs != 0 {
			t.Errorf("%s: got %d allocations, want 0", w.name, allocs)
		}
	}
}

// measure returns the time of the fastest of some rounds, and the allocations.
func measure(t *testing.T, f func() error) (time.Duration, int64) {
	t.Helper()
	best := time.Hour
	var allocs int64
	for range 3 {
		deadline := time.Now().Add(100 * time.Millisecond)
		for rounds := 0; rounds < 3 || time.Now().Before(deadline); rounds++ {
			start := time.Now()
			if err := f(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
	}
	allocs = int64(testing.AllocsPerRun(10, func() { _ = f() }))
	return best, allocs
}
