package cli_test

import (
	"context"
	"fmt"
	"os"

	"cloudg.dev/cloudg/cli"
)

// The command as a function: here it shows what an argument of a prompt may be.
func ExampleRun() {
	code := cli.Run(context.Background(), cli.Env{
		Args:   []string{"complete", "prompt:diagnose_host", "focus"},
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	})
	fmt.Println("exit code", code)
	// Output:
	// cpu
	// memory
	// disk
	// network
	// exit code 0
}
