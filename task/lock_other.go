//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package task

import (
	"io"
	"os"
)

// lockDir keeps a handle of the lock's file: there is no lock that the system
// would give back at the end of a process.
func lockDir(root *os.Root) (io.Closer, error) {
	return root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
}

// syncNames does nothing: directories cannot be synced here.
func syncNames(*os.Root) error { return nil }
