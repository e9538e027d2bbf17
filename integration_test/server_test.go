package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudg.dev/cloudg/internal/speccheck"
)

// patience is how long a test waits for what should come at once: machines that
// run tests are slow at times.
const patience = 30 * time.Second

// server is a server process, and the client's ends of its pipes.
type server struct {
	t       *testing.T
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  *tail
	checker *speccheck.Checker
	done    chan struct{} // closed when the process has ended and all output was read

	mu      sync.Mutex // guards the fields below
	frames  []*frame   // what the server wrote, in order
	faults  []error    // what is wrong with it
	changed chan struct{}
}

// frame is a message that the server wrote.
type frame struct {
	raw    string
	line   string // the whole line, on the first message of it
	at     time.Time
	id     string // raw, "" without one
	method string
	params json.RawMessage
	result json.RawMessage
	err    *wireError
}

type wireError struct {
	Code    int
	Message string
	Data    json.RawMessage
}

// start starts integration_test/everything with arguments besides -stdio.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startCommand(t, built(t, everything), append([]string{"-stdio"}, args...)...)
}

// built returns the path of a binary.
func built(t *testing.T, binary func() (string, error)) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startCommand starts a server. It is stopped at the end of the test, and what
// it wrote must be in order then.
func startCommand(t *testing.T, path string, args ...string) *server {
	t.Helper()
	return startCommandWith(t, path, args, nil)
}

// startCommandWith is startCommand with another standard error, unless it is nil.
func startCommandWith(t *testing.T, path string, args []string, stderr io.Writer) *server {
	t.Helper()
	s := &server{t: t, cmd: exec.Command(path, args...), stderr: newTail(), checker: speccheck.NewChecker(spec(t)), done: make(chan struct{}), changed: make(chan struct{})}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin, s.cmd.Stderr = stdin, s.stderr
	if stderr != nil {
		s.cmd.Stderr = stderr
	}
	if raceEnabled { // a program with the race detector waits for a second at its end
		s.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process; s.finish waits for it
		defer close(s.done)
		s.read(stdout)
		_ = s.cmd.Wait() // the tests look at the state of the process
	}()
	t.Cleanup(s.finish)
	return s
}

// specification reads the schemas once: compiling them takes longer than most
// tests.
var specification = sync.OnceValues(func() (*speccheck.Spec, error) { return speccheck.Find("..") })

// spec returns the schemas of the specification. Without them the tests run, but
// what they see is judged by rules only.
func spec(t *testing.T) *speccheck.Spec {
	t.Helper()
	return speccheck.Need(t, specification)
}

// read reads and judges what the server writes, until it ends.
func (s *server) read(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				s.note(nil, fmt.Errorf("the last line has no end: %q", line))
			}
			return
		}
		line = line[:len(line)-1]
		fault := s.checker.Received(line)
		s.note(parse(line), fault)
	}
}

// note adds to what the server wrote.
func (s *server) note(frames []*frame, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, frames...)
	if fault != nil {
		s.faults = append(s.faults, fault)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// parse returns the messages in a line: more than one for a batch.
func parse(line []byte) []*frame {
	raws := []json.RawMessage{line}
	if bytes.HasPrefix(line, []byte("[")) {
		raws = nil
		_ = json.Unmarshal(line, &raws) // the checker reports what is no JSON
	}
	var frames []*frame
	for _, raw := range raws {
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *wireError
		}
		_ = json.Unmarshal(raw, &m)
		frames = append(frames, &frame{raw: string(raw), at: time.Now(), id: string(m.ID), method: m.Method, params: m.Params, result: m.Result, err: m.Error})
	}
	if len(frames) > 0 {
		frames[0].line = string(line)
	}
	return frames
}

// send sends messages, each on a line of its own.
func (s *server) send(lines ...string) {
	s.t.Helper()
	s.sendBytes([]byte(strings.Join(lines, "\n") + "\n"))
}

// sendBytes sends bytes, which are whole lines.
func (s *server) sendBytes(b []byte) {
	s.t.Helper()
	for line := range bytes.Lines(b) {
		s.checker.Sent(bytes.TrimRight(line, "\r\n"))
	}
	if _, err := s.stdin.Write(b); err != nil {
		s.t.Fatalf("writing to the server: %v\n%s", err, s.stderr)
	}
}

// await waits until pick returns a frame.
func (s *server) await(what string, pick func([]*frame) *frame) *frame {
	s.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for ended := false; ; {
		s.mu.Lock()
		f, changed := pick(s.frames), s.changed
		s.mu.Unlock()
		if f != nil {
			return f
		}
		if ended {
			s.t.Fatalf("the server ended without %s; it wrote\n%s\nand said\n%s", what, s.transcript(), s.stderr)
		}
		select {
		case <-changed:
		case <-s.done:
			ended = true
		case <-timer.C:
			s.t.Fatalf("%s did not come in %v; the server wrote\n%s\nand said\n%s", what, patience, s.transcript(), s.stderr)
		}
	}
}

// transcript shows the latest of what the server wrote.
func (s *server) transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, f := range s.frames[max(0, len(s.frames)-20):] {
		fmt.Fprintf(&b, "\t%.500s\n", f.raw)
	}
	return b.String()
}

// all returns what the server wrote so far and for which keep is true.
func (s *server) all(keep func(*frame) bool) []*frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.frames), func(f *frame) bool { return !keep(f) })
}

// answers returns the answers to an id so far.
func (s *server) answers(id string) []*frame {
	return s.all(func(f *frame) bool { return f.id == id && f.method == "" })
}

// notifications returns the notifications of a method so far.
func (s *server) notifications(method string) []*frame {
	return s.all(func(f *frame) bool { return f.method == method })
}

// answer waits for the answer to an id, raw.
func (s *server) answer(id string) *frame {
	s.t.Helper()
	return s.await("the answer to "+id, func(frames []*frame) *frame {
		for _, f := range frames {
			if f.id == id && f.method == "" {
				return f
			}
		}
		return nil
	})
}

// result waits for the answer to an id and returns its result.
func (s *server) result(id string) json.RawMessage {
	s.t.Helper()
	f := s.answer(id)
	if f.result == nil {
		s.t.Fatalf("request %s has no result: %s", id, f.raw)
	}
	return f.result
}

// refusal waits for the answer to an id and returns its error.
func (s *server) refusal(id string) *wireError {
	s.t.Helper()
	f := s.answer(id)
	if f.err == nil {
		s.t.Fatalf("request %s was not refused: %.500s", id, f.raw)
	}
	return f.err
}

// anonymous waits for the n-th error that answers no request in particular.
func (s *server) anonymous(n int) *wireError {
	s.t.Helper()
	f := s.await("an error without an id", func(frames []*frame) *frame {
		left := n
		for _, f := range frames {
			if f.err != nil && (f.id == "" || f.id == "null") {
				if left--; left == 0 {
					return f
				}
			}
		}
		return nil
	})
	return f.err
}

// notification waits for the n-th notification of a method.
func (s *server) notification(method string, n int) *frame {
	s.t.Helper()
	return s.await("notification "+method, func(frames []*frame) *frame {
		left := n
		for _, f := range frames {
			if f.method == method {
				if left--; left == 0 {
					return f
				}
			}
		}
		return nil
	})
}

// handshake negotiates a version and waits for the answer.
func (s *server) handshake(version string) {
	s.t.Helper()
	s.send(initialize(version), initialized)
	s.result(`"i"`)
}

// end closes the server's input, waits until it has ended, and returns its exit
// code.
func (s *server) end() int {
	s.t.Helper()
	s.stdin.Close()
	return s.exit()
}

// signal sends a signal to the server.
func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// exit waits until the server has ended and returns its exit code.
func (s *server) exit() int {
	s.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.t.Fatalf("the server did not end within %v; it said\n%s", patience, s.stderr)
	}
	return s.cmd.ProcessState.ExitCode()
}

// finish ends the server, by force if need be, and reports what was wrong with
// what it wrote.
func (s *server) finish() {
	s.stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.t.Error("the server did not end when its input did")
		if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			s.t.Error(err)
		}
		<-s.done
	}
	for _, fault := range s.faults {
		s.t.Errorf("the server sent what it must not: %v", fault)
	}
	if strings.Contains(s.stderr.String(), "DATA RACE") {
		s.t.Errorf("the race detector found something:\n%s", s.stderr)
	}
}

// peakMemory returns the most memory that the server had resident so far.
func (s *server) peakMemory() int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Skip("memory is measured on Linux only:", err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	s.t.Fatal("the status of the process has no VmHWM")
	return 0
}

// tail keeps what a process writes to standard error.
type tail struct {
	mu      sync.Mutex // guards the fields below
	text    []byte
	changed chan struct{}
}

func newTail() *tail { return &tail{changed: make(chan struct{})} }

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	close(w.changed)
	w.changed = make(chan struct{})
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// saidTimes waits until a text was written n times to standard error.
func (s *server) saidTimes(text string, n int) {
	s.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.stderr.mu.Lock()
		count, changed := strings.Count(string(s.stderr.text), text), s.stderr.changed
		s.stderr.mu.Unlock()
		if count >= n {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			s.t.Fatalf("the server did not say %q %d times, but\n%s", text, n, s.stderr)
		}
	}
}
