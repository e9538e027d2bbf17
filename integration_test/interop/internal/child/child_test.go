package child_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/integration_test/interop/internal/child"
)

// script returns the command for a program that stands for a server.
func script(t *testing.T, text string) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{name, "-first"}
}

func TestServer(t *testing.T) {
	const listen = `echo "level=INFO msg=listening address=127.0.0.1:1 $*" >&2` + "\n"
	tests := []struct {
		name string
		in   string
		want int
	}{
		{"ends well", "trap 'exit 0' TERM\n" + listen + "while :; do sleep 0.01; done\n", 0},
		{"ends badly", "trap 'exit 3' TERM\n" + listen + "while :; do sleep 0.01; done\n", 3},
		{"ends of the signal", listen + "while :; do sleep 0.01; done\n", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			s, err := child.Start(script(t, test.in), &log)
			if err != nil {
				t.Fatal(err)
			}
			code, err := s.Stop()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, code); diff != "" {
				t.Errorf("exit code (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("127.0.0.1:1", s.Address); diff != "" {
				t.Errorf("address (-want +got):\n%s", diff)
			}
			const want = "level=INFO msg=listening address=127.0.0.1:1 -first -http 127.0.0.1:0 -log-level info\n"
			if diff := cmp.Diff(want, log.String()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServerThatNeverListens(t *testing.T) {
	var log bytes.Buffer
	if _, err := child.Start(script(t, "echo no such flag >&2\nexit 2\n"), &log); err == nil {
		t.Error("Start succeeds without an address")
	}
	if diff := cmp.Diff("no such flag\n", log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
