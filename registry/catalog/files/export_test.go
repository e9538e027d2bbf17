package files

import "os"

// The pure parts are tested directly where the operations reach them on one system only, or not with every input.

// UnifiedDiff exposes unifiedDiff.
func UnifiedDiff(name, old, new string, bound int) (string, bool) {
	return unifiedDiff(name, old, new, bound)
}

// MatchGlob compiles a pattern and matches a relative path.
func MatchGlob(pattern, rel string) (bool, error) {
	g, err := compileGlob("pattern", pattern, false)
	if err != nil {
		return false, err
	}
	return g.match(rel), nil
}

// Resolve resolves a path the way the named system spells them.
func Resolve(windows bool, base, input string) (string, error) {
	abs, _, err := syntax{windows: windows}.resolve(base, input)
	return abs, err
}

// Under exposes syntax.under.
func Under(windows bool, dir, p string) (string, bool) { return syntax{windows: windows}.under(dir, p) }

// FileURI exposes syntax.toURI.
func FileURI(windows bool, p string) string { return syntax{windows: windows}.toURI(p) }

// ReserveAndRename exposes the way that file systems without hard links need.
func ReserveAndRename(dir *os.Root, temp, name string) error {
	return reserveAndRename(dir, temp, name)
}

// Classify exposes classify.
func Classify(name string, head []byte) (mimeType string, text bool) {
	c := classify(name, head)
	return c.mime, c.text
}

// HoldWrites keeps every change of f waiting until it is released.
func HoldWrites(f *Files) (release func()) {
	f.writing <- struct{}{}
	return func() { <-f.writing }
}

// Find compiles a pattern and finds it in a line.
func Find(in SearchTextIn, line string) (int, error) {
	m, err := newMatcher(in)
	if err != nil {
		return 0, err
	}
	return m.find([]byte(line)), nil
}
