package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Bounds of what one survey reads. They are far above what machines have, and keep
// a hostile or broken file system from filling the memory.
const (
	maxSmallFile = 64 << 10  // files of one value or a short table
	maxStatFile  = 4 << 20   // /proc/stat and /etc/passwd
	maxLine      = 256 << 10 // one line of a long table; overlay mounts have long ones
	maxLines     = 1 << 20   // lines of one table
	maxNotes     = 64
	ctxEvery     = 1024 // lines between two looks at the context
)

var errStop = errors.New("stop")

// survey is the work of one call: where it reads, a buffer for small files, and
// what it could not find out.
type survey struct {
	src   Source
	buf   []byte
	notes []string
}

func (h *Host) survey() *survey {
	return &survey{src: h.src, notes: []string{}}
}

// note records what is missing from the answer, and why.
func (s *survey) note(format string, args ...any) {
	switch {
	case len(s.notes) < maxNotes:
		s.notes = append(s.notes, fmt.Sprintf(format, args...))
	case len(s.notes) == maxNotes:
		s.notes = append(s.notes, "more notes were dropped")
	}
}

// read returns the contents of a file, cut after limit bytes. The bytes are valid
// until the next read of the same survey.
//
// Files of procfs have no size, so the size is found by reading.
func (s *survey) read(name string, limit int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(s.buf) == 0 {
		s.buf = make([]byte, 4<<10)
	}
	n := 0
	for n < limit {
		if n == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		m, err := f.Read(s.buf[n:min(len(s.buf), limit)])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return s.buf[:n], nil
}

// readProc is read for a file below procfs, with a note under topic on failure.
func (s *survey) readProc(topic, name string, limit int) ([]byte, bool) {
	b, err := s.read(s.src.proc(name), limit)
	if err != nil {
		s.note("%s: /proc/%s: %v", topic, name, cause(err))
		return nil, false
	}
	return b, true
}

// eachLine calls fn with every line of a long file, without its newline; the bytes
// are valid during the call. It ends early when fn returns errStop.
func eachLine(ctx context.Context, name string, fn func(line []byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for n := 0; lines.Scan(); n++ {
		if n == maxLines {
			return fmt.Errorf("cut after %d lines", maxLines)
		}
		if n%ctxEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := fn(lines.Bytes()); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return lines.Err()
}

// text makes a string of the kernel's bytes; names there need not be UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
