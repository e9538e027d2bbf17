package transport

import (
	"net/http"
	"time"
)

// Accepted returns what an Accept header with these values allows.
func Accepted(values []string) (json, events bool) {
	f := accepted(&http.Request{Header: http.Header{"Accept": values}})
	return f.json, f.events
}

// The halves of an event id.
var (
	AppendEventID = appendEventID
	ParseEventID  = parseEventID
)

// AppendEvent appends an event in the form in which a stream sends it.
func AppendEvent(dst []byte, name, stream string, seq uint64, retry time.Duration, data []byte) []byte {
	return (&event{name, stream, seq, retry, data}).append(dst)
}
