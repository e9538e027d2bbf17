// Package host gathers facts about the machine this process runs on, as plain Go
// structs that marshal to stable JSON: the state of the system ([Host.Status]), its
// processes ([Host.Processes]), the sockets that wait for peers ([Host.Listeners])
// and its network interfaces ([Host.Interfaces]).
//
// It knows nothing of MCP and imports the standard library only. On Linux it reads
// procfs, sysfs and statfs, from folders that [Source] can move, so that a container
// can look at its host and a test at a recorded machine. On other systems it tells
// what the standard library can tell; the rest is listed in [Status.Unsupported] or
// is an error that matches [errors.ErrUnsupported].
//
// The contract of every survey:
//
//   - A fact that could not be read is absent, never zero. That is why optional
//     numbers are pointers. A note says what is missing and why.
//   - A missing or unreadable file degrades the answer and does not fail it. Errors
//     are kept for a cancelled context, a query that makes no sense
//     ([*QueryError]), and a system that cannot answer at all.
//   - Processes that end while they are looked at are left out silently.
//   - Everything is bounded: bytes per file, lines per table, processes, sockets,
//     disks, notes. A bound that was met is reported in a note.
//   - Nothing is cached and nothing is written. A Host is safe for concurrent use.
//   - Slices are never nil, strings are valid UTF-8, sizes are bytes, times are
//     RFC 3339 in UTC or seconds.
//
// Command lines often carry secrets, so they are censored before anything else
// looks at them, filters included; see [ProcessQuery].
package host
