//go:build unix

package files

import "syscall"

// nonBlocking makes opening a pipe return at once; for regular files it changes nothing.
const nonBlocking = syscall.O_NONBLOCK
