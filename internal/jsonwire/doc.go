// Package jsonwire scans and writes JSON as bytes. It keeps no state, uses no
// reflection and copies nothing that it does not have to.
//
// The consume functions look at the start of a slice and report how many bytes
// the construct there takes. They are strict: RFC 8259 grammar, well-formed
// UTF-8, bounded nesting. On an error the count is the offset of the fault and
// the error is [io.ErrUnexpectedEOF] when the input merely ends too early, or a
// [Fault] that says what is wrong. Lone surrogate escapes are grammatical and
// accepted; decoding them gives U+FFFD.
//
// The skip functions and the iterators [Object] and [Array] are for bytes that
// a consume function has accepted before; they do not check the grammar again.
package jsonwire
