package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cloudg.dev/cloudg/protocol"
)

// serve starts the command itself over stdio, with a folder that has one file.
func serve(t *testing.T, args ...string) (s *server, root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "note.txt"), []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startCommand(t, built(t, cloudg), append([]string{"serve", "--root", root}, args...)...), root
}

// Everything that the built-in catalog says of itself is valid in every version.
func TestCommandInEachVersion(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			s, _ := serve(t, "--allow-write")
			if protocol.ParseVersion(version).HasHandshake() {
				s.handshake(version)
			}
			s.send(inVersion(version, "1", "tools/list", ""),
				inVersion(version, "2", "resources/list", ""),
				inVersion(version, "3", "resources/templates/list", ""),
				inVersion(version, "4", "prompts/list", ""),
				inVersion(version, "5", "resources/read", `"uri":"cloudg://server"`))
			for _, id := range []string{"1", "2", "3", "4", "5"} {
				s.result(id)
			}
			for _, name := range []string{"host_status", "list_processes", "list_roots", "server_info"} {
				s.send(inVersion(version, fmt.Sprintf("%q", name), "tools/call", fmt.Sprintf(`"name":%q`, name)))
				if r := s.tool(fmt.Sprintf("%q", name)); r.IsError {
					t.Errorf("%s failed: %s", name, r.text())
				}
			}
		})
	}
}

func TestCommandReadsFiles(t *testing.T) {
	s, root := serve(t)
	s.handshake(newest)
	path, err := json.Marshal(filepath.Join(root, "note.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s.send(call("1", "read_file", `{"path":`+string(path)+`}`), call("2", "read_file", `{"path":"/etc/passwd"}`), call("3", "write_file", `{"path":`+string(path)+`,"content":"x"}`))
	if r := s.tool("1"); r.IsError || !strings.Contains(r.text(), "second") {
		t.Errorf("the file was read as %q", r.text())
	}
	if r := s.tool("2"); !r.IsError || strings.Contains(r.text(), "root:") {
		t.Errorf("a file outside was read as %.100q", r.text())
	}
	if got := s.refusal("3").Code; got != protocol.CodeInvalidParams {
		t.Errorf("without --allow-write write_file was refused with %d, want %d as an unknown tool", got, protocol.CodeInvalidParams)
	}
}

func TestCommandWithWrongOptions(t *testing.T) {
	for _, args := range [][]string{{"serve", "--no-such-option"}, {"serve", "--root", "/no/such/folder"}, {"serve", "--timeout", "soon"}, {"nonsense"}, {}} {
		code, stdout, stderr := runToEnd(t, built(t, cloudg), args...)
		if code == 0 || stdout != "" || stderr == "" {
			t.Errorf("%q: exit code %d, standard output %q, standard error %q; want another than 0, nothing, a message", args, code, stdout, stderr)
		}
	}
}

func TestCommandEnds(t *testing.T) {
	t.Run("at the end of its input", func(t *testing.T) {
		s, _ := serve(t)
		s.handshake(newest)
		if code := s.end(); code != 0 {
			t.Errorf("exit code %d, want 0; it said\n%s", code, s.stderr)
		}
	})
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			s, _ := serve(t)
			s.handshake(newest)
			s.signal(sig)
			if code := s.exit(); code != 0 {
				t.Errorf("exit code %d, want 0; it said\n%s", code, s.stderr)
			}
		})
	}
}
