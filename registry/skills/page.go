package skills

import (
	"crypto/sha256"
	"errors"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// maxPageBytes is how much a page has at most, unless its first item has more.
const maxPageBytes = 1 << 20

// item is one entry of a paged list, as JSON.
type item struct {
	json   []byte
	digest [sha256.Size]byte
}

func newItem(json []byte) item { return item{json, sha256.Sum256(json)} }

// appendPage appends the members of a result: an array with the items of one
// page, and the cursor of the next page if there is one. Kind says which list
// this is; a cursor is good only for the same list with the same items, seen by
// the same principal.
func (s *Set) appendPage(dst []byte, member, kind string, items []item, q *Query) ([]byte, error) {
	list := &registry.List{Kind: kind, Scope: q.Principal.ID, Digest: digestOf(items)}
	from, err := s.offset(list, items, q.Cursor)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '"')
	dst = append(dst, member...)
	dst = append(dst, `":[`...)
	start, to := len(dst), from
	for ; to < len(items) && to-from < s.pageSize; to++ {
		if to > from {
			if len(dst)-start+len(items[to].json) > maxPageBytes {
				break
			}
			dst = append(dst, ',')
		}
		dst = append(dst, items[to].json...)
	}
	dst = append(dst, ']')
	if to < len(items) {
		dst = append(dst, `,"nextCursor":`...)
		dst = jsonwire.AppendQuote(dst, s.cursors.Seal(list, to))
	}
	return dst, nil
}

// offset returns where the page begins that a cursor, raw JSON or nil, stands
// for.
func (s *Set) offset(list *registry.List, items []item, cursor []byte) (int, error) {
	if cursor == nil || string(cursor) == "null" {
		return 0, nil
	}
	if cursor[0] != '"' {
		return 0, invalidParams(errors.New("params.cursor must be a string"))
	}
	n, err := s.cursors.Open(list, jsonwire.Unquote(cursor))
	if err == nil && (n <= 0 || n >= len(items)) {
		err = registry.ErrCursor
	}
	if err != nil {
		return 0, invalidParams(err)
	}
	return n, nil
}

func digestOf(items []item) (sum [sha256.Size]byte) {
	h := sha256.New()
	for i := range items {
		h.Write(items[i].digest[:])
	}
	h.Sum(sum[:0])
	return sum
}

func invalidParams(err error) error {
	return protocol.Errorf(protocol.CodeInvalidParams, "%v", err)
}
