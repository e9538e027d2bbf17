package skills

import (
	"path"
	"strings"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// A Method is a request of the extension.
type Method struct {
	Name string
	// Cacheable results say how long they may be kept, and by whom.
	Cacheable bool
	// Append appends the members of the result to dst, the first one without a
	// comma before it.
	Append func(dst []byte, q *Query) ([]byte, error)
}

// Query is what a request asks for, and who asks.
type Query struct {
	Principal   *policy.Principal
	URI, Cursor []byte // the parameters as raw JSON; nil if absent
}

// shows reports whether the skill exists for the one who asks.
func (s *Set) shows(sk *skill, q *Query) bool { return s.visible(q.Principal, &sk.subject) }

// Methods returns the requests of the extension.
func (s *Set) Methods() []Method {
	return []Method{
		{Name: "skills/list", Cacheable: true, Append: s.list},
		{Name: "skills/get", Cacheable: true, Append: s.get},
		{Name: "resources/directory/read", Append: s.readDirectory},
	}
}

func (s *Set) list(dst []byte, q *Query) ([]byte, error) {
	items := make([]item, 0, len(s.skills))
	for _, sk := range s.skills {
		if s.shows(sk, q) {
			items = append(items, sk.entry)
		}
	}
	return s.appendPage(dst, "skills", "skills", items, q)
}

func (s *Set) get(dst []byte, q *Query) ([]byte, error) {
	uri, err := q.uri("skills/get")
	if err != nil {
		return dst, err
	}
	if p, ok := decodeURI(uri); ok && path.Base(p) == manifestName {
		if sk := s.byPath[path.Dir(p)]; sk != nil && s.shows(sk, q) {
			return append(append(dst, `"skill":`...), sk.entry.json...), nil
		}
	}
	return dst, notFound("No skill is served at %s", uri)
}

func (s *Set) readDirectory(dst []byte, q *Query) ([]byte, error) {
	uri, err := q.uri("resources/directory/read")
	if err != nil {
		return dst, err
	}
	p, ok := decodeURI(uri)
	if !ok {
		return dst, notFound("There is no directory %s", uri)
	}
	items, ok := s.children(p, q)
	if !ok {
		return dst, notFound("There is no directory %s", uri)
	}
	return s.appendPage(dst, "resources", "directory "+p, items, q)
}

// children returns what is in the directory with the path, or false if there is
// no such directory for the one who asks.
func (s *Set) children(p string, q *Query) ([]item, bool) {
	for at := p; at != "."; at = path.Dir(at) {
		if sk := s.byPath[at]; sk != nil && s.shows(sk, q) {
			rel := "."
			if at != p {
				rel = p[len(at)+1:]
			}
			items, ok := sk.listings[rel]
			return items, ok
		}
	}
	// Directories above skills have those in them that lead to a skill.
	var items []item
	seen := make(map[string]bool)
	for _, sk := range s.skills {
		if !within(sk.path, p) || !s.shows(sk, q) {
			continue
		}
		name, _, _ := strings.Cut(sk.path[len(p)+1:], "/")
		if !seen[name] {
			seen[name] = true
			items = append(items, newItem(appendDirectory(nil, encodeURI(path.Join(p, name)), name)))
		}
	}
	return items, items != nil
}

// uri returns the parameter uri.
func (q *Query) uri(method string) (string, error) {
	if len(q.URI) == 0 || q.URI[0] != '"' {
		return "", protocol.Errorf(protocol.CodeInvalidParams, "%s: params.uri must be a string", method)
	}
	return jsonwire.Unquote(q.URI), nil
}

// The bounds of what is repeated of a URI in an error.
const (
	maxEcho = 200
	maxData = 8 << 10
)

// notFound is the one answer for what does not exist and for what is hidden.
func notFound(format, uri string) error {
	shown := uri
	if len(shown) > maxEcho {
		n := maxEcho
		for n > 0 && !utf8.RuneStart(shown[n]) {
			n--
		}
		shown = shown[:n] + "…"
	}
	e := protocol.Errorf(protocol.CodeInvalidParams, format, shown)
	if len(uri) <= maxData {
		e.Data = append(jsonwire.AppendQuote([]byte(`{"uri":`), uri), '}')
	}
	return e
}
