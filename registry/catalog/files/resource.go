package files

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	typeDirectory = "inode/directory"
	// maxResourceEntries is how many names the resource of a directory lists.
	maxResourceEntries = 1000
)

// Resource is what a file URI stands for. Exactly one of Text and Data is meant; IsText tells which.
type Resource struct {
	// URI is the canonical URI, which may differ from the one that was asked for.
	URI string
	// MimeType is guessed from name and content; a directory has inode/directory.
	MimeType string
	IsText   bool
	Text     string
	Data     []byte
}

// ReadURI reads the file that a file URI names, whole: text if it is UTF-8, bytes otherwise. A directory gives the URIs of
// what is in it, one a line. A file of more than [Options.MaxFileBytes] is [ErrTooLarge]. Of the other errors
// [ErrNotFound] and [ErrOutside] are worth telling apart from the rest.
func (f *Files) ReadURI(ctx context.Context, uri string) (Resource, error) {
	if !isURI(uri) {
		return Resource{}, failf(ErrInvalid, "not a file URI: %s; it looks like file:///dir/name", clip(uri))
	}
	p, err := f.locate(uri)
	if err != nil {
		return Resource{}, err
	}
	info, err := p.root.dir.Stat(p.rel)
	if err != nil {
		return Resource{}, f.explain(p, err)
	}
	if info.IsDir() {
		return f.directoryResource(ctx, p)
	}
	return f.fileResource(ctx, p)
}

func (f *Files) fileResource(ctx context.Context, p place) (Resource, error) {
	file, info, err := f.open(p)
	if err != nil {
		return Resource{}, err
	}
	defer file.Close()
	most := f.opts.MaxFileBytes
	data, err := io.ReadAll(cancellable{ctx, io.LimitReader(file, most+1)})
	if err != nil {
		return Resource{}, f.explain(p, err)
	}
	if int64(len(data)) > most {
		return Resource{}, failf(ErrTooLarge, "%q has %s, more than the %s of a resource; read_file reads it in parts",
			p.shown, humanSize(info.Size()), humanSize(most))
	}
	kind := classify(p.rel, data[:min(len(data), sniffBytes)])
	res := Resource{URI: f.syntax.toURI(p.abs()), MimeType: kind.mime}
	if kind.text && utf8.Valid(data) {
		res.IsText, res.Text = true, string(data)
	} else {
		res.Data = data
	}
	return res, nil
}

func (f *Files) directoryResource(ctx context.Context, p place) (Resource, error) {
	var text strings.Builder
	left := maxResourceEntries
	w := walk{depth: 1, hidden: true, order: directoriesFirst(byName)}
	w.visit = func(e entry) error {
		if left == 0 {
			text.WriteString("# there is more; list_directory shows it in pages\n")
			return errStopped
		}
		left--
		text.WriteString(f.syntax.toURI(f.below(p, e.rel).abs()))
		if e.info.IsDir() {
			text.WriteString("/")
		}
		text.WriteString("\n")
		return nil
	}
	if err := f.run(ctx, p, &w); err != nil {
		return Resource{}, err
	}
	return Resource{URI: f.syntax.toURI(p.abs()), MimeType: typeDirectory, IsText: true, Text: text.String()}, nil
}

// maxCompletions bounds what [Files.CompletePath] returns; MCP allows no more in one answer.
const maxCompletions = 100

// CompletePath returns the paths that begin with prefix, in order, at most limit of them (1 to 100; 0 means 100), and
// whether there are more. Directories end with a slash, so that completion can go on. A prefix is relative to the first
// root or absolute, and its completions are of the same form; an absolute prefix that leads to a root is completed to the
// root. Hidden names need a dot. What cannot be completed, such as a prefix outside every root, has no completions; only
// the context's end is an error.
func (f *Files) CompletePath(ctx context.Context, prefix string, limit int) (paths []string, more bool, err error) {
	if limit <= 0 || limit > maxCompletions {
		limit = maxCompletions
	}
	paths = []string{}
	add := func(candidate string) error {
		if slices.Contains(paths, candidate) {
			return nil // a root inside another one
		}
		if len(paths) == limit {
			more = true
			return errStopped
		}
		paths = append(paths, candidate)
		return nil
	}
	prefix = f.syntax.slashed(prefix)
	if f.syntax.absolute(prefix) {
		err = f.completeRoots(prefix, add)
	}
	if err == nil {
		err = f.completeEntries(ctx, prefix, add)
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	return paths, more, err
}

// completeRoots offers the roots that an absolute prefix leads to.
func (f *Files) completeRoots(prefix string, add func(string) error) error {
	for _, r := range f.roots {
		root := strings.TrimSuffix(r.path(), "/") + "/"
		if len(root) <= len(prefix) || !strings.HasPrefix(root, prefix) {
			continue
		}
		if err := add(root); err != nil {
			return err
		}
	}
	return nil
}

// completeEntries offers the entries of the directory that the prefix is in.
func (f *Files) completeEntries(ctx context.Context, prefix string, add func(string) error) error {
	dir, name := path.Split(prefix)
	p, err := f.locate(dir)
	if err != nil || isURI(prefix) {
		return ctx.Err()
	}
	w := walk{depth: 1, hidden: strings.HasPrefix(name, ".")}
	w.skip = func(e entry) bool { return !strings.HasPrefix(e.name, name) || !utf8.ValidString(e.name) }
	w.visit = func(e entry) error {
		if e.info.IsDir() {
			return add(dir + e.name + "/")
		}
		return add(dir + e.name)
	}
	err = f.run(ctx, p, &w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // a directory that is missing or not readable has no completions
	}
	return nil
}
