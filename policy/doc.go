// Package policy decides who may see and do what, without I/O: it looks at a
// [Principal] and a [Subject] and answers. It knows no transport and no
// protocol.
//
// For HTTP it decides who gets in at all, by strings that the transport hands
// over: [Guard] by Host and Origin, [Tokens] or a [Resolver] by what a request
// presents, and [Failures] by how often its address failed before.
package policy
