package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// limit is the time after which a process is killed and its test has failed.
const limit = 30 * time.Second

// scratch is a directory for all tests of this run.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "cloudg-test-") })

// binary builds the command once, with coverage if somebody collects it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "cloudg.exe")
	args := []string{"build", "-o", path}
	if testing.CoverMode() != "" && os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover")
	}
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the command: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := scratch(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// command returns a process that is not started yet, and its standard error.
func command(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the process did not end in time"))
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// request returns a request of 2026-07-28; params are raw members with a comma
// behind them.
func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, method, params)
}

// TestCommand runs the real binary with its input closed (A50, A52, A102), and
// looks at what is left behind.
func TestCommand(t *testing.T) {
	tests := []struct {
		name   string
		in     []string
		stdin  string
		code   int
		stdout string // that it contains; empty: it is empty
		stderr string // the same
	}{
		{"closed input", []string{"serve"}, "", 0, "", "standard input was closed before a client sent anything"},
		{"one request", []string{"serve", "--log-level", "error"}, request(1, "tools/call", `"name":"server_info",`), 0, `"resultType":"complete"`, ""},
		{"cannot start", []string{"serve", "--root", filepath.Join(t.TempDir(), "missing")}, request(1, "tools/list", ""), 1, "", "--root"},
		{"usage", []string{"serve", "--root"}, request(1, "tools/list", ""), 2, "", "--root needs a value"},
		{"nothing", nil, "", 2, "", "a subcommand is missing"},
		{"tools", []string{"tools"}, "", 0, "host_status", ""},
		{"call", []string{"call", "server_info"}, "", 0, `"version"`, ""},
		{"failed call", []string{"call", "list_processes", "--args", `{"limit":"x"}`}, "", 1, "Invalid arguments for list_processes", ""},
		{"read", []string{"read", "cloudg://server"}, "", 0, `"name":"cloudg"`, ""},
		{"complete", []string{"complete", "prompt:diagnose_host", "focus", "d"}, "", 0, "disk\n", ""},
		{"version", []string{"version"}, "", 0, "cloudg ", ""},
		{"help", []string{"help"}, "", 0, "Usage: cloudg SUBCOMMAND", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd, stderr := command(t, tt.in...)
			cmd.Stdin = strings.NewReader(tt.stdin)
			stdout, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Fatalf("exit code %d (%v), want %d\nstdout: %s\nstderr: %s", code, err, tt.code, stdout, stderr)
			}
			for _, o := range []struct{ name, got, want string }{{"stdout", string(stdout), tt.stdout}, {"stderr", stderr.String(), tt.stderr}} {
				if o.want == "" && o.got != "" || !strings.Contains(o.got, o.want) {
					t.Errorf("%s is %q, want %q in it", o.name, o.got, o.want)
				}
			}
		})
	}
}

// TestServe_everyLineIsJSON (A07) reads all that the real binary writes.
func TestServe_everyLineIsJSON(t *testing.T) {
	dir := t.TempDir()
	cmd, stderr := command(t, "serve", "--root", dir, "--allow-write", "--log-level", "debug")
	cmd.Stdin = strings.NewReader("{broken\n" + request(1, "tools/list", "") + request(2, "no/such", "") +
		request(3, "tools/call", `"name":"write_file","arguments":{"path":"a.txt","content":"x"},`) + "[]\n")
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(stdout, []byte("\n")), []byte("\n"))
	if len(lines) != 5 {
		t.Errorf("%d lines, want 5:\n%s", len(lines), stdout)
	}
	for _, line := range lines {
		if !json.Valid(line) {
			t.Errorf("not JSON: %q", line)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "x" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// needSignals skips the test where a process cannot be sent a signal.
func needSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system has no signals between processes")
	}
}

// TestServe_signal ends the server while a listen is in flight: it gets its
// result, and the exit code is 0.
func TestServe_signal(t *testing.T) {
	needSignals(t)
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, stderr := command(t, "serve")
			in, out := pipes(t, cmd)
			start(t, cmd)
			io.WriteString(in, request(7, "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
			r := bufio.NewReader(out)
			if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "acknowledged") {
				t.Fatalf("got %q, %v\n%s", line, err, stderr)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(r)
			if err != nil || !bytes.Contains(rest, []byte(`"id":7,"result":{"resultType":"complete"`)) {
				t.Errorf("got %q, %v", rest, err)
			}
			if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "stopping") {
				t.Errorf("%v\n%s", err, stderr)
			}
		})
	}
}

// TestServe_secondSignal ends a server that cannot come to an end by itself:
// nobody reads what it writes.
func TestServe_secondSignal(t *testing.T) {
	needSignals(t)
	cmd, _ := command(t, "serve", "--drain", "1h", "--log-level", "error")
	in, out := pipes(t, cmd)
	start(t, cmd)
	go func() { // ends when the process does
		for id := 0; ; id++ {
			if _, err := io.WriteString(in, request(id, "tools/list", "")); err != nil {
				return
			}
		}
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	again := time.NewTicker(20 * time.Millisecond) // until the first one has been taken note of
	defer again.Stop()
	for {
		select {
		case <-again.C:
			cmd.Process.Signal(syscall.SIGTERM)
		case err := <-done:
			if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGTERM {
				t.Errorf("ended with %v, want by SIGTERM", err)
			}
			return
		}
	}
}

// TestServe_closedOutput fails, and is not killed, when nobody reads.
func TestServe_closedOutput(t *testing.T) {
	needSignals(t)
	for _, args := range [][]string{{"serve"}, {"tools"}} {
		t.Run(args[0], func(t *testing.T) {
			cmd, stderr := command(t, args...)
			in, out := pipes(t, cmd)
			out.Close()
			start(t, cmd)
			io.WriteString(in, request(1, "tools/list", ""))
			err := cmd.Wait()
			if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "broken pipe") {
				t.Errorf("ended with %v, want exit code 1\n%s", err, stderr)
			}
		})
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// TestHelp_library builds the program that 'help library' shows, and asks it.
func TestHelp_library(t *testing.T) {
	cmd, _ := command(t, "help", "library")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for line := range strings.Lines(string(text)) {
		if code, ok := strings.CutPrefix(line, "  "); program.Len() > 0 && ok || code == "package main\n" {
			program.WriteString(code)
		} else if program.Len() > 0 && line != "\n" {
			break
		}
	}
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The overlay puts the program into the module without writing into it.
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "libraryexample", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(source, []byte(program.String()), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "adder.exe")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", built, "./libraryexample").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, program.String())
	}
	adder := exec.Command(built)
	adder.Stdin = strings.NewReader(request(1, "tools/call", `"name":"add","arguments":{"a":19,"b":23},`))
	if out, err := adder.Output(); err != nil || !bytes.Contains(out, []byte(`"structuredContent":{"sum":42}`)) {
		t.Errorf("got %s, %v", out, err)
	}
}
