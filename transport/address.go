package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// addressForms is for error messages.
const addressForms = `HOST:PORT, unix:PATH or "systemd"`

// Listen opens what the addresses name, each one HOST:PORT, unix:PATH or
// "systemd". No host means every interface. A socket at PATH may be used by
// the owner of this process only; one that nobody listens on any more is
// replaced. "systemd" stands for all sockets that systemd hands to this process,
// according to the variables LISTEN_PID and LISTEN_FDS, which getenv returns;
// nil means [os.Getenv].
//
// The listeners are the caller's to close, or [Serve]'s. On an error none is
// left open.
func Listen(ctx context.Context, addresses []string, getenv func(string) string) (list []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(list)
			list = nil
		}
	}()
	if getenv == nil {
		getenv = os.Getenv
	}
	if len(addresses) == 0 {
		return nil, errors.New("no address to listen on: want " + addressForms)
	}
	for _, a := range addresses {
		more, err := listen(ctx, a, getenv)
		list = append(list, more...)
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

func listen(ctx context.Context, address string, getenv func(string) string) ([]net.Listener, error) {
	if address == "systemd" {
		return inherited(getenv)
	}
	var l net.Listener
	var err error
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		l, err = listenUnix(ctx, path)
	} else {
		l, err = listenTCP(ctx, address)
	}
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

func listenTCP(ctx context.Context, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("address %q: %w: want %s", address, err, addressForms)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", address)
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // nothing was accepted
	}
}

// Loopback reports whether all listeners can be reached from this machine only.
func Loopback(list []net.Listener) bool {
	for _, l := range list {
		if !isLoopback(l.Addr()) {
			return false
		}
	}
	return true
}

func isLoopback(a net.Addr) bool {
	if a.Network() == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// firstInherited is the first descriptor that systemd hands over.
const firstInherited = 3

// inherited returns the sockets that systemd hands to this process.
func inherited(getenv func(string) string) (list []net.Listener, err error) {
	pid, n := getenv("LISTEN_PID"), getenv("LISTEN_FDS")
	count, convErr := strconv.Atoi(n)
	if pid != strconv.Itoa(os.Getpid()) || convErr != nil || count <= 0 {
		return nil, errors.New(`address "systemd": systemd has passed no sockets to this process (LISTEN_PID and LISTEN_FDS): start it by a .socket unit`)
	}
	for i := range count {
		file := os.NewFile(uintptr(firstInherited+i), "systemd socket "+strconv.Itoa(i))
		l, err := net.FileListener(file) // a copy, which child processes do not get
		_ = file.Close()
		if err != nil {
			return list, fmt.Errorf(`address "systemd": socket %d of %d: %w: want stream sockets that listen (Accept=no)`, i+1, count, err)
		}
		list = append(list, l)
	}
	return list, nil
}
