package files

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	findLimit    = 200
	maxFindLimit = 5000
	// maxFindWindow bounds offset and limit together, since a sorted search keeps that many results.
	maxFindWindow = 100_000
)

// FindFilesIn says what to look for. Every condition that is given must hold.
type FindFilesIn struct {
	Path           string   `json:"path,omitempty" jsonschema:"description=Directory to search: absolute or relative to the first root; the first root when left out"`
	Pattern        string   `json:"pattern,omitempty" jsonschema:"description=Glob such as *.go or src/**/*_test.go with * ? [a-z] {a\\,b} and **. Without a slash it is matched against the name and with one against the path relative to path. Everything when left out."`
	Exclude        []string `json:"exclude,omitempty" jsonschema:"description=Globs of what to skip; a directory that matches is not searched"`
	IgnoreCase     bool     `json:"ignore_case,omitempty" jsonschema:"description=Match patterns without regard to case,default=false"`
	Kind           string   `json:"kind,omitempty" jsonschema:"description=Only entries of this kind,enum=any|file|directory|symlink,default=any"`
	MinBytes       int64    `json:"min_bytes,omitempty" jsonschema:"description=Only files of at least this size,minimum=0"`
	MaxBytes       *int64   `json:"max_bytes,omitempty" jsonschema:"description=Only files of at most this size,minimum=0"`
	ModifiedAfter  string   `json:"modified_after,omitempty" jsonschema:"description=Only what was changed at or after this time: RFC 3339 or a date such as 2026-01-31"`
	ModifiedBefore string   `json:"modified_before,omitempty" jsonschema:"description=Only what was changed before this time: RFC 3339 or a date such as 2026-01-31"`
	NewerThan      string   `json:"newer_than,omitempty" jsonschema:"description=Only what was changed within this duration such as 30m or 12h or 7d"`
	OlderThan      string   `json:"older_than,omitempty" jsonschema:"description=Only what was last changed longer ago than this duration such as 30m or 12h or 7d"`
	MaxDepth       int      `json:"max_depth,omitempty" jsonschema:"description=How many levels to search,minimum=1,maximum=64,default=64"`
	Hidden         bool     `json:"hidden,omitempty" jsonschema:"description=Include names that begin with a dot; a pattern that spells such a name does so too,default=false"`
	Sort           string   `json:"sort,omitempty" jsonschema:"description=path follows the directories; size puts the largest and modified the newest first,enum=path|size|modified,default=path"`
	Limit          int      `json:"limit,omitempty" jsonschema:"description=Most entries to return,minimum=1,maximum=5000,default=200"`
	Offset         int      `json:"offset,omitempty" jsonschema:"description=Entries to skip: next_offset of the answer before,minimum=0,maximum=95000,default=0"`
}

// FindFilesOut is one page of what was found.
type FindFilesOut struct {
	Path       string   `json:"path" jsonschema:"description=The directory that was searched"`
	Entries    []Entry  `json:"entries" jsonschema:"description=What was found"`
	Total      int      `json:"total" jsonschema:"description=How many entries match in all,minimum=0"`
	NextOffset int      `json:"next_offset,omitzero" jsonschema:"description=Offset of the next page; absent on the last one"`
	Notes      []string `json:"notes" jsonschema:"description=What was left out and how to see it"`
}

// FindFiles looks for files below a directory. Symbolic links are reported and not followed.
func (f *Files) FindFiles(ctx context.Context, in FindFilesIn) (FindFilesOut, error) {
	p, err := f.locate(in.Path)
	if err != nil {
		return FindFilesOut{}, err
	}
	q, err := newQuery(in, time.Now())
	if err != nil {
		return FindFilesOut{}, err
	}
	found := finder{query: q, files: f, start: p}
	w := walk{depth: q.depth, hidden: q.hidden, skip: q.exclude.excludes, visit: found.visit}
	if err := f.run(ctx, p, &w); err != nil {
		return FindFilesOut{}, f.notDirectory(p, err)
	}
	return FindFilesOut{
		Path:       p.shown,
		Entries:    found.page(),
		Total:      found.total,
		NextOffset: q.page.next(found.total),
		Notes:      w.notes(f.opts.MaxWalkEntries),
	}, nil
}

// query is a checked FindFilesIn.
type query struct {
	pattern, exclude globs
	kind             string
	minBytes         int64
	maxBytes         *int64
	after, before    time.Time
	depth            int
	hidden           bool
	order            func(a, b entry) int
	page             page
}

func newQuery(in FindFilesIn, now time.Time) (query, error) {
	q := query{minBytes: in.MinBytes, maxBytes: in.MaxBytes}
	for _, step := range []func() error{
		func() error { return q.patterns(in) },
		func() error { return q.sizes() },
		func() error { return q.times(in, now) },
		func() error { return q.output(in) },
	} {
		if err := step(); err != nil {
			return query{}, err
		}
	}
	return q, nil
}

func (q *query) patterns(in FindFilesIn) (err error) {
	if in.Pattern != "" {
		if q.pattern, err = compileGlobs("pattern", []string{in.Pattern}, in.IgnoreCase); err != nil {
			return err
		}
	}
	if q.exclude, err = compileGlobs("exclude", in.Exclude, in.IgnoreCase); err != nil {
		return err
	}
	q.hidden = in.Hidden || q.pattern.dotted()
	q.kind, err = choice("kind", in.Kind, "any", kindFile, kindDirectory, kindSymlink)
	return err
}

func (q *query) sizes() error {
	if q.minBytes < 0 || q.maxBytes != nil && *q.maxBytes < q.minBytes {
		return failf(ErrInvalid, "min_bytes must be at least 0 and max_bytes at least min_bytes")
	}
	return nil
}

// times combines the absolute and the relative bounds; the narrower one of each side holds.
func (q *query) times(in FindFilesIn, now time.Time) error {
	for _, bound := range []struct {
		field, value string
		parse        func(field, value string, now time.Time) (time.Time, error)
		after        bool
	}{
		{"modified_after", in.ModifiedAfter, parseTime, true},
		{"newer_than", in.NewerThan, parseAge, true},
		{"modified_before", in.ModifiedBefore, parseTime, false},
		{"older_than", in.OlderThan, parseAge, false},
	} {
		if bound.value == "" {
			continue
		}
		t, err := bound.parse(bound.field, bound.value, now)
		if err != nil {
			return err
		}
		if bound.after && t.After(q.after) {
			q.after = t
		}
		if !bound.after && (q.before.IsZero() || t.Before(q.before)) {
			q.before = t
		}
	}
	return nil
}

func (q *query) output(in FindFilesIn) (err error) {
	if q.depth, err = within("max_depth", in.MaxDepth, maxDepth, maxDepth); err != nil {
		return err
	}
	if q.page, err = pageOf(in.Offset, in.Limit, findLimit, maxFindLimit); err != nil {
		return err
	}
	if q.page.offset+q.page.limit > maxFindWindow {
		return failf(ErrInvalid, "offset and limit together must be at most %d; narrow the pattern instead", maxFindWindow)
	}
	word, err := choice("sort", in.Sort, "path", sortSize, sortModified)
	if err == nil && word != "path" {
		q.order, err = orderOf(word)
	}
	return err
}

// match reports whether an entry fulfils every condition.
func (q *query) match(e entry) bool {
	mode, modified := e.info.Mode(), e.info.ModTime()
	switch {
	case q.kind != "any" && q.kind != kindOf(mode),
		q.pattern != nil && !q.pattern.match(e.rel),
		(q.minBytes > 0 || q.maxBytes != nil) && !mode.IsRegular(),
		e.info.Size() < q.minBytes,
		q.maxBytes != nil && e.info.Size() > *q.maxBytes,
		modified.Before(q.after),
		!q.before.IsZero() && !modified.Before(q.before):
		return false
	}
	return true
}

// finder collects the page. In the order of the walk it keeps the page alone, and otherwise the best results so far, never
// more than twice the window.
type finder struct {
	query
	files *Files
	start place
	total int
	kept  []hit
}

// hit is a result with what it is sorted by.
type hit struct {
	entry entry
	shown Entry
}

func (x *finder) visit(e entry) error {
	if !x.match(e) {
		return nil
	}
	index := x.total
	x.total++
	if x.order == nil && !x.query.page.holds(index) {
		return nil
	}
	shown := x.files.entry(x.start, e)
	e.dir = nil
	x.kept = append(x.kept, hit{entry: e, shown: shown})
	if window := x.query.page.offset + x.query.page.limit; x.order != nil && len(x.kept) >= 2*window {
		x.sort()
		x.kept = slices.Delete(x.kept, window, len(x.kept))
	}
	return nil
}

func (x *finder) sort() {
	slices.SortFunc(x.kept, func(a, b hit) int { return x.order(a.entry, b.entry) })
}

// page gives the results that were asked for.
func (x *finder) page() []Entry {
	if x.order != nil {
		x.sort()
		x.kept = x.kept[min(x.query.page.offset, len(x.kept)):]
	}
	entries := []Entry{}
	for _, h := range x.kept[:min(x.query.page.limit, len(x.kept))] {
		entries = append(entries, h.shown)
	}
	return entries
}

// parseTime reads an absolute time; a date means its beginning in UTC.
func parseTime(field, value string, _ time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, failf(ErrInvalid, "%s must be a time like 2026-01-31T08:00:00Z or a date like 2026-01-31, not %s", field, clip(value))
}

// maxAge keeps arithmetic on times far from overflow.
const maxAge = 100 * 365 * 24 * time.Hour

// parseAge reads a duration and goes back by it. Days and weeks are known besides Go's units.
func parseAge(field, value string, now time.Time) (time.Time, error) {
	age, err := time.ParseDuration(value)
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(value, unit)
		if n, parseErr := strconv.ParseFloat(number, 64); ok && parseErr == nil && n >= 0 && n < float64(maxAge/length) {
			age, err = time.Duration(n*float64(length)), nil
		}
	}
	if err != nil || age < 0 || age > maxAge {
		return time.Time{}, failf(ErrInvalid, "%s must be a duration like 30m or 12h or 7d or 2w, not %s", field, clip(value))
	}
	return now.Add(-age), nil
}
