// Package memnet is a network within the process, for tests: a [net.Listener]
// whose connections are a pair of bounded buffers. Everything that waits, waits
// on a [sync.Cond] or a timer, so a bubble of testing/synctest sees it as idle.
package memnet
