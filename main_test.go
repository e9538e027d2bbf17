package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
		{"open to all", []string{"serve", "--transport", "http", "--listen", "0.0.0.0:0"}, "", 2, "", "other machines can reach this address, and nothing says who may use it: give --auth-token"},
		{"nobody to check", []string{"healthcheck", "--listen", "unix:" + filepath.Join(t.TempDir(), "s")}, "", 1, "", "the server does not answer"},
		{"lint", []string{"tools", "--lint", "--strict"}, "", 0, "WARNINGS", ""},
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

// httpProcess is a server over HTTP in a process of its own.
type httpProcess struct {
	cmd *exec.Cmd
	log *bufio.Reader // what comes after the first line on standard error
	url string        // of the endpoint, or unix: and a path
	out bytes.Buffer  // standard output
}

// startHTTP starts a server and reads from its first line where it listens.
func startHTTP(t *testing.T, env []string, args ...string) *httpProcess {
	t.Helper()
	cmd, _ := command(t, append([]string{"serve", "--transport", "http", "--log-format", "json"}, args...)...)
	p := &httpProcess{cmd: cmd}
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &p.out, nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	p.log = bufio.NewReader(stderr)
	line, err := p.log.ReadBytes('\n')
	var first struct {
		Msg    string
		Listen []string
	}
	if err != nil || json.Unmarshal(line, &first) != nil || first.Msg != "serving over HTTP" || len(first.Listen) != 1 {
		t.Fatalf("the first line is %s, %v", line, err)
	}
	p.url = first.Listen[0]
	return p
}

// end sends the signal that is meant for an orderly end and returns the rest of
// the log and the exit code.
func (p *httpProcess) end(t *testing.T) (log string, code int) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait() // the exit code says how it ended
	if p.out.Len() > 0 {
		t.Errorf("standard output has %s", &p.out)
	}
	return string(rest), p.cmd.ProcessState.ExitCode()
}

// post sends a request of 2026-07-28 and returns the answer, whose body the
// caller closes.
func post(t *testing.T, url, method, token, body string) *http.Response {
	t.Helper()
	client := http.DefaultClient
	if path, ok := strings.CutPrefix(url, "unix:"); ok {
		url = "http://localhost/mcp"
		client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
		req.Header.Set(name, value)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// TestServe_http lets in who has a token, and shows its health to everybody: on
// a port, and on a socket, which is gone in the end.
func TestServe_http(t *testing.T) {
	needSignals(t)
	socket := filepath.Join(t.TempDir(), "s")
	for _, listen := range []string{"127.0.0.1:0", "unix:" + socket} {
		t.Run(listen, func(t *testing.T) {
			p := startHTTP(t, []string{"CLOUDG_AUTH_TOKENS=hunter2:ops:anna"}, "--listen", listen)
			for token, want := range map[string]int{"": 401, "other": 401, "hunter2": 200} {
				resp := post(t, p.url, "tools/list", token, request(1, "tools/list", ""))
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != want || want == 200 && !bytes.Contains(body, []byte(`"name":"host_status"`)) {
					t.Errorf("with the token %q: %d %s, %v", token, resp.StatusCode, body, err)
				}
			}
			address := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/mcp")
			check, stderr := command(t, "healthcheck")
			check.Env = append(os.Environ(), "CLOUDG_TRANSPORT=http", "CLOUDG_LISTEN="+address)
			if out, err := check.Output(); err != nil || string(out) != "ok\n" {
				t.Errorf("healthcheck: %s, %v, %s", out, err, stderr)
			}
			log, code := p.end(t)
			if code != 0 || strings.Contains(log, "hunter2") {
				t.Errorf("exit code %d\n%s", code, log)
			}
			if _, err := os.Stat(socket); err == nil {
				t.Error("the socket is left behind")
			}
		})
	}
}

// TestServe_httpSignal ends a server while a stream waits for events: it gets
// its result, and the exit code is 0, before the grace time is over.
func TestServe_httpSignal(t *testing.T) {
	needSignals(t)
	const drain = 20 * time.Second
	p := startHTTP(t, nil, "--listen", "127.0.0.1:0", "--drain", drain.String())
	resp := post(t, p.url, "subscriptions/listen", "", request(7, "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for line := ""; !strings.Contains(line, "acknowledged"); {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatalf("no acknowledgement: %v", err)
		}
	}
	began := time.Now()
	log, code := p.end(t)
	if took := time.Since(began); code != 0 || took > drain/2 || !strings.Contains(log, "shutting down") {
		t.Errorf("exit code %d after %v\n%s", code, took, log)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Contains(rest, []byte(`"id":7,"result":{"resultType":"complete"`)) {
		t.Errorf("got %q, %v", rest, err)
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
