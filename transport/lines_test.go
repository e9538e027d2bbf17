package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/transport"
	"cloudg.dev/cloudg/transport/transporttest"
)

// refused stands for a line that was refused, where frames are listed.
const refused = "(refused)"

// readLines reads to the end. It returns the frames and the error that ended them,
// nil for io.EOF. Whatever a frame was when it was handed out it must be in the
// end.
func readLines(t testing.TB, l *transport.Lines) ([]string, error) {
	t.Helper()
	var frames [][]byte
	var seen []string
	for {
		frame, err := l.Read(t.Context())
		var fe *jsonrpc.FrameError
		switch {
		case errors.As(err, &fe):
			frame = []byte(refused)
		case errors.Is(err, io.EOF):
			err = nil
			fallthrough
		case err != nil:
			checkUnchanged(t, frames, seen)
			return seen, err
		case len(frame) != cap(frame):
			t.Errorf("what is appended to the frame %q can end up in another", frame)
		}
		frames, seen = append(frames, frame), append(seen, string(frame))
	}
}

func checkUnchanged(t testing.TB, frames [][]byte, seen []string) {
	t.Helper()
	for i, f := range frames {
		if string(f) != seen[i] {
			t.Errorf("frame %d was %q and is now %q", i, seen[i], f)
		}
	}
}

// readers are ways to deliver the same bytes.
var readers = []struct {
	name string
	wrap func(io.Reader) io.Reader
}{
	{"at once", func(r io.Reader) io.Reader { return r }},
	{"byte by byte", iotest.OneByteReader},
	{"in halves", iotest.HalfReader},
	{"with the end", iotest.DataErrReader},
	{"byte by byte with the end", func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) }},
	{"with empty reads", func(r io.Reader) io.Reader { return &lazyReader{r: r} }},
}

// lazyReader gives nothing most of the time.
type lazyReader struct {
	r     io.Reader
	calls int
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.calls++; l.calls%50 != 0 {
		return 0, nil
	}
	return l.r.Read(p[:min(len(p), 3)])
}

func TestLinesRead(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"nothing", "", nil},
		{"lines", "{}\n[1]\n2\n", []string{"{}", "[1]", "2"}},
		{"no end of the last", "{}\n[1]", []string{"{}", "[1]"}},
		{"CRLF", "{}\r\n[1]\r\n", []string{"{}", "[1]"}},
		{"both", "{}\r\n[1]\n2\r\n", []string{"{}", "[1]", "2"}},
		{"CR at the end", "{}\r", []string{"{}"}},
		{"CR is no line end", "1\r2\n", []string{"1\r2"}},
		{"blank lines", "\n\r\n{}\n\n \t \n\r\r\n[1]\n\n", []string{"{}", "[1]"}},
		{"blank at the end", "{}\n \t", []string{"{}"}},
		{"white space around", "\t {} \r\n  [1]\t", []string{"{}", "[1]"}},
		{"mark at the start", "\ufeff{}\n[1]\n", []string{"{}", "[1]"}},
		{"mark alone", "\ufeff", nil},
		{"mark on a line of its own", "\ufeff\n{}\n", []string{"{}"}},
		{"mark later on", "{}\n\ufeff[1]\n", []string{"{}", "\ufeff[1]"}},
		{"mark behind a blank line", "\n\ufeff{}\n", []string{"\ufeff{}"}},
		{"mark twice", "\ufeff\ufeff{}\n", []string{"\ufeff{}"}},
		{"part of a mark", "\xef\xbb\n{}\n", []string{"\xef\xbb", "{}"}},
		{"part of a mark at the end", "\xef", []string{"\xef"}},
		{"as long as it may be", "12345678\n12345678\r\n12345678", []string{"12345678", "12345678", "12345678"}},
		{"as long as it may be, CR at the end", "12345678\r", []string{"12345678"}},
		{"a byte too long", "123456789\n1\n", []string{refused, "1"}},
		{"a byte too long, CRLF", "123456789\r\n1\r\n", []string{refused, "1"}},
		{"a byte too long at the end", "1\n123456789", []string{"1", refused}},
		{"a CR too long", "1234567\r\r\n12345678\r\r\n1\n", []string{"1234567", refused, "1"}},
		{"as long as it may be behind a mark", "\ufeff12345678\n", []string{"12345678"}},
		{"white space counts", "    1     \n         \n1\n", []string{refused, refused, "1"}},
		{"much too long", strings.Repeat("x", 1000) + "\n1\n2\n", []string{refused, "1", "2"}},
		{"several", "1\n1234567890\n2\n1234567890\n12345678901\n3\n", []string{"1", refused, "2", refused, refused, "3"}},
		{"in a row to the end", "1234567890\n1234567890\n1234567890", []string{refused, refused, refused}},
	}
	for _, tt := range tests {
		for _, r := range readers {
			t.Run(tt.name+"/"+r.name, func(t *testing.T) {
				l := transport.NewLines(r.wrap(strings.NewReader(tt.in)), io.Discard, &transport.LinesOptions{MaxLine: 8})
				got, err := readLines(t, l)
				if err != nil {
					t.Errorf("Read: %v", err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("frames (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Lines of every length around the sizes of the chunks they are read into.
func TestLinesReadLengths(t *testing.T) {
	const limit = 200 << 10
	var want []string
	for _, n := range []int{0, 1, 2, 3} {
		for _, size := range []int{4 << 10, 60 << 10, 64 << 10, 128 << 10, limit - 1} {
			want = append(want, strings.Repeat("x", size-n), strings.Repeat("y", size+n-1), "z")
		}
	}
	for i, line := range want {
		if len(line) > limit {
			want[i] = refused
		}
	}
	input := strings.ReplaceAll(strings.Join(want, "\n"), refused, strings.Repeat("y", limit+1))
	for _, r := range readers[:4] {
		t.Run(r.name, func(t *testing.T) {
			l := transport.NewLines(r.wrap(strings.NewReader(input)), io.Discard, &transport.LinesOptions{MaxLine: limit})
			got, err := readLines(t, l)
			if err != nil {
				t.Errorf("Read: %v", err)
			}
			if !slices.Equal(want, got) {
				t.Errorf("%d frames came, want %d, or they differ", len(got), len(want))
			}
		})
	}
}

func TestLinesRefusal(t *testing.T) {
	l := transport.NewLines(strings.NewReader("123456789\n"), io.Discard, &transport.LinesOptions{MaxLine: 8})
	_, err := l.Read(t.Context())
	var fe *jsonrpc.FrameError
	if !errors.As(err, &fe) {
		t.Fatalf("Read: %v, want a FrameError", err)
	}
	want := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a message of more than 8 bytes was skipped: that is the limit for a line"}
	if diff := cmp.Diff(want, fe.Err); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

func TestLinesReadFails(t *testing.T) {
	errDisk := errors.New("the disk was removed")
	tests := []struct {
		name string
		in   io.Reader
		want []string
		err  error
	}{
		{"at once", iotest.ErrReader(errDisk), nil, errDisk},
		{"behind a line", io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(errDisk)), []string{"{}"}, errDisk},
		{"within a line", io.MultiReader(strings.NewReader("{}\n[1"), iotest.ErrReader(errDisk)), []string{"{}"}, errDisk},
		{"with a line", iotest.DataErrReader(io.MultiReader(strings.NewReader("{}\n[1"), iotest.ErrReader(errDisk))), []string{"{}"}, errDisk},
		{"within a line that is too long", io.MultiReader(strings.NewReader("123456789"), iotest.ErrReader(errDisk)), []string{refused}, errDisk},
		{"without progress", iotest.ErrReader(nil), nil, io.ErrNoProgress},
		{"without progress behind a line", io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(nil)), []string{"{}"}, io.ErrNoProgress},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := transport.NewLines(tt.in, io.Discard, &transport.LinesOptions{MaxLine: 8})
			got, err := readLines(t, l)
			if !errors.Is(err, tt.err) {
				t.Errorf("Read: %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
			if !l.Buffered() {
				t.Error("Buffered reports false though a read fails at once")
			}
			if _, again := l.Read(t.Context()); !errors.Is(again, tt.err) {
				t.Errorf("Read again: %v, want %v", again, tt.err)
			}
		})
	}
}

func TestLinesContextEnded(t *testing.T) {
	l := transport.NewLines(strings.NewReader("{}\n"), io.Discard, nil)
	errDone := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDone)
	if _, err := l.Read(ctx); !errors.Is(err, errDone) {
		t.Errorf("Read: %v, want %v", err, errDone)
	}
	if frame, err := l.Read(t.Context()); string(frame) != "{}" || err != nil {
		t.Errorf("Read: %q, %v, want the line", frame, err)
	}
}

// endless makes a line of so many bytes as it is read, and then good ones.
type endless struct {
	left   int
	block  string // of the bytes of the line
	tail   *strings.Reader
	sample func() // called now and then
}

const sampleEvery = 8 << 20

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return e.tail.Read(p)
	}
	n := copy(p[:min(len(p), e.left)], e.block)
	if e.left/sampleEvery != (e.left-n)/sampleEvery {
		e.sample()
	}
	e.left -= n
	return n, nil
}

// A line of 200 MB that never seems to end costs no more than the longest line
// that is allowed, and nothing once it is refused.
func TestLinesEndlessLine(t *testing.T) {
	live := uint64(0)
	in := &endless{left: 200 << 20, block: strings.Repeat("x", 1<<20), tail: strings.NewReader("\n{}\n"), sample: func() { live = max(live, heapStats().HeapAlloc) }}
	before := heapStats()
	l := transport.NewLines(in, io.Discard, nil)
	if _, err := l.Read(t.Context()); !errors.As(err, new(*jsonrpc.FrameError)) {
		t.Fatalf("Read: %v, want a FrameError", err)
	}
	if m := heapStats(); m.HeapAlloc > before.HeapAlloc+(1<<20) {
		t.Errorf("%d KiB are kept of a line that was refused", (m.HeapAlloc-before.HeapAlloc)>>10)
	}
	if read := 200<<20 - in.left; read > transport.DefaultMaxLine+(1<<20) {
		t.Errorf("the line was refused after %d bytes, want a little more than %d", read, transport.DefaultMaxLine)
	}
	if frame, err := l.Read(t.Context()); string(frame) != "{}" || err != nil {
		t.Errorf("behind it: %q, %v, want the line", frame, err)
	}
	const most = 40 << 20 // a chunk of 16 MiB and what it grew from
	if live > before.HeapAlloc+most {
		t.Errorf("the heap grew by %d KiB, want at most %d KiB", (live-before.HeapAlloc)>>10, most>>10)
	}
	if total := heapStats().TotalAlloc - before.TotalAlloc; total > most {
		t.Errorf("%d KiB were allocated in all, want at most %d KiB", total>>10, most>>10)
	}
	runtime.KeepAlive(l)
}

func heapStats() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// A frame costs no allocation of its own.
func TestLinesReadAllocates(t *testing.T) {
	const lines = 10000
	input := []byte(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", lines))
	r := bytes.NewReader(input)
	per := testing.AllocsPerRun(10, func() {
		r.Reset(input)
		l := transport.NewLines(r, io.Discard, nil)
		for range lines {
			if _, err := l.Read(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if chunks := float64(len(input) / (64 << 10)); per > 2*chunks+4 {
		t.Errorf("%v allocations for %d lines in %v chunks", per, lines, chunks)
	}
}

func TestLinesWrite(t *testing.T) {
	var out bytes.Buffer
	l := transport.NewLines(strings.NewReader(""), &out, nil)
	for _, frames := range []string{"{}\n", "[1]\n[2]\n"} {
		if err := l.Write(t.Context(), []byte(frames)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff("{}\n[1]\n[2]\n", out.String()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	r, w := io.Pipe()
	r.Close()
	if err := transport.NewLines(r, w, nil).Write(t.Context(), []byte("{}\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write: %v, want %v", err, io.ErrClosedPipe)
	}
}

// failingCloser cannot be closed.
type failingCloser struct {
	io.ReadWriter
	err error
}

func (f failingCloser) Close() error { return f.err }

func TestLinesClose(t *testing.T) {
	errIn, errOut := errors.New("in"), errors.New("out")
	err := transport.NewLines(failingCloser{err: errIn}, failingCloser{err: errOut}, nil).Close()
	if !errors.Is(err, errIn) || !errors.Is(err, errOut) {
		t.Errorf("Close: %v, want both errors", err)
	}
	if err := transport.NewLines(strings.NewReader(""), io.Discard, nil).Close(); err != nil {
		t.Errorf("Close of what cannot be closed: %v", err)
	}
}

// farLines is the peer of a Lines.
type farLines struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func (f *farLines) Send(frame []byte) error {
	_, err := f.in.Write(append(bytes.Clone(frame), '\n'))
	return err
}

func (f *farLines) Receive() ([]byte, error) {
	line, err := f.out.ReadBytes('\n')
	return bytes.TrimSuffix(line, []byte("\n")), err
}

func (f *farLines) CloseSend() error { return f.in.Close() }

func TestLinesContract(t *testing.T) {
	const limit = 1 << 20
	tests := []struct {
		name string
		pipe func(t *testing.T) (io.ReadCloser, io.WriteCloser)
	}{
		{"pipe in memory", func(*testing.T) (io.ReadCloser, io.WriteCloser) { return io.Pipe() }},
		{"pipe of the system", func(t *testing.T) (io.ReadCloser, io.WriteCloser) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return r, w
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) (jsonrpc.Stream, transporttest.Far) {
				inR, inW := tt.pipe(t)
				outR, outW := tt.pipe(t)
				t.Cleanup(func() { inW.Close(); outR.Close() })
				return transport.NewLines(inR, outW, &transport.LinesOptions{MaxLine: limit}), &farLines{inW, bufio.NewReader(outR)}
			}, &transporttest.Options{TooLong: bytes.Repeat([]byte("x"), limit+1)})
		})
	}
}
