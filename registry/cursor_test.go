package registry_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry"
)

// lists are lists that differ in one respect each from the first.
func lists() map[string]*registry.List {
	digest := sha256.Sum256([]byte("entries"))
	return map[string]*registry.List{
		"":                 {Kind: "tool", Scope: "alice", Digest: digest},
		"another kind":     {Kind: "prompt", Scope: "alice", Digest: digest},
		"another scope":    {Kind: "tool", Scope: "bob", Digest: digest},
		"other entries":    {Kind: "tool", Scope: "alice", Digest: sha256.Sum256([]byte("others"))},
		"the cut moved":    {Kind: "toola", Scope: "lice", Digest: digest},
		"nothing in front": {Kind: "", Scope: "toolalice", Digest: digest},
	}
}

func TestCursors(t *testing.T) {
	c := registry.NewCursors([]byte("key"))
	own := lists()[""]
	for _, offset := range []int{0, 1, 1000, 1<<31 - 1} {
		cursor := c.Seal(own, offset)
		if strings.Trim(cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("cursor %q needs escapes somewhere", cursor)
		}
		if got, err := registry.NewCursors([]byte("key")).Open(own, cursor); err != nil || got != offset {
			t.Errorf("cursor for %d opens to %d, %v in another process", offset, got, err)
		}
		for name, l := range lists() {
			if _, err := c.Open(l, cursor); name != "" && !errors.Is(err, registry.ErrCursor) {
				t.Errorf("the cursor opens for a list with %s: %v", name, err)
			}
		}
		if _, err := registry.NewCursors([]byte("other")).Open(own, cursor); !errors.Is(err, registry.ErrCursor) {
			t.Errorf("the cursor opens under another key: %v", err)
		}
	}
}

func TestCursorsCannotBeChanged(t *testing.T) {
	c := registry.NewCursors([]byte("key"))
	own := lists()[""]
	cursor := c.Seal(own, 7)
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			if got, err := c.Open(own, base64.RawURLEncoding.EncodeToString(raw)); err == nil {
				t.Errorf("with bit %d of byte %d changed it opens to %d", bit, i, got)
			}
			raw[i] ^= 1 << bit
		}
	}
	for _, other := range []string{"", cursor[:len(cursor)-1], cursor + "A", cursor + "=", " " + cursor, strings.Repeat("A", len(cursor)), cursor[:len(cursor)-1] + "\n", strings.Repeat("\n", len(cursor)), "\r\n" + cursor[2:]} {
		if _, err := c.Open(own, other); !errors.Is(err, registry.ErrCursor) {
			t.Errorf("%q opens: %v", other, err)
		}
	}
}

// FuzzCursor looks for a cursor that opens and was not given out, and for an
// offset that does not come back.
func FuzzCursor(f *testing.F) {
	c := registry.NewCursors([]byte("key"))
	own := lists()[""]
	f.Add(c.Seal(own, 3), uint32(3), "tool", "alice")
	f.Add("", uint32(0), "", "")
	f.Add(strings.Repeat("A", 27), uint32(1<<31), "prompt", "bob")
	f.Fuzz(func(t *testing.T, cursor string, offset uint32, kind, scope string) {
		if n, err := c.Open(own, cursor); err == nil && c.Seal(own, n) != cursor {
			t.Errorf("%q opens to %d, whose cursor is another one", cursor, n)
		}
		l := &registry.List{Kind: kind, Scope: scope, Digest: own.Digest}
		sealed := c.Seal(l, int(offset))
		if n, err := c.Open(l, sealed); err != nil || n != int(offset) {
			t.Errorf("%d comes back as %d, %v", offset, n, err)
		}
		if _, err := c.Open(own, sealed); (err == nil) != (*l == *own) {
			t.Errorf("the cursor of %q, %q opens for another list: %v", kind, scope, err)
		}
	})
}
