package policy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/policy"
)

// clock is a clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)} }

// wants checks what Blocked says.
func wants(t *testing.T, f *policy.Failures, addr string, want time.Duration) {
	t.Helper()
	got, blocked := f.Blocked(addr)
	if got != want || blocked != (want > 0) {
		t.Errorf("Blocked(%s) = %v, %v, want %v", addr, got, blocked, want)
	}
}

func fail(f *policy.Failures, addr string, times int) {
	for range times {
		f.Failed(addr)
	}
}

const mallory = "192.0.2.1:4711"

func TestFailures_bucket(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Burst: 3, Interval: 10 * time.Second, Now: c.Now})
	wants(t, f, mallory, 0)
	fail(f, mallory, 2)
	wants(t, f, mallory, 0)
	f.Failed(mallory)
	wants(t, f, mallory, 10*time.Second)
	wants(t, f, "192.0.2.2:4711", 0)

	c.now = c.now.Add(4 * time.Second)
	wants(t, f, mallory, 6*time.Second)
	fail(f, mallory, 100) // does not lock the address for longer than one interval
	wants(t, f, mallory, 10*time.Second)

	c.now = c.now.Add(10*time.Second - 1)
	wants(t, f, mallory, 1)
	c.now = c.now.Add(1)
	wants(t, f, mallory, 0)
	f.Failed(mallory) // one try per interval
	wants(t, f, mallory, 10*time.Second)

	c.now = c.now.Add(time.Hour) // the burst is back, and not more
	fail(f, mallory, 2)
	wants(t, f, mallory, 0)
	f.Failed(mallory)
	wants(t, f, mallory, 10*time.Second)
}

func TestFailures_success(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Burst: 3, Interval: 10 * time.Second, Now: c.Now})
	f.Succeeded(mallory) // earns nothing in advance
	fail(f, mallory, 3)
	f.Succeeded("192.0.2.2:1")
	wants(t, f, mallory, 10*time.Second)
	f.Succeeded(mallory) // takes one back
	wants(t, f, mallory, 0)
	f.Failed(mallory)
	wants(t, f, mallory, 10*time.Second)
	for range 5 {
		f.Succeeded(mallory)
	}
	fail(f, mallory, 2)
	wants(t, f, mallory, 0)
	f.Failed(mallory)
	wants(t, f, mallory, 10*time.Second)
}

func TestFailures_whatIsOneAddress(t *testing.T) {
	tests := []struct {
		name string
		a, b string
		want bool
	}{
		{"ports", "192.0.2.1:1", "192.0.2.1:2", true},
		{"no port", "192.0.2.1:1", "192.0.2.1", true},
		{"IPv4", "192.0.2.1:1", "192.0.2.2:1", false},
		{"IPv4 in IPv6", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"two IPv4 in IPv6", "[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1", false},
		{"one /64", "[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:1", true},
		{"two /64", "[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", false},
		{"IPv6 without port", "[2001:db8:1:2::1]:1", "2001:db8:1:2::7", true},
		{"zones", "[fe80::1%eth0]:1", "[fe80::1%eth1]:1", true},
		{"no addresses", "@", "", true},
		{"no address and one", "@", "192.0.2.1:1", false},
		{"no address and the unspecified one", "@", "[::]:1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			f := policy.NewFailures(policy.FailureOptions{Burst: 1, Now: c.Now})
			f.Failed(tt.a)
			if _, got := f.Blocked(tt.b); got != tt.want {
				t.Errorf("after a failure of %q, Blocked(%q) = %v, want %v", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

func TestFailures_forgetsTheOldest(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Burst: 1, Interval: time.Minute, Addresses: 3, Now: c.Now})
	for _, addr := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		f.Failed(addr)
	}
	wants(t, f, "192.0.2.1", time.Minute) // heard of again
	f.Failed("192.0.2.4")
	wants(t, f, "192.0.2.2", 0)
	for _, addr := range []string{"192.0.2.1", "192.0.2.3", "192.0.2.4"} {
		wants(t, f, addr, time.Minute)
	}
}

// The clock may be set back without locking anybody for longer.
func TestFailures_clockSetBack(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Burst: 3, Interval: time.Second, Now: c.Now})
	fail(f, mallory, 3)
	c.now = c.now.Add(-24 * time.Hour)
	wants(t, f, mallory, time.Second)
	f.Failed(mallory)
	c.now = c.now.Add(time.Second)
	wants(t, f, mallory, 0)
}

func TestFailures_defaultsAndBounds(t *testing.T) {
	tests := []struct {
		name  string
		in    policy.FailureOptions
		burst int
		want  time.Duration
	}{
		{"zero", policy.FailureOptions{}, 10, 5 * time.Second},
		{"negative", policy.FailureOptions{Burst: -1, Interval: -1, Addresses: -1}, 10, 5 * time.Second},
		{"huge", policy.FailureOptions{Burst: 1 << 30, Interval: 1 << 62}, 10_000, 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the default clock stands still
				f := policy.NewFailures(tt.in)
				fail(f, mallory, tt.burst-1)
				wants(t, f, mallory, 0)
				f.Failed(mallory)
				wants(t, f, mallory, tt.want)
				time.Sleep(tt.want - 1)
				wants(t, f, mallory, 1)
				time.Sleep(time.Nanosecond)
				wants(t, f, mallory, 0)
			})
		})
	}
}

func TestFailures_concurrent(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Burst: 1000, Addresses: 8, Now: c.Now})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				addr := fmt.Sprintf("192.0.2.%d:%d", (g+i)%16, i)
				f.Failed(addr)
				f.Blocked(addr)
				f.Succeeded(addr)
				fail(f, mallory, 2)
			}
		})
	}
	wg.Wait()
	if _, blocked := f.Blocked(mallory); !blocked {
		t.Error("8,000 failures of one address do not block it")
	}
}

// A table that nobody fails in any more gets empty, so that requests pay
// nothing for what was.
func TestFailures_drains(t *testing.T) {
	c := newClock()
	f := policy.NewFailures(policy.FailureOptions{Now: c.Now})
	const n = 100
	for i := range n {
		f.Failed(fmt.Sprintf("192.0.2.%d", i))
	}
	c.now = c.now.Add(time.Hour)
	for range n {
		wants(t, f, "198.51.100.1:1", 0)
	}
	if got := f.Known(); got != 0 {
		t.Errorf("%d addresses are known, want 0", got)
	}
}

func TestFailures_allocatesNothing(t *testing.T) {
	f := policy.NewFailures(policy.FailureOptions{Burst: 1})
	if got := testing.AllocsPerRun(100, func() { f.Blocked(mallory); f.Succeeded(mallory) }); got != 0 {
		t.Errorf("empty: %v allocations, want 0", got)
	}
	f.Failed("192.0.2.2:1")
	f.Failed(mallory)
	if got := testing.AllocsPerRun(100, func() { f.Blocked(mallory); f.Blocked("[2001:db8::1]:1"); f.Failed(mallory) }); got != 0 {
		t.Errorf("in use: %v allocations, want 0", got)
	}
}

func BenchmarkFailures(b *testing.B) {
	for _, bb := range []struct {
		name  string
		known int
	}{{"empty", 0}, {"full", 4096}} {
		b.Run(bb.name, func(b *testing.B) {
			f := policy.NewFailures(policy.FailureOptions{Interval: time.Hour})
			for i := range bb.known {
				f.Failed(fmt.Sprintf("192.0.%d.%d", i/256, i%256))
			}
			b.ReportAllocs()
			for b.Loop() {
				f.Blocked("192.0.2.1:4711")
			}
		})
	}
}

// FuzzFailures checks that no address makes the table do anything strange.
func FuzzFailures(f *testing.F) {
	for _, addr := range []string{"", "@", "192.0.2.1:1", "[::1%lo]:1", "::ffff:1.2.3.4", "[", strings.Repeat(":", 100)} {
		f.Add(addr)
	}
	f.Fuzz(func(t *testing.T, addr string) {
		c := newClock()
		table := policy.NewFailures(policy.FailureOptions{Burst: 1, Interval: time.Second, Addresses: 1, Now: c.Now})
		table.Failed(addr)
		wants(t, table, addr, time.Second)
		table.Succeeded(addr)
		wants(t, table, addr, 0)
	})
}
