package files

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// maxDepth is how deep any walk goes; every level holds one directory open.
const maxDepth = 64

// readBatch is how many names are read at once: enough to be quick, and small beside the bound of a walk.
const readBatch = 512

// entry is what a walk finds.
type entry struct {
	// dir is the directory that holds the entry; it is open only during the visit.
	dir *os.Root
	// rel is relative to where the walk began.
	rel   string
	name  string
	info  fs.FileInfo
	depth int
	// err says why a directory cannot be looked into.
	err error
}

// hidden reports whether the name begins with a dot.
func (e entry) hidden() bool { return strings.HasPrefix(e.name, ".") }

// walk visits what is below a directory, each directory before what it holds.
type walk struct {
	// depth is how many levels are visited, 1 to maxDepth.
	depth int
	// hidden includes names that begin with a dot.
	hidden bool
	// order sorts the entries of one directory; by name when nil.
	order func(a, b entry) int
	// skip drops an entry and what is below it.
	skip func(e entry) bool
	// visit is called for every other entry.
	visit func(e entry) error
	// left is how many more entries may be looked at.
	left int

	walkReport
}

// walkReport counts what a walk left out.
type walkReport struct {
	skippedHidden int
	unreadable    int
	tooDeep       int
	stopped       bool
}

// errStopped ends a walk early without being an error of the operation.
var errStopped = errors.New("walk stopped")

// run walks through the directory at p.
func (f *Files) run(ctx context.Context, p place, w *walk) error {
	w.left = f.opts.MaxWalkEntries
	if w.order == nil {
		w.order = byName
	}
	dir, err := openDir(p.root.dir, p.rel)
	if err != nil {
		return f.explain(p, err)
	}
	defer dir.Close()
	err = w.directory(ctx, dir, "", 1)
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return f.explain(p, err)
	}
	return nil
}

// directory visits the entries of one open directory.
func (w *walk) directory(ctx context.Context, dir *os.Root, rel string, depth int) error {
	entries, err := w.read(ctx, dir, rel, depth)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.skip != nil && w.skip(e) {
			continue
		}
		if err := w.entry(ctx, e); err != nil {
			return err
		}
	}
	if w.stopped {
		return errStopped
	}
	return nil
}

// entry visits one entry and what is below it.
func (w *walk) entry(ctx context.Context, e entry) error {
	if !e.info.IsDir() || e.depth >= w.depth {
		if e.info.IsDir() && e.depth >= maxDepth {
			w.tooDeep++
		}
		return w.visit(e)
	}
	sub, err := openDir(e.dir, e.name)
	if err != nil {
		w.unreadable++
		e.err = err
		return w.visit(e)
	}
	defer sub.Close()
	if err := w.visit(e); err != nil {
		return err
	}
	err = w.directory(ctx, sub, e.rel, e.depth+1)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errStopped) && isSystem(err) {
		w.unreadable++
		return nil
	}
	return err
}

// isSystem reports whether an error comes from the file system rather than from a visitor.
func isSystem(err error) bool {
	var pathErr *fs.PathError
	return errors.As(err, &pathErr)
}

// read lists one directory in order. Names come without a look at the files, and each file is then looked at through the
// directory, which no link can lead astray; what vanished in between is left out.
func (w *walk) read(ctx context.Context, dir *os.Root, rel string, depth int) ([]entry, error) {
	handle, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	var entries []entry
	for !w.stopped {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := handle.Readdirnames(readBatch)
		for _, name := range batch {
			entries = w.add(entries, entry{dir: dir, rel: path.Join(rel, name), name: name, depth: depth})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(entries, w.order)
	return entries, nil
}

// add looks at an entry and keeps it, unless it is hidden or the walk has seen enough.
func (w *walk) add(entries []entry, e entry) []entry {
	if w.left == 0 {
		w.stopped = true
		return entries
	}
	w.left--
	if e.hidden() && !w.hidden {
		w.skippedHidden++
		return entries
	}
	info, err := e.dir.Lstat(e.name)
	if err != nil {
		return entries
	}
	e.info = info
	return append(entries, e)
}

func byName(a, b entry) int { return strings.Compare(a.name, b.name) }

// size is the length of a file; other kinds have numbers too, but those say nothing.
func (e entry) size() int64 {
	if e.info.Mode().IsRegular() {
		return e.info.Size()
	}
	return 0
}

// bySize puts the largest first.
func bySize(a, b entry) int {
	return cmp.Or(cmp.Compare(b.size(), a.size()), strings.Compare(a.rel, b.rel))
}

// byTime puts the newest first.
func byTime(a, b entry) int {
	return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.rel, b.rel))
}

// The orders a caller can choose from.
const (
	sortName     = "name"
	sortSize     = "size"
	sortModified = "modified"
)

// orderOf gives the comparison for the word that a caller chose.
func orderOf(word string) (func(a, b entry) int, error) {
	word, err := choice("sort", word, sortName, sortSize, sortModified)
	switch word {
	case sortSize:
		return bySize, err
	case sortModified:
		return byTime, err
	}
	return byName, err
}

// notes says in sentences what a walk left out.
func (r walkReport) notes(limit int) []string {
	notes := []string{}
	if r.stopped {
		notes = append(notes, plural(limit, "entry", "entries")+" were looked at, which is the bound; name a directory further down to see the rest")
	}
	if r.skippedHidden > 0 {
		notes = append(notes, plural(r.skippedHidden, "hidden entry", "hidden entries")+" left out; set hidden to true to include them")
	}
	if r.unreadable > 0 {
		notes = append(notes, plural(r.unreadable, "directory", "directories")+" could not be read")
	}
	if r.tooDeep > 0 {
		notes = append(notes, plural(r.tooDeep, "directory", "directories")+" not looked into because they are too deep; name one of them to see more")
	}
	return notes
}
