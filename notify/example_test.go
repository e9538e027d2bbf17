package notify_test

import (
	"fmt"
	"time"

	"cloudg.dev/cloudg/notify"
)

func Example() {
	hub := notify.New(&notify.Options{Window: 50 * time.Millisecond})
	defer hub.Close()

	batches := make(chan []notify.Event, 1)
	filter := notify.Filter{Tools: true, URIs: []string{"file:///srv"}}
	subscriber, err := hub.Subscribe(filter, func(events []notify.Event) { batches <- events })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer subscriber.Close()

	hub.Publish(notify.Event{Kind: notify.ResourceUpdated, URI: "file:///srv/log.txt"})
	for range 200 {
		hub.Publish(notify.Event{Kind: notify.ToolsChanged})
	}
	hub.Publish(notify.Event{Kind: notify.PromptsChanged}) // not asked for

	for _, event := range <-batches {
		fmt.Printf("%v %q\n", event.Kind, event.URI)
	}
	// Output:
	// ToolsChanged ""
	// ResourceUpdated "file:///srv/log.txt"
}
