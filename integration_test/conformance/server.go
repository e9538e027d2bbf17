package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	startLimit = 10 * time.Second
	stopLimit  = 10 * time.Second
)

// server is the process under test.
type server struct {
	cmd    *exec.Cmd
	url    string
	copied chan error // ends with the process's standard error
}

// startServer starts a server on a free port and waits until it listens. Its log
// goes to a file.
func startServer(ctx context.Context, binary, logFile string) (*server, error) {
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(binary, "-http", "127.0.0.1:0", "-log-level", "info"), copied: make(chan error, 1)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	address := make(chan string, 1)
	go func() { s.copied <- copyLog(log, stderr, address) }() // ends with the process; stop waits for it
	select {
	case a, listens := <-address:
		if listens {
			s.url = "http://" + a + "/mcp"
			return s, nil
		}
		err = fmt.Errorf("the server ended before it listened: see %s", logFile)
	case <-time.After(startLimit):
		err = fmt.Errorf("the server did not listen within %v: see %s", startLimit, logFile)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, s.stop())
}

// copyLog copies the log and sends the address in the line that announces it.
// It closes the channel at the end, and the file.
func copyLog(log *os.File, stderr io.Reader, address chan<- string) error {
	defer close(address)
	announced := false
	for r := bufio.NewReader(stderr); ; {
		line, err := r.ReadString('\n')
		if _, err := log.WriteString(line); err != nil {
			return errors.Join(err, log.Close())
		}
		if a, ok := listening(line); ok && !announced {
			announced = true
			address <- a
		}
		if err != nil {
			return log.Close()
		}
	}
}

// listening returns the address in the line of the log that announces it.
func listening(line string) (string, bool) {
	if !strings.Contains(line, " msg=listening ") {
		return "", false
	}
	for word := range strings.FieldsSeq(line) {
		if a, ok := strings.CutPrefix(word, "address="); ok {
			return a, true
		}
	}
	return "", false
}

// stop ends the process and waits for it. A server that does not end when asked,
// or not well, is an error.
func (s *server) stop() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	killed := time.AfterFunc(stopLimit, func() { s.cmd.Process.Kill() })
	err = errors.Join(err, <-s.copied)
	if wait := s.cmd.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("the server did not end well: %w", wait))
	}
	killed.Stop()
	return err
}
