//go:build !unix

package skills

// nonBlocking is not needed where pipes have no names in the file system.
const nonBlocking = 0
