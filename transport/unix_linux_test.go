package transport_test

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cloudg.dev/cloudg/transport"
)

// A socket whose listener is too busy to take a connection is not a stale one.
func TestUnixSocketOfABusyServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 100 { // until its backlog is full
		c, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer c.Close()
	}
	listeners, err := transport.Listen(t.Context(), []string{"unix:" + path}, nil)
	for _, l := range listeners {
		l.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "whether another process listens there") {
		t.Errorf("another server takes its name: %v", err)
	}
}
