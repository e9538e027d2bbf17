package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
)

const (
	manifestName = "SKILL.md"
	maxDepth     = 16     // of directories below a source
	maxVisited   = 20_000 // files and directories of a source
)

// scanner looks for skills in one source.
type scanner struct {
	src     *source
	log     *slog.Logger
	faults  *faults
	visited int
	skills  []*skill
}

// scan returns the sound skills of a source, and adds what is wrong with the
// others.
func scan(src *source, log *slog.Logger, f *faults) []*skill {
	s := &scanner{src: src, log: log, faults: f}
	before := len(f.list)
	s.folder(".", 0)
	if len(s.skills) == 0 && len(f.list) == before {
		log.Warn("no skill found: there is no SKILL.md below this directory", "directory", src.place("."))
	}
	slices.SortFunc(s.skills, func(a, b *skill) int { return strings.Compare(a.path, b.path) })
	return s.skills
}

// visit returns what is in a directory, or adds the fault.
func (s *scanner) visit(dir string, depth int) ([]fs.DirEntry, bool) {
	list, err := s.src.entries(dir)
	if s.visited += len(list); err == nil && s.visited > maxVisited {
		err = errTooMany
	}
	if err == nil && depth > maxDepth {
		err = fmt.Errorf("more than %d directories in each other", maxDepth)
	}
	if err != nil {
		s.faults.add(at(s.src.place(dir), err))
		return nil, false
	}
	return list, true
}

// folder looks for skills in a directory that is not inside of one.
func (s *scanner) folder(dir string, depth int) {
	list, ok := s.visit(dir, depth)
	if !ok {
		return
	}
	for _, e := range list {
		if e.Name() == manifestName {
			if dir == "." {
				s.src.base = s.src.name
			}
			s.skill(dir, depth)
			return
		}
		if strings.EqualFold(e.Name(), manifestName) {
			s.faults.addf("%s: the file must be called %s", s.src.place(below(dir, e.Name())), manifestName)
			return
		}
	}
	for _, e := range list {
		switch {
		case e.IsDir():
			s.folder(below(dir, e.Name()), depth+1)
		case e.Type()&fs.ModeSymlink != 0:
			s.log.Warn("symbolic link left out: give the directory that it leads to as one of the skills", "link", s.src.place(below(dir, e.Name())))
		}
	}
}

// skill reads the skill in a directory, and those inside of it.
func (s *scanner) skill(dir string, depth int) {
	t := newTree()
	if !s.fill(t, dir, ".", depth) {
		return
	}
	sk, err := newSkill(s.src, dir, t)
	if err != nil {
		s.faults.add(at(s.src.place(below(dir, manifestName)), err))
		return
	}
	s.skills = append(s.skills, sk)
	for _, f := range t.files {
		if inner := path.Dir(f.path); inner != "." && path.Base(f.path) == manifestName {
			s.inner(below(dir, inner), t.sub(inner))
		}
	}
	t.release()
}

// inner adds a skill that is inside of another one, if it is one: what its files
// are to the outer skill does not depend on that.
func (s *scanner) inner(dir string, t *tree) {
	sk, err := newSkill(s.src, dir, t)
	if err != nil {
		s.log.Warn("not served as a skill of its own", "reason", at(s.src.place(below(dir, manifestName)), err))
		return
	}
	s.skills = append(s.skills, sk)
	t.release()
}

// fill reads the directory at rel of the skill in dir.
func (s *scanner) fill(t *tree, dir, rel string, depth int) bool {
	list, ok := s.visit(below(dir, rel), depth)
	if !ok {
		return false
	}
	t.dirs[rel] = make([]string, 0, len(list))
	for _, e := range list {
		name := below(rel, e.Name())
		t.dirs[rel] = append(t.dirs[rel], e.Name())
		err := checkFileName(e.Name())
		if err == nil && e.IsDir() {
			if !s.fill(t, dir, name, depth+1) {
				return false
			}
			continue
		}
		if err == nil {
			err = s.file(t, dir, name, e.Type())
		}
		if err != nil {
			s.faults.add(at(s.src.place(below(dir, name)), err))
			return false
		}
	}
	return true
}

// file reads a file of the skill in dir and notes what it is.
func (s *scanner) file(t *tree, dir, name string, kind fs.FileMode) error {
	switch {
	case kind&fs.ModeSymlink != 0:
		return errors.New("a symbolic link in a skill is not followed: put a copy of the file here")
	case kind != 0:
		return errors.New("a skill has files and directories only, and this is neither")
	case len(t.files) == MaxFiles:
		return fmt.Errorf("the skill has more than %d files", MaxFiles)
	}
	most := MaxBytes - t.bytes
	data, err := s.src.read(below(dir, name), most)
	if errors.Is(err, errTooLarge) {
		return fmt.Errorf("the files of the skill have more than %d bytes together", MaxBytes)
	}
	if err != nil {
		return err
	}
	f := newFile(name, data)
	if path.Base(name) == manifestName {
		f.manifest = data
	}
	t.add(f)
	return nil
}
