package transport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
	file fs.FileInfo
}

// listenUnix listens on a socket at path. The socket is made in a folder that
// nobody else can enter, and moved to its place when it has its mode: there is
// no moment at which others could connect, nor one without a socket when a stale
// one is replaced.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := vacant(ctx, path); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "s")
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", made)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", "unix:"+path, err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it will not be there any more
	file, err := place(made, path)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("address %q: %w", "unix:"+path, err)
	}
	return &unixListener{Listener: l, path: path, file: file}, nil
}

// place gives a socket its mode and its name.
func place(made, path string) (fs.FileInfo, error) {
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(made, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// vacant checks that nothing is at path but, perhaps, a socket that nobody
// listens on.
func vacant(ctx context.Context, path string) error {
	if path == "" {
		return errors.New(`address "unix:": want unix:PATH`)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("address %q: there is a file of that name which is no socket: remove it, or choose another name", "unix:"+path)
	}
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil // whoever made it is gone
	case err != nil: // it is there, but busy, or not ours
		return fmt.Errorf("address %q: it cannot be told whether another process listens there: %w; remove it if none does", "unix:"+path, err)
	}
	_ = c.Close()
	return fmt.Errorf("address %q: another process listens there", "unix:"+path)
}

// Addr implements [net.Listener].
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close implements [net.Listener]. A socket that another process has put in our
// place stays.
func (l *unixListener) Close() error {
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.file) {
		_ = os.Remove(l.path)
	}
	return l.Listener.Close()
}
