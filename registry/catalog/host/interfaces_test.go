//go:build unix

package host_test

import (
	"errors"
	"testing"

	"cloudg.dev/cloudg/registry/catalog/host"
	"github.com/google/go-cmp/cmp"
)

func TestInterfaces(t *testing.T) {
	loTraffic := &host.Traffic{RxBytes: 3193, RxPackets: 29, TxBytes: 3193, TxPackets: 29}
	ethTraffic := &host.Traffic{
		RxBytes: 31766745, RxPackets: 826, RxErrors: 1, RxDropped: 2,
		TxBytes: 47348, TxPackets: 477, TxErrors: 3, TxDropped: 4,
	}
	const badLine = "traffic: 1 lines of /proc/net/dev are malformed"
	tests := []struct {
		name  string
		tree  string
		links func() ([]host.Interface, error)
		want  host.InterfaceList
	}{
		{
			name: "from the kernel",
			tree: "modern",
			links: func() ([]host.Interface, error) {
				return []host.Interface{
					{Name: "eth0", Index: 2, MTU: 1500, MAC: "02:fc:00:00:00:01", Flags: []string{"up", "broadcast"}, Addresses: []string{"192.0.2.2/24", "fd00::2/64"}},
					{Name: "lo", Index: 1, MTU: 65536, Flags: []string{"up", "loopback"}, Addresses: []string{"127.0.0.1/8"}},
					{Name: "../escape", Index: 3},
				}, nil
			},
			want: host.InterfaceList{
				Interfaces: []host.Interface{
					{Name: "lo", Index: 1, MTU: 65536, Flags: []string{"up", "loopback"}, Addresses: []string{"127.0.0.1/8"}, OperState: "unknown", Traffic: loTraffic},
					{Name: "eth0", Index: 2, MTU: 1500, MAC: "02:fc:00:00:00:01", Flags: []string{"up", "broadcast"}, Addresses: []string{"192.0.2.2/24", "fd00::2/64"},
						OperState: "up", SpeedBitsPerSecond: ptr[uint64](10_000_000_000), Traffic: ethTraffic},
					{Name: "../escape", Index: 3, Flags: []string{}, Addresses: []string{}},
				},
				Unsupported: []string{},
				Notes:       []string{badLine},
			},
		},
		{
			name:  "from sysfs",
			tree:  "modern",
			links: func() ([]host.Interface, error) { return nil, errors.New("netlink: permission denied") },
			want: host.InterfaceList{
				Interfaces: []host.Interface{
					{Name: "lo", Index: 1, MTU: 65536, Flags: []string{"up", "loopback"}, Addresses: []string{}, OperState: "unknown", Traffic: loTraffic},
					{Name: "eth0", Index: 2, MTU: 1500, MAC: "02:fc:00:00:00:01", Flags: []string{"up", "broadcast", "multicast"}, Addresses: []string{},
						OperState: "up", SpeedBitsPerSecond: ptr[uint64](10_000_000_000), Traffic: ethTraffic},
				},
				Unsupported: []string{},
				Notes:       []string{badLine, "addresses: netlink: permission denied"},
			},
		},
		{
			name:  "old kernel without sysfs",
			tree:  "legacy",
			links: func() ([]host.Interface, error) { return []host.Interface{{Name: "eth0", Index: 2}}, nil },
			want: host.InterfaceList{
				Interfaces: []host.Interface{{Name: "eth0", Index: 2, Flags: []string{}, Addresses: []string{}, Traffic: &host.Traffic{
					RxBytes: 1, RxPackets: 2, RxErrors: 3, RxDropped: 4, TxBytes: 5, TxPackets: 6, TxErrors: 7, TxDropped: 8}}},
				Unsupported: []string{},
				Notes:       []string{"operstate and speed_bits_per_second: /sys/class/net tells nothing about these interfaces"},
			},
		},
		{
			name:  "none",
			tree:  "container",
			links: func() ([]host.Interface, error) { return nil, nil },
			want: host.InterfaceList{
				Interfaces:  []host.Interface{},
				Unsupported: []string{},
				Notes:       []string{"traffic: /proc/net/dev: no such file or directory"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := openTree(t, tt.tree, "")
			src.Links = tt.links
			got, err := host.New(src).Interfaces(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Interfaces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInterfacesUnknown(t *testing.T) {
	refused := errors.New("refused")
	src := openTree(t, "container", "")
	src.Links = func() ([]host.Interface, error) { return nil, refused }
	if _, err := host.New(src).Interfaces(t.Context()); !errors.Is(err, refused) {
		t.Errorf("got error %v, want %v", err, refused)
	}
}
