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
//
// # What a handler can do
//
// [Call.Progress] and [Call.Logger] tell the client how things go.
// [Call.Elicit], [Call.Sample] and [Call.Roots] ask it, in both eras of the
// protocol with the same code: where the client cannot be called, they return
// [ErrInputRequired], the handler returns that, and is run again from the start
// with the answers. [Once] keeps what must not be done twice. [Call.StartTask]
// lets the call go on after its request was answered, if [Tool.Task] allows it.
//
// [Failf] makes an error that a model reads. Any other error is a fault of the
// server: the client learns a number, and the log has the rest.
package registry
