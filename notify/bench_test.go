package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/notify"
)

// thousand subscribes 1,000 subscribers, each to the tools list and to one
// resource of its own, in a hub whose window never ends.
func thousand(t testing.TB) *notify.Hub {
	h := newHub(t, &notify.Options{Window: time.Hour})
	for i := range 1000 {
		f := notify.Filter{Tools: true, URIs: []string{fmt.Sprintf("file:///srv/data/%d", i)}}
		subscribe(t, h, f, func([]notify.Event) {})
	}
	return h
}

// events are what is published to the thousand.
var events = []struct {
	name string
	e    notify.Event
}{
	{"list/all", notify.Event{Kind: notify.ToolsChanged}},
	{"list/none", notify.Event{Kind: notify.PromptsChanged}},
	{"update/one", updated("file:///srv/data/500/sub/folder/file.txt")},
	{"update/none", updated("file:///srv/other/500/sub/folder/file.txt")},
	{"update/hostile", updated(strings.Repeat("/", 1<<20))},
}

// BenchmarkPublish is fan-out while the events wait already, the state of a hub
// in a storm.
func BenchmarkPublish(b *testing.B) {
	for _, bb := range events {
		b.Run(bb.name, func(b *testing.B) {
			h := thousand(b)
			h.Publish(bb.e)
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(bb.e)
			}
		})
	}
}

// BenchmarkDelivery is the whole way of one event to one subscriber: timer,
// goroutine, call.
func BenchmarkDelivery(b *testing.B) {
	h := newHub(b, &notify.Options{Window: time.Nanosecond})
	done := make(chan struct{}, 1)
	subscribe(b, h, notify.Filter{Tools: true, URIs: []string{"a"}}, func([]notify.Event) { done <- struct{}{} })
	for _, e := range []notify.Event{{Kind: notify.ToolsChanged}, updated("a/b")} {
		b.Run(e.Kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(e)
				<-done
			}
		})
	}
}

// BenchmarkSubscribe is the cost of a subscription and its end.
func BenchmarkSubscribe(b *testing.B) {
	h := thousand(b)
	f := notify.Filter{Tools: true, URIs: []string{"file:///srv/data/7"}}
	b.ReportAllocs()
	for b.Loop() {
		s, err := h.Subscribe(f, func([]notify.Event) {})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func TestPublish_allocatesNothingInAStorm(t *testing.T) {
	h := thousand(t)
	for _, tt := range events {
		t.Run(tt.name, func(t *testing.T) {
			h.Publish(tt.e)
			if got := testing.AllocsPerRun(10, func() { h.Publish(tt.e) }); got != 0 {
				t.Errorf("Publish allocates %v times, want 0", got)
			}
		})
	}
}
