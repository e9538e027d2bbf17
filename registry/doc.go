// Package registry holds what a server offers: tools, resources, resource
// templates and prompts, with what their authors say about them and the
// handlers behind them.
//
// A [Registry] may be read and changed at any time. Reads see an immutable
// [Snapshot] and cost one atomic load; the order is that of registration. A
// registration that is not sound is refused with an error: names, URIs,
// templates and schemas are checked then, not when a client asks.
//
// A handler gets a context and a [Call]. [Typed] makes a tool from a function of
// Go types; the schemas are derived from them, arguments are validated and bound
// in one pass, and the result is validated against its schema by the layer.
package registry
