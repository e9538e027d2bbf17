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
	code, message, _ := e.ErrorObject()
	return fmt.Sprintf("%s (%d)", message, code)
}

// ErrorObject returns the members of the JSON-RPC error object. A nil *Error,
// which a handler that returns one by mistake makes a non-nil error of, is an
// internal error.
func (e *Error) ErrorObject() (code int, message string, data []byte) {
	if e == nil {
		return CodeInternal, "internal error", nil
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
