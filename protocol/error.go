package protocol

import "fmt"

// Error is an error that is meant for the peer: its code, message and data are
// sent as they are, so nothing confidential may be in them.
type Error struct {
	Code    int
	Message string
	Data    []byte // raw JSON, or nil
	Status  int    // of the HTTP answer, if it is not 200; 0 otherwise
}

func (e *Error) Error() string {
	if e == nil {
		return "a nil *protocol.Error"
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// ErrorObject returns the members of the JSON-RPC error object. The code is 0,
// which is none, for a nil *Error, which a handler that returns one by mistake
// makes a non-nil error of; that is answered and logged as an internal error.
func (e *Error) ErrorObject() (code int, message string, data []byte) {
	if e == nil {
		return 0, "", nil
	}
	return e.Code, e.Message, e.Data
}

// HTTPStatus returns the status of the HTTP answer, or 0 for the usual one.
func (e *Error) HTTPStatus() int {
	if e == nil {
		return 0
	}
	return e.Status
}

// Errorf returns an [Error] with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
