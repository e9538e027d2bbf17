package policy

import (
	"container/list"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// FailureOptions says how [Failures] slows an address. The zero value is ready
// for use.
type FailureOptions struct {
	// Burst is how many failures an address may have at once before it is
	// blocked: 1 to 10,000, 10 by default. More counts as 10,000.
	Burst int

	// Interval is how long one failure counts, and so how often a blocked
	// address may try again: up to 24 hours, 5 seconds by default. More counts
	// as 24 hours.
	Interval time.Duration

	// Addresses is how many addresses are remembered, about 300 bytes each:
	// 4,096 by default. Beyond that the address heard of longest ago is
	// forgotten.
	Addresses int

	// Now is the clock, time.Now by default.
	Now func() time.Time
}

// The bounds of FailureOptions keep their product far from overflow.
const (
	maxBurst    int           = 10_000
	maxInterval time.Duration = 24 * time.Hour
)

// Failures slows addresses that fail to authenticate again and again. Each one
// has a bucket of failures that it may have, which fills up with time. A v6
// address stands for its /64, since that is what one customer gets. Everything
// that is no IP address, such as the peer of a unix socket, shares one bucket.
//
// Whoever asks [Failures.Blocked] before it looks at a credential keeps a
// blocked address from learning whether its next guess is right. Behind a proxy
// all clients have the proxy's address, and each slows the others.
//
// All methods may be used by many goroutines at once.
type Failures struct {
	interval time.Duration
	allowed  time.Duration // debt that does not block: one interval less than a full burst
	limit    time.Duration // debt of a full burst, the most there is
	capacity int
	now      func() time.Time

	known atomic.Int64 // len(byAddr), to be read without the lock

	mu     sync.Mutex // guards the fields below
	byAddr map[netip.Addr]*list.Element
	recent *list.List // of *offender, heard of last first
}

// An offender is an address that failed. Its failures are one point in time: the
// one at which all of them are forgotten. How far that lies ahead is its debt.
type offender struct {
	addr  netip.Addr
	clean time.Time
}

// NewFailures returns a table without failures. Values of o that are zero or
// negative mean the default.
func NewFailures(o FailureOptions) *Failures {
	burst, interval, capacity, now := o.Burst, o.Interval, o.Addresses, o.Now
	if burst <= 0 {
		burst = 10
	}
	if interval <= 0 {
		interval = 5 * time.Second
	}
	if capacity <= 0 {
		capacity = 4096
	}
	if now == nil {
		now = time.Now
	}
	burst, interval = min(burst, maxBurst), min(interval, maxInterval)
	limit := time.Duration(burst) * interval
	return &Failures{
		interval: interval,
		allowed:  limit - interval,
		limit:    limit,
		capacity: capacity,
		now:      now,
		byAddr:   make(map[netip.Addr]*list.Element),
		recent:   list.New(),
	}
}

// Blocked reports whether requests from the address, IP or IP:port, are to be
// refused now, with status 429, and after which time not any more. That time is
// positive and at most the interval.
func (f *Failures) Blocked(addr string) (retryAfter time.Duration, blocked bool) {
	if f.known.Load() == 0 {
		return 0, false
	}
	key := addressKey(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.forgetOldLocked(now)
	e, found := f.byAddr[key]
	if !found {
		return 0, false
	}
	f.recent.MoveToFront(e)
	wait := f.debtLocked(e, now) - f.allowed
	return max(wait, 0), wait > 0
}

// Failed counts a failure of the address.
func (f *Failures) Failed(addr string) {
	key := addressKey(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.forgetOldLocked(now)
	e, found := f.byAddr[key]
	if found {
		f.recent.MoveToFront(e)
	} else {
		e = f.rememberLocked(&offender{key, now})
	}
	e.Value.(*offender).clean = now.Add(min(f.debtLocked(e, now)+f.interval, f.limit))
}

// Succeeded takes one failure of the address back. It does not take back all of
// them: who holds one token could otherwise guess others as fast as it likes.
func (f *Failures) Succeeded(addr string) {
	if f.known.Load() == 0 {
		return
	}
	key := addressKey(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	e, found := f.byAddr[key]
	if !found {
		return
	}
	now := f.now()
	debt := f.debtLocked(e, now) - f.interval
	if debt <= 0 {
		f.forgetLocked(e)
		return
	}
	e.Value.(*offender).clean = now.Add(debt)
}

// debtLocked returns the debt of an offender. It is in bounds even when the
// clock was set back.
func (f *Failures) debtLocked(e *list.Element, now time.Time) time.Duration {
	return min(max(e.Value.(*offender).clean.Sub(now), 0), f.limit)
}

// rememberLocked adds an offender, in the place of the one heard of longest ago
// when the table is full.
func (f *Failures) rememberLocked(o *offender) *list.Element {
	if len(f.byAddr) >= f.capacity {
		f.forgetLocked(f.recent.Back())
	}
	e := f.recent.PushFront(o)
	f.byAddr[o.addr] = e
	f.known.Store(int64(len(f.byAddr)))
	return e
}

// forgetOldLocked forgets up to two offenders that have no debt left, from the
// end of the list: more than one comes in with a call, so the table empties.
func (f *Failures) forgetOldLocked(now time.Time) {
	for range 2 {
		e := f.recent.Back()
		if e == nil || f.debtLocked(e, now) > 0 {
			return
		}
		f.forgetLocked(e)
	}
}

func (f *Failures) forgetLocked(e *list.Element) {
	delete(f.byAddr, f.recent.Remove(e).(*offender).addr)
	f.known.Store(int64(len(f.byAddr)))
}

// addressKey returns what an address counts as: itself, the first address of its
// /64, or the zero Addr when it is none.
func addressKey(s string) netip.Addr {
	var addr netip.Addr
	if ap, err := netip.ParseAddrPort(s); err == nil {
		addr = ap.Addr()
	} else if addr, err = netip.ParseAddr(s); err != nil {
		return netip.Addr{}
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	return netip.PrefixFrom(addr, 64).Masked().Addr()
}
