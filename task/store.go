package task

import (
	"errors"
	"log/slog"
	"time"
)

// Store keeps records. Its methods may be called by several goroutines, but Put
// by one at a time for a given id.
type Store interface {
	// Put keeps a record in place of the one with its id, if there is one. When
	// it has returned nil the record is as durable as the store can make it. The
	// error is, or wraps, ErrFull at a bound and ErrClosed after Close; then the
	// old record is still there. After any other error it is the old or the new
	// one, and there is none if there was none before.
	Put(r *Record) error
	// Get returns the record with the id. The error is ErrUnknown, wrapped or
	// not, if there is none or its time to live is over.
	Get(id string) (*Record, error)
	// Sweep forgets the records whose time to live is over, and returns when
	// that of the next one will be, the zero time if there is none. After an
	// error some of them may still take up room; Get does not return them.
	Sweep() (next time.Time, err error)
}

// Errors of stores.
var (
	// ErrUnknown means that there is no such task, or none any more.
	ErrUnknown = errors.New("task: unknown")
	// ErrFull means that a bound of [Options] is reached. The text says which.
	ErrFull = errors.New("task: the store is full")
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("task: the store is closed")
)

// The defaults of [Options].
const (
	DefaultMaxRecords  = 10_000
	DefaultMaxPerOwner = 1_000
	DefaultMaxBytes    = 256 << 20
)

// Options bound a store. The zero value is usable. At a bound a new record is
// refused: one that is there is never given up before its time.
type Options struct {
	MaxRecords  int          // at one time; 0 or less: DefaultMaxRecords
	MaxPerOwner int          // at one time; 0 or less: DefaultMaxPerOwner
	MaxBytes    int64        // of all records together, as Append writes them; 0 or less: DefaultMaxBytes
	Logger      *slog.Logger // for what a directory holds besides records; nil discards
}

// withDefaults returns the options with their gaps filled; o may be nil.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxRecords <= 0 {
		out.MaxRecords = DefaultMaxRecords
	}
	if out.MaxPerOwner <= 0 {
		out.MaxPerOwner = DefaultMaxPerOwner
	}
	if out.MaxBytes <= 0 {
		out.MaxBytes = DefaultMaxBytes
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}
