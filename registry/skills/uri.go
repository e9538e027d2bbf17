package skills

import (
	"net/url"
	"strings"
)

// scheme begins the URIs of all skills.
const scheme = "skill://"

// encodeURI returns the URI of a path: all characters but the few that never
// mean anything else in a path are percent-encoded.
func encodeURI(path string) string {
	var b strings.Builder
	b.WriteString(scheme)
	for i := range len(path) {
		c := path[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const digits = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// decodeURI returns the path that a URI stands for. Other spellings of the same
// characters are accepted, other ways to the same place are not.
func decodeURI(uri string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok || rest == "" {
		return "", false
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		s, err := url.PathUnescape(s)
		if err != nil || s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\x00") {
			return "", false
		}
		segments[i] = s
	}
	return strings.Join(segments, "/"), true
}
