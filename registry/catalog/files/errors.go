package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// What an error of this package is about, for [errors.Is]. The texts of the errors themselves are for people and models.
// A cancelled operation returns the error of its context instead.
var (
	// ErrInvalid: an argument is malformed or out of its range.
	ErrInvalid = errors.New("invalid argument")
	// ErrOutside: the path is outside every root, or passes a symbolic link that leaves its root.
	ErrOutside = errors.New("outside the allowed roots")
	// ErrNotFound: nothing has that name inside the root.
	ErrNotFound = errors.New("not found")
	// ErrKind: the path names something of another kind than the operation works on.
	ErrKind = errors.New("wrong kind of file")
	// ErrExists: the target is there already and was not to be replaced.
	ErrExists = errors.New("already exists")
	// ErrConflict: the file is not, or no longer, what the caller expects.
	ErrConflict = errors.New("content differs")
	// ErrTooLarge: a bound would be exceeded.
	ErrTooLarge = errors.New("too large")
	// ErrDenied: the system refuses the operation to the user that the server runs as.
	ErrDenied = errors.New("permission denied")
	// ErrReadOnly: the operation changes files and [Options.AllowWrite] is not set.
	ErrReadOnly = errors.New("writing is not allowed")
)

// failure is an error whose text stands on its own and whose kind is one of the sentinels above.
type failure struct {
	kind error
	text string
}

// Error returns the text alone; the kind is not repeated in it.
func (e *failure) Error() string { return e.text }

// Unwrap returns the kind.
func (e *failure) Unwrap() error { return e.kind }

func failf(kind error, format string, args ...any) error {
	return &failure{kind: kind, text: fmt.Sprintf(format, args...)}
}

// explain turns an error of the system into one of this package. The system's own path is dropped: it would show where
// the root lies, and in a form that cannot be passed back.
func (f *Files) explain(p place, err error) error {
	var known *failure
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, p.root.escape):
		return failf(ErrOutside, "%q is or passes a symbolic link that leaves its root; such links and absolute links are not followed", p.shown)
	case errors.Is(err, fs.ErrNotExist):
		return failf(ErrNotFound, "not found: %q; list_directory on %q shows what is there", p.shown, f.nearest(p))
	case errors.Is(err, fs.ErrPermission):
		return failf(ErrDenied, "permission denied: %q; the user that the server runs as has no access to it", p.shown)
	case errors.Is(err, fs.ErrExist):
		return failf(ErrExists, "%q exists already", p.shown)
	case errors.Is(err, fs.ErrClosed):
		return errors.New("the files are closed: the server is shutting down")
	case errors.Is(err, syscall.ENOTDIR):
		return failf(ErrKind, "%q has a part that is not a directory; list_directory on %q shows what is there", p.shown, f.nearest(p))
	case errors.Is(err, syscall.ENAMETOOLONG):
		return failf(ErrInvalid, "the path has a name that is too long for the file system: %s", clip(p.shown))
	case errors.Is(err, syscall.ELOOP):
		return failf(ErrInvalid, "%q goes through too many symbolic links; use the path that they lead to", p.shown)
	}
	return fmt.Errorf("%q: %w", p.shown, cause(err))
}

// cause strips the operation and path that package os adds.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}

// nearest is the closest directory above a path that exists, as the caller would write it.
func (f *Files) nearest(p place) string {
	for rel := p.rel; rel != "."; {
		rel = path.Dir(rel)
		if info, err := p.root.dir.Stat(rel); err == nil && info.IsDir() {
			return f.at(p.root, rel).shown
		}
	}
	return f.at(p.root, ".").shown
}

// clip quotes text of the caller for an error, at most 80 bytes of it.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", cutText(s, most))
}

// within checks an optional number: zero means the default, anything else must lie in [1, most].
func within[T int | int64](name string, value, standard, most T) (T, error) {
	if value == 0 {
		return min(standard, most), nil
	}
	if value < 1 || value > most {
		return 0, failf(ErrInvalid, "%s must be from 1 to %d, not %d", name, most, value)
	}
	return value, nil
}

// choice checks an optional word: empty means the first of the allowed ones.
func choice(name, value string, allowed ...string) (string, error) {
	if value == "" {
		return allowed[0], nil
	}
	for _, word := range allowed {
		if value == word {
			return value, nil
		}
	}
	return "", failf(ErrInvalid, "%s must be one of %q, not %s", name, allowed, clip(value))
}
