package jsonrpc

import (
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// ID is the id of a request as raw JSON: a string with its quotes, or an
// integer. It is echoed byte for byte. The zero value is no id.
type ID string

// key returns a form in which equal ids are equal: strings that are spelled
// with different escapes are the same id, a string and a number never are.
func (id ID) key() string {
	if strings.IndexByte(string(id), '\\') < 0 {
		return string(id)
	}
	return string(jsonwire.AppendQuote(nil, jsonwire.Unquote([]byte(id))))
}

// Equal reports whether two ids are the same.
func (id ID) Equal(other ID) bool { return id.key() == other.key() }

// ParseID reads an id from a raw JSON value. It reports false for anything but
// a string or an integer of at most max bytes.
func ParseID(raw []byte, max int) (ID, bool) {
	if !validID(raw, max) {
		return "", false
	}
	return ID(raw), true
}

// validID reports whether a raw JSON value is an id.
func validID(raw []byte, max int) bool {
	if len(raw) == 0 || len(raw) > max {
		return false
	}
	if raw[0] == '"' {
		return true
	}
	digits := raw
	if digits[0] == '-' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0
}
