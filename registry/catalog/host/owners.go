package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const (
	// maxOwners bounds the processes listed for one socket.
	maxOwners = 16

	// maxLinks bounds the descriptors that one survey looks at.
	maxLinks = 1 << 20
)

// ownerSearch goes through the open files of all processes.
type ownerSearch struct {
	wanted     map[uint64]int // index into page by inode
	page       []Listener
	last       []int // process last added, by index into page; 0 for none
	links      int   // descriptors looked at
	unreadable int   // processes whose descriptors may not be seen
}

// findOwners fills in who holds the sockets of a page open. It reports whether
// owners are missing because processes could not be looked into.
func (s *survey) findOwners(ctx context.Context, page []Listener) (incomplete bool, err error) {
	search := ownerSearch{wanted: make(map[uint64]int, len(page)), page: page, last: make([]int, len(page))}
	for i, l := range page {
		if l.Inode != 0 { // 0 is a socket that no process has yet
			search.wanted[l.Inode] = i
		}
	}
	if len(search.wanted) == 0 {
		return false, nil
	}
	pids, err := s.pids(ctx, MaxProcesses)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		s.note("owners: %v", err)
		return true, nil
	}
	for _, pid := range pids {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.searchProcess(&search, pid)
		if search.links > maxLinks {
			s.note("owners: only %d open files were looked at", maxLinks)
			return true, nil
		}
	}
	return s.noteOwnerless(search), nil
}

// searchProcess looks at the descriptors of one process.
func (s *survey) searchProcess(search *ownerSearch, pid int) {
	folder := s.pidFile(pid, "fd")
	dir, err := os.Open(folder)
	if err != nil {
		if !isGone(err) {
			search.unreadable++
		}
		return
	}
	defer dir.Close()
	name := ""
	for search.links <= maxLinks {
		names, err := dir.Readdirnames(namesPerRead)
		search.links += len(names)
		for _, fd := range names {
			target, linkErr := os.Readlink(folder + "/" + fd)
			if errors.Is(linkErr, fs.ErrPermission) {
				search.unreadable++
				return
			}
			i, ok := search.find(target)
			if !ok {
				continue
			}
			if name == "" {
				name = s.processName(pid)
			}
			search.add(i, Owner{pid, name})
		}
		if err != nil {
			if err != io.EOF && !isGone(err) {
				search.unreadable++
			}
			return
		}
	}
}

// find tells the wanted socket that a link such as "socket:[4711]" points to.
func (search *ownerSearch) find(target string) (int, bool) {
	number, ok := strings.CutPrefix(target, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	if err != nil {
		return 0, false
	}
	i, ok := search.wanted[inode]
	return i, ok
}

// add counts a process once, however many descriptors it has for the socket.
// Processes come one after the other.
func (search *ownerSearch) add(i int, o Owner) {
	if search.last[i] == o.PID {
		return
	}
	search.last[i] = o.PID
	l := &search.page[i]
	l.OwnerCount++
	if len(l.Owners) < maxOwners {
		l.Owners = append(l.Owners, o)
	}
}

func (s *survey) processName(pid int) string {
	st, err := s.stat(pid)
	if err != nil {
		return ""
	}
	return st.name
}

// noteOwnerless says why sockets have no owner.
func (s *survey) noteOwnerless(search ownerSearch) (incomplete bool) {
	ownerless := 0
	for _, i := range search.wanted {
		if search.page[i].OwnerCount == 0 {
			ownerless++
		}
	}
	switch {
	case ownerless == 0:
		return false
	case search.unreadable > 0:
		s.note("owners: unknown for %d of these sockets, as %d of the processes do not let this program see their open files; run it as root or with CAP_SYS_PTRACE to see all", ownerless, search.unreadable)
		return true
	}
	s.note("owners: none for %d of these sockets among the processes that can be seen; they belong to the kernel or to another PID namespace", ownerless)
	return false
}
