package catalog_test

import (
	"fmt"
	"log"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

// A program offers what does not give away much about the machine.
func ExampleRegister() {
	reg := registry.New(nil)
	c, err := catalog.Register(reg, &catalog.Options{
		Accept: func(s *policy.Subject) bool { return s.Sensitivity <= policy.Internal },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, tool := range reg.Snapshot().Tools {
		fmt.Printf("%s (%s)\n", tool.Name, tool.Category)
	}
	// Output:
	// host_status (host)
	// list_interfaces (host)
	// server_info (meta)
}
