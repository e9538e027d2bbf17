package task

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Dir is a [Store] in a directory, with one file per record. A record is
// written to a file of another name, made durable, and renamed, so that a crash
// at any moment leaves the old record or the new one, whole. The directory
// belongs to one process at a time, which a lock upholds where the system has
// one.
type Dir struct {
	root *os.Root
	lock io.Closer
	opts Options

	writes sync.WaitGroup // of Put; incremented only while not closed, under mu

	mu     sync.Mutex // guards the fields below
	index  index
	closed bool
}

var _ Store = (*Dir)(nil)

const (
	suffix     = ".json"
	tempSuffix = ".tmp"
	lockName   = "lock"
)

// RestartText is what the error of a task says that ran when the process ended.
const RestartText = "the server was restarted while the task ran"

// restartDetail is the error of such a task: an internal one.
const restartDetail = `{"code":-32603,"message":"` + RestartText + `"}`

// OpenDir opens the directory with the given path as a store, and makes it if it
// is not there, for this user alone. Tasks that ran when its last process ended
// have failed; those that had ended are as they were. What is in the directory
// and is no record is left alone, and logged. A nil o stands for the defaults.
// Close closes the store.
//
// The error says what is wrong with the directory: it cannot be made, read or
// written, or another process has it.
func OpenDir(path string, o *Options) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("task directory: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("task directory: %w", err)
	}
	lock, err := lockDir(root)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("task directory %q: %w", path, err), root.Close())
	}
	opts := o.withDefaults()
	d := &Dir{root: root, lock: lock, opts: opts, index: newIndex(opts)}
	d.warnIfShared(path)
	if err := d.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("task directory %q: %w", path, err), d.Close())
	}
	return d, nil
}

// warnIfShared says so if others may look into the directory. The records are
// not theirs to read all the same.
func (d *Dir) warnIfShared(path string) {
	info, err := d.root.Stat(".")
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		d.opts.Logger.Warn("the task directory is open to other users: take their permissions away", "directory", path, "mode", info.Mode().Perm().String())
	}
}

// load reads what is in the directory.
func (d *Dir) load() error {
	list, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	if list, err = d.clear(list); err != nil {
		return err
	}
	for _, e := range list {
		r, size, err := d.read(e.Name())
		if err != nil {
			d.opts.Logger.Warn("ignoring a file that is no task record", "file", e.Name(), "error", err)
			continue
		}
		if err := d.adopt(r, size); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what writes left behind that did not end, and returns the rest
// without the lock. The records that should have been replaced are still there.
func (d *Dir) clear(list []fs.DirEntry) ([]fs.DirEntry, error) {
	rest := list[:0]
	for _, e := range list {
		id, temp := strings.CutSuffix(e.Name(), tempSuffix)
		switch {
		case e.Name() == lockName:
		case temp && ValidID(id) && e.Type().IsRegular():
			if err := d.root.Remove(e.Name()); err != nil {
				return nil, err
			}
		default:
			rest = append(rest, e)
		}
	}
	return rest, nil
}

// adopt takes in a record of an earlier process.
func (d *Dir) adopt(r *Record, size int64) error {
	if !time.Now().Before(r.Expires()) {
		return d.root.Remove(r.ID + suffix)
	}
	if !r.Status.Terminal() {
		r.Status, r.Message, r.Updated, r.Detail = Failed, RestartText, Now(), []byte(restartDetail)
		raw := r.Append(nil)
		if err := d.write(r.ID, raw); err != nil {
			return err
		}
		size = int64(len(raw))
	}
	d.index.set(r, size) // a bound that was lowered loses nothing
	return nil
}

// read reads the record in a file.
func (d *Dir) read(name string) (*Record, int64, error) {
	id, ok := strings.CutSuffix(name, suffix)
	if !ok || !ValidID(id) {
		return nil, 0, errors.New("the name is not that of a record")
	}
	// Not followed if it is a link: records are files.
	if info, err := d.root.Lstat(name); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	} else if info.Size() > d.opts.MaxBytes {
		return nil, 0, fmt.Errorf("it has %d bytes, at most %d are allowed", info.Size(), d.opts.MaxBytes)
	}
	raw, err := d.root.ReadFile(name)
	if err != nil {
		return nil, 0, err
	}
	r, err := Parse(raw)
	if err != nil {
		return nil, 0, err
	}
	if r.ID != id {
		return nil, 0, errors.New("it holds the record of another task")
	}
	return r, int64(len(raw)), nil
}

// Put implements [Store]. The record survives the end of the process, and that
// of the machine as far as its disk keeps its word.
func (d *Dir) Put(r *Record) error {
	if err := r.check(); err != nil {
		return err
	}
	raw := r.Append(nil)
	old, replaced, err := d.reserve(r, int64(len(raw)))
	if err != nil {
		return err
	}
	defer d.writes.Done()
	err = d.write(r.ID, raw)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.index.restore(r.ID, old, replaced)
		err = fmt.Errorf("task: writing a record: %w", err)
	}
	if _, kept := d.index.entries[r.ID]; !kept { // refused, or its time was over meanwhile
		_ = d.root.Remove(r.ID + suffix)
	}
	return err
}

// reserve makes room for a record, and counts a write unless it fails.
func (d *Dir) reserve(r *Record, size int64) (old entry, replaced bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return old, false, ErrClosed
	}
	if err := d.index.fits(r, size); err != nil {
		if _, sweepErr := d.sweepLocked(); sweepErr != nil {
			return old, false, errors.Join(err, sweepErr)
		}
		if err := d.index.fits(r, size); err != nil {
			return old, false, err
		}
	}
	old, replaced = d.index.set(r, size)
	d.writes.Add(1)
	return old, replaced, nil
}

// write replaces the file of a record.
func (d *Dir) write(id string, raw []byte) error {
	temp := id + tempSuffix
	if err := d.writeTemp(temp, raw); err != nil {
		return errors.Join(err, ignoreMissing(d.root.Remove(temp)))
	}
	if err := d.root.Rename(temp, id+suffix); err != nil {
		return errors.Join(err, ignoreMissing(d.root.Remove(temp)))
	}
	return syncNames(d.root)
}

func (d *Dir) writeTemp(name string, raw []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Get implements [Store].
func (d *Dir) Get(id string) (*Record, error) {
	d.mu.Lock()
	closed, live := d.closed, d.index.live(id, time.Now())
	d.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case !live:
		return nil, ErrUnknown
	}
	r, _, err := d.read(id + suffix)
	switch {
	case errors.Is(err, fs.ErrNotExist): // swept meanwhile, or removed by somebody
		return nil, ErrUnknown
	case err != nil:
		return nil, fmt.Errorf("task: reading a record: %w", err)
	}
	return r, nil
}

// Sweep implements [Store].
func (d *Dir) Sweep() (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return time.Time{}, ErrClosed
	}
	return d.sweepLocked()
}

// sweepLocked removes the files first: what cannot be removed stays counted.
func (d *Dir) sweepLocked() (next time.Time, err error) {
	ids, next := d.index.expired(time.Now())
	for _, id := range ids {
		if failed := ignoreMissing(d.root.Remove(id + suffix)); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		d.index.drop(id)
	}
	return next, err
}

// Close closes the store; what is being written is finished. Closing again does
// nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	if closed {
		return nil
	}
	d.writes.Wait()
	return errors.Join(d.lock.Close(), d.root.Close())
}
