// Package integration_test drives servers as a client does, mostly the real
// binaries over pipes, one line per message, and where that is the point over
// HTTP. Every line that a server writes to such a pipe is judged by
// internal/speccheck, whatever the test is about.
//
// The tests are named after the field cases that they nail down. Those which are
// about HTTP are in transport for the most part. Others are not here:
//
//	A08  noisy child          needs a mount
//	A09  child stderr         needs a mount
//	A16  numbers in URLs      needs tools declared in a file
//	A53  leaked children      needs a mount
//	A54  child dies at start  needs a mount
//	A56  outbound arguments   needs a mount
//	A60  timeouts of mounts   needs a mount
//
// Of A03, A15 and A65 the part with a mounted child is missing; A22 is tested with
// a gateway that is made of a handler.
package integration_test
