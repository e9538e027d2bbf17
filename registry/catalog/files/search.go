package files

import (
	"bytes"
	"context"
	"io"
	"os"
)

const (
	searchLimit      = 200
	maxSearchLimit   = 2000
	perFileLimit     = 50
	maxContextLines  = 20
	progressReports  = 100
	maxShownLine     = 500
	shownBeforeMatch = 100
	// maxSearchBytes bounds the text of all matches together.
	maxSearchBytes = 1 << 20
)

// SearchTextIn says what to search for and where.
type SearchTextIn struct {
	Pattern    string   `json:"pattern" jsonschema:"description=Regular expression in RE2 syntax that is matched against each line,minLength=1,maxLength=1024"`
	Path       string   `json:"path,omitempty" jsonschema:"description=Directory or file to search: absolute or relative to the first root; the first root when left out"`
	Literal    bool     `json:"literal,omitempty" jsonschema:"description=Take the pattern as plain text,default=false"`
	IgnoreCase bool     `json:"ignore_case,omitempty" jsonschema:"description=Match without regard to case,default=false"`
	Include    []string `json:"include,omitempty" jsonschema:"description=Only files that match one of these globs such as *.go or docs/**"`
	Exclude    []string `json:"exclude,omitempty" jsonschema:"description=Globs of what to skip; a directory that matches is not searched"`
	Hidden     bool     `json:"hidden,omitempty" jsonschema:"description=Search names that begin with a dot; an include glob that spells such a name does so too,default=false"`
	Before     int      `json:"before,omitempty" jsonschema:"description=Lines to show before each match,minimum=0,maximum=20,default=0"`
	After      int      `json:"after,omitempty" jsonschema:"description=Lines to show after each match,minimum=0,maximum=20,default=0"`
	FilesOnly  bool     `json:"files_only,omitempty" jsonschema:"description=Return only the names of the files and the number of matching lines in each,default=false"`
	MaxPerFile int      `json:"max_per_file,omitempty" jsonschema:"description=Most matches to return for one file,minimum=1,maximum=2000,default=50"`
	Limit      int      `json:"limit,omitempty" jsonschema:"description=Most matches to return (or files with files_only),minimum=1,maximum=2000,default=200"`
}

// SearchTextOut is what a search found.
type SearchTextOut struct {
	Path          string      `json:"path" jsonschema:"description=What was searched"`
	Matches       []Match     `json:"matches" jsonschema:"description=Matching lines; empty with files_only"`
	Files         []FileMatch `json:"files" jsonschema:"description=The files that match"`
	FilesSearched int         `json:"files_searched" jsonschema:"description=How many files were looked into,minimum=0"`
	FilesFound    int         `json:"files_found" jsonschema:"description=How many files there are to search,minimum=0"`
	SkippedBinary int         `json:"skipped_binary" jsonschema:"description=Files left out because they are no text,minimum=0"`
	SkippedLarge  int         `json:"skipped_large" jsonschema:"description=Files left out because of their size,minimum=0"`
	Unreadable    int         `json:"unreadable" jsonschema:"description=Files that could not be read,minimum=0"`
	Truncated     bool        `json:"truncated" jsonschema:"description=Whether a limit ended the search so that there may be more matches"`
	Notes         []string    `json:"notes" jsonschema:"description=What was left out and how to see it"`
}

// Match is one matching line.
type Match struct {
	Path          string   `json:"path" jsonschema:"description=The file"`
	Line          int      `json:"line" jsonschema:"description=Number of the line,minimum=1"`
	Column        int      `json:"column" jsonschema:"description=Byte at which the match begins,minimum=1"`
	Text          string   `json:"text" jsonschema:"description=The line without its end"`
	TextTruncated bool     `json:"text_truncated,omitempty" jsonschema:"description=Whether only the part of a long line around the match is shown"`
	Before        []string `json:"before,omitempty" jsonschema:"description=The lines before it"`
	After         []string `json:"after,omitempty" jsonschema:"description=The lines after it"`
}

// FileMatch is a file with matches.
type FileMatch struct {
	Path  string `json:"path" jsonschema:"description=The file"`
	Lines int    `json:"lines" jsonschema:"description=How many of its lines match (counting stops where the search stops),minimum=1"`
}

// Progress is told how far an operation is; total is 0 while it is unknown. It must return soon.
type Progress func(done, total int, message string)

// SearchText searches the text files below a directory, or one file, line by line. First the files are listed, then they
// are searched, so that progress (which may be nil) knows the total.
func (f *Files) SearchText(ctx context.Context, in SearchTextIn, progress Progress) (SearchTextOut, error) {
	p, err := f.locate(in.Path)
	if err != nil {
		return SearchTextOut{}, err
	}
	s, err := newSearch(in)
	if err != nil {
		return SearchTextOut{}, err
	}
	s.files, s.start = f, p
	s.out = SearchTextOut{Path: p.shown, Matches: []Match{}, Files: []FileMatch{}}
	dir, err := s.list(ctx)
	if err != nil {
		return SearchTextOut{}, err
	}
	defer dir.Close()
	s.out.FilesFound = len(s.candidates)
	if err := s.searchAll(ctx, dir, progress); err != nil {
		return SearchTextOut{}, err
	}
	s.note(in)
	return s.out, nil
}

// search is one search under way.
type search struct {
	SearchTextIn
	matcher          *matcher
	include, exclude globs

	files      *Files
	start      place
	candidates []string
	buffer     bytes.Buffer
	shownBytes int
	cutLines   int // that were too long for the pattern
	out        SearchTextOut
	walkReport walkReport
}

func newSearch(in SearchTextIn) (s *search, err error) {
	s = &search{SearchTextIn: in}
	if s.matcher, err = newMatcher(in); err != nil {
		return nil, err
	}
	if s.include, err = compileGlobs("include", in.Include, false); err != nil {
		return nil, err
	}
	if s.exclude, err = compileGlobs("exclude", in.Exclude, false); err != nil {
		return nil, err
	}
	if in.Before < 0 || in.Before > maxContextLines || in.After < 0 || in.After > maxContextLines {
		return nil, failf(ErrInvalid, "before and after must be from 0 to %d lines", maxContextLines)
	}
	if s.MaxPerFile, err = within("max_per_file", in.MaxPerFile, perFileLimit, maxSearchLimit); err != nil {
		return nil, err
	}
	s.Limit, err = within("limit", in.Limit, searchLimit, maxSearchLimit)
	return s, err
}

// list finds the files to search and opens the directory that they are relative to.
func (s *search) list(ctx context.Context) (*os.Root, error) {
	info, err := s.start.root.dir.Stat(s.start.rel)
	if err != nil {
		return nil, s.files.explain(s.start, err)
	}
	if !info.IsDir() {
		// Its root is what it may be a link within.
		s.candidates = []string{s.start.rel}
		s.start = s.files.at(s.start.root, ".")
		return openDir(s.start.root.dir, ".")
	}
	w := walk{
		depth:  maxDepth,
		hidden: s.Hidden || s.include.dotted(),
		skip:   s.exclude.excludes,
		visit:  s.consider,
	}
	if err := s.files.run(ctx, s.start, &w); err != nil {
		return nil, err
	}
	s.walkReport = w.walkReport
	dir, err := openDir(s.start.root.dir, s.start.rel)
	if err != nil {
		return nil, s.files.explain(s.start, err)
	}
	return dir, nil
}

// consider takes an entry of the walk as a file to search.
func (s *search) consider(e entry) error {
	if !e.info.Mode().IsRegular() || s.include != nil && !s.include.match(e.rel) {
		return nil
	}
	if e.info.Size() > s.files.opts.MaxSearchFileBytes {
		s.out.SkippedLarge++
		return nil
	}
	s.candidates = append(s.candidates, e.rel)
	return nil
}

func (s *search) searchAll(ctx context.Context, dir *os.Root, progress Progress) error {
	total := len(s.candidates)
	every := max(1, total/progressReports)
	for i, rel := range s.candidates {
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil && i%every == 0 {
			progress(i, total, "searching "+s.files.below(s.start, rel).shown)
		}
		if s.full() {
			s.out.Truncated = true
			break
		}
		if err := s.searchFile(ctx, dir, rel); err != nil {
			return err
		}
	}
	if progress != nil {
		progress(total, total, "searched "+plural(s.out.FilesSearched, "file", "files"))
	}
	return nil
}

// full reports whether no further match would be returned.
func (s *search) full() bool {
	if s.FilesOnly {
		return len(s.out.Files) >= s.Limit
	}
	return len(s.out.Matches) >= s.Limit || s.shownBytes >= maxSearchBytes
}

// searchFile searches one file. What cannot be read or is no text is counted.
func (s *search) searchFile(ctx context.Context, dir *os.Root, rel string) error {
	content, err := s.load(ctx, dir, rel)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.out.Unreadable++
		return nil
	case int64(len(content)) > s.files.opts.MaxSearchFileBytes:
		s.out.SkippedLarge++
		return nil
	case looksBinary(content):
		s.out.SkippedBinary++
		return nil
	}
	s.out.FilesSearched++
	return s.searchLines(ctx, s.files.below(s.start, rel).shown, content)
}

// load reads a file into the buffer that all files share, one byte beyond the bound so that excess shows.
func (s *search) load(ctx context.Context, dir *os.Root, rel string) ([]byte, error) {
	file, _, err := openRegular(dir, rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s.buffer.Reset()
	_, err = s.buffer.ReadFrom(io.LimitReader(cancellable{ctx, file}, s.files.opts.MaxSearchFileBytes+1))
	return s.buffer.Bytes(), err
}

// searchLines looks at every line and notes the ones that match.
func (s *search) searchLines(ctx context.Context, shown string, content []byte) error {
	found := 0
	steps := 0 // since the last check
	for number, pos := 1, 0; pos < len(content); number++ {
		line, next := lineAt(content, pos)
		if len(line) > s.matcher.longest {
			line = line[:s.matcher.longest]
			s.cutLines++
		}
		if steps += s.matcher.steps * (len(line) + 1); steps >= stepsPerCheck {
			if steps = 0; ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if at := s.matcher.find(line); at >= 0 {
			found++
			if s.FilesOnly {
				pos = next
				continue
			}
			if found > s.MaxPerFile || s.full() {
				s.out.Truncated = true
				found--
				break
			}
			s.add(shown, number, at, content, pos, next)
		}
		pos = next
	}
	if found > 0 {
		s.out.Files = append(s.out.Files, FileMatch{Path: shown, Lines: found})
	}
	return nil
}

// add notes a match in the line at content[pos:next].
func (s *search) add(shown string, number, at int, content []byte, pos, next int) {
	line, _ := lineAt(content, pos)
	text, cut := aroundMatch(line, at)
	m := Match{Path: shown, Line: number, Column: at + 1, Text: text, TextTruncated: cut}
	m.Before = linesBefore(content, pos, s.Before)
	m.After = linesAfter(content, next, s.After)
	s.out.Matches = append(s.out.Matches, m)
	s.shownBytes += len(m.Text)
	for _, context := range [][]string{m.Before, m.After} {
		for _, line := range context {
			s.shownBytes += len(line)
		}
	}
}

// lineAt gives the line that begins at pos, without its end, and where the next one begins.
func lineAt(content []byte, pos int) (line []byte, next int) {
	if end := bytes.IndexByte(content[pos:], '\n'); end >= 0 {
		return bytes.TrimSuffix(content[pos:pos+end], []byte("\r")), pos + end + 1
	}
	return content[pos:], len(content)
}

// aroundMatch shows a line, or the part around the match if it is long.
func aroundMatch(line []byte, at int) (text string, cut bool) {
	if len(line) <= maxShownLine {
		return validText(line), false
	}
	from := 0
	if at > shownBeforeMatch {
		from = runeStart(line, min(at-shownBeforeMatch, len(line)-maxShownLine))
	}
	return validText(wholeRunes(line[from:min(from+maxShownLine, len(line))])), true
}

// shortLine shows a line of context.
func shortLine(line []byte) string {
	if len(line) > maxShownLine {
		line = wholeRunes(line[:maxShownLine])
	}
	return validText(line)
}

// linesBefore gives up to n lines that end where pos begins.
func linesBefore(content []byte, pos, n int) []string {
	var starts []int
	for ; n > 0 && pos > 0; n-- {
		pos = bytes.LastIndexByte(content[:pos-1], '\n') + 1
		starts = append(starts, pos)
	}
	var lines []string
	for i := len(starts) - 1; i >= 0; i-- {
		line, _ := lineAt(content, starts[i])
		lines = append(lines, shortLine(line))
	}
	return lines
}

// linesAfter gives up to n lines that begin at pos.
func linesAfter(content []byte, pos, n int) []string {
	var lines []string
	for ; n > 0 && pos < len(content); n-- {
		var line []byte
		line, pos = lineAt(content, pos)
		lines = append(lines, shortLine(line))
	}
	return lines
}

// note says what was left out.
func (s *search) note(in SearchTextIn) {
	s.out.Notes = s.walkReport.notes(s.files.opts.MaxWalkEntries)
	if s.out.Truncated {
		s.out.Notes = append(s.out.Notes, "a limit ended the search and there may be more; narrow the pattern or the globs, or set files_only to see which files match")
	}
	if s.out.SkippedLarge > 0 {
		s.out.Notes = append(s.out.Notes, plural(s.out.SkippedLarge, "file", "files")+" larger than "+humanSize(s.files.opts.MaxSearchFileBytes)+" left out")
	}
	if s.out.SkippedBinary > 0 {
		s.out.Notes = append(s.out.Notes, plural(s.out.SkippedBinary, "file is", "files are")+" not text and left out")
	}
	if s.out.Unreadable > 0 {
		s.out.Notes = append(s.out.Notes, plural(s.out.Unreadable, "file", "files")+" cannot be read, or lead out of their root")
	}
	if s.cutLines > 0 {
		s.out.Notes = append(s.out.Notes, "of "+plural(s.cutLines, "long line", "long lines")+" only the first "+humanSize(int64(s.matcher.longest))+" were searched, because the pattern is costly; use one with fewer or smaller counts")
	}
	if s.out.FilesFound == 0 {
		s.out.Notes = append(s.out.Notes, "there is no file to search; find_files shows which names match a glob")
	}
	if s.out.FilesSearched > 0 && len(s.out.Files) == 0 && !in.IgnoreCase {
		s.out.Notes = append(s.out.Notes, "nothing matches; case counts unless ignore_case is set")
	}
}
