package skills

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry/skills/frontmatter"
)

// skill is one skill. It is immutable.
type skill struct {
	*tree
	src         *source
	dir         string // in the source
	path        string // of its URI; ends with the name
	name        string
	description string
	subject     policy.Subject    // its SKILL.md, which decides who sees the skill
	entry       item              // as skills/list and skills/get show it
	listings    map[string][]item // what is in each directory
}

// newSkill returns the skill whose files are given.
func newSkill(src *source, dir string, t *tree) (*skill, error) {
	m := t.byPath[manifestName]
	if m == nil {
		return nil, fmt.Errorf("%s is not a file", manifestName)
	}
	h, err := parseHead(m.manifest)
	if err != nil {
		return nil, err
	}
	s := &skill{tree: t, src: src, dir: dir, path: path.Join(src.base, dir), name: h.name, description: h.description}
	if s.path == "." {
		return nil, errors.New("a skill at the top of a file system has no directory with its name: move it into one")
	}
	prefix, own := path.Split(s.path)
	if own != h.name {
		return nil, &frontmatter.Error{Line: h.nameLine, Text: fmt.Sprintf("the name is %q but the directory is called %q: they must be the same", h.name, own)}
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(prefix, "/"), "/") {
		if err := checkPrefix(segment); err != nil {
			return nil, err
		}
	}
	s.subject = policy.Subject{Kind: policy.Resource, Name: s.uri(), Category: Category, Sensitivity: sensitivity, Capabilities: policy.ReadFS}
	s.entry = newItem(s.appendEntry(nil, h.json))
	s.listings = make(map[string][]item)
	for d, names := range t.dirs {
		s.listings[d] = s.listing(d, names)
	}
	return s, nil
}

// place returns where the skill is, for messages.
func (s *skill) place() string { return s.src.place(s.dir) }

// uri returns the URI of the SKILL.md.
func (s *skill) uri() string { return s.fileURI(manifestName) }

// fileURI returns the URI of a file or directory of the skill.
func (s *skill) fileURI(name string) string { return encodeURI(path.Join(s.path, name)) }

// appendEntry appends the entry of the skill, its SKILL.md first.
func (s *skill) appendEntry(dst, head []byte) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, s.uri())
	dst = append(dst, `,"frontmatter":`...)
	dst = append(dst, head...)
	dst = append(dst, `,"resources":[`...)
	dst = s.appendFile(dst, s.byPath[manifestName])
	for _, f := range s.files {
		if f.path != manifestName {
			dst = s.appendFile(append(dst, ','), f)
		}
	}
	return append(dst, `]}`...)
}

func (s *skill) appendFile(dst []byte, f *file) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, s.fileURI(f.path))
	dst = append(dst, `,"digest":"`...)
	dst = append(dst, f.digest()...)
	dst = append(dst, `","size":`...)
	dst = strconv.AppendInt(dst, f.size, 10)
	return append(dst, '}')
}
