package files

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
)

const (
	maxListDepth  = 10
	listLimit     = 500
	maxListLimit  = 5000
	maxListOffset = 1_000_000
)

// ListDirectoryIn says what to list.
type ListDirectoryIn struct {
	Path   string `json:"path,omitempty" jsonschema:"description=Directory to list: absolute or relative to the first root; the first root when left out"`
	Depth  int    `json:"depth,omitempty" jsonschema:"description=How many levels to show,minimum=1,maximum=10,default=1"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"description=Include names that begin with a dot,default=false"`
	Sort   string `json:"sort,omitempty" jsonschema:"description=Order within each directory; directories always come first; size puts the largest and modified the newest first,enum=name|size|modified,default=name"`
	Tree   bool   `json:"tree,omitempty" jsonschema:"description=Answer with an indented text in the field tree instead of entries,default=false"`
	Limit  int    `json:"limit,omitempty" jsonschema:"description=Most entries to return,minimum=1,maximum=5000,default=500"`
	Offset int    `json:"offset,omitempty" jsonschema:"description=Entries to skip: next_offset of the answer before,minimum=0,maximum=1000000,default=0"`
}

// ListDirectoryOut is one page of a listing.
type ListDirectoryOut struct {
	Path        string   `json:"path" jsonschema:"description=The directory"`
	Entries     []Entry  `json:"entries" jsonschema:"description=What is in it; each directory is followed by what it holds"`
	Tree        string   `json:"tree,omitempty" jsonschema:"description=The entries as indented text if tree was asked for"`
	Files       int      `json:"files" jsonschema:"description=Files in all that were visited,minimum=0"`
	Directories int      `json:"directories" jsonschema:"description=Directories in all that were visited,minimum=0"`
	Total       int      `json:"total" jsonschema:"description=Entries of any kind in all that were visited,minimum=0"`
	SizeBytes   int64    `json:"size_bytes" jsonschema:"description=Size of all files that were visited,minimum=0"`
	NextOffset  int      `json:"next_offset,omitzero" jsonschema:"description=Offset of the next page; absent on the last one"`
	Notes       []string `json:"notes" jsonschema:"description=What was left out and how to see it"`
}

// Entry is one file, directory, link or other thing.
type Entry struct {
	Path      string `json:"path" jsonschema:"description=Path to pass to other operations"`
	Name      string `json:"name" jsonschema:"description=Last part of the path"`
	Kind      string `json:"kind" jsonschema:"description=What it is; links are shown as such,enum=file|directory|symlink|other"`
	SizeBytes int64  `json:"size_bytes" jsonschema:"description=Size of a file; 0 for everything else,minimum=0"`
	Modified  string `json:"modified" jsonschema:"description=Time of the last change in RFC 3339"`
	Target    string `json:"target,omitempty" jsonschema:"description=Where a link points to"`
	Error     string `json:"error,omitempty" jsonschema:"description=Why a directory could not be looked into"`
}

// page is the window of results that a caller asked for.
type page struct {
	offset, limit int
}

// pageOf checks the paging arguments.
func pageOf(offset, limit, standard, most int) (page, error) {
	limit, err := within("limit", limit, standard, most)
	if err == nil && (offset < 0 || offset > maxListOffset) {
		err = failf(ErrInvalid, "offset must be from 0 to %d, not %d", maxListOffset, offset)
	}
	return page{offset: offset, limit: limit}, err
}

// holds reports whether the result with this index is on the page.
func (p page) holds(index int) bool { return index >= p.offset && index-p.offset < p.limit }

// next is the offset of the page after this one, 0 if this is the last.
func (p page) next(total int) int {
	if p.offset+p.limit >= total {
		return 0
	}
	return p.offset + p.limit
}

// ListDirectory lists a directory, to some depth.
func (f *Files) ListDirectory(ctx context.Context, in ListDirectoryIn) (ListDirectoryOut, error) {
	p, err := f.locate(in.Path)
	if err != nil {
		return ListDirectoryOut{}, err
	}
	depth, err := within("depth", in.Depth, 1, maxListDepth)
	if err != nil {
		return ListDirectoryOut{}, err
	}
	window, err := pageOf(in.Offset, in.Limit, listLimit, maxListLimit)
	if err != nil {
		return ListDirectoryOut{}, err
	}
	order, err := orderOf(in.Sort)
	if err != nil {
		return ListDirectoryOut{}, err
	}

	out := ListDirectoryOut{Path: p.shown, Entries: []Entry{}}
	var tree strings.Builder
	w := walk{depth: depth, hidden: in.Hidden, order: directoriesFirst(order)}
	w.visit = func(e entry) error {
		if window.holds(out.Total) {
			if found := f.entry(p, e); in.Tree {
				writeBranch(&tree, e.depth, found)
			} else {
				out.Entries = append(out.Entries, found)
			}
		}
		out.count(e)
		return nil
	}
	if err := f.run(ctx, p, &w); err != nil {
		return ListDirectoryOut{}, f.notDirectory(p, err)
	}
	out.Tree = tree.String()
	out.NextOffset = window.next(out.Total)
	out.Notes = w.notes(f.opts.MaxWalkEntries)
	return out, nil
}

// notDirectory adds advice to the error for a path that is a file.
func (f *Files) notDirectory(p place, err error) error {
	if info, statErr := p.root.dir.Stat(p.rel); statErr == nil && errors.Is(err, ErrKind) && !info.IsDir() {
		return failf(ErrKind, "%q is not a directory; read_file reads it and file_info describes it", p.shown)
	}
	return err
}

func directoriesFirst(order func(a, b entry) int) func(a, b entry) int {
	rank := func(e entry) int {
		if e.info.IsDir() {
			return 0
		}
		return 1
	}
	return func(a, b entry) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), order(a, b)) }
}

func (out *ListDirectoryOut) count(e entry) {
	out.Total++
	out.SizeBytes += e.size()
	switch {
	case e.info.IsDir():
		out.Directories++
	case e.info.Mode().IsRegular():
		out.Files++
	}
}

// entry describes what a walk that began at start has found.
func (f *Files) entry(start place, e entry) Entry {
	p := f.below(start, e.rel)
	found := Entry{
		Path:      p.shown,
		Name:      strings.ToValidUTF8(e.name, "\uFFFD"),
		Kind:      kindOf(e.info.Mode()),
		SizeBytes: e.size(),
		Modified:  stamp(e.info.ModTime()),
	}
	if found.Kind == kindSymlink {
		if target, err := e.dir.Readlink(e.name); err == nil {
			found.Target = strings.ToValidUTF8(target, "\uFFFD")
		}
	}
	if e.err != nil {
		found.Error = f.explain(p, e.err).Error()
	}
	return found
}

// writeBranch adds a line to a tree: indented by depth, so that a page of it can be read without the others.
func writeBranch(tree *strings.Builder, depth int, e Entry) {
	tree.WriteString(strings.Repeat("  ", depth-1))
	tree.WriteString(oneLine(e.Name))
	switch e.Kind {
	case kindDirectory:
		tree.WriteString("/")
	case kindSymlink:
		tree.WriteString(" -> " + oneLine(e.Target))
	case kindFile:
		tree.WriteString("  " + humanSize(e.SizeBytes))
	default:
		tree.WriteString("  (special)")
	}
	if e.Error != "" {
		tree.WriteString("  (not readable)")
	}
	tree.WriteString("\n")
}

// oneLine quotes a name that would break the layout of a line.
func oneLine(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsAny(quoted, "\\") {
		return quoted
	}
	return name
}

// humanSize writes a size with one digit after the point and a binary unit.
func humanSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, units := float64(n)/1024, "KMGTPE"
	for size >= 1024 && len(units) > 1 {
		size, units = size/1024, units[1:]
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + units[:1] + "iB"
}
