// Package transport carries messages between peers and the engine. It never
// looks into params.
//
// [Lines] is the stdio transport: one message per line.
//
// # HTTP
//
// [Handler] is the streamable HTTP transport, of both eras on one path, with the
// older HTTP+SSE transport beside it. It is an [net/http.Handler] for any
// server; [Listen] and [Serve] are a server around it that has the limits which
// only a server can have, and [Probe] asks one how it is. What it promises:
//
//   - Headers are judged before the body is read: Host and Origin, then the
//     credential, of every request by itself. A refusal names the option that
//     would allow it.
//   - The era is decided once, by what a request claims. A request of the
//     stateless era ends with its connection; a call in a session does not.
//   - An answer is JSON until something is sent before it, or it takes long; then
//     it is a stream of events, if the client accepts that. One goroutine writes
//     at a time, and none when the handler has returned.
//   - In a session a stream that broke off can be resumed: the latest events,
//     and the answer, are kept for a while. Every message is in one stream only.
//   - Every write has a deadline of its own, so a stream may last for ever and a
//     client that does not read may not.
//   - Nothing is stored for a client that has not begun a session, which takes an
//     initialize that succeeds, or the GET of HTTP+SSE. No session has a
//     goroutine, and everything that is kept has a bound.
//   - [Handler.Shutdown] ends streams first, and what waits for events with its
//     result; then it waits for calls, and cancels those that do not end.
package transport
