package integration_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// parentOf is the environment variable that turns the test binary into the
// parent of the server whose path it has.
const parentOf = "CLOUDG_TEST_PARENT_OF"

// beParent starts a server and holds its input open until somebody kills us.
func beParent(path string) int {
	cmd := exec.Command(path, "-stdio")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err = cmd.Start()
	}
	if err == nil {
		_, err = fmt.Fprintln(stdin, ping("1"))
	}
	if err == nil {
		err = cmd.Wait() // it does not end before us
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// orphan kills the parent of a server, which has no chance to say anything. The
// server holds our pipe, which ends when the last process that has it does.
func orphan(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentOf+"="+built(t, everything))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	parent.Stdout, parent.Stderr = w, os.Stderr
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(r)
	if line, err := out.ReadString('\n'); err != nil {
		t.Fatalf("the server did not answer: %q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if rest, err := io.ReadAll(out); err != nil {
		t.Errorf("the server lives on without its parent: %v; it wrote %q", err, rest)
	}
}
