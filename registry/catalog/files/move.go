package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// MakeDirectoryIn names a directory to create.
type MakeDirectoryIn struct {
	Path string `json:"path" jsonschema:"description=Directory to create together with those above it: absolute or relative to the first root"`
}

// MakeDirectoryOut tells whether the directory is new.
type MakeDirectoryOut struct {
	Path    string `json:"path" jsonschema:"description=The directory"`
	Created bool   `json:"created" jsonschema:"description=False if it was there already"`
}

// MakeDirectory creates a directory and what is missing above it. A directory that exists already is no error.
func (f *Files) MakeDirectory(ctx context.Context, in MakeDirectoryIn) (MakeDirectoryOut, error) {
	done, err := f.beginWrite(ctx)
	if err != nil {
		return MakeDirectoryOut{}, err
	}
	defer done()
	p, err := f.locate(in.Path)
	if err != nil {
		return MakeDirectoryOut{}, err
	}
	info, err := p.root.dir.Stat(p.rel)
	switch {
	case err == nil && info.IsDir():
		return MakeDirectoryOut{Path: p.shown}, nil
	case err == nil:
		return MakeDirectoryOut{}, failf(ErrExists, "%q exists already and is not a directory; choose another name", p.shown)
	case !errors.Is(err, fs.ErrNotExist):
		return MakeDirectoryOut{}, f.explain(p, err)
	}
	if err := p.root.dir.MkdirAll(p.rel, 0o777); err != nil {
		return MakeDirectoryOut{}, f.explain(p, err)
	}
	return MakeDirectoryOut{Path: p.shown, Created: true}, nil
}

// MoveFileIn says what to move where.
type MoveFileIn struct {
	Source      string `json:"source" jsonschema:"description=File or directory to move: absolute or relative to the first root"`
	Destination string `json:"destination" jsonschema:"description=Its new path including the name; the directory must exist"`
	Overwrite   bool   `json:"overwrite,omitempty" jsonschema:"description=Replace a file that is at the destination,default=false"`
}

// MoveFileOut tells what was moved.
type MoveFileOut struct {
	Source      string `json:"source" jsonschema:"description=The old path"`
	Destination string `json:"destination" jsonschema:"description=The new path"`
	Replaced    bool   `json:"replaced" jsonschema:"description=Whether a file was replaced"`
}

// MoveFile renames a file, a directory or a link, which is moved itself. To another root or file
// system only files are moved, by copying.
func (f *Files) MoveFile(ctx context.Context, in MoveFileIn) (MoveFileOut, error) {
	done, err := f.beginWrite(ctx)
	if err != nil {
		return MoveFileOut{}, err
	}
	defer done()
	m := move{files: f, overwrite: in.Overwrite}
	if err := m.prepare(in); err != nil {
		return MoveFileOut{}, err
	}
	if err := ctx.Err(); err != nil {
		return MoveFileOut{}, err
	}
	if err := m.run(ctx); err != nil {
		return MoveFileOut{}, err
	}
	return MoveFileOut{Source: m.from.shown, Destination: m.to.shown, Replaced: m.target != nil && (!m.same || m.twoNames)}, nil
}

// move is one move under way.
type move struct {
	files     *Files
	overwrite bool
	from, to  place
	// source and target describe what is at both places; target is nil if nothing is.
	source, target fs.FileInfo
	// same is set when both are one file, as when only the case of a name changes;
	// twoNames when that file has both names, so that renaming one to the other
	// would do nothing.
	same, twoNames bool
}

// prepare finds both places and refuses what cannot be done.
func (m *move) prepare(in MoveFileIn) (err error) {
	if m.from, err = m.files.locateTarget(in.Source); err != nil {
		return err
	}
	if m.to, err = m.files.locateTarget(in.Destination); err != nil {
		return err
	}
	m.shareRoot()
	if m.source, err = m.from.root.dir.Lstat(m.from.rel); err != nil {
		return m.files.explain(m.from, err)
	}
	if m.files.isGuarded(m.source) {
		return failf(ErrKind, "%q is an allowed root or holds one; it stays where it is", m.from.shown)
	}
	m.target, err = m.to.root.dir.Lstat(m.to.rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m.files.explain(m.to, err)
	}
	if m.target == nil {
		return nil
	}
	m.same = os.SameFile(m.source, m.target)
	m.twoNames = m.same && !m.source.IsDir() && m.findTwoNames()
	return m.checkTarget()
}

// shareRoot expresses both places in one root if any holds both, since only then they can be renamed.
func (m *move) shareRoot() {
	for _, r := range m.files.roots {
		from, ok := m.files.syntax.under(r.path(), m.from.abs())
		if !ok {
			continue
		}
		if to, ok := m.files.syntax.under(r.path(), m.to.abs()); ok {
			m.from, m.to = m.files.at(r, from), m.files.at(r, to)
			return
		}
	}
}

// checkTarget decides about something that is at the destination.
func (m *move) checkTarget() error {
	switch {
	case m.same && m.from.shown == m.to.shown:
		return failf(ErrInvalid, "source and destination are the same: %q", m.from.shown)
	case m.same && m.source.IsDir():
		return nil
	case m.target.IsDir():
		return failf(ErrExists, "%q is a directory that exists already; give the whole new path, with the name in it", m.to.shown)
	case m.same && !m.twoNames:
		return nil // only the spelling of its name changes
	case !m.overwrite:
		return failf(ErrExists, "%q exists already; set overwrite to replace it", m.to.shown)
	case !m.target.Mode().IsRegular() && m.target.Mode().Type() != fs.ModeSymlink:
		return failf(ErrKind, "%q is neither a file nor a link, and stays", m.to.shown)
	case m.source.IsDir():
		return failf(ErrExists, "%q is a file, and a directory cannot replace it; delete_file removes it", m.to.shown)
	}
	return nil
}

func (m *move) run(ctx context.Context) error {
	fromDir, fromName, err := m.files.openParent(m.from)
	if err != nil {
		return err
	}
	defer fromDir.Close()
	toDir, toName, err := m.files.openParent(m.to)
	if err != nil {
		return parentAdvice(m.to, err)
	}
	defer toDir.Close()
	if m.from.root != m.to.root {
		return m.copyAcross(ctx, fromDir, fromName, toDir, toName)
	}
	err = m.rename()
	if errors.Is(err, syscall.EXDEV) {
		return m.copyAcross(ctx, fromDir, fromName, toDir, toName)
	}
	if err != nil {
		return m.explainRename(err)
	}
	syncDir(fromDir)
	syncDir(toDir)
	return nil
}

// rename moves within one root. A file gets its new name by a link where that works, which unlike a rename fails if
// somebody else takes the name at that moment.
func (m *move) rename() error {
	dir := m.from.root.dir
	if m.twoNames {
		return dir.Remove(m.from.rel) // what has the other name is the same file
	}
	if m.target == nil && m.source.Mode().IsRegular() {
		err := dir.Link(m.from.rel, m.to.rel)
		if err == nil {
			return m.dropOldName()
		}
		if errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return dir.Rename(m.from.rel, m.to.rel)
}

// findTwoNames reports whether source and destination are two entries of directories, rather than one entry that can be
// reached by two paths or spelled in two ways. In doubt they are one, so that nothing is lost.
func (m *move) findTwoNames() bool {
	fromDir, fromName, err := m.files.openParent(m.from)
	if err != nil {
		return false
	}
	defer fromDir.Close()
	toDir, toName, err := m.files.openParent(m.to)
	if err != nil {
		return false
	}
	defer toDir.Close()
	from, fromErr := fromDir.Stat(".")
	to, toErr := toDir.Stat(".")
	switch {
	case fromErr != nil || toErr != nil:
		return false
	case !os.SameFile(from, to):
		return true
	}
	return fromName != toName && hasEntry(fromDir, fromName) && hasEntry(fromDir, toName)
}

// hasEntry reports whether exactly this name is in a directory.
func hasEntry(dir *os.Root, name string) bool {
	list, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer list.Close()
	for {
		names, err := list.Readdirnames(1000)
		if slices.Contains(names, name) {
			return true
		}
		if err != nil {
			return false
		}
	}
}

// dropOldName ends a move by a link. If the old name cannot go, the new one does.
func (m *move) dropOldName() error {
	dir := m.from.root.dir
	err := dir.Remove(m.from.rel)
	if err != nil {
		return errors.Join(err, dir.Remove(m.to.rel))
	}
	return nil
}

func (m *move) explainRename(err error) error {
	switch {
	case errors.Is(err, syscall.EINVAL):
		return failf(ErrInvalid, "%q cannot be moved into itself: %q", m.from.shown, m.to.shown)
	case errors.Is(err, fs.ErrExist):
		return m.files.explain(m.to, err)
	}
	return m.files.explain(m.from, err)
}

// copyAcross moves a file to another root or file system, where no rename reaches: the copy is complete before the source
// goes.
func (m *move) copyAcross(ctx context.Context, fromDir *os.Root, fromName string, toDir *os.Root, toName string) error {
	if !m.source.Mode().IsRegular() {
		return failf(ErrKind, "%q is a %s; to another root or file system only files can be moved, so create it there and move the files in it", m.from.shown, kindOf(m.source.Mode()))
	}
	most := m.files.opts.MaxHashBytes
	if m.source.Size() > most {
		return failf(ErrTooLarge, "%q has %s, more than the %s that are moved to another root or file system", m.from.shown, humanSize(m.source.Size()), humanSize(most))
	}
	file, info, err := openRegular(fromDir, fromName)
	if err != nil {
		return m.files.explain(m.from, err)
	}
	defer file.Close()
	content := io.NewSectionReader(file, 0, info.Size())
	perm := info.Mode().Perm()
	if m.target == nil {
		err = createFile(ctx, toDir, toName, content, &perm)
	} else {
		err = replaceFile(ctx, toDir, toName, content, perm)
	}
	if err != nil {
		return m.files.explain(m.to, err)
	}
	return m.files.explainWrite(m.from, fromDir.Remove(fromName))
}
