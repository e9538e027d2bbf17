// Package session is the server's side of the protocol: it knows which era a
// request belongs to, negotiates, keeps what a handshake session has to keep,
// and turns each method into a call of the layer.
//
// A [Server] is what all peers share. A [Session] is one peer on a connection:
// it may speak either era, and both at once, since every request is judged by
// itself. A request of the stateless era takes nothing from the session and
// leaves nothing in it.
//
// # Asking the client
//
// What a handler asks goes to the client as a request in the handshake era. In
// the stateless era it becomes the result of the call, together with a sealed
// state, and the handler runs again when the client comes back with answers.
// [Options.StateKeys] let any replica take the retry.
//
// # Tasks
//
// A call of a tool that says so may go on after its request was answered, the
// extension io.modelcontextprotocol/tasks; see [TaskOptions]. [Server.Shutdown]
// ends tasks and waits for them.
//
// # Sessions over HTTP
//
// [Store] owns the sessions of clients that come back with an id. It alone keeps
// them alive between two requests; [Store.Observe] looks at it without doing so.
package session
