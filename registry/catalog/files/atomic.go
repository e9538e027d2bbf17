package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
)

// tempPrefix begins the names of files that are being written. A crash can leave one; no completed call does.
const tempPrefix = ".cloudg-"

// writeTemp writes a new file in dir and makes it durable. mode is what its permissions shall be; nil leaves the
// choice to the umask, as for any new file. The caller removes the file unless it gives it another name.
func writeTemp(ctx context.Context, dir *os.Root, content io.Reader, mode *fs.FileMode) (name string, err error) {
	name = tempPrefix + rand.Text() + ".tmp"
	initial := fs.FileMode(0o666)
	if mode != nil {
		initial = 0o600 // nobody else shall read what the old file kept to itself, not even for a moment
	}
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, initial)
	if err != nil {
		return "", err
	}
	_, err = io.CopyBuffer(onlyWriter{file}, cancellable{ctx, content}, make([]byte, scanBuffer))
	if err == nil && mode != nil {
		err = file.Chmod(*mode)
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return "", errors.Join(err, dir.Remove(name))
	}
	return name, nil
}

// onlyWriter hides the methods by which a file would read the source itself, past the context.
type onlyWriter struct{ io.Writer }

// replaceFile gives the file name in dir new content in one step: whoever opens it sees the old or the new content whole.
// The permissions stay as they were.
func replaceFile(ctx context.Context, dir *os.Root, name string, content io.Reader, mode fs.FileMode) error {
	perm := mode.Perm()
	temp, err := writeTemp(ctx, dir, content, &perm)
	if err != nil {
		return err
	}
	if err := dir.Rename(temp, name); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	syncDir(dir)
	return nil
}

// createFile makes a file that does not exist yet, whole or not at all. It fails with [fs.ErrExist] if the name is taken.
func createFile(ctx context.Context, dir *os.Root, name string, content io.Reader, mode *fs.FileMode) error {
	temp, err := writeTemp(ctx, dir, content, mode)
	if err != nil {
		return err
	}
	err = dir.Link(temp, name)
	if err == nil {
		syncDir(dir)
		return dir.Remove(temp)
	}
	if !errors.Is(err, fs.ErrExist) {
		err = reserveAndRename(dir, temp, name) // not every file system knows hard links
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	syncDir(dir)
	return nil
}

// reserveAndRename gives a file a name that must be free. It takes the name with an empty file first, which fails if
// something is there, and then renames over it.
func reserveAndRename(dir *os.Root, temp, name string) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	if err := dir.Rename(temp, name); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	return nil
}

// syncDir makes a change of names durable where the system can. Where it cannot there is nothing to be done about it, and
// the change is visible all the same.
func syncDir(dir *os.Root) {
	handle, err := dir.Open(".")
	if err != nil {
		return
	}
	_ = handle.Sync()
	_ = handle.Close()
}
