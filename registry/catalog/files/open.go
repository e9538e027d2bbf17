package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// The kinds of an entry.
const (
	kindFile      = "file"
	kindDirectory = "directory"
	kindSymlink   = "symlink"
	kindOther     = "other"
)

// kindOf names the kind of an entry.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return kindFile
	case fs.ModeDir:
		return kindDirectory
	case fs.ModeSymlink:
		return kindSymlink
	}
	return kindOther
}

// openDir opens a directory below dir as a root of its own. The trailing dot makes the system insist on a directory while
// it opens: a pipe that took the directory's place would otherwise block the call for good.
func openDir(dir *os.Root, rel string) (*os.Root, error) {
	return dir.OpenRoot(rel + "/.")
}

// openRegular opens a regular file for reading. It asks first, so that a device is not even opened, and asks again when the
// file is open, since it may have been exchanged meanwhile; the open itself never waits for the other end of a pipe.
func openRegular(dir *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	info, err := dir.Stat(rel)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, errNotRegular
	}
	file, err := dir.OpenFile(rel, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = file.Close()
		return nil, info, err
	}
	return file, info, nil
}

// errNotRegular is what openRegular says of other kinds; open turns it into advice.
var errNotRegular = failf(ErrKind, "not a regular file")

// open opens the regular file at a place.
func (f *Files) open(p place) (*os.File, fs.FileInfo, error) {
	file, info, err := openRegular(p.root.dir, p.rel)
	if errors.Is(err, errNotRegular) {
		if info.IsDir() {
			return nil, nil, failf(ErrKind, "%q is a directory; list_directory shows what is in it", p.shown)
		}
		return nil, nil, failf(ErrKind, "%q is not a regular file but a %s; it cannot be read", p.shown, special(info.Mode()))
	}
	if err != nil {
		return nil, nil, f.explain(p, err)
	}
	return file, info, nil
}

// special names what is neither a file nor a directory nor a link.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// openParent opens the directory that holds a place, and gives the name in it.
func (f *Files) openParent(p place) (dir *os.Root, name string, err error) {
	dir, err = openDir(p.root.dir, path.Dir(p.rel))
	if err != nil {
		return nil, "", f.explain(f.at(p.root, path.Dir(p.rel)), err)
	}
	return dir, p.base(), nil
}

// cancellable is a reader that ends with a context. Files cannot be interrupted, so it looks before every read.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

// Read reads unless the context has ended.
func (c cancellable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
