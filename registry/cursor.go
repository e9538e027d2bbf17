package registry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrCursor means that a cursor is not one that [Cursors] gave out for this
// list: it was changed, or the list was.
var ErrCursor = errors.New("invalid cursor: start again without one")

const (
	cursorMAC = 16
	cursorLen = 4 + cursorMAC
)

// Cursors makes and reads cursors for paged lists. A cursor holds an offset and
// a code that binds it to a list and to whoever may see that list, so that it
// cannot be used for another one. It needs no memory here: any process with the
// same key can read it.
type Cursors struct{ key []byte }

// NewCursors returns cursors under the key, which should be random and have 32
// bytes.
func NewCursors(key []byte) *Cursors { return &Cursors{key: key} }

// A List is what a cursor is bound to.
type List struct {
	Kind   string   // which list
	Scope  string   // who sees it
	Digest [32]byte // what is in it
}

// Seal returns the cursor for the entries of the list from offset on.
func (c *Cursors) Seal(l *List, offset int) string {
	var b [cursorLen]byte
	binary.BigEndian.PutUint32(b[:], uint32(offset))
	copy(b[4:], c.code(l, b[:4]))
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Open returns the offset in a cursor, or [ErrCursor].
func (c *Cursors) Open(l *List, cursor string) (int, error) {
	if len(cursor) != base64.RawURLEncoding.EncodedLen(cursorLen) {
		return 0, ErrCursor
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorLen || !hmac.Equal(b[4:], c.code(l, b[:4])) { // decoding skips line ends
		return 0, ErrCursor
	}
	return int(binary.BigEndian.Uint32(b)), nil
}

func (c *Cursors) code(l *List, offset []byte) []byte {
	mac := hmac.New(sha256.New, c.key)
	var n [8]byte
	for _, s := range []string{l.Kind, l.Scope} {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		mac.Write(n[:])
		mac.Write([]byte(s))
	}
	mac.Write(l.Digest[:])
	mac.Write(offset)
	return mac.Sum(nil)[:cursorMAC]
}
