// Package integration_test drives the real binaries as a client does: over
// pipes, one line per message. Every line that a server writes is judged by
// internal/speccheck, whatever the test is about.
//
// The tests are named after the field cases that they nail down. Those which
// need HTTP, a mounted server or requests to the client are not here yet:
//
//	A08  noisy child          needs a mount
//	A09  child stderr         needs a mount
//	A14  id collision         needs HTTP
//	A16  numbers in URLs      needs tools declared in a file
//	A22  cancel via gateway   needs a mount
//	A23  disconnect           needs HTTP
//	A26 to A49                need HTTP
//	A53  leaked children      needs a mount
//	A54  child dies at start  needs a mount
//	A56  outbound arguments   needs a mount
//	A60  timeouts of mounts   needs a mount
//
// Of A03, A15 and A65 the part with a mounted child is missing, of A11, A20 and
// A58 the part over HTTP.
package integration_test
