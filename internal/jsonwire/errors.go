package jsonwire

import (
	"errors"
	"io"
	"strconv"
)

// A Fault says what is wrong with a piece of JSON, without saying where: the
// count that a consume function returns is the place.
type Fault string

func (f Fault) Error() string { return string(f) }

// The faults that the consume functions report.
const (
	ErrValue     Fault = "a value was expected"
	ErrLiteral   Fault = "invalid literal: want true, false or null"
	ErrNumber    Fault = "invalid number"
	ErrString    Fault = "a string was expected"
	ErrEscape    Fault = "invalid escape in a string"
	ErrControl   Fault = "unescaped control character in a string"
	ErrUTF8      Fault = "invalid UTF-8 in a string"
	ErrDepth     Fault = "nesting is too deep"
	ErrColon     Fault = "a colon was expected after a member name"
	ErrName      Fault = "a member name was expected"
	ErrComma     Fault = "a comma or the end of the container was expected"
	ErrTrailing  Fault = "unexpected data after the value"
	ErrDuplicate Fault = "duplicate member name"
)

// A SyntaxError is a fault and its place in a document.
type SyntaxError struct {
	Offset int   // byte offset of the fault
	Err    error // a [Fault] or [io.ErrUnexpectedEOF]
}

func (e *SyntaxError) Error() string {
	what := e.Err.Error()
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		what = "the input ends inside a value"
	}
	return what + " at byte " + strconv.Itoa(e.Offset)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
