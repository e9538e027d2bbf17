// Package session is the server's side of the protocol: it knows which era a
// request belongs to, negotiates, keeps what a handshake session has to keep,
// and turns each method into a call of the layer.
//
// A [Server] is what all peers share. A [Session] is one peer on a connection:
// it may speak either era, and both at once, since every request is judged by
// itself. A request of the stateless era takes nothing from the session and
// leaves nothing in it.
package session
