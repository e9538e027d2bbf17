// Package policy decides who may see and do what, without I/O: it looks at a
// [Principal] and a [Subject] and answers. It knows no transport and no
// protocol.
package policy
