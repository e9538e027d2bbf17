package policy

import "time"

// A LimitError means that a bound is reached which is not the fault of this one
// request. It may be tried again.
type LimitError struct {
	Reason     string
	RetryAfter time.Duration
	// Own is set when the bound is that of the principal, not one for all.
	Own bool
}

func (e *LimitError) Error() string { return e.Reason }
