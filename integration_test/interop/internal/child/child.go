// Package child runs the server under test over HTTP as a child process.
package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Time limits: of a server until it listens, and from SIGTERM to its end.
const (
	startLimit = 15 * time.Second
	endLimit   = 15 * time.Second
)

// Server is a running server process.
type Server struct {
	Address string // host and port it listens on

	command *exec.Cmd
	copied  chan error // gets one value once standard error has ended
}

// listening is the line of its log that tells where the server listens.
var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// Start runs a server command, with a free port of the loopback address added
// to its arguments, and returns once it listens. Its log goes to log.
func Start(command []string, log io.Writer) (*Server, error) {
	args := append(command[1:len(command):len(command)], "-http", "127.0.0.1:0", "-log-level", "info")
	s := &Server{command: exec.Command(command[0], args...), copied: make(chan error, 1)}
	stderr, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go func() { s.copied <- copyLog(log, stderr, address) }() // ends with the process; Stop waits for it
	select {
	case s.Address = <-address:
	case <-time.After(startLimit):
	}
	if s.Address == "" {
		_, err := s.Stop()
		return nil, errors.Join(fmt.Errorf("%s ended, or %v passed, before its log had a line msg=listening address=HOST:PORT", command[0], startLimit), err)
	}
	return s, nil
}

// copyLog passes the lines of a log on. It sends the address that the first
// line about it names, or nothing when there is none.
func copyLog(w io.Writer, r io.Reader, address chan<- string) error {
	told := false
	defer func() {
		if !told {
			close(address)
		}
	}()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
		if found := listening.FindStringSubmatch(line); found != nil && !told {
			told = true
			address <- found[1]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Stop asks the server to end, kills it when it does not, and returns its exit
// code, which is -1 when a signal ended it.
func (s *Server) Stop() (int, error) {
	_ = s.command.Process.Signal(syscall.SIGTERM) // one that has ended already needs none
	kill := time.AfterFunc(endLimit, func() { _ = s.command.Process.Kill() })
	defer kill.Stop()
	copyErr := <-s.copied
	waitErr := s.command.Wait()
	if exitErr := (*exec.ExitError)(nil); errors.As(waitErr, &exitErr) {
		waitErr = nil // the code says it
	}
	return s.command.ProcessState.ExitCode(), errors.Join(copyErr, waitErr)
}
