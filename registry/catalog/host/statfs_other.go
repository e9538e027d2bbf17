//go:build !linux && !darwin && !dragonfly && !freebsd

package host

import (
	"errors"
	"fmt"
	"runtime"
)

// statfs has no counterpart in the standard library here.
func statfs(string) (Usage, error) {
	return Usage{}, fmt.Errorf("measuring a file system on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func workingDisk() (Disk, error) {
	_, err := statfs(".")
	return Disk{}, err
}

// kernel is not told by the standard library here.
func kernel() (release, version string) { return "", "" }
