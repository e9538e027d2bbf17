package files

import (
	"net/url"
	"path"
	"strings"
)

// maxPathBytes bounds a path as it comes in. Linux takes no longer one either.
const maxPathBytes = 4096

// maxURIBytes leaves room for every byte of a path to be percent-encoded.
const maxURIBytes = 3*maxPathBytes + 64

// syntax is the way a system spells paths. It is data, so that the Windows rules are tested everywhere. Inside this package
// paths have slashes only.
type syntax struct {
	windows bool
}

// slashed turns the separators of the system into slashes. On Windows the prefix that switches name parsing off goes too:
// it changes nothing about which file is meant once the path is clean.
func (s syntax) slashed(p string) string {
	if !s.windows {
		return p
	}
	return strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "//?/")
}

// hasDrive reports whether a slashed path begins with a drive letter.
func (s syntax) hasDrive(p string) bool {
	return s.windows && len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}

// absolute reports whether a slashed path stands on its own. "C:name", which depends on a current directory, does not.
func (s syntax) absolute(p string) bool {
	return strings.HasPrefix(p, "/") || s.hasDrive(p) && strings.HasPrefix(p[2:], "/")
}

// clean resolves "." and ".." of an absolute path lexically; ".." stops at the top. A Windows drive stays, and so does the
// double slash of a share.
func (s syntax) clean(p string) string {
	switch {
	case s.hasDrive(p):
		return p[:2] + path.Clean(p[2:])
	case s.windows && strings.HasPrefix(p, "//"):
		return "/" + path.Clean(p)
	}
	return path.Clean(p)
}

// under reports whether p is dir or below it, both absolute and clean, and gives the rest ("." for dir itself). Whole names
// are compared, so /data does not contain /database. Windows ignores case, in the drive letter as in names.
func (s syntax) under(dir, p string) (rel string, ok bool) {
	if strings.HasPrefix(dir, "//") != strings.HasPrefix(p, "//") {
		return "", false
	}
	above, below := names(dir), names(p)
	if len(below) < len(above) {
		return "", false
	}
	for i, name := range above {
		if name != below[i] && !(s.windows && strings.EqualFold(name, below[i])) {
			return "", false
		}
	}
	if len(below) == len(above) {
		return ".", true
	}
	return strings.Join(below[len(above):], "/"), true
}

// names splits a clean absolute path; the file system's root has none.
func names(p string) []string {
	p = strings.Trim(p, "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// isURI tells a file URI from a path. A relative name that begins with "file:" but has no slash stays a path.
func isURI(p string) bool {
	return len(p) >= len("file:/") && strings.EqualFold(p[:len("file:/")], "file:/")
}

// fromURI gives the path that a file URI names. It is decoded once: what is encoded twice stays a literal name.
func (s syntax) fromURI(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", failf(ErrInvalid, "not a valid file URI: %s; it looks like file:///dir/name, with %%20 for a space", clip(uri))
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(uri, "#"):
		return "", failf(ErrInvalid, "a file URI has no query and no fragment: %s; write ? as %%3F and # as %%23", clip(uri))
	case u.Host == "" || strings.EqualFold(u.Host, "localhost"):
	case s.windows && u.User == nil:
		return "//" + u.Host + u.Path, nil
	default:
		return "", failf(ErrInvalid, "a file URI names no other host: %s; it begins with file:///", clip(uri))
	}
	if s.hasDrive(strings.TrimPrefix(u.Path, "/")) {
		return u.Path[1:], nil
	}
	return u.Path, nil
}

// toURI gives the file URI of a clean absolute path.
func (s syntax) toURI(p string) string {
	u := url.URL{Scheme: "file", Path: p}
	if share, ok := strings.CutPrefix(p, "//"); ok {
		host, rest, _ := strings.Cut(share, "/")
		u.Host, u.Path = host, "/"+rest
	} else if s.hasDrive(p) {
		u.Path = "/" + p
	}
	return u.String()
}

// check refuses what no path may contain, before anything is done with it.
func (s syntax) check(p string, most int) error {
	switch {
	case len(p) > most:
		return failf(ErrInvalid, "the path has %d bytes, more than the %d that are allowed: %s", len(p), most, clip(p))
	case strings.IndexByte(p, 0) >= 0:
		return failf(ErrInvalid, "the path contains a NUL byte: %s", clip(p))
	}
	return nil
}

// resolve turns what a caller wrote into a clean absolute path. Relative paths begin at base. Nothing is looked up.
func (s syntax) resolve(base, input string) (abs string, relative bool, err error) {
	p := input
	if isURI(p) {
		if err := s.check(p, maxURIBytes); err != nil {
			return "", false, err
		}
		if p, err = s.fromURI(p); err != nil {
			return "", false, err
		}
	}
	if err := s.check(p, maxPathBytes); err != nil {
		return "", false, err
	}
	p = s.slashed(p)
	if s.absolute(p) {
		return s.clean(p), false, nil
	}
	if s.hasDrive(p) {
		return "", false, failf(ErrInvalid, `%s depends on the drive's current directory; write it as C:\dir\name`, clip(input))
	}
	return s.clean(base + "/" + p), true, nil
}
