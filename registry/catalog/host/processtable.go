package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	// ticksPerSecond is USER_HZ: 100 on every architecture that Go compiles for.
	ticksPerSecond = 100

	// maxOpenFiles bounds how far the descriptors of one process are counted.
	maxOpenFiles = 65_536

	namesPerRead = 1024
)

// processTable is every process that fits a selection, with what sorting needs.
type processTable struct {
	rows     []processRow
	total    int // processes seen, whether they fit or not
	boot     time.Time
	uptime   float64 // seconds; 0 when not known
	pageSize uint64
}

type processRow struct {
	pid  int
	stat procStat
}

// percent is processor time by elapsed time since the start. It is not known when
// the clock is that of a container (lxcfs) and the start is before it.
func (t *processTable) percent(st procStat) (float64, bool) {
	elapsed := t.uptime - float64(st.startTicks)/ticksPerSecond
	if t.uptime == 0 || elapsed < 0 {
		return 0, false
	}
	elapsed = max(elapsed, 1.0/ticksPerSecond) // a process can start in this tick
	return 100 * float64(st.cpuTicks) / ticksPerSecond / elapsed, true
}

// processTable reads the stat file of every process.
func (s *survey) processTable(ctx context.Context, sel selection) (processTable, error) {
	t := processTable{pageSize: uint64(os.Getpagesize())}
	t.boot, _ = s.bootTime()
	t.uptime, _ = s.uptime()
	pids, err := s.pids(ctx, MaxProcesses)
	if err != nil {
		return processTable{}, err
	}
	unreadable := 0
	for _, pid := range pids {
		if ctx.Err() != nil {
			return processTable{}, context.Cause(ctx)
		}
		st, err := s.stat(pid)
		switch {
		case isGone(err):
			continue
		case err != nil:
			unreadable++
			continue
		}
		t.total++
		if s.fits(pid, st, sel) {
			t.rows = append(t.rows, processRow{pid, st})
		}
	}
	if unreadable > 0 {
		s.note("processes: %d have a stat file that could not be read", unreadable)
	}
	return t, nil
}

// fits asks the cheap question first: the name is at hand, the rest is a file each.
func (s *survey) fits(pid int, st procStat, sel selection) bool {
	if sel.uid != nil {
		if uid, ok := s.uid(pid); !ok || uid != *sel.uid {
			return false
		}
	}
	if sel.match == nil || sel.match.MatchString(st.name) {
		return true
	}
	cmdline, _, err := s.commandLine(pid)
	return err == nil && sel.match.MatchString(cmdline)
}

// pids lists at most limit process ids, lowest first.
func (s *survey) pids(ctx context.Context, limit int) ([]int, error) {
	dir, err := os.Open(s.src.Proc)
	if err != nil {
		return nil, fmt.Errorf("listing /proc: %w", cause(err))
	}
	defer dir.Close()
	var pids []int
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		names, err := dir.Readdirnames(namesPerRead)
		for _, name := range names {
			if pid, ok := parseInt([]byte(name)); ok && pid > 0 {
				pids = append(pids, pid)
			}
		}
		if len(pids) > limit {
			s.note("processes: only %d of them were looked at", limit)
			pids = pids[:limit]
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("listing /proc: %w", cause(err))
		}
	}
	slices.Sort(pids)
	return pids, nil
}

func (s *survey) pidFile(pid int, name string) string {
	return s.src.proc(strconv.Itoa(pid) + "/" + name)
}

func (s *survey) stat(pid int) (procStat, error) {
	b, err := s.read(s.pidFile(pid, "stat"), maxSmallFile)
	if err != nil {
		return procStat{}, err
	}
	return parseStat(b)
}

// uid is the effective user id. It comes from the status file and not from the
// owner of the folder, which is root for programs that may not be traced.
func (s *survey) uid(pid int) (uint32, bool) {
	b, err := s.read(s.pidFile(pid, "status"), 4<<10)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if ids, ok := bytes.CutPrefix(line, []byte("Uid:")); ok {
			effective, _ := nextField(skipFields(ids, 1))
			return parseUID(effective)
		}
	}
	return 0, false
}

// openFiles counts descriptors; nil when they may not be seen.
func (s *survey) openFiles(pid int) *int {
	dir, err := os.Open(s.pidFile(pid, "fd"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	n := 0
	for n <= maxOpenFiles {
		names, err := dir.Readdirnames(namesPerRead)
		n += len(names)
		if err == io.EOF {
			return &n
		}
		if err != nil {
			return nil
		}
	}
	s.note("processes: %d has more than %d open files, which were not counted", pid, maxOpenFiles)
	return nil
}

// isGone tells a process that has ended from one that cannot be read. A file that
// was opened in time answers "no such process".
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
