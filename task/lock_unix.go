//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package task

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockDir takes the directory for this process. The system gives the lock back
// when the process ends, however it ends.
func lockDir(root *os.Root) (io.Closer, error) {
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	switch {
	case err == syscall.EWOULDBLOCK:
		return nil, errors.Join(errors.New("another process uses it: give each server a directory of its own"), f.Close())
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncNames makes a rename durable.
func syncNames(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
