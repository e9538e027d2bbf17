package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// DeleteFileIn says what to delete.
type DeleteFileIn struct {
	Path      string `json:"path" jsonschema:"description=File or link or empty directory to delete: absolute or relative to the first root"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"description=Delete a directory with everything in it,default=false"`
}

// DeleteFileOut tells what is gone.
type DeleteFileOut struct {
	Path    string `json:"path" jsonschema:"description=What was deleted"`
	Removed int    `json:"removed" jsonschema:"description=How many entries were removed in all,minimum=0"`
}

// DeleteFile removes a file, a link (not what it leads to) or an empty directory, and when asked a directory with what is
// in it. The entries are counted first: with more than [Options.MaxDeleteEntries] nothing is removed.
func (f *Files) DeleteFile(ctx context.Context, in DeleteFileIn) (DeleteFileOut, error) {
	done, err := f.beginWrite(ctx)
	if err != nil {
		return DeleteFileOut{}, err
	}
	defer done()
	p, err := f.locateTarget(in.Path)
	if err != nil {
		return DeleteFileOut{}, err
	}
	info, err := p.root.dir.Lstat(p.rel)
	if err != nil {
		return DeleteFileOut{}, f.explain(p, err)
	}
	if f.isGuarded(info) {
		return DeleteFileOut{}, failf(ErrKind, "%q is an allowed root or holds one; it cannot be deleted", p.shown)
	}
	parent, name, err := f.openParent(p)
	if err != nil {
		return DeleteFileOut{}, err
	}
	defer parent.Close()
	out := DeleteFileOut{Path: p.shown}
	if info.IsDir() && in.Recursive {
		if out.Removed, err = f.empty(ctx, p, parent, name); err != nil {
			return DeleteFileOut{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return DeleteFileOut{}, err
	}
	if err := parent.Remove(name); err != nil {
		return DeleteFileOut{}, f.explainRemove(p, err)
	}
	out.Removed++
	return out, nil
}

func (f *Files) explainRemove(p place, err error) error {
	if errors.Is(err, syscall.ENOTEMPTY) {
		return failf(ErrKind, "%q is a directory that is not empty; set recursive to delete it with what is in it", p.shown)
	}
	return f.explain(p, err)
}

// empty removes everything in a directory.
func (f *Files) empty(ctx context.Context, p place, parent *os.Root, name string) (removed int, err error) {
	if err := f.countForDelete(ctx, p); err != nil {
		return 0, err
	}
	dir, err := openDir(parent, name)
	if err != nil {
		return 0, f.explain(p, err)
	}
	defer dir.Close()
	r := remover{files: f, place: p}
	if err = r.directory(ctx, dir, "", 1); err != nil {
		return 0, fmt.Errorf("not all of %q could be deleted, %s went: %w", p.shown, plural(r.removed, "entry", "entries"), err)
	}
	return r.removed, nil
}

// countForDelete refuses a directory that holds too much, or a root.
func (f *Files) countForDelete(ctx context.Context, p place) error {
	count := 0
	most := f.opts.MaxDeleteEntries
	w := walk{depth: maxDepth, hidden: true}
	w.visit = func(e entry) error {
		count++
		switch {
		case count > most:
			return failf(ErrTooLarge, "%q holds more than the %d entries that are deleted at once; delete directories in it one by one", p.shown, most)
		case f.isGuarded(e.info):
			return failf(ErrKind, "%q holds the allowed root %q; it cannot be deleted", p.shown, f.below(p, e.rel).shown)
		}
		return nil
	}
	if err := f.run(ctx, p, &w); err != nil {
		return err
	}
	if w.stopped {
		return failf(ErrTooLarge, "%q holds more entries than are looked at in one call; delete directories in it one by one", p.shown)
	}
	if w.tooDeep > 0 {
		return failf(ErrTooLarge, "%q is more than %d levels deep; delete directories in it one by one", p.shown, maxDepth)
	}
	return nil
}

// remover removes the contents of a directory, deepest first. Every name is removed through the directory that was opened,
// so that nothing which is exchanged meanwhile leads it elsewhere.
type remover struct {
	files   *Files
	place   place
	removed int
}

// directory removes what is in an open directory; rel is where it lies below the place.
func (r *remover) directory(ctx context.Context, dir *os.Root, rel string, depth int) error {
	w := walk{hidden: true, left: r.files.opts.MaxDeleteEntries, order: byName}
	entries, err := w.read(ctx, dir, rel, depth)
	if err != nil {
		return r.explain(rel, err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.info.IsDir() {
			if err := r.subdirectory(ctx, e); err != nil {
				return err
			}
		}
		if err := dir.Remove(e.name); err != nil {
			return r.explain(e.rel, err)
		}
		r.removed++
	}
	return nil
}

func (r *remover) subdirectory(ctx context.Context, e entry) error {
	if e.depth >= maxDepth || r.files.isGuarded(e.info) {
		return failf(ErrConflict, "%q changed while it was being deleted", r.files.below(r.place, e.rel).shown)
	}
	sub, err := openDir(e.dir, e.name)
	if err != nil {
		return r.explain(e.rel, err)
	}
	defer sub.Close()
	return r.directory(ctx, sub, e.rel, e.depth+1)
}

func (r *remover) explain(rel string, err error) error {
	return r.files.explain(r.files.below(r.place, rel), err)
}
