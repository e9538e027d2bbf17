package host_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/registry/catalog/host"
)

// The tests of this file look at the machine they run on.

func TestLiveStatus(t *testing.T) {
	got, err := host.New(host.Source{}).Status(t.Context(), host.StatusQuery{AllDisks: true})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case got.Kernel == "" || got.Hostname == "" || got.Load == nil || got.CPU.Online < 1 || got.CPU.Usable < 1:
		t.Errorf("basic facts are missing: %+v", got)
	case got.UptimeSeconds == nil || *got.UptimeSeconds <= 0:
		t.Error("no uptime")
	case got.Memory == nil || got.Memory.TotalBytes < 16<<20 || got.Memory.UsedBytes == nil || *got.Memory.UsedBytes > got.Memory.TotalBytes:
		t.Errorf("memory is not plausible: %+v", got.Memory)
	case len(got.Disks) == 0:
		t.Error("no disks")
	}
	boot, err := time.Parse(time.RFC3339, got.BootTime)
	if err != nil || boot.After(time.Now()) {
		t.Errorf("boot time %q is not a time in the past", got.BootTime)
	}
	for _, d := range got.Disks {
		if d.Space != nil && d.Space.FreeBytes > d.Space.TotalBytes {
			t.Errorf("%s: %d bytes free of %d", d.MountPoint, d.Space.FreeBytes, d.Space.TotalBytes)
		}
	}
}

func TestLiveProcesses(t *testing.T) {
	got, err := host.New(host.Source{}).Processes(t.Context(), host.ProcessQuery{
		Filter: filepath.Base(os.Args[0]), User: strconv.Itoa(os.Geteuid()), Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Processes {
		if p.PID != os.Getpid() {
			continue
		}
		name := filepath.Base(os.Args[0])
		switch {
		case p.PPID != os.Getppid():
			t.Errorf("parent %d, want %d", p.PPID, os.Getppid())
		case p.Name != name[:min(len(name), 15)]:
			t.Errorf("name %q, want the first 15 bytes of %q", p.Name, name)
		case !strings.HasPrefix(p.CommandLine, os.Args[0]):
			t.Errorf("command line %q does not start with %q", p.CommandLine, os.Args[0])
		case p.RSSBytes == 0 || p.VirtualBytes < p.RSSBytes || p.Threads < 1 || p.CPUPercent == nil:
			t.Errorf("not plausible: %+v", p)
		case p.OpenFiles == nil || *p.OpenFiles < 3:
			t.Errorf("open files %v, want three at least", p.OpenFiles)
		}
		started, err := time.Parse(time.RFC3339, p.StartTime)
		if age := time.Since(started); err != nil || age < -time.Minute || age > time.Hour {
			t.Errorf("start time %q is not plausible", p.StartTime)
		}
		return
	}
	t.Errorf("own process %d is not among %d found", os.Getpid(), got.Matched)
}

func TestLiveListeners(t *testing.T) {
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	path := filepath.Join(t.TempDir(), "live.sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	tests := []struct {
		name string
		in   host.ListenerQuery
		want string
	}{
		{"tcp", host.ListenerQuery{Protocol: "tcp", Port: tcp.Addr().(*net.TCPAddr).Port}, "127.0.0.1"},
		{"udp", host.ListenerQuery{Protocol: "udp", Port: udp.LocalAddr().(*net.UDPAddr).Port}, "127.0.0.1"},
		{"unix", host.ListenerQuery{Protocol: "unix", Limit: 1000}, path},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := listeners(t, host.Source{}, tt.in)
			for _, l := range got.Listeners {
				if l.Address != tt.want {
					continue
				}
				if l.OwnerCount != 1 || l.Owners[0].PID != os.Getpid() {
					t.Errorf("owners %v, want process %d", l.Owners, os.Getpid())
				}
				return
			}
			t.Errorf("%s is not among %v", tt.want, got.Listeners)
		})
	}
}

func TestLiveInterfaces(t *testing.T) {
	got, err := host.New(host.Source{}).Interfaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range got.Interfaces {
		if i.Name == "lo" {
			if i.Index < 1 || i.MTU < 1 || i.Traffic == nil || !strings.Contains(strings.Join(i.Flags, " "), "loopback") {
				t.Errorf("not plausible: %+v", i)
			}
			return
		}
	}
	t.Errorf("no loopback among %+v", got.Interfaces)
}
