package speccheck

import (
	"os"
	"testing"
)

// Need returns what find, which usually remembers what [Find] returned, finds
// for a test. Without schemas the test goes on with nil, and rules alone judge
// what it sees; but where the environment says CI=true that is a failure.
func Need(t testing.TB, find func() (*Spec, error)) *Spec {
	t.Helper()
	spec, err := find()
	if err == nil {
		return spec
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Log("messages are not validated:", err)
	return nil
}
