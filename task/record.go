package task

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// Status says where a task is. The values are those of the protocol.
type Status string

// The statuses. The last three are final.
const (
	Working       Status = "working"
	InputRequired Status = "input_required" // the client has to answer questions
	Completed     Status = "completed"      // there is a result, be it that of a tool that failed
	Failed        Status = "failed"         // there is an error in place of a result
	Cancelled     Status = "cancelled"
)

// Terminal reports whether a task with the status will not change any more.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

func (s Status) known() bool { return s == Working || s == InputRequired || s.Terminal() }

// needsDetail reports whether a task of the status comes with a detail.
func (s Status) needsDetail() bool { return s == InputRequired || s == Completed || s == Failed }

// Record is a task at one moment. Times are in UTC, in whole milliseconds.
type Record struct {
	ID      string // see [NewID]
	Owner   string // the id of the principal that it belongs to
	Status  Status
	Message string // for people, or empty
	Created time.Time
	Updated time.Time
	TTL     time.Duration // from Created; positive, in whole milliseconds
	// Detail is what the status comes with, raw JSON: the questions, the result
	// or the error; nil for the others. A record that was given to a store, or
	// that came out of one, shares it, so it is not changed.
	Detail []byte
}

// Expires returns when the task is forgotten.
func (r *Record) Expires() time.Time { return r.Created.Add(r.TTL) }

// Now returns the present time as records have it.
func Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Bounds of the length of an id.
const (
	minID = 20
	maxID = 64
)

// NewID returns an id that cannot be guessed: at least 128 random bits, in a
// form that is a file name on every system.
func NewID() string { return rand.Text() }

// ValidID reports whether an id has the form of those that [NewID] returns. In
// particular it has no separators, no dots, and one spelling only.
func ValidID(id string) bool {
	if len(id) < minID || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// TimeFormat is how times are written: RFC 3339 with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z07:00"

// Append appends the record as a JSON object on one line, which [Parse] reads.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, '{')
	for _, m := range []struct{ name, value string }{
		{"id", r.ID}, {"owner", r.Owner}, {"status", string(r.Status)}, {"message", r.Message},
		{"created", r.Created.UTC().Format(TimeFormat)}, {"updated", r.Updated.UTC().Format(TimeFormat)},
	} {
		dst = append(jsonwire.AppendQuote(dst, m.name), ':')
		dst = append(jsonwire.AppendQuote(dst, m.value), ',')
	}
	dst = append(dst, `"ttlMs":`...)
	dst = strconv.AppendInt(dst, r.TTL.Milliseconds(), 10)
	if r.Detail != nil {
		dst = jsonwire.AppendLine(append(dst, `,"detail":`...), r.Detail)
	}
	return append(dst, '}')
}

// Parse reads what [Record.Append] wrote. A record that was cut off, or that was
// never one, is an error, which repeats nothing of it.
func Parse(raw []byte) (*Record, error) {
	raw = bytes.TrimSpace(raw)
	if err := jsonwire.Valid(raw, 0); err != nil {
		return nil, fmt.Errorf("task record: %w", err)
	}
	r := new(Record)
	var status string
	for name, field := range map[string]*string{"id": &r.ID, "owner": &r.Owner, "status": &status, "message": &r.Message} {
		v := jsonwire.Lookup(raw, name)
		if len(v) == 0 || v[0] != '"' {
			return nil, fmt.Errorf("task record: the member %q must be a string", name)
		}
		*field = jsonwire.Unquote(v)
	}
	r.Status = Status(status)
	for name, field := range map[string]*time.Time{"created": &r.Created, "updated": &r.Updated} {
		v := jsonwire.Lookup(raw, name)
		if len(v) == 0 || v[0] != '"' {
			return nil, fmt.Errorf("task record: the member %q must be a time", name)
		}
		t, err := time.Parse(TimeFormat, jsonwire.Unquote(v))
		if err != nil {
			return nil, fmt.Errorf("task record: the member %q must be a time", name)
		}
		*field = t.UTC()
	}
	ms, err := strconv.ParseInt(string(jsonwire.Lookup(raw, "ttlMs")), 10, 64)
	if err != nil || ms <= 0 || ms > maxTTL.Milliseconds() {
		return nil, errors.New(`task record: the member "ttlMs" must be a number of milliseconds`)
	}
	r.TTL = time.Duration(ms) * time.Millisecond
	r.Detail = bytes.Clone(jsonwire.Lookup(raw, "detail"))
	return r, r.check()
}

// maxTTL keeps the arithmetic of times safe.
const maxTTL = 100 * 365 * 24 * time.Hour

// check reports what is wrong with a record.
func (r *Record) check() error {
	switch {
	case !ValidID(r.ID):
		return errors.New("task record: the id is not one of NewID's")
	case !r.Status.known():
		return errors.New("task record: unknown status")
	case r.TTL < time.Millisecond || r.TTL > maxTTL:
		return fmt.Errorf("task record: the time to live is %v, it must be between 1ms and %v", r.TTL, maxTTL)
	case r.Status.needsDetail() && len(r.Detail) == 0:
		return fmt.Errorf("task record: the status %q needs a detail", r.Status)
	}
	return nil
}
