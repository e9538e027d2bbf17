package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// tree is the files of a skill.
type tree struct {
	files  []*file
	byPath map[string]*file
	bytes  int64               // of all files
	dirs   map[string][]string // names in each directory; the top is "."
}

func newTree() *tree {
	return &tree{byPath: make(map[string]*file), dirs: make(map[string][]string)}
}

func (t *tree) add(f *file) {
	t.files = append(t.files, f)
	t.byPath[f.path] = f
	t.bytes += f.size
}

// release lets go of what only the making of skills needs.
func (t *tree) release() {
	for _, f := range t.files {
		f.manifest = nil
	}
}

// file is a file of a skill as it was read.
type file struct {
	path     string // in the skill
	mime     string
	text     bool
	size     int64
	sum      [sha256.Size]byte
	manifest []byte // what is in a SKILL.md, until all skills are made
}

func newFile(name string, data []byte) *file {
	f := &file{path: name, size: int64(len(data)), sum: sha256.Sum256(data)}
	f.mime, f.text = mediaType(name, data)
	return f
}

// digest returns the digest in the form that entries have.
func (f *file) digest() string { return "sha256:" + hex.EncodeToString(f.sum[:]) }

// sub returns the part of the tree below a directory.
func (t *tree) sub(dir string) *tree {
	part := newTree()
	for _, f := range t.files {
		if rel, ok := strings.CutPrefix(f.path, dir+"/"); ok {
			moved := *f
			moved.path = rel
			part.add(&moved)
		}
	}
	for d, names := range t.dirs {
		if d == dir {
			part.dirs["."] = names
		} else if rel, ok := strings.CutPrefix(d, dir+"/"); ok {
			part.dirs[rel] = names
		}
	}
	return part
}
