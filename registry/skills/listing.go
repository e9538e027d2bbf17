package skills

import (
	"path"
	"strconv"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// listing returns what is in a directory of the skill, as resources.
func (s *skill) listing(dir string, names []string) []item {
	items := make([]item, 0, len(names))
	for _, name := range names {
		rel := path.Join(dir, name)
		switch f := s.byPath[rel]; {
		case f == nil:
			items = append(items, newItem(appendDirectory(nil, s.fileURI(rel), name)))
		case rel == manifestName:
			items = append(items, newItem(s.appendChild(nil, f, s.name, s.description)))
		default:
			items = append(items, newItem(s.appendChild(nil, f, name, "")))
		}
	}
	return items
}

// appendDirectory appends a directory as a resource.
func appendDirectory(dst []byte, uri, name string) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, uri)
	dst = protocol.AppendText(dst, "name", name)
	return append(protocol.AppendText(dst, "mimeType", typeDirectory), '}')
}

// appendChild appends a file as a resource.
func (s *skill) appendChild(dst []byte, f *file, name, description string) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, s.fileURI(f.path))
	dst = protocol.AppendText(dst, "name", name)
	dst = protocol.AppendText(dst, "description", description)
	dst = protocol.AppendText(dst, "mimeType", f.mime)
	dst = append(dst, `,"size":`...)
	dst = strconv.AppendInt(dst, f.size, 10)
	dst = append(dst, `,"_meta":`...)
	return append(f.appendMeta(dst), '}')
}
