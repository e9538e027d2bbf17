package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// Disk is a mounted file system.
type Disk struct {
	MountPoint string  `json:"mount_point" jsonschema:"description=Where it is mounted"`
	Device     string  `json:"device" jsonschema:"description=Device or share it comes from"`
	Type       string  `json:"type" jsonschema:"description=File system type"`
	ReadOnly   bool    `json:"read_only" jsonschema:"description=True when nothing can be written"`
	Space      *Space  `json:"space,omitempty" jsonschema:"description=Bytes; absent when they could not be measured"`
	Inodes     *Inodes `json:"inodes,omitempty" jsonschema:"description=Files; absent when the file system has no fixed number of them"`
}

// Space is the room on a disk in bytes.
type Space struct {
	TotalBytes     uint64   `json:"total_bytes" jsonschema:"description=Size of the file system,minimum=0"`
	UsedBytes      uint64   `json:"used_bytes" jsonschema:"description=Total less free,minimum=0"`
	FreeBytes      uint64   `json:"free_bytes" jsonschema:"description=Free including what is reserved for root,minimum=0"`
	AvailableBytes uint64   `json:"available_bytes" jsonschema:"description=Free for ordinary users,minimum=0"`
	UsedPercent    *float64 `json:"used_percent,omitempty" jsonschema:"description=Used of what ordinary users could have (as df computes it),minimum=0,maximum=100"`
}

// Inodes is the room for files on a disk.
type Inodes struct {
	Total uint64 `json:"total" jsonschema:"description=All inodes,minimum=0"`
	Used  uint64 `json:"used" jsonschema:"description=Inodes in use,minimum=0"`
	Free  uint64 `json:"free" jsonschema:"description=Inodes left,minimum=0"`
}

// Usage is what statfs tells about a file system, in bytes and inodes.
type Usage struct {
	TotalBytes     uint64 // size
	FreeBytes      uint64 // free, the reserve for root included
	AvailableBytes uint64 // free for ordinary users
	Inodes         uint64 // all inodes; 0 when the file system makes them on demand
	InodesFree     uint64 // inodes left
}

// maxDisks bounds the list; more mounts than this are noted.
const maxDisks = 256

// disks lists and measures the mounted file systems.
func (h *Host) disks(ctx context.Context, s *survey, mounts []mount, all bool) []Disk {
	chosen := uncovered(mounts)
	if !all {
		chosen = realDisks(chosen)
	}
	slices.SortStableFunc(chosen, func(a, b mount) int { return cmp.Compare(a.point, b.point) })
	if len(chosen) > maxDisks {
		s.note("disks: only the first %d of %d mounts are listed", maxDisks, len(chosen))
		chosen = chosen[:maxDisks]
	}
	disks := make([]Disk, len(chosen))
	points := make([]string, len(chosen))
	for i, m := range chosen {
		points[i] = m.point
		disks[i] = Disk{
			MountPoint: text([]byte(m.point)),
			Device:     redactURLs(text([]byte(m.source))), // WebDAV and the like name a password
			Type:       text([]byte(m.fsType)),
			ReadOnly:   hasOption(m.options, "ro") || hasOption(m.super, "ro"),
		}
	}
	for i, answer := range h.measure(ctx, points) {
		switch {
		case answer.err == nil:
			disks[i].setUsage(answer.usage)
		case errors.Is(answer.err, errNoAnswer):
			s.note("disks: %s did not answer within %v; a server or device behind it may be dead", disks[i].MountPoint, patience)
		default:
			s.note("disks: %s: %v", disks[i].MountPoint, cause(answer.err))
		}
	}
	return disks
}

func (d *Disk) setUsage(u Usage) {
	used := less(u.TotalBytes, u.FreeBytes)
	d.Space = &Space{
		TotalBytes:     u.TotalBytes,
		UsedBytes:      used,
		FreeBytes:      u.FreeBytes,
		AvailableBytes: u.AvailableBytes,
	}
	if reachable := float64(used) + float64(u.AvailableBytes); reachable > 0 {
		d.Space.UsedPercent = ptr(round2(100 * float64(used) / reachable))
	}
	if u.Inodes > 0 {
		d.Inodes = &Inodes{Total: u.Inodes, Used: less(u.Inodes, u.InodesFree), Free: u.InodesFree}
	}
}

// uncovered drops mounts that a later mount on the same point hides: statfs could
// only tell about the last one.
func uncovered(mounts []mount) []mount {
	last := make(map[string]int, len(mounts))
	for i, m := range mounts {
		last[m.point] = i
	}
	var out []mount
	for i, m := range mounts {
		if last[m.point] == i {
			out = append(out, m)
		}
	}
	return out
}

// realDisks keeps file systems that hold files of this or another machine, each
// device once: at the mount that shows the most of it, and of several such at the
// one with the shortest name. The root is kept whatever it is.
func realDisks(mounts []mount) []mount {
	best := make(map[string]mount)
	var order []string
	for _, m := range mounts {
		if m.point != "/" && !holdsFiles(m.fsType) {
			continue
		}
		old, seen := best[m.device]
		if !seen {
			order = append(order, m.device)
		}
		if !seen || betterView(m, old) {
			best[m.device] = m
		}
	}
	out := make([]mount, len(order))
	for i, device := range order {
		out[i] = best[device]
	}
	return out
}

func betterView(m, old mount) bool {
	if whole, oldWhole := m.root == "/", old.root == "/"; whole != oldWhole {
		return whole
	}
	return len(m.point) < len(old.point)
}

// holdsFiles tells real file systems from the kernel's views of itself, from
// memory, from read-only images (always full), from overlays (which repeat the
// disk below) and from mounts on demand.
func holdsFiles(fsType string) bool {
	switch fsType {
	case "autofs", "binder", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "cpuset",
		"debugfs", "devfs", "devpts", "devtmpfs", "efivarfs", "fusectl", "hugetlbfs", "mqueue",
		"nfsd", "none", "nsfs", "pipefs", "proc", "pstore", "ramfs", "resctrl", "rootfs",
		"rpc_pipefs", "securityfs", "selinuxfs", "smackfs", "sockfs", "sysfs", "tmpfs", "tracefs",
		"aufs", "cramfs", "erofs", "iso9660", "overlay", "romfs", "squashfs":
		return false
	}
	switch sub, isFuse := strings.CutPrefix(fsType, "fuse."); {
	case !isFuse:
		return true
	case sub == "gvfsd-fuse", sub == "lxcfs", sub == "portal", sub == "snapfuse", sub == "squashfuse":
		return false
	}
	return true
}
