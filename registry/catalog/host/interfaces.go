package host

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"slices"
	"strings"
)

// maxInterfaces bounds the list.
const maxInterfaces = 4096

// InterfaceList is the network interfaces by index.
type InterfaceList struct {
	Interfaces  []Interface `json:"interfaces" jsonschema:"description=Network interfaces by index"`
	Unsupported []string    `json:"unsupported" jsonschema:"description=Fields that this operating system does not let this program read"`
	Notes       []string    `json:"notes" jsonschema:"description=What could not be read and why"`
}

// Interface is a network interface.
type Interface struct {
	Name               string   `json:"name" jsonschema:"description=Name"`
	Index              int      `json:"index,omitempty" jsonschema:"description=Number,minimum=1"`
	MTU                int      `json:"mtu,omitempty" jsonschema:"description=Largest packet in bytes,minimum=0"`
	MAC                string   `json:"mac,omitempty" jsonschema:"description=Hardware address"`
	Flags              []string `json:"flags" jsonschema:"description=up or broadcast or loopback or pointtopoint or multicast or running"`
	Addresses          []string `json:"addresses" jsonschema:"description=IP addresses with the length of their prefix"`
	OperState          string   `json:"operstate,omitempty" jsonschema:"description=State of the link as the kernel sees it: up or down or unknown and so on"`
	SpeedBitsPerSecond *uint64  `json:"speed_bits_per_second,omitempty" jsonschema:"description=Speed of the link; absent when it has none,minimum=0"`
	Traffic            *Traffic `json:"traffic,omitempty" jsonschema:"description=Counters since the interface was made"`
}

// Traffic counts what went through an interface.
type Traffic struct {
	RxBytes   uint64 `json:"rx_bytes" jsonschema:"description=Bytes received,minimum=0"`
	RxPackets uint64 `json:"rx_packets" jsonschema:"description=Packets received,minimum=0"`
	RxErrors  uint64 `json:"rx_errors" jsonschema:"description=Bad packets received,minimum=0"`
	RxDropped uint64 `json:"rx_dropped" jsonschema:"description=Received packets dropped,minimum=0"`
	TxBytes   uint64 `json:"tx_bytes" jsonschema:"description=Bytes sent,minimum=0"`
	TxPackets uint64 `json:"tx_packets" jsonschema:"description=Packets sent,minimum=0"`
	TxErrors  uint64 `json:"tx_errors" jsonschema:"description=Failures to send,minimum=0"`
	TxDropped uint64 `json:"tx_dropped" jsonschema:"description=Packets to send dropped,minimum=0"`
}

// Interfaces lists the network interfaces in the network namespace of this process.
// It fails when ctx ends, and when neither the kernel nor procfs tells of any.
func (h *Host) Interfaces(ctx context.Context) (InterfaceList, error) {
	if ctx.Err() != nil {
		return InterfaceList{}, context.Cause(ctx)
	}
	s := h.survey()
	list := InterfaceList{Unsupported: []string{}}
	links, err := h.src.Links()
	if !h.src.hasProcfs() {
		if err != nil {
			return InterfaceList{}, err
		}
		list.Unsupported = append(list.Unsupported, "operstate", "speed_bits_per_second", "traffic")
		list.Interfaces, list.Notes = s.tidy(links), s.notes
		return list, nil
	}
	counters := s.traffic(ctx)
	if err != nil {
		s.note("addresses: %v", err)
		links = s.sysfsLinks(counters)
	}
	if len(links) == 0 && err != nil {
		return InterfaceList{}, err
	}
	links = s.tidy(links)
	states := 0
	for i := range links {
		if ctx.Err() != nil {
			return InterfaceList{}, context.Cause(ctx)
		}
		s.linkState(&links[i], counters)
		states += len(links[i].OperState)
	}
	if states == 0 && len(links) > 0 {
		s.note("operstate and speed_bits_per_second: /sys/class/net tells nothing about these interfaces")
	}
	list.Interfaces, list.Notes = links, s.notes
	return list, nil
}

// tidy orders the links, keeps their slices from being nil and bounds them.
func (s *survey) tidy(links []Interface) []Interface {
	out := slices.Clone(links)
	slices.SortStableFunc(out, func(a, b Interface) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	if len(out) > maxInterfaces {
		s.note("interfaces: only the first %d of %d are listed", maxInterfaces, len(out))
		out = out[:maxInterfaces]
	}
	for i := range out {
		if out[i].Flags == nil {
			out[i].Flags = []string{}
		}
		if out[i].Addresses == nil {
			out[i].Addresses = []string{}
		}
	}
	if out == nil {
		out = []Interface{}
	}
	return out
}

// systemLinks asks package net.
func systemLinks() ([]Interface, error) {
	found, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	links := make([]Interface, 0, len(found))
	for _, f := range found {
		link := Interface{Name: f.Name, Index: f.Index, MTU: f.MTU, MAC: f.HardwareAddr.String(), Flags: flagNames(f.Flags)}
		addrs, err := f.Addrs()
		if err != nil {
			continue // the interface has gone
		}
		for _, a := range addrs {
			link.Addresses = append(link.Addresses, a.String())
		}
		links = append(links, link)
	}
	return links, nil
}

func flagNames(f net.Flags) []string {
	if f == 0 {
		return []string{}
	}
	return strings.Split(f.String(), "|")
}

// sysfsLinks makes do where the kernel may not be asked for interfaces, as in some
// sandboxes. Addresses are not in sysfs.
func (s *survey) sysfsLinks(counters []counted) []Interface {
	var links []Interface
	for _, c := range counters {
		link := Interface{Name: c.name}
		if index, ok := s.linkNumber(c.name, "ifindex"); ok {
			link.Index = int(index)
		}
		if mtu, ok := s.linkNumber(c.name, "mtu"); ok {
			link.MTU = int(mtu)
		}
		if mac, ok := s.linkFile(c.name, "address"); ok && string(mac) != "00:00:00:00:00:00" {
			link.MAC = text(mac)
		}
		link.Flags = flagNames(s.linkFlags(c.name))
		links = append(links, link)
	}
	return links
}

// linkFlags translates the kernel's flags.
func (s *survey) linkFlags(name string) net.Flags {
	b, ok := s.linkFile(name, "flags")
	bits, isHex := parseHex(bytes.TrimPrefix(b, []byte("0x")))
	if !ok || !isHex {
		return 0
	}
	var f net.Flags
	for _, flag := range []struct {
		bit  uint64
		flag net.Flags
	}{
		{0x1, net.FlagUp}, {0x2, net.FlagBroadcast}, {0x8, net.FlagLoopback},
		{0x10, net.FlagPointToPoint}, {0x40, net.FlagRunning}, {0x1000, net.FlagMulticast},
	} {
		if bits&flag.bit != 0 {
			f |= flag.flag
		}
	}
	return f
}
