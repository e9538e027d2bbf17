// Package jsonrpc is an engine for JSON-RPC 2.0 as the Model Context Protocol
// uses it; it knows nothing of that protocol's methods.
//
// # Messages
//
// [Decoder.Decode] turns one frame into a [*Request] (a notification if it has
// no id) or a [*Response]. It scans the bytes once and is strict: keys are
// matched exactly, duplicates are refused, ids are strings or integers and keep
// their bytes, the version is "2.0", params is an object. A frame that is refused
// still gives the id for the error reply whenever one can be read.
//
// # Connections
//
// A [Conn] serves a [Handler] over a [Stream] of frames. What it promises:
//
//   - A broken frame is answered and never ends the connection.
//   - Notifications, responses and the methods named by [Options.Ordered] are
//     handled one at a time in the order in which they came. Other requests run
//     concurrently with one another and with everything that follows them.
//   - Frames that a handler sends while it runs are written before its response,
//     and none are written for a request that was cancelled.
//   - Every bound of [Options] is answered with an error when it is reached; the
//     reader goes on, since a cancellation may be next.
//   - When the stream ends, calls in flight may finish within a grace time.
//
// # How requests run
//
// Waking another goroutine costs more than most requests do, so the goroutine
// that read a request also runs it. A watcher looks once per millisecond while
// requests run; if it finds the same one still running it gives the reading to
// another goroutine, and requests that follow go to workers at once for a while.
// A slow handler therefore delays what is behind it by two milliseconds at most,
// and only the first slow one does.
package jsonrpc
