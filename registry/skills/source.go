package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// source is one of the directories or file systems that were given. Everything
// below a directory is opened through a root, so that no link leads out of it.
type source struct {
	dir  string   // as it was given; empty for a file system
	name string   // its own name, the last part of its absolute path
	base string   // what the paths of its skills begin with: its name if it is a skill itself
	root *os.Root // nil for a file system
	fsys fs.FS    // nil for a directory
}

func openDir(dir string) (*source, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: this is not a directory that can be read: %w", dir, plain(err))
	}
	return &source{dir: dir, name: filepath.Base(abs), root: root}, nil
}

// place returns the path of something in the source, for messages.
func (s *source) place(name string) string {
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// close releases the directory.
func (s *source) close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

func (s *source) open(name string, flag int) (fs.File, error) {
	if s.root == nil {
		return s.fsys.Open(name)
	}
	return s.root.OpenFile(name, os.O_RDONLY|flag, 0)
}

func (s *source) lstat(name string) (fs.FileInfo, error) {
	if s.root == nil {
		return fs.Lstat(s.fsys, name)
	}
	return s.root.Lstat(name)
}

// entries returns what is in a directory, sorted, without hidden names.
func (s *source) entries(dir string) ([]fs.DirEntry, error) {
	f, err := s.open(dir, 0)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errNoDirectory
	}
	var list []fs.DirEntry
	for {
		some, err := d.ReadDir(256)
		for _, e := range some {
			if !strings.HasPrefix(e.Name(), ".") {
				list = append(list, e)
			}
		}
		switch {
		case err == io.EOF:
			slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return list, nil
		case err != nil:
			return nil, plain(err)
		case len(list) > maxVisited:
			return nil, errTooMany
		}
	}
}

// read returns a regular file whole, unless it has more than most bytes.
func (s *source) read(name string, most int64) ([]byte, error) {
	info, err := s.lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if err != nil {
		return nil, plain(err)
	}
	f, err := s.open(name, nonBlocking)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular // it was exchanged
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, plain(err)
	}
	if int64(len(data)) > most {
		return nil, errTooLarge
	}
	return data, nil
}

var (
	errNotRegular  = errors.New("not a regular file")
	errNoDirectory = errors.New("not a directory")
	errTooLarge    = errors.New("too large")
	errTooMany     = fmt.Errorf("more than %d files and directories: this is no folder of skills", maxVisited)
)

// plain takes the operation and the path off an error: messages have the path in
// another form.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// within reports whether a path is below another one.
func within(p, dir string) bool { return strings.HasPrefix(p, dir+"/") }

// below returns the path of a name in a directory; the top is ".".
func below(dir, name string) string { return path.Join(dir, name) }
