package memnet_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/internal/memnet"
)

func connect(t *testing.T, window int) (client, server net.Conn) {
	t.Helper()
	l := memnet.Listen(window)
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() { // ends with Accept, whose result is taken below
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	client, err := l.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return client, <-accepted
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t, 4)
		defer client.Close()
		defer server.Close()
		start := time.Now()
		server.SetReadDeadline(start.Add(time.Minute))
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the read ended after %v", got)
		}
		client.SetWriteDeadline(time.Now().Add(time.Hour))
		n, err := client.Write([]byte("123456"))
		if n != 4 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a write into a full window: %d, %v", n, err)
		}
		server.SetReadDeadline(time.Time{})
		client.SetWriteDeadline(time.Time{})
		client.Close()
		if b, err := io.ReadAll(server); string(b) != "1234" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
	})
}

func TestDeadlineMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t, 0)
		defer server.Close()
		server.SetReadDeadline(time.Now().Add(time.Second))
		time.AfterFunc(500*time.Millisecond, func() { server.SetReadDeadline(time.Time{}) })
		time.AfterFunc(time.Hour, func() { client.Write([]byte("x")); client.Close() })
		if b, err := io.ReadAll(server); string(b) != "x" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
	})
}

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t, 0)
		server.Close()
		if _, err := client.Write([]byte("x")); err == nil {
			t.Error("a write to an end that is closed succeeded")
		}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("read: %v", err)
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read of a closed end: %v", err)
		}
	})
}
