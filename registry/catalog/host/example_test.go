package host_test

import (
	"context"
	"fmt"
	"log"

	"cloudg.dev/cloudg/registry/catalog/host"
)

// The five processes that use most memory, on the running machine.
func Example() {
	h := host.New(host.Source{})
	list, err := h.Processes(context.Background(), host.ProcessQuery{Sort: host.SortMemory, Limit: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range list.Processes {
		fmt.Printf("%7d %-16s %d MiB\n", p.PID, p.Name, p.RSSBytes>>20)
	}
}
