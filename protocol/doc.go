// Package protocol is the vocabulary of the Model Context Protocol as data:
// versions, method names, error codes, metadata keys, and the wire types with
// the code that writes them. It decides nothing and holds no state.
//
// Versions differ in what they know. Everything that depends on a version asks
// a predicate of [Version]; no date is compared outside this package. The
// append methods take the version of the receiver of a message and leave out
// what that version does not have.
package protocol
