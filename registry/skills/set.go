package skills

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
)

// Category is that of the resources of all skills.
const Category string = "skills"

// Settings is what the capability of the extension says: directories can be
// read.
const Settings string = `{"directoryRead":true}`

// The bounds of what is served. The first two are those of the extension, which
// every host must support.
const (
	MaxFiles       = 512      // of a skill
	MaxBytes       = 16 << 20 // of all files of a skill
	MaxManifest    = 1 << 20  // bytes of a SKILL.md
	MaxSkills      = 1000     // of a set
	MaxDescription = 1024     // characters

	// DefaultPageSize is how many entries or names a page has.
	DefaultPageSize = 1000
)

// Options says which skills are served.
type Options struct {
	// Dirs are directories that are a skill or have skills below them.
	Dirs []string
	// Systems are file systems with skills below their top, such as an embed.FS
	// for the skills that a program brings along. They come after the
	// directories.
	Systems []fs.FS
	// Accept decides which skills are served, by the subject of their SKILL.md;
	// nil means all.
	Accept func(*policy.Subject) bool
	// Visible says what a principal may know of; nil means everything.
	Visible func(*policy.Principal, *policy.Subject) bool
	// PageSize bounds the entries or names of a page; 0 means DefaultPageSize. A
	// page ends earlier if it would have more than 1 MiB.
	PageSize int
	// CursorKey is 32 random bytes, the same for all replicas; nil means that
	// cursors are for this process.
	CursorKey []byte
	// Logger is told what is left out; nil discards.
	Logger *slog.Logger
}

// Set is the skills of one server, as they were when it was opened. Its methods
// may be called by several goroutines.
type Set struct {
	skills   []*skill // in the order of the directories, then of the paths
	byPath   map[string]*skill
	sources  []*source
	cursors  *registry.Cursors
	pageSize int
	visible  func(*policy.Principal, *policy.Subject) bool
	log      *slog.Logger
}

// Open reads the skills. The error names every file that is not as it should
// be, with the line; nothing is served then. Directories without a skill are no
// error: the set may be empty. The owner closes the set.
func Open(o *Options) (*Set, error) {
	s := &Set{byPath: make(map[string]*skill), pageSize: o.PageSize, visible: o.Visible, log: o.Logger}
	if s.pageSize <= 0 {
		s.pageSize = DefaultPageSize
	}
	if s.visible == nil {
		s.visible = func(*policy.Principal, *policy.Subject) bool { return true }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	key := o.CursorKey
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key)
	}
	s.cursors = registry.NewCursors(key)
	if err := s.load(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// load reads the directories and puts together what is in them.
func (s *Set) load(o *Options) error {
	var faults faults
	for _, dir := range o.Dirs {
		src, err := openDir(dir)
		if err != nil {
			faults.add(err)
			continue
		}
		s.sources = append(s.sources, src)
	}
	for _, fsys := range o.Systems {
		s.sources = append(s.sources, &source{fsys: fsys})
	}
	for _, src := range s.sources {
		s.take(scan(src, s.log, &faults), o.Accept, &faults)
	}
	s.reportNames()
	return faults.err()
}

// take adds the skills of a source that are accepted.
func (s *Set) take(found []*skill, accept func(*policy.Subject) bool, faults *faults) {
	for _, sk := range found {
		if accept != nil && !accept(&sk.subject) {
			s.log.Debug("skill left out", "skill", sk.path)
			continue
		}
		s.add(sk, faults)
	}
}

// add puts a skill into the set unless its place is taken.
func (s *Set) add(sk *skill, faults *faults) {
	if len(s.skills) == MaxSkills {
		faults.addf("%s: more than %d skills", sk.place(), MaxSkills)
		return
	}
	if old := s.byPath[sk.path]; old != nil {
		faults.addf("%s: %s is a skill already, from %s", sk.place(), sk.uri(), old.place())
		return
	}
	for _, other := range s.skills {
		if other.src != sk.src && (within(sk.path, other.path) || within(other.path, sk.path)) {
			faults.addf("%s: %s and %s, from %s, would be inside each other without being so on disk", sk.place(), sk.uri(), other.uri(), other.place())
			return
		}
	}
	s.skills = append(s.skills, sk)
	s.byPath[sk.path] = sk
}

// reportNames logs names that several skills have. That is allowed, since the
// URI tells them apart, but a model sees the names.
func (s *Set) reportNames() {
	first := make(map[string]*skill)
	for _, sk := range s.skills {
		if other := first[sk.name]; other != nil {
			s.log.Warn("two skills have the same name", "name", sk.name, "first", other.uri(), "second", sk.uri())
			continue
		}
		first[sk.name] = sk
	}
}

// Len returns how many skills there are.
func (s *Set) Len() int { return len(s.skills) }

// Close releases the directories. Reads fail from then on.
func (s *Set) Close() error {
	var errs []error
	for _, src := range s.sources {
		errs = append(errs, src.close())
	}
	return errors.Join(errs...)
}
