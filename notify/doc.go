// Package notify tells subscribers that something changed.
//
// A [Hub] takes change events ("the list of tools changed", "this resource was
// updated") and hands them to subscribers in coalesced batches. It knows
// nothing of sessions, streams or JSON: a subscriber is a [Filter] and a
// function. It keeps no history, so a subscriber learns of what is published
// after it subscribed and of nothing before.
//
// # Delivery
//
// Change events are idempotent: being told twice that a list changed says no
// more than being told once. So what waits for a subscriber is a set, keyed by
// kind and URI, and a storm of two hundred changes is one delivery.
//
//   - The first event for a subscriber starts a timer of [Options.Window]. When
//     it fires, the subscriber's function is called once with everything that
//     collected: list changes first, in the order of [Kind], then resource
//     updates in the order of their first publication. The slice is the
//     function's to keep.
//   - The function is never called concurrently with itself, and never under a
//     lock, so it may call any method of the hub and of its subscriber. Events
//     that arrive while it runs wait for one more window after it returns.
//   - Publishing never waits for a subscriber, and a slow function delays
//     nobody but its own subscriber. What waits for it stays bounded: see
//     [Options.MaxPending].
//   - What the filter no longer asks for when the timer fires is not delivered.
//
// No goroutine exists between deliveries, neither for the hub nor for a
// subscriber.
//
// # Who keeps whom alive
//
// A [Subscriber] is kept alive by its owner alone. The hub and the timers refer
// to it weakly, so no index extends a life, and an owner that is dropped
// without [Subscriber.Close] is collected together with its subscription; the
// hub then removes what it had recorded and counts a leak. That is a backstop
// which may come late or, at the end of a process, not at all: owners close.
package notify
