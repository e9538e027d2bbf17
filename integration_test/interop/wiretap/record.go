package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// endLimit is how long a server may run on after the end of its input.
const endLimit = 15 * time.Second

// event is one line of a transcript: a frame, the end of a server, or, over HTTP,
// something else that the client or the server did.
type event struct {
	Milliseconds int64  `json:"ms"`   // since the start of the transcript
	From         string `json:"from"` // fromClient or fromServer
	Frame        string `json:"frame,omitempty"`
	Broken       string `json:"broken,omitempty"` // what is wrong with the frame that the transcript cannot show
	Exit         *int   `json:"exit,omitempty"`   // exit code of the server, -1 for a signal
	Server       int    `json:"server,omitempty"` // which of the servers behind one address, from 1
	Gone         string `json:"gone,omitempty"`   // raw id of a request whose connection the client closed before the answer
	Fault        string `json:"fault,omitempty"`  // what is wrong with a response beside its messages
}

const (
	fromClient = "client"
	fromServer = "server"
)

// transcript writes events in the order in which they happen.
type transcript struct {
	mu      sync.Mutex
	start   time.Time
	encoder *json.Encoder
}

func newTranscript(w io.Writer) *transcript {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &transcript{start: time.Now(), encoder: encoder}
}

func (t *transcript) add(e event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Milliseconds = time.Since(t.start).Milliseconds()
	return t.encoder.Encode(e)
}

// relay passes lines on until r ends. A line is in the transcript before it is
// passed on, so that causes come before their effects.
func (t *transcript) relay(w io.Writer, r io.Reader, from string) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			frame, whole := bytes.CutSuffix(line, []byte("\n"))
			if err := t.add(event{From: from, Frame: string(frame), Broken: broken(frame, whole)}); err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func broken(frame []byte, whole bool) string {
	switch {
	case !whole:
		return "does not end"
	case !utf8.Valid(frame):
		return "is not UTF-8"
	case bytes.HasSuffix(frame, []byte("\r")):
		return "ends with a carriage return"
	default:
		return ""
	}
}

// record runs the server command and returns its exit code. The signals that
// ask for an end are the server's to answer.
func record(folder string, command []string) (int, error) {
	file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%d.jsonl", os.Getpid())))
	if err != nil {
		return 1, err
	}
	defer file.Close()
	wire := newTranscript(file)

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	// A client that no longer reads must not end us before the server has ended.
	// Notify, unlike Ignore, is not inherited by the server.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	server := exec.Command(command[0], command[1:]...)
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	if err != nil {
		return 1, err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := server.Start(); err != nil {
		return 1, err
	}
	// These goroutines end with the process: a blocked read of our own standard
	// input has no other end.
	go func() {
		_ = wire.relay(stdin, os.Stdin, fromClient) // a server that is gone takes no more
		_ = stdin.Close()
		time.Sleep(endLimit)
		_ = server.Process.Kill()
	}()
	go func() {
		for s := range signals {
			_ = server.Process.Signal(s)
		}
	}()

	relayErr := wire.relay(os.Stdout, stdout, fromServer)
	_, drainErr := io.Copy(io.Discard, stdout) // when the client is gone the server must still be able to end
	waitErr := server.Wait()
	if exitErr := (*exec.ExitError)(nil); errors.As(waitErr, &exitErr) {
		waitErr = nil // the code says it
	}
	code := server.ProcessState.ExitCode()
	recordErr := wire.add(event{From: fromServer, Exit: &code})
	return max(code, 0), errors.Join(relayErr, drainErr, waitErr, recordErr)
}
