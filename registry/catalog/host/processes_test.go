//go:build unix

package host_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
	"github.com/google/go-cmp/cmp"
)

func processes(t *testing.T, src host.Source, q host.ProcessQuery) host.ProcessList {
	t.Helper()
	list, err := host.New(src).Processes(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestProcesses(t *testing.T) {
	page := uint64(os.Getpagesize())
	want := host.ProcessList{
		Total:   6,
		Matched: 6,
		Processes: []host.Process{
			{
				PID: 1, UID: ptr[uint32](0), User: "root", State: "sleeping", Name: "systemd",
				CommandLine: "/sbin/init splash", RSSBytes: 3000 * page, VirtualBytes: 170000000, Threads: 1,
				CPUSeconds: 10, CPUPercent: ptr(0.1), StartTime: "2025-01-01T00:00:00Z", OpenFiles: ptr(2),
			},
			{
				PID: 2, UID: ptr[uint32](0), User: "root", State: "sleeping", Name: "kthreadd", KernelThread: true,
				Threads: 1, CPUSeconds: 0.01, CPUPercent: ptr(0.0), StartTime: "2025-01-01T00:00:00Z",
			},
			{
				PID: 800, PPID: 1, UID: ptr[uint32](0), User: "root", State: "sleeping", Name: "nginx",
				CommandLine: "nginx: master process /usr/sbin/nginx", RSSBytes: 1000 * page, VirtualBytes: 60000000, Threads: 1,
				CPUSeconds: 0.2, CPUPercent: ptr(0.0), StartTime: "2025-01-01T00:16:40Z", OpenFiles: ptr(2),
			},
			{
				PID: 801, PPID: 800, UID: ptr[uint32](33), User: "www-data", State: "running", Name: "nginx",
				CommandLine: "nginx: worker process", RSSBytes: 2000 * page, VirtualBytes: 61000000, Threads: 1,
				CPUSeconds: 1000, CPUPercent: ptr(11.11), StartTime: "2025-01-01T00:16:40Z", OpenFiles: ptr(2),
			},
			{
				PID: 900, PPID: 1, UID: ptr[uint32](1000), User: "alice", State: "sleeping", Name: "java",
				CommandLine: `/usr/bin/java -Djavax.net.ssl.keyStorePassword=[redacted] -jar "my app.jar" --db-password [redacted]`,
				RSSBytes:    50000 * page, VirtualBytes: 4000000000, Threads: 42,
				CPUSeconds: 40, CPUPercent: ptr(0.8), StartTime: "2025-01-01T01:23:20Z", OpenFiles: ptr(1),
			},
			{
				PID: 901, PPID: 900, UID: ptr[uint32](4242), User: "4242", State: "zombie", Name: "we) (ird",
				Threads: 1, CPUPercent: ptr(0.0), StartTime: "2025-01-01T02:46:40Z",
			},
		},
		Notes: []string{"processes: 1 have a stat file that could not be read"},
	}
	got := processes(t, openTree(t, "modern", ""), host.ProcessQuery{Sort: host.SortPID})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Processes (-want +got):\n%s", diff)
	}
}

func TestProcessesSelection(t *testing.T) {
	tests := []struct {
		name    string
		in      host.ProcessQuery
		matched int
		next    int
		want    string // ids of the page
	}{
		{"by processor time", host.ProcessQuery{}, 6, 0, "801 900 1 800 2 901"},
		{"by memory", host.ProcessQuery{Sort: "memory"}, 6, 0, "900 1 801 800 2 901"},
		{"by name", host.ProcessQuery{Sort: "name"}, 6, 0, "900 2 800 801 1 901"},
		{"by start", host.ProcessQuery{Sort: "start"}, 6, 0, "901 900 800 801 1 2"},
		{"name", host.ProcessQuery{Sort: "pid", Filter: "NGINX"}, 2, 0, "800 801"},
		{"command line", host.ProcessQuery{Sort: "pid", Filter: `app\.jar|^kthr`}, 2, 0, "2 900"},
		{"nothing", host.ProcessQuery{Filter: "no such thing"}, 0, 0, ""},
		{"user by name", host.ProcessQuery{User: "www-data"}, 1, 0, "801"},
		{"user by id", host.ProcessQuery{User: "4242"}, 1, 0, "901"},
		{"second name of a user", host.ProcessQuery{User: "alice"}, 1, 0, "900"},
		{"user and filter", host.ProcessQuery{User: "root", Filter: "nginx"}, 1, 0, "800"},
		{"first page", host.ProcessQuery{Sort: "pid", Limit: 4}, 6, 4, "1 2 800 801"},
		{"last page", host.ProcessQuery{Sort: "pid", Limit: 4, Offset: 4}, 6, 0, "900 901"},
		{"exact page", host.ProcessQuery{Sort: "pid", Limit: 6}, 6, 0, "1 2 800 801 900 901"},
		{"past the end", host.ProcessQuery{Offset: 70000}, 6, 0, ""},
	}
	src := openTree(t, "modern", "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := processes(t, src, tt.in)
			var ids []string
			for _, p := range got.Processes {
				ids = append(ids, fmt.Sprint(p.PID))
			}
			if s := strings.Join(ids, " "); s != tt.want || got.Matched != tt.matched || got.NextOffset != tt.next {
				t.Errorf("got %q of %d, next %d; want %q of %d, next %d", s, got.Matched, got.NextOffset, tt.want, tt.matched, tt.next)
			}
		})
	}
}

// A filter must not be a way to guess a secret letter by letter.
func TestProcessesFilterCannotSeeSecrets(t *testing.T) {
	src := openTree(t, "modern", "")
	for _, filter := range []string{"hunter", "hunter2", "s3cr3t", "Password=h"} {
		if got := processes(t, src, host.ProcessQuery{Filter: filter}); got.Matched != 0 {
			t.Errorf("filter %q found %d processes by their secrets", filter, got.Matched)
		}
	}
}

func TestProcessesHidden(t *testing.T) {
	got := processes(t, openTree(t, "container", ""), host.ProcessQuery{})
	want := []string{"processes: /proc is mounted with hidepid=invisible, so processes of other users may be missing"}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// The clock of a container (lxcfs) starts after the processes of its host.
func TestProcessesBeforeTheClock(t *testing.T) {
	got := processes(t, openTree(t, "modern", "== proc/uptime\n5.00 1.00\n"), host.ProcessQuery{Sort: "pid", Offset: 2})
	for _, p := range got.Processes {
		if p.CPUPercent != nil {
			t.Errorf("process %d: got %v percent since a start in the future, want none", p.PID, *p.CPUPercent)
		}
	}
}

func TestProcessesWithoutNames(t *testing.T) {
	got := processes(t, unpackTree(t, "== proc/7/stat\n7 (x) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 1000 1 0\n== proc/7/status\nUid:\t5\t5\n== proc/7/cmdline\n"),
		host.ProcessQuery{})
	want := host.ProcessList{
		Total: 1, Matched: 1,
		Processes: []host.Process{{PID: 7, UID: ptr[uint32](5), User: "5", State: "sleeping", Name: "x", RSSBytes: uint64(os.Getpagesize()), VirtualBytes: 1000, Threads: 1}},
		Notes: []string{
			"user names: /etc/passwd: no such file or directory",
			"boot_time: /proc/stat: no such file or directory",
			"uptime_seconds: /proc/uptime: no such file or directory",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Processes (-want +got):\n%s", diff)
	}
}

func TestProcessesLongCommandLine(t *testing.T) {
	more := "== proc/1/cmdline \\0\n/app\n" + strings.Repeat("a", 20_000) + "\n"
	got := processes(t, openTree(t, "container", more), host.ProcessQuery{}).Processes[0]
	if !got.CommandLineTruncated || len(got.CommandLine) != 4096 {
		t.Errorf("got %d bytes, truncated %v; want 4096, truncated", len(got.CommandLine), got.CommandLineTruncated)
	}
}

func TestProcessesBound(t *testing.T) {
	src := openTree(t, "modern", "")
	tests := []struct {
		name  string
		in    int
		want  int
		notes []string
	}{
		{"below", 9, 8, []string{}},
		{"at", 8, 8, []string{}},
		{"above", 6, 6, []string{"processes: only 6 of them were looked at"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, err := host.ProcessIDs(t.Context(), src, tt.in)
			if err != nil || len(got) != tt.want || !slices.IsSorted(got) {
				t.Errorf("got %v, error %v; want %d ids in order", got, err, tt.want)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProcessesRefusals(t *testing.T) {
	tests := []struct {
		name string
		in   host.ProcessQuery
		want string
	}{
		{"sort", host.ProcessQuery{Sort: "size"}, "sort: use cpu, memory, pid, name or start"},
		{"limit too large", host.ProcessQuery{Limit: 1001}, "limit: use 1 to 1000"},
		{"limit negative", host.ProcessQuery{Limit: -1}, "limit: use 1 to 1000"},
		{"offset", host.ProcessQuery{Offset: -1}, "offset: use 0 or next_offset of an earlier answer"},
		{"filter", host.ProcessQuery{Filter: "a(b"}, "filter: not an RE2 expression (missing closing )); put a backslash before special characters that are meant literally"},
		{"filter closed early", host.ProcessQuery{Filter: "a)(b"}, "filter: not an RE2 expression (unexpected )); put a backslash before special characters that are meant literally"},
		{"filter length", host.ProcessQuery{Filter: strings.Repeat("a", 513)}, "filter: longer than 512 bytes"},
		{"user", host.ProcessQuery{User: "mallory"}, "user: no such user in /etc/passwd; use the numeric id"},
	}
	h := host.New(openTree(t, "modern", ""))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.Processes(t.Context(), tt.in)
			var queryErr *host.QueryError
			if !errors.As(err, &queryErr) || err.Error() != tt.want {
				t.Errorf("got error %v, want a query error %q", err, tt.want)
			}
		})
	}
}

func TestProcessesWithoutProc(t *testing.T) {
	src := openTree(t, "modern", "")
	src.Proc += "/nowhere"
	_, err := host.New(src).Processes(t.Context(), host.ProcessQuery{})
	if err == nil || err.Error() != "listing /proc: no such file or directory" {
		t.Errorf("got error %v, want one about /proc that does not show where it is", err)
	}
}
