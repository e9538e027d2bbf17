//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudg.dev/cloudg/registry/catalog/host"
	"github.com/google/go-cmp/cmp"
)

func TestStatus(t *testing.T) {
	space := &host.Space{TotalBytes: 1000, UsedBytes: 600, FreeBytes: 400, AvailableBytes: 200, UsedPercent: ptr(75.0)}
	inodes := &host.Inodes{Total: 50, Used: 30, Free: 20}
	tests := []struct {
		name string
		want host.Status
	}{
		{"modern", host.Status{
			System:        "linux",
			Architecture:  runtime.GOARCH,
			Distribution:  `Ubuntu 24.04.1 LTS "Noble"`,
			Kernel:        "6.8.0-45-generic",
			KernelVersion: "#45-Ubuntu SMP PREEMPT_DYNAMIC",
			Hostname:      "web-1",
			UptimeSeconds: ptr(10000.5),
			BootTime:      "2025-01-01T00:00:00Z",
			Load:          &host.Load{OneMinute: 0.52, FiveMinutes: 1.25, FifteenMinutes: 2, RunnableTasks: 3, TotalTasks: 412},
			CPU:           host.CPU{Online: 3, Usable: 3, Model: "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"},
			Memory: &host.Memory{
				TotalBytes:     8000000 << 10,
				AvailableBytes: ptr[uint64](5000000 << 10),
				UsedBytes:      ptr[uint64](3000000 << 10),
				FreeBytes:      ptr[uint64](1000000 << 10),
				BuffersBytes:   ptr[uint64](200000 << 10),
				CachedBytes:    ptr[uint64](3000000 << 10),
			},
			Swap: &host.Swap{TotalBytes: 2000000 << 10, UsedBytes: 500000 << 10, FreeBytes: 1500000 << 10},
			Disks: []host.Disk{
				{MountPoint: "/", Device: "/dev/sda1", Type: "ext4", Space: space, Inodes: inodes},
				{MountPoint: "/covered", Device: "/dev/sdd1", Type: "btrfs", Space: space},
				{MountPoint: "/mnt/my disk", Device: "/dev/sdb1", Type: "xfs", ReadOnly: true, Space: space, Inodes: inodes},
				{MountPoint: "/mnt/nas", Device: "nas:/export", Type: "nfs4", Space: space, Inodes: inodes},
			},
			Cgroup: &host.Cgroup{
				Version:            2,
				Path:               "/system.slice/app.slice/cloudg.service",
				MemoryLimitBytes:   ptr[uint64](536870912),
				MemoryCurrentBytes: ptr[uint64](400000000),
				CPULimit:           ptr(2.5),
				PidsLimit:          ptr[uint64](9461),
				PidsCurrent:        ptr[uint64](12),
			},
			Unsupported: []string{},
			Notes:       []string{},
		}},
		{"legacy", host.Status{
			System:        "linux",
			Architecture:  runtime.GOARCH,
			Distribution:  "Old OS 7",
			Kernel:        "3.10.0",
			KernelVersion: "#1 SMP",
			Hostname:      "old",
			UptimeSeconds: ptr(50.0),
			BootTime:      "2001-09-09T01:46:40Z",
			Load:          &host.Load{FiveMinutes: 0.01, FifteenMinutes: 0.05, RunnableTasks: 1, TotalTasks: 60},
			CPU:           host.CPU{Online: 1, Usable: 1, Model: "ARMv7 Processor rev 3 (v7l)"},
			Memory: &host.Memory{
				TotalBytes:   500000 << 10,
				UsedBytes:    ptr[uint64](200000 << 10),
				FreeBytes:    ptr[uint64](100000 << 10),
				BuffersBytes: ptr[uint64](50000 << 10),
				CachedBytes:  ptr[uint64](150000 << 10),
			},
			Disks: []host.Disk{{MountPoint: "/", Device: "/dev/mmcblk0p2", Type: "ext3", Space: space, Inodes: inodes}},
			Cgroup: &host.Cgroup{
				Version:            1,
				Path:               "/batch/job",
				MemoryCurrentBytes: ptr[uint64](100000000),
				CPULimit:           ptr(0.5),
			},
			Unsupported: []string{},
			Notes: []string{
				"memory: /proc/meminfo has no MemAvailable (Linux before 3.14)",
				"swap: /proc/meminfo has no SwapTotal",
			},
		}},
		{"container", host.Status{
			System:        "linux",
			Architecture:  runtime.GOARCH,
			Distribution:  "Alpine Linux v3.20",
			Kernel:        "6.1.0-22-arm64",
			KernelVersion: "#1 SMP Debian 6.1.94-1",
			Hostname:      "c0ffee",
			UptimeSeconds: ptr(777.0),
			BootTime:      "2023-11-14T22:13:20Z",
			Load:          &host.Load{OneMinute: 0.1, FiveMinutes: 0.2, FifteenMinutes: 0.3, RunnableTasks: 2, TotalTasks: 9},
			CPU:           host.CPU{Online: 2, Usable: 1, Model: "implementer 0x41 part 0xd0c"},
			Memory: &host.Memory{
				TotalBytes:     4000000 << 10,
				AvailableBytes: ptr[uint64](3000000 << 10),
				UsedBytes:      ptr[uint64](1000000 << 10),
				FreeBytes:      ptr[uint64](1000000 << 10),
				BuffersBytes:   ptr[uint64](0),
				CachedBytes:    ptr[uint64](2000000 << 10),
			},
			Swap: &host.Swap{},
			Disks: []host.Disk{
				{MountPoint: "/", Device: "overlay", Type: "overlay", Space: space, Inodes: inodes},
				{MountPoint: "/etc/hosts", Device: "/dev/sda1", Type: "ext4", Space: space, Inodes: inodes},
			},
			Cgroup: &host.Cgroup{
				Version:            2,
				Path:               "/",
				MemoryLimitBytes:   ptr[uint64](268435456),
				MemoryCurrentBytes: ptr[uint64](1048576),
				CPULimit:           ptr(0.5),
				PidsLimit:          ptr[uint64](100),
				PidsCurrent:        ptr[uint64](3),
			},
			Unsupported: []string{},
			Notes:       []string{},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := host.New(openTree(t, tt.name, "")).Status(t.Context(), host.StatusQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusAllDisks(t *testing.T) {
	got, err := host.New(openTree(t, "modern", "")).Status(t.Context(), host.StatusQuery{AllDisks: true})
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for _, d := range got.Disks {
		points = append(points, d.MountPoint+" "+d.Type)
	}
	want := []string{"/ ext4", "/bind ext4", "/covered btrfs", "/mnt/my disk xfs", "/mnt/nas nfs4", "/proc proc",
		"/run tmpfs", "/snap/core/1 squashfs", "/sys sysfs", "/sys/fs/cgroup cgroup2", "/var/lib/docker/overlay2/x/merged overlay"}
	if diff := cmp.Diff(want, points); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
}

// A machine that tells nothing gives notes, and no zero that looks like a fact.
func TestStatusOfNothing(t *testing.T) {
	got, err := host.New(unpackTree(t, "== proc/\n")).Status(t.Context(), host.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	const missing = "no such file or directory"
	want := host.Status{
		System:       "linux",
		Architecture: runtime.GOARCH,
		Disks:        []host.Disk{},
		Unsupported:  []string{},
		Notes: []string{
			"distribution: /etc/os-release: " + missing,
			"kernel: /proc/sys/kernel/osrelease: " + missing,
			"kernel_version: /proc/sys/kernel/version: " + missing,
			"hostname: /proc/sys/kernel/hostname: " + missing,
			"uptime_seconds: /proc/uptime: " + missing,
			"boot_time: /proc/stat: " + missing,
			"load: /proc/loadavg: " + missing,
			"cpu.online: /proc/stat: " + missing,
			"cpu.usable: /proc/self/status: " + missing,
			"cpu.model: /proc/cpuinfo: " + missing,
			"memory: /proc/meminfo: " + missing,
			"swap: /proc/meminfo: " + missing,
			"disks: /proc/self/mountinfo: " + missing,
			"cgroup: /proc/self/cgroup: " + missing,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Status (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); strings.Contains(s, "null") || strings.Contains(s, "uptime_seconds\":") || strings.Contains(s, "\"memory\"") {
		t.Errorf("JSON of nothing claims facts: %s", s)
	}
}

func TestStatusMalformed(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"uptime", "== proc/uptime\n-Inf 1", "uptime_seconds: /proc/uptime does not start with a number"},
		{"load", "== proc/loadavg\n0.1 0.2 nan 1/2 3", `load: /proc/loadavg is not of the form "0.00 0.00 0.00 1/100 4321"`},
		{"boot time", "== proc/stat\ncpu0 1\nbtime 99999999999999999999", "boot_time: /proc/stat has no usable btime"},
		{"no processors", "== proc/stat\nbtime 1", "cpu.online: /proc/stat has no line for a processor"},
		{"affinity", "== proc/self/status\nCpus_allowed_list:\t3-1", "cpu.usable: /proc/self/status has no usable Cpus_allowed_list"},
		{"model", "== proc/cpuinfo\nprocessor: 0", "cpu.model: /proc/cpuinfo names no model"},
		{"memory unit", "== proc/meminfo\nMemTotal: 5 pages\nSwapTotal: 1 kB", "memory: /proc/meminfo has no MemTotal"},
		{"swap half", "== proc/meminfo\nMemTotal: 5 kB\nSwapTotal: 1 kB", "swap: /proc/meminfo has no SwapFree"},
		{"mounts", "== proc/self/mountinfo\nhello\n1 1 8:1 / / rw - ext4 /dev/x rw", "disks: 1 lines of /proc/self/mountinfo are malformed"},
		{"unreadable", "== proc/loadavg/\n", "load: /proc/loadavg: is a directory"},
		{"cgroup value", "== proc/self/cgroup\n0::/\n== proc/self/mountinfo\n1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n== sys/fs/cgroup/memory.max\nmany",
			"cgroup: limit of controller memory: not a number"},
		{"cgroup controller", "== proc/self/cgroup\n0::/a\n== proc/self/mountinfo\n1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup rw",
			"cgroup: controller pids is not enabled for /a"},
		{"cgroup not mounted", "== proc/self/cgroup\n0::/a\n== proc/self/mountinfo\n1 1 8:1 / / rw - ext4 /dev/x rw",
			"cgroup: no control group file system is mounted that this process could read its limits from"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := host.New(unpackTree(t, tt.in)).Status(t.Context(), host.StatusQuery{})
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range got.Notes {
				if note == tt.want {
					return
				}
			}
			t.Errorf("no note %q in %q", tt.want, got.Notes)
		})
	}
}

// A container without a cgroup namespace sees the path of the host and a mount of
// its own group; a process outside of the mounted group is told about the mount.
func TestCgroupPaths(t *testing.T) {
	const limits = `
== sys/fs/cgroup/memory/memory.limit_in_bytes
1000
== sys/fs/cgroup/memory/memory.usage_in_bytes
10
== sys/fs/cgroup/memory/inner/memory.limit_in_bytes
500
== sys/fs/cgroup/memory/inner/memory.usage_in_bytes
5
`
	tests := []struct {
		name, root, group string
		want              uint64
	}{
		{"mounted at the top", "/", "/inner", 500},
		{"own group mounted", "/docker/abc", "/docker/abc", 1000},
		{"below the mounted group", "/docker/abc", "/docker/abc/inner", 500},
		{"beside the mounted group", "/docker/abc", "/docker/abcd/inner", 1000},
		{"outside of the namespace", "/", "/../../inner", 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := "== proc/self/cgroup\n5:memory:" + tt.group +
				"\n== proc/self/mountinfo\n1 1 0:1 " + tt.root + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory" + limits
			got, err := host.New(unpackTree(t, tree)).Status(t.Context(), host.StatusQuery{})
			if err != nil {
				t.Fatal(err)
			}
			want := &host.Cgroup{Version: 1, Path: tt.group, MemoryLimitBytes: &tt.want, MemoryCurrentBytes: ptr(tt.want / 100)}
			if diff := cmp.Diff(want, got.Cgroup); diff != "" {
				t.Errorf("cgroup (-want +got):\n%s", diff)
			}
		})
	}
}

// A share whose server is dead costs a note, not the answer; while its measurement
// is under way nobody starts another one.
func TestStatusDeadMount(t *testing.T) {
	src := openTree(t, "modern", "")
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		revive := make(chan struct{})
		src.Statfs = func(path string) (host.Usage, error) {
			if path == "/mnt/nas" {
				asked.Add(1)
				<-revive
			}
			return recordedStatfs(path)
		}
		h := host.New(src)
		for range 3 {
			start := time.Now()
			got, err := h.Status(t.Context(), host.StatusQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited != 2*time.Second {
				t.Errorf("waited %v, want 2s", waited)
			}
			want := []string{"disks: /mnt/nas did not answer within 2s; a server or device behind it may be dead"}
			if diff := cmp.Diff(want, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if got.Disks[3].Space != nil || got.Disks[0].Space == nil {
				t.Errorf("want the space of all disks but the dead one, got %+v", got.Disks)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked the dead mount %d times, want once", n)
		}
		close(revive)
		synctest.Wait()
		got, err := h.Status(t.Context(), host.StatusQuery{})
		if err != nil || len(got.Notes) > 0 || got.Disks[3].Space == nil {
			t.Errorf("after the server came back: disk %+v, notes %q, error %v", got.Disks[3], got.Notes, err)
		}
	})
}

// Mounts without end neither fill the answer nor start measurements without end.
func TestStatusBounds(t *testing.T) {
	var tree strings.Builder
	tree.WriteString("== proc/self/mountinfo\n")
	for i := range 300 {
		fmt.Fprintf(&tree, "1 1 9:%d / /m%d rw - ext4 /dev/x rw\n", i, i)
	}
	src := unpackTree(t, tree.String())
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		revive := make(chan struct{})
		src.Statfs = func(string) (host.Usage, error) { asked.Add(1); <-revive; return host.Usage{}, nil }
		start := time.Now()
		got, err := host.New(src).Status(t.Context(), host.StatusQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if n := asked.Load(); n != 32 || time.Since(start) != 2*time.Second {
			t.Errorf("asked %d dead mounts in %v, want 32 in 2s", n, time.Since(start))
		}
		if len(got.Disks) != 256 || len(got.Notes) != 65 || got.Notes[64] != "more notes were dropped" {
			t.Errorf("got %d disks and %d notes, want 256 and 65", len(got.Disks), len(got.Notes))
		}
		close(revive)
	})
}

func TestStatusDeviceWithPassword(t *testing.T) {
	const tree = "== proc/self/mountinfo\n1 1 0:44 / /dav rw - fuse https://alice:hunter2@dav.example/files rw\n"
	got, err := host.New(unpackTree(t, tree)).Status(t.Context(), host.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://alice:[redacted]@dav.example/files"; len(got.Disks) != 1 || got.Disks[0].Device != want {
		t.Errorf("got disks %+v, want one from %s", got.Disks, want)
	}
}

func TestConcurrentSurveys(t *testing.T) {
	h := host.New(openTree(t, "modern", ""))
	want, err := h.Status(t.Context(), host.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := h.Status(t.Context(), host.StatusQuery{})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, Status (-want +got):\n%s", err, diff)
			}
		})
	}
	wg.Wait()
}

func TestStatusRefusedMount(t *testing.T) {
	src := openTree(t, "container", "")
	src.Statfs = func(path string) (host.Usage, error) {
		if path == "/" {
			return host.Usage{}, errors.New("permission denied")
		}
		return recordedStatfs(path)
	}
	got, err := host.New(src).Status(t.Context(), host.StatusQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"disks: /: permission denied"}, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestCancelled(t *testing.T) {
	cause := errors.New("the peer has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	h := host.New(openTree(t, "modern", ""))
	_, errStatus := h.Status(ctx, host.StatusQuery{})
	_, errProcesses := h.Processes(ctx, host.ProcessQuery{})
	_, errListeners := h.Listeners(ctx, host.ListenerQuery{})
	_, errInterfaces := h.Interfaces(ctx)
	for i, err := range []error{errStatus, errProcesses, errListeners, errInterfaces} {
		if !errors.Is(err, cause) {
			t.Errorf("call %d: got error %v, want %v", i, err, cause)
		}
	}
}

// A cancellation while a mount does not answer ends the survey at once.
func TestStatusCancelledWhileWaiting(t *testing.T) {
	src := openTree(t, "modern", "")
	synctest.Test(t, func(t *testing.T) {
		revive := make(chan struct{})
		src.Statfs = func(string) (host.Usage, error) { <-revive; return host.Usage{}, nil }
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		start := time.Now()
		_, err := host.New(src).Status(ctx, host.StatusQuery{})
		if !errors.Is(err, cause) || time.Since(start) != time.Second {
			t.Errorf("got error %v after %v, want %v after 1s", err, time.Since(start), cause)
		}
		close(revive)
	})
}
