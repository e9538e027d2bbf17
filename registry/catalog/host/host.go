package host

import (
	"path/filepath"
	"runtime"
	"sync"
)

// Source says where the facts come from. The zero value is the running machine.
type Source struct {
	// Proc is the folder of procfs, "/proc" when empty. When it is set, procfs is
	// read on any operating system, which suits a compatible procfs elsewhere.
	Proc string

	// Sys is the folder of sysfs, "/sys" when empty.
	Sys string

	// Root is the folder whose etc/os-release, usr/lib/os-release and etc/passwd
	// name the system and its users, "/" when empty.
	Root string

	// Statfs measures the file system mounted at path; nil means the system call.
	// It may block for as long as it likes: a survey stops waiting for it after
	// two seconds, and does not ask about that path again before it has returned.
	Statfs func(path string) (Usage, error)

	// Links lists the network interfaces with their index, MTU, hardware address,
	// flags and addresses; nil means the kernel, by way of package net.
	Links func() ([]Interface, error)
}

// Host answers questions about one machine. Make one with [New] and share it: it
// remembers the measurements that a dead mount has not answered yet.
type Host struct {
	src Source

	slots chan struct{} // one token per measurement under way

	mu      sync.Mutex        // guards the field below
	pending map[string]*probe // measurements under way, by path
}

// New returns a Host that reads from src.
func New(src Source) *Host {
	return &Host{
		src:     src.withDefaults(),
		slots:   make(chan struct{}, maxProbes),
		pending: make(map[string]*probe),
	}
}

// withDefaults fills the empty fields. Proc stays empty where there is no procfs,
// which is how the rest of the package knows.
func (src Source) withDefaults() Source {
	if src.Proc == "" && runtime.GOOS == "linux" {
		src.Proc = "/proc"
	}
	if src.Sys == "" {
		src.Sys = "/sys"
	}
	if src.Root == "" {
		src.Root = "/"
	}
	if src.Statfs == nil {
		src.Statfs = statfs
	}
	if src.Links == nil {
		src.Links = systemLinks
	}
	return src
}

func (src Source) hasProcfs() bool { return src.Proc != "" }

func (src Source) proc(name string) string { return filepath.Join(src.Proc, name) }
func (src Source) sys(name string) string  { return filepath.Join(src.Sys, name) }
func (src Source) root(name string) string { return filepath.Join(src.Root, name) }

// ptr is for optional facts.
func ptr[T any](v T) *T { return &v }
