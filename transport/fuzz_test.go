package transport_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/transport"
)

// splitLines is what Lines must make of all the bytes, in the simplest way.
func splitLines(input []byte, limit int) []string {
	var frames []string
	for line := range bytes.Lines(bytes.TrimPrefix(input, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		switch message := bytes.Trim(line, " \t\r"); {
		case len(line) > limit:
			frames = append(frames, refused)
		case len(message) > 0:
			frames = append(frames, string(message))
		}
	}
	return frames
}

// cutReader delivers bytes in pieces as the cuts say, and counts how often it
// was asked.
type cutReader struct {
	left    []byte
	cuts    []byte // sizes, used in turn; the highest bit delivers the end with the last piece
	reads   int
	withEnd bool
}

func (c *cutReader) Read(p []byte) (int, error) {
	size := len(p)
	if len(c.cuts) > 0 {
		cut := c.cuts[c.reads%len(c.cuts)]
		size = int(cut&0x7f) + 1
		c.withEnd = cut&0x80 != 0
	}
	c.reads++
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(size, len(p))], c.left)
	c.left = c.left[n:]
	if len(c.left) == 0 && c.withEnd {
		return n, io.EOF
	}
	return n, nil
}

// FuzzLines checks that how the bytes are cut into reads makes no difference: the
// frames and refusals are those of a simple splitter. It also checks that
// Buffered tells exactly whether a read has to ask for more.
func FuzzLines(f *testing.F) {
	for _, input := range []string{
		"", "\n", "{}\n[1]\r\n", "\ufeff{}\n", "\n\ufeff1\n", "\xef\xbb", "12345678\r\n123456789\n1",
		"         \n1\n", "1\r\r\n", strings.Repeat("x", 300) + "\n{}\n",
	} {
		f.Add([]byte(input), []byte{}, uint8(7))
		f.Add([]byte(input), []byte{0}, uint8(7))
		f.Add([]byte(input), []byte{1, 0x82, 0}, uint8(0))
	}
	f.Add([]byte("\ufeff1\n"), []byte{0}, uint8(0))                   // the mark is longer than a line may be
	f.Add([]byte("1\n"+strings.Repeat("x", 300)), []byte{}, uint8(7)) // too long without an end
	f.Fuzz(func(t *testing.T, input, cuts []byte, limit uint8) {
		in := &cutReader{left: input, cuts: cuts}
		maxLine := int(limit) + 1
		l := transport.NewLines(in, io.Discard, &transport.LinesOptions{MaxLine: maxLine})
		var frames [][]byte
		var got []string
		for {
			promised, reads := l.Buffered(), in.reads
			frame, err := l.Read(t.Context())
			if waited := in.reads > reads; promised == waited {
				t.Fatalf("Buffered reported %v, and Read asked for more: %v", promised, waited)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if !errors.As(err, new(*jsonrpc.FrameError)) {
					t.Fatal(err)
				}
				frame = []byte(refused)
			}
			frames, got = append(frames, frame), append(got, string(frame))
		}
		checkUnchanged(t, frames, got)
		if want := splitLines(input, maxLine); !slices.Equal(want, got) {
			t.Errorf("%d frames differ\n got %q\nwant %q", len(got), got, want)
		}
	})
}
