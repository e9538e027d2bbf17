package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloudg.dev/cloudg/jsonrpc"
)

// Bounds of [Lines].
const (
	DefaultMaxLine = 16 << 20

	chunkSize = 64 << 10
	minRead   = 4 << 10 // a read is given at least this much room
	emptyRead = 100     // reads in succession that may give nothing
)

// LinesOptions configures [Lines]. The zero value is usable.
type LinesOptions struct {
	MaxLine int // bytes of a line without its \n or \r\n; 0 means DefaultMaxLine
}

// Lines is a [jsonrpc.Stream] over a pair of byte streams with one frame per
// line, as the stdio transport wants it. Lines end with \n when written; \r\n,
// blank lines and a byte-order mark at the start are accepted when read, and so
// is a last line without an end. White space around a message is dropped. A line
// that is too long is refused as soon as that is known, skipped without being
// kept, and does not harm those behind it. How the bytes are cut into reads makes
// no difference.
//
// Frames are handed out of a chunk of memory that is filled once and then left
// to the garbage collector, so a frame costs neither a copy nor an allocation of
// its own, and stays valid for as long as somebody refers to it.
type Lines struct {
	r   io.Reader
	w   io.Writer
	max int

	buf      []byte // the chunk; what was read and not handed out is buf[start:end]
	start    int
	end      int
	searched int  // no line end in buf[start:searched], but maybe at searched
	long     int  // bytes of the last line that did not fit into a chunk
	skipping bool // within a line that is too long
	begun    bool // the first bytes have been looked at
	err      error
}

// NewLines returns a stream that reads from r and writes to w. Closing it
// closes both if they can be closed.
func NewLines(r io.Reader, w io.Writer, o *LinesOptions) *Lines {
	l := &Lines{r: r, w: w, max: DefaultMaxLine}
	if o != nil && o.MaxLine > 0 {
		l.max = o.MaxLine
	}
	return l
}

// Read returns the next line that is not blank. Once it waits for bytes, only
// they, the end of them, or [Lines.Close] make it return.
func (l *Lines) Read(ctx context.Context) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for {
		if line, ok := l.next(); ok {
			return line, nil
		}
		if l.tooLong(l.lineEnd()) {
			l.skip()
			return nil, &jsonrpc.FrameError{Err: jsonrpc.Errorf(jsonrpc.CodeInvalidRequest,
				"a message of more than %d bytes was skipped: that is the limit for a line", l.max)}
		}
		if l.err != nil {
			return l.last()
		}
		l.fill()
	}
}

// next takes the next line that is not blank from what was read. It stops at a
// line that is too long.
func (l *Lines) next() ([]byte, bool) {
	for {
		i := l.lineEnd()
		if i < 0 || l.tooLong(i) {
			return nil, false
		}
		line, skipped := message(l.buf[l.start:i]), l.skipping
		if i-l.start > chunkSize {
			l.long = i - l.start
		}
		l.drop(i)
		if !skipped && len(line) > 0 {
			return line, true
		}
	}
}

// tooLong reports whether it is known that the line at start is too long. It
// ends at lineEnd, which is negative while that has not been read.
func (l *Lines) tooLong(lineEnd int) bool {
	if l.skipping || !l.begun {
		return false // that has been said, or a byte-order mark may be under way
	}
	end := l.end
	if lineEnd >= 0 {
		end = lineEnd
	}
	line := l.buf[l.start:end]
	switch n := len(line); {
	case n == l.max+1:
		return line[l.max] != '\r' // which ends the line, or the bytes as a whole
	default:
		return n > l.max
	}
}

// skip drops a line that is too long, and its memory; what has not been read of
// it yet is dropped when it is.
func (l *Lines) skip() {
	if i := l.lineEnd(); i >= 0 {
		l.drop(i)
		return
	}
	l.skipping = true
	l.buf, l.start, l.end, l.searched = nil, 0, 0, 0
}

// last returns what stands behind the last line end, or the error. Nothing is
// left of a line that is skipped.
func (l *Lines) last() ([]byte, error) {
	line := message(l.buf[l.start:l.end])
	l.start, l.searched = l.end, l.end
	if len(line) > 0 && errors.Is(l.err, io.EOF) {
		return line, nil
	}
	return nil, l.err
}

// Buffered reports whether a read would return without waiting: a line that is
// not blank has been read, or one is known to be too long, or reading has ended.
func (l *Lines) Buffered() bool {
	for {
		i := l.lineEnd()
		switch {
		case l.tooLong(i):
			return true
		case i < 0:
			return l.err != nil
		case !l.skipping && len(message(l.buf[l.start:i])) > 0:
			return true
		}
		l.drop(i)
	}
}

// lineEnd returns the index of the next line end, or -1.
func (l *Lines) lineEnd() int {
	if i := bytes.IndexByte(l.buf[l.searched:l.end], '\n'); i >= 0 {
		l.searched += i
		return l.searched
	}
	l.searched = l.end
	if l.skipping {
		l.start = l.end
	}
	return -1
}

// drop moves behind the line end at i.
func (l *Lines) drop(i int) {
	l.start, l.searched, l.skipping = i+1, i+1, false
}

// message returns a line without the white space around the message. Nothing can
// be appended to it in place.
func message(line []byte) []byte {
	for len(line) > 0 && blank(line[0]) {
		line = line[1:]
	}
	for len(line) > 0 && blank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line[:len(line):len(line)]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// fill reads more. It makes room first, in a new chunk if frames may have been
// handed out of this one.
func (l *Lines) fill() {
	if l.skipping && l.buf != nil { // nothing of this chunk is kept or handed out
		l.start, l.end, l.searched = 0, 0, 0
	}
	if len(l.buf)-l.end < minRead {
		l.grow()
	}
	for range emptyRead {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			l.begin()
			return
		}
	}
	l.err = io.ErrNoProgress
}

const bom = "\ufeff"

// begin drops a byte-order mark at the very start.
func (l *Lines) begin() {
	if l.begun {
		return
	}
	first := string(l.buf[l.start:min(l.end, l.start+len(bom))])
	if len(first) < len(bom) && strings.HasPrefix(bom, first) && l.err == nil {
		return // it may become one
	}
	l.begun = true
	if first == bom {
		l.start += len(bom)
		l.searched = l.start
	}
}

// grow starts a chunk that has room for twice what is kept, or for as much as the
// last long line took, but hardly more than a line may be long.
func (l *Lines) grow() {
	kept := l.buf[l.start:l.end]
	size := 2 * len(kept)
	if len(kept) > chunkSize/2 {
		size = max(size, l.long+minRead)
	}
	if most := l.max + len("\r\n") + minRead; size > most-most/4 {
		size = most // rather than once more in a moment
	}
	size = max(chunkSize, size)
	buf := make([]byte, size)
	l.searched -= l.start
	l.start, l.end = 0, copy(buf, kept)
	l.buf = buf
}

// Write writes frames that end with [Lines.Delimiter].
func (l *Lines) Write(_ context.Context, frames []byte) error {
	if _, err := l.w.Write(frames); err != nil {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}

// Delimiter returns the line end.
func (l *Lines) Delimiter() string { return "\n" }

// Close closes what the stream reads from and writes to. A read of a pipe or a
// terminal that does not belong to the runtime's poller goes on until its next
// byte; the system offers no way to end it.
func (l *Lines) Close() error {
	var errs []error
	for _, c := range []any{l.r, l.w} {
		if c, ok := c.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
