package notify

import (
	"reflect"
	"runtime"
	"sync"
)

// handOver calls deliver. It is a function of its own, and never inlined, to be
// the frame by which [insideDelivery] knows a delivery.
//
//go:noinline
func handOver(deliver func([]Event), events []Event) { deliver(events) }

// insideDelivery reports whether the calling goroutine is inside a deliver
// function, of whichever subscriber.
//
// Closing waits for deliveries, and a delivery that finds its peer gone ends up
// closing, through code that does not know on whose behalf it runs. Asking
// every caller to know would turn a forgotten path into a deadlock; the stack
// does know, and reading it costs about a microsecond per Close.
func insideDelivery() bool {
	marker := reflect.ValueOf(handOver).Pointer()
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(pcs[:n])
		for {
			f, more := frames.Next()
			if f.Entry == marker {
				return true
			}
			if !more {
				break
			}
		}
	}
}

// await waits for deliveries to end, unless it is one of them that asks.
func await(deliveries *sync.WaitGroup) {
	if !insideDelivery() {
		deliveries.Wait()
	}
}
