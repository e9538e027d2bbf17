package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// MaxRoots bounds the roots of one [Files]; each of them is compared with every path.
const MaxRoots = 64

// Options say what [Open] allows. Zero limits stand for the defaults.
type Options struct {
	// Roots are the directories that are allowed, 1 to 64 of them. Relative paths of callers begin at the first.
	Roots []string
	// AllowWrite permits the operations that change files.
	AllowWrite bool

	// ReadBytes is what one read returns when the caller names no bound; 1 MiB.
	ReadBytes int64
	// MaxFileBytes is the most that one read returns and one write or edit takes; 10 MiB.
	MaxFileBytes int64
	// MaxScanBytes is how far one read goes to find a line; 256 MiB.
	MaxScanBytes int64
	// MaxSearchFileBytes is the largest file that a search looks into; 8 MiB.
	MaxSearchFileBytes int64
	// MaxHashBytes is the largest file that is hashed, that has its lines counted, or that is copied between roots; 1 GiB.
	MaxHashBytes int64
	// MaxWalkEntries is how many entries one listing, find or search visits; 200,000.
	MaxWalkEntries int
	// MaxDeleteEntries is how many entries one recursive deletion removes; 10,000.
	MaxDeleteEntries int
	// MaxDiffBytes is the longest diff that an edit returns; 256 KiB.
	MaxDiffBytes int
}

// withDefaults fills the limits that are unset.
func (o Options) withDefaults() Options {
	o.MaxFileBytes = orElse(o.MaxFileBytes, 10<<20)
	o.ReadBytes = min(orElse(o.ReadBytes, 1<<20), o.MaxFileBytes)
	o.MaxScanBytes = orElse(o.MaxScanBytes, 256<<20)
	o.MaxSearchFileBytes = orElse(o.MaxSearchFileBytes, 8<<20)
	o.MaxHashBytes = orElse(o.MaxHashBytes, 1<<30)
	o.MaxWalkEntries = orElse(o.MaxWalkEntries, 200_000)
	o.MaxDeleteEntries = orElse(o.MaxDeleteEntries, 10_000)
	o.MaxDiffBytes = orElse(o.MaxDiffBytes, 256<<10)
	return o
}

func orElse[T int | int64](value, standard T) T {
	if value <= 0 {
		return standard
	}
	return value
}

// Files performs the operations inside its roots. Make one with [Open].
type Files struct {
	opts   Options
	syntax syntax
	roots  []*root
	// guarded are the roots and every directory above one: removing or moving any of them would take a root away.
	guarded []fs.FileInfo
	// writing is held by the one operation that changes files. It is a channel so that waiting ends with the context.
	writing chan struct{}
}

// root is one allowed directory.
type root struct {
	dir  *os.Root
	info fs.FileInfo
	// names are the absolute paths that lead here: as it was given first, then other spellings and the one without links.
	names []string
	// escape is the error with which dir refuses a path that leaves it; package os does not export it.
	escape error
}

// path is the name that is shown for the root.
func (r *root) path() string { return r.names[0] }

// place is a path inside a root.
type place struct {
	root *root
	// rel is relative to the root, clean, with slashes; "." is the root itself.
	rel string
	// shown is what callers see and can pass back.
	shown string
}

// base is the last name of a place; only the root itself has none.
func (p place) base() string { return path.Base(p.rel) }

// abs is the absolute path with slashes.
func (p place) abs() string { return path.Join(p.root.path(), p.rel) }

// Open opens the roots. Each must be an existing directory; an error names the option --root. A directory that is named
// twice, also through a link, is one root; a root inside another is allowed.
func Open(opts Options) (*Files, error) {
	if len(opts.Roots) == 0 || len(opts.Roots) > MaxRoots {
		return nil, failf(ErrInvalid, "--root: from 1 to %d directories are needed, not %d", MaxRoots, len(opts.Roots))
	}
	f := &Files{
		opts:    opts.withDefaults(),
		syntax:  syntax{windows: runtime.GOOS == "windows"},
		writing: make(chan struct{}, 1),
	}
	for _, name := range opts.Roots {
		if err := f.addRoot(name); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	f.guard()
	return f, nil
}

// Close releases the roots. Operations that run or come later fail.
func (f *Files) Close() error {
	var errs []error
	for _, r := range f.roots {
		errs = append(errs, r.dir.Close())
	}
	return errors.Join(errs...)
}

func (f *Files) addRoot(name string) error {
	if name == "" {
		return failf(ErrInvalid, "--root: the name of a directory is empty")
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return failf(ErrInvalid, "--root %q: %v", name, cause(err))
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		return failf(ErrKind, "--root %q: is not a directory", name)
	}
	var dir *os.Root
	if err == nil {
		dir, err = os.OpenRoot(abs)
	}
	if err != nil {
		return failf(ErrNotFound, "--root %q: must be a directory that can be opened: %v", name, cause(err))
	}
	r := &root{dir: dir, names: []string{f.native(abs)}}
	if err := r.inspect(); err != nil {
		return errors.Join(failf(ErrDenied, "--root %q: %v", name, cause(err)), dir.Close())
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		r.addName(f.native(real))
	}
	return f.keep(r)
}

// native turns a path of package filepath into ours.
func (f *Files) native(p string) string { return f.syntax.clean(f.syntax.slashed(p)) }

// keep adds a root, or only its names when the directory is a root already.
func (f *Files) keep(r *root) error {
	for _, have := range f.roots {
		if os.SameFile(have.info, r.info) {
			for _, name := range r.names {
				have.addName(name)
			}
			return r.dir.Close()
		}
	}
	f.roots = append(f.roots, r)
	return nil
}

func (r *root) addName(name string) {
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
}

// inspect learns the identity of the directory, and the error that os.Root has for a path that leaves it.
func (r *root) inspect() error {
	info, err := r.dir.Stat(".")
	if err != nil {
		return err
	}
	r.info = info
	_, err = r.dir.Lstat("..")
	if err == nil {
		return errors.New("this system does not confine paths")
	}
	r.escape = cause(err)
	return nil
}

// guard notes which directories must stay where they are.
func (f *Files) guard() {
	for _, r := range f.roots {
		f.guarded = append(f.guarded, r.info)
		for _, name := range r.names {
			for dir := path.Dir(name); dir != path.Dir(dir); dir = path.Dir(dir) {
				if info, err := os.Stat(filepath.FromSlash(dir)); err == nil {
					f.guarded = append(f.guarded, info)
				}
			}
		}
	}
}

// isGuarded reports whether a directory is a root or holds one.
func (f *Files) isGuarded(info fs.FileInfo) bool {
	return info.IsDir() && slices.ContainsFunc(f.guarded, func(g fs.FileInfo) bool { return os.SameFile(g, info) })
}

// locate finds the place that a caller means. It looks nothing up.
func (f *Files) locate(input string) (place, error) {
	if input == "" {
		input = "."
	}
	abs, relative, err := f.syntax.resolve(f.roots[0].path(), input)
	if err != nil {
		return place{}, err
	}
	r, rel := f.owner(abs, relative)
	if r == nil {
		return place{}, failf(ErrOutside, "outside the allowed roots: %s; list_roots shows the directories that may be used", clip(input))
	}
	if rel != "." && (!filepath.IsLocal(filepath.FromSlash(rel)) || f.syntax.windows && strings.Contains(rel, ":")) {
		return place{}, failf(ErrInvalid, "%s contains a name that this system reserves", clip(input))
	}
	return f.at(r, rel), nil
}

// owner finds the root of an absolute path. Of nested roots the inner one wins, except for a relative path, which means
// the first root whatever lies inside it: what it names must not depend on the other roots.
func (f *Files) owner(abs string, relative bool) (found *root, rel string) {
	best := -1
	for i, r := range f.roots {
		for _, name := range r.names {
			rest, ok := f.syntax.under(name, abs)
			if !ok {
				continue
			}
			if relative && i == 0 {
				return r, rest
			}
			if depth := len(names(name)); depth > best {
				best, found, rel = depth, r, rest
			}
		}
	}
	return found, rel
}

// at names a path below a root.
func (f *Files) at(r *root, rel string) place {
	p := place{root: r, rel: rel}
	p.shown = p.abs()
	if short, ok := f.syntax.under(f.roots[0].path(), p.shown); ok {
		p.shown = short
		if isURI(short) { // a directory can be called file:
			p.shown = "./" + short
		}
	}
	p.shown = strings.ToValidUTF8(p.shown, "\uFFFD")
	return p
}

// below names an entry of a directory; rel is relative to it.
func (f *Files) below(p place, rel string) place { return f.at(p.root, path.Join(p.rel, rel)) }

// beginWrite waits for its turn to change files; the caller calls done. It fails when writing is not allowed at all.
func (f *Files) beginWrite(ctx context.Context) (done func(), err error) {
	if !f.opts.AllowWrite {
		return nil, failf(ErrReadOnly, "writing is not allowed: the server was started without --allow-write")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case f.writing <- struct{}{}:
		return func() { <-f.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ListRootsIn has no arguments.
type ListRootsIn struct{}

// ListRootsOut tells which directories may be used.
type ListRootsOut struct {
	Roots    []Root `json:"roots" jsonschema:"description=The allowed directories in the order they were given. Relative paths begin at the first."`
	Writable bool   `json:"writable" jsonschema:"description=Whether files may be changed"`
}

// Root is one allowed directory.
type Root struct {
	Path    string   `json:"path" jsonschema:"description=Absolute path"`
	URI     string   `json:"uri" jsonschema:"description=The same as a file URI"`
	Aliases []string `json:"aliases" jsonschema:"description=Other absolute paths that lead to the same directory and are accepted as well"`
}

// ListRoots returns the roots.
func (f *Files) ListRoots(ctx context.Context, _ ListRootsIn) (ListRootsOut, error) {
	out := ListRootsOut{Roots: make([]Root, 0, len(f.roots)), Writable: f.opts.AllowWrite}
	for _, r := range f.roots {
		out.Roots = append(out.Roots, Root{
			Path:    r.path(),
			URI:     f.syntax.toURI(r.path()),
			Aliases: append([]string{}, r.names[1:]...),
		})
	}
	return out, ctx.Err()
}
