package skills

import (
	"errors"
	"fmt"

	"cloudg.dev/cloudg/registry/skills/frontmatter"
)

// maxFaults is how many faults are reported at one time.
const maxFaults = 20

// faults collects what is wrong, so that an author can mend all of it at once.
type faults struct {
	list []error
	more int
}

func (f *faults) add(err error) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, err)
}

func (f *faults) addf(format string, args ...any) { f.add(fmt.Errorf(format, args...)) }

func (f *faults) err() error {
	if f.more > 0 {
		return errors.Join(append(f.list, fmt.Errorf("and %d more", f.more))...)
	}
	return errors.Join(f.list...)
}

// at returns an error about a file, with the line if it has one.
func at(file string, err error) error {
	var where *frontmatter.Error
	if errors.As(err, &where) {
		return fmt.Errorf("%s:%d: %s", file, where.Line, where.Text)
	}
	return fmt.Errorf("%s: %w", file, err)
}
