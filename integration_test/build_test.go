package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// binaries is where what is built goes. TestMain removes it.
var binaries = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "cloudg-integration") })

// The server under test, as the tests themselves are built, and without the
// instruments of that where memory is measured.
var (
	everything      = sync.OnceValues(func() (string, error) { return build("everything", "./everything", true) })
	everythingPlain = sync.OnceValues(func() (string, error) { return build("everything-plain", "./everything", false) })
	cloudg          = sync.OnceValues(func() (string, error) { return build("cloudg", "..", true) })
)

// build builds a command and returns the path of the binary.
func build(name, pkg string, instrumented bool) (string, error) {
	dir, err := binaries()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, name)
	args := []string{"build", "-o", binary}
	if instrumented && raceEnabled {
		args = append(args, "-race")
	}
	if instrumented && testing.CoverMode() != "" {
		args = append(args, "-cover")
	}
	if out, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

func TestMain(m *testing.M) {
	if path := os.Getenv(parentOf); path != "" {
		os.Exit(beParent(path))
	}
	code := m.Run()
	if dir, err := binaries(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}
