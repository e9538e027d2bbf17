package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
)

// scanBuffer is the unit in which files are scanned for lines.
const scanBuffer = 64 << 10

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// lines reads a range of lines, as many as fit into the bound.
func (r *reading) lines(ctx context.Context) error {
	s := lineScan{in: bufio.NewReaderSize(cancellable{ctx, io.NewSectionReader(r.file, 0, r.maxScan)}, scanBuffer)}
	if err := s.skip(r.Offset - 1); err != nil {
		return err
	}
	if s.ended {
		return r.beyondEnd(&s)
	}
	start := s.pos
	text, err := s.take(r.Limit, r.bound)
	if err != nil {
		return err
	}
	cut := int64(len(text)) > r.bound
	if cut {
		if text = wholeRunes(text[:r.bound]); len(text) == 0 {
			return failf(ErrTooLarge, "max_bytes %d is less than one character takes; use 4 or more", r.bound)
		}
	}
	if s.number > r.Offset-1 || cut {
		r.out.StartLine, r.out.EndLine = r.Offset, max(s.number, r.Offset)
	}
	switch {
	case cut:
		r.out.Truncated = true
		r.out.NextByteOffset = start + int64(len(text))
		r.out.Note = "line " + strconv.Itoa(r.Offset) + " is longer than the bound; continue with byte_offset " + decimal(r.out.NextByteOffset)
	case s.ended && s.pos < r.maxScan:
		r.out.TotalLines = s.number
	case s.ended:
		return r.tooFar()
	default:
		r.out.NextOffset = s.number + 1
		if r.Limit == 0 || s.number < r.Offset-1+r.Limit {
			r.out.Truncated = true
			r.out.Note = "the file goes on; continue with offset " + strconv.Itoa(r.out.NextOffset)
		}
	}
	return r.setText(text)
}

// beyondEnd answers for a range that begins after the last line. The empty file has an empty range.
func (r *reading) beyondEnd(s *lineScan) error {
	if s.pos >= r.maxScan {
		return r.tooFar()
	}
	if r.Offset == 1 {
		return nil
	}
	return failf(ErrInvalid, "offset %d is after the end: %q has %s", r.Offset, r.place.shown, plural(s.number, "line", "lines"))
}

func (r *reading) tooFar() error {
	return failf(ErrTooLarge, "line %d of %q lies beyond the first %s, which is as far as lines are counted; use tail, or byte_offset with byte_length",
		r.Offset, r.place.shown, humanSize(r.maxScan))
}

// lineScan goes through a file line by line.
type lineScan struct {
	in *bufio.Reader
	// pos is how many bytes and number how many lines have been passed.
	pos    int64
	number int
	// ended is set when nothing is left.
	ended bool
}

// skip passes n lines without keeping them.
func (s *lineScan) skip(n int) error {
	for s.number < n {
		piece, err := s.in.ReadSlice('\n')
		s.pos += int64(len(piece))
		switch {
		case err == nil:
			s.number++
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			s.endWith(piece)
			return nil
		default:
			return err
		}
	}
	return s.peek()
}

// endWith notes the end; bytes after the last newline are a line too.
func (s *lineScan) endWith(rest []byte) {
	s.ended = true
	if len(rest) > 0 {
		s.number++
	}
}

// peek finds out whether anything is left.
func (s *lineScan) peek() error {
	_, err := s.in.Peek(1)
	if errors.Is(err, io.EOF) {
		s.ended = true
		return nil
	}
	return err
}

// take collects up to n whole lines (0 means all) of at most bound bytes. If already the first is longer, it returns more
// bytes than the bound, and the line is not counted.
func (s *lineScan) take(n int, bound int64) ([]byte, error) {
	var text []byte
	for taken := 0; (n == 0 || taken < n) && !s.ended; taken++ {
		begin := len(text)
		for whole := false; !whole; {
			piece, err := s.in.ReadSlice('\n')
			text = append(text, piece...)
			if int64(len(text)) > bound {
				if begin == 0 {
					return text, nil
				}
				return text[:begin], nil
			}
			switch {
			case err == nil, errors.Is(err, io.EOF):
				whole = true
			case !errors.Is(err, bufio.ErrBufferFull):
				return nil, err
			}
		}
		s.pos += int64(len(text) - begin)
		if len(text) > begin {
			s.number++
		}
		if err := s.peek(); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// tail reads the last lines: it goes backwards to find where they begin, but never further than the bound.
func (r *reading) tail(ctx context.Context) error {
	size := r.out.SizeBytes
	if size == 0 {
		size = r.bound // the files that a kernel makes up have no size beforehand
	}
	from := max(0, size-r.bound)
	data, _, err := r.bytes(ctx, from, size-from)
	if err != nil {
		return err
	}
	start, found := lastLines(data, r.Tail)
	if found || from == 0 {
		r.out.ByteOffset = from + int64(start)
		return r.setText(data[start:])
	}
	return r.shortTail(data, from)
}

// lastLines finds where the last n lines begin. found is false if there are fewer; then the first line may be incomplete.
func lastLines(data []byte, n int) (start int, found bool) {
	end := len(bytes.TrimSuffix(data, []byte("\n")))
	for ; n > 0; n-- {
		end = bytes.LastIndexByte(data[:end], '\n')
		if end < 0 {
			return 0, false
		}
	}
	return end + 1, true
}

// shortTail returns the lines that fit when not all do, or the end of one long line.
func (r *reading) shortTail(data []byte, from int64) error {
	skip := bytes.IndexByte(data, '\n') + 1
	if skip == 0 || skip == len(data) {
		skip = 0
		for skip < min(3, len(data)) && data[skip]&0xC0 == 0x80 {
			skip++
		}
	}
	r.out.ByteOffset = from + int64(skip)
	r.out.Truncated = true
	r.out.Note = "only the last " + plural(bytes.Count(bytes.TrimSuffix(data[skip:], []byte("\n")), []byte("\n"))+1, "line", "lines") +
		" fit into the bound; what is before ends at byte " + decimal(r.out.ByteOffset) + ": read it with byte_offset and byte_length"
	return r.setText(data[skip:])
}
