//go:build unix

package host_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
	"github.com/google/go-cmp/cmp"
)

func listeners(t *testing.T, src host.Source, q host.ListenerQuery) host.ListenerList {
	t.Helper()
	list, err := host.New(src).Listeners(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestListeners(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the tables were recorded on a little-endian machine, and the kernel prints addresses in the order of the machine")
	}
	want := host.ListenerList{
		Matched: 7,
		Listeners: []host.Listener{
			{Protocol: "tcp", Type: "stream", Address: "0.0.0.0", Port: 80, State: "listening", Inode: 4001, UID: ptr[uint32](0), User: "root",
				Owners: []host.Owner{{PID: 800, Name: "nginx"}, {PID: 801, Name: "nginx"}}, OwnerCount: 2},
			{Protocol: "tcp", Type: "stream", Address: "127.0.0.1", Port: 8080, State: "listening", Inode: 4002, UID: ptr[uint32](1000), User: "alice",
				Owners: []host.Owner{{PID: 900, Name: "java"}}, OwnerCount: 1},
			{Protocol: "tcp6", Type: "stream", Address: "::1", Port: 631, State: "listening", Inode: 4003, UID: ptr[uint32](0), User: "root", Owners: []host.Owner{}},
			{Protocol: "udp", Type: "datagram", Address: "127.0.0.53", Port: 53, State: "unconnected", Inode: 4004, UID: ptr[uint32](101), User: "101", Owners: []host.Owner{}},
			{Protocol: "unix", Type: "stream", Address: "/run/systemd/private", State: "listening", Inode: 3000,
				Owners: []host.Owner{{PID: 1, Name: "systemd"}}, OwnerCount: 1},
			{Protocol: "unix", Type: "datagram", Address: "/run/systemd/notify dir/sock", State: "unconnected", Inode: 3002, Owners: []host.Owner{}},
			{Protocol: "unix", Type: "seqpacket", Address: "@abstract", State: "listening", Inode: 3001, Owners: []host.Owner{}},
		},
		Notes: []string{
			"listeners: 1 lines of /proc/net/tcp are malformed",
			"owners: none for 4 of these sockets among the processes that can be seen; they belong to the kernel or to another PID namespace",
		},
	}
	// Order by address: "/run/systemd/notify…" comes before "/run/systemd/private".
	want.Listeners[4], want.Listeners[5] = want.Listeners[5], want.Listeners[4]
	got := listeners(t, openTree(t, "modern", ""), host.ListenerQuery{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Listeners (-want +got):\n%s", diff)
	}
}

func TestListenersSelection(t *testing.T) {
	tests := []struct {
		name    string
		in      host.ListenerQuery
		matched int
		next    int
		want    string // inodes of the page
	}{
		{"tcp", host.ListenerQuery{Protocol: "tcp"}, 3, 0, "4001 4002 4003"},
		{"udp", host.ListenerQuery{Protocol: "udp"}, 1, 0, "4004"},
		{"unix", host.ListenerQuery{Protocol: "unix"}, 3, 0, "3002 3000 3001"},
		{"port", host.ListenerQuery{Port: 53}, 1, 0, "4004"},
		{"port of another protocol", host.ListenerQuery{Protocol: "tcp", Port: 53}, 0, 0, ""},
		{"first page", host.ListenerQuery{Limit: 2}, 7, 2, "4001 4002"},
		{"last page", host.ListenerQuery{Limit: 4, Offset: 4}, 7, 0, "3002 3000 3001"},
		{"past the end", host.ListenerQuery{Offset: 7}, 7, 0, ""},
	}
	src := openTree(t, "modern", "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := listeners(t, src, tt.in)
			var inodes []string
			for _, l := range got.Listeners {
				inodes = append(inodes, fmt.Sprint(l.Inode))
			}
			if s := strings.Join(inodes, " "); s != tt.want || got.Matched != tt.matched || got.NextOffset != tt.next {
				t.Errorf("got %q of %d, next %d; want %q of %d, next %d", s, got.Matched, got.NextOffset, tt.want, tt.matched, tt.next)
			}
		})
	}
}

// What may not be looked into makes the list incomplete, but only when it matters.
// A file in the place of the folder stands for one that may not be opened, since
// root may open everything.
func TestListenersIncomplete(t *testing.T) {
	const closed = "== proc/2/fd\nclosed\n"
	got := listeners(t, openTree(t, "modern", closed), host.ListenerQuery{Protocol: "udp"})
	want := []string{"owners: unknown for 1 of these sockets, as 1 of the processes do not let this program see their open files; run it as root or with CAP_SYS_PTRACE to see all"}
	if diff := cmp.Diff(want, got.Notes); diff != "" || !got.Incomplete {
		t.Errorf("incomplete %v, notes (-want +got):\n%s", got.Incomplete, diff)
	}
	got = listeners(t, openTree(t, "modern", closed), host.ListenerQuery{Port: 80})
	if got.Incomplete {
		t.Errorf("incomplete although every socket has an owner: %q", got.Notes)
	}
}

// A server that forks before it accepts can have very many owners.
func TestListenersManyOwners(t *testing.T) {
	var more strings.Builder
	for pid := 10_000; pid < 10_040; pid++ {
		fmt.Fprintf(&more, "== proc/%d/fd/4 -> socket:[4003]\n", pid)
	}
	got := listeners(t, openTree(t, "modern", more.String()), host.ListenerQuery{Port: 631})
	if l := got.Listeners[0]; len(l.Owners) != 16 || l.OwnerCount != 40 {
		t.Errorf("got %d of %d owners, want 16 of 40", len(l.Owners), l.OwnerCount)
	}
}

// A kernel without IPv6 is not worth a note; one without TCP is.
func TestListenersMissingTables(t *testing.T) {
	got := listeners(t, openTree(t, "legacy", ""), host.ListenerQuery{})
	if diff := cmp.Diff(host.ListenerList{Listeners: []host.Listener{}, Notes: []string{}}, got); diff != "" {
		t.Errorf("Listeners (-want +got):\n%s", diff)
	}
	got = listeners(t, openTree(t, "container", ""), host.ListenerQuery{Protocol: "tcp"})
	if diff := cmp.Diff([]string{"listeners: /proc/net/tcp: no such file or directory"}, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestListenersRefusals(t *testing.T) {
	tests := []struct {
		name string
		in   host.ListenerQuery
		want string
	}{
		{"protocol", host.ListenerQuery{Protocol: "sctp"}, "protocol: use tcp, udp or unix, or leave it out"},
		{"port", host.ListenerQuery{Port: 65536}, "port: use 1 to 65535"},
		{"port of unix", host.ListenerQuery{Protocol: "unix", Port: 1}, "port: unix sockets have none; leave it out or use another protocol"},
		{"limit", host.ListenerQuery{Limit: 5000}, "limit: use 1 to 1000"},
	}
	h := host.New(openTree(t, "modern", ""))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.Listeners(t.Context(), tt.in)
			var queryErr *host.QueryError
			if !errors.As(err, &queryErr) || err.Error() != tt.want {
				t.Errorf("got error %v, want a query error %q", err, tt.want)
			}
		})
	}
}
