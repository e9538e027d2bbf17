//go:build unix

package schema_test

import (
	"syscall"
	"time"
)

// cpuTime is the time that this process has spent computing, which other work
// on the machine does not add to.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
