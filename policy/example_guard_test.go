package policy_test

import (
	"fmt"

	"cloudg.dev/cloudg/policy"
)

func ExampleGuard() {
	guard, err := policy.NewGuard(policy.GuardOptions{
		AllowedHosts:   []string{"mcp.corp.example", "localhost:*"},
		AllowedOrigins: []string{"https://*.corp.example"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []policy.GuardRequest{
		{Host: "localhost:8765", HasHost: true},
		{Host: "mcp.corp.example", HasHost: true, Origins: []string{"https://wiki.corp.example"}},
		{Host: "mcp.corp.example", HasHost: true, Origins: []string{"https://evil.example"}},
	} {
		if refusal := guard.Check(r); refusal != nil {
			fmt.Println(refusal.Status, refusal.Message)
			continue
		}
		fmt.Println("go on")
	}
	// Output:
	// go on
	// go on
	// 403 the Origin "https://evil.example" is not allowed: start the server with --allowed-origin https://evil.example to serve pages from there, or with --cors-origin to let them read the answers too
}
