package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// QueryError says that a query makes no sense, and why. Its text is meant for the
// person or the model that made the query.
type QueryError struct {
	Field  string // JSON name of the field at fault
	Reason string // what is wrong with it, and what would be right
}

// Error names the field and the reason.
func (e *QueryError) Error() string { return e.Field + ": " + e.Reason }

// unsupported is the answer of a system without procfs.
func unsupported(what string) error {
	return fmt.Errorf("%s needs procfs, which %s does not have here: %w", what, runtime.GOOS, errors.ErrUnsupported)
}

// cause strips the operation and the path from a file error: notes name files as
// the kernel's manual does, wherever [Source] has put them.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var sysErr *os.SyscallError
	if errors.As(err, &sysErr) {
		return sysErr.Err
	}
	return err
}
