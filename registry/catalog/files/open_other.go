//go:build !unix

package files

// nonBlocking is not needed where pipes have no names in the file system.
const nonBlocking = 0
