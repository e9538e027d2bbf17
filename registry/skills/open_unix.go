//go:build unix

package skills

import "syscall"

// nonBlocking makes opening a pipe that has taken the place of a file return at
// once.
const nonBlocking = syscall.O_NONBLOCK
