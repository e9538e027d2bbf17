package host

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"time"
)

// Bounds of process and socket lists.
const (
	// MaxProcesses bounds how many processes a survey looks at.
	MaxProcesses = 65_536

	// MaxLimit is the largest page of [Host.Processes] and [Host.Listeners].
	MaxLimit = 1000

	defaultLimit  = 50
	maxFilterText = 512
)

// The orders of [ProcessQuery.Sort].
const (
	SortCPU    = "cpu"    // percentage of a processor, highest first
	SortMemory = "memory" // resident memory, largest first
	SortPID    = "pid"    // process id, lowest first
	SortName   = "name"   // name, then process id
	SortStart  = "start"  // time of start, newest first
)

// ProcessQuery says which processes [Host.Processes] tells about, and in what order.
//
// Filter sees command lines as they are shown, with secrets cut out: otherwise it
// could be used to guess them.
type ProcessQuery struct {
	Sort   string `json:"sort,omitempty" jsonschema:"description=Order: cpu or memory (highest first)\\, pid\\, name\\, start (newest first),enum=cpu|memory|pid|name|start,default=cpu"`
	Filter string `json:"filter,omitempty" jsonschema:"description=RE2 expression searched for in the name and the shown command line; letter case does not matter,maxLength=512"`
	User   string `json:"user,omitempty" jsonschema:"description=Only processes of this user (name or numeric id)"`
	Limit  int    `json:"limit,omitempty" jsonschema:"description=Most processes to return,minimum=1,maximum=1000,default=50"`
	Offset int    `json:"offset,omitempty" jsonschema:"description=How many to skip; next_offset of an earlier answer,minimum=0"`
}

// ProcessList is a page of processes.
type ProcessList struct {
	Total      int       `json:"total" jsonschema:"description=Processes this program can see,minimum=0"`
	Matched    int       `json:"matched" jsonschema:"description=Processes that fit the filter and the user,minimum=0"`
	NextOffset int       `json:"next_offset,omitempty" jsonschema:"description=Offset of the next page; absent on the last one"`
	Processes  []Process `json:"processes" jsonschema:"description=This page"`
	Notes      []string  `json:"notes" jsonschema:"description=What could not be read and why"`
}

// Process is one process.
type Process struct {
	PID                  int      `json:"pid" jsonschema:"description=Process id,minimum=1"`
	PPID                 int      `json:"ppid" jsonschema:"description=Process id of the parent; 0 when it is outside,minimum=0"`
	UID                  *uint32  `json:"uid,omitempty" jsonschema:"description=Effective user id,minimum=0"`
	User                 string   `json:"user,omitempty" jsonschema:"description=Name of the user; the id when it has no name here"`
	State                string   `json:"state" jsonschema:"description=running or sleeping or disk sleep or idle or zombie or stopped and so on"`
	Name                 string   `json:"name" jsonschema:"description=Short name the kernel keeps"`
	KernelThread         bool     `json:"kernel_thread,omitempty" jsonschema:"description=True for a thread of the kernel itself"`
	CommandLine          string   `json:"command_line" jsonschema:"description=Arguments joined by blanks and quoted where needed; values that look secret are [redacted]"`
	CommandLineTruncated bool     `json:"command_line_truncated,omitempty" jsonschema:"description=True when the command line is longer than shown"`
	RSSBytes             uint64   `json:"rss_bytes" jsonschema:"description=Resident memory,minimum=0"`
	VirtualBytes         uint64   `json:"virtual_bytes" jsonschema:"description=Address space,minimum=0"`
	Threads              int      `json:"threads" jsonschema:"description=Threads,minimum=0"`
	CPUSeconds           float64  `json:"cpu_seconds" jsonschema:"description=Processor time used so far,minimum=0"`
	CPUPercent           *float64 `json:"cpu_percent,omitempty" jsonschema:"description=Processor time by elapsed time since the process started (not the recent load); 100 is one processor,minimum=0"`
	StartTime            string   `json:"start_time,omitempty" jsonschema:"description=When it started (RFC 3339)"`
	OpenFiles            *int     `json:"open_files,omitempty" jsonschema:"description=Open file descriptors; absent when this program may not see them,minimum=0"`
}

// Processes lists processes. It fails when ctx ends, on a query that makes no
// sense ([*QueryError]), without procfs ([errors.ErrUnsupported]) and when the
// folder of procfs cannot be listed.
func (h *Host) Processes(ctx context.Context, q ProcessQuery) (ProcessList, error) {
	if !h.src.hasProcfs() {
		return ProcessList{}, unsupported("listing processes")
	}
	s := h.survey()
	pick, err := s.selection(q)
	if err != nil {
		return ProcessList{}, err
	}
	s.noteHidden(ctx)
	t, err := s.processTable(ctx, pick)
	if err != nil {
		return ProcessList{}, err
	}
	t.sort(pick.order)
	list := ProcessList{Total: t.total, Matched: len(t.rows), Processes: []Process{}}
	page, next := cut(t.rows, q.Offset, pick.limit)
	list.NextOffset = next
	for _, row := range page {
		if ctx.Err() != nil {
			return ProcessList{}, context.Cause(ctx)
		}
		if p, ok := s.process(row, t, pick.users); ok {
			list.Processes = append(list.Processes, p)
		}
	}
	list.Notes = s.notes
	return list, nil
}

// selection is a query that was found to make sense.
type selection struct {
	order string
	match *regexp.Regexp // nil matches all
	uid   *uint32        // nil is everybody
	limit int
	users users
}

// selection checks a query and looks its names up.
func (s *survey) selection(q ProcessQuery) (selection, error) {
	sel := selection{order: cmp.Or(q.Sort, SortCPU)}
	switch sel.order {
	case SortCPU, SortMemory, SortPID, SortName, SortStart:
	default:
		return selection{}, &QueryError{"sort", "use cpu, memory, pid, name or start"}
	}
	var err error
	if sel.limit, err = checkPage(q.Limit, q.Offset); err != nil {
		return selection{}, err
	}
	if len(q.Filter) > maxFilterText {
		return selection{}, &QueryError{"filter", "longer than 512 bytes"}
	}
	if q.Filter != "" {
		if sel.match, err = regexp.Compile("(?i)" + q.Filter); err != nil {
			return selection{}, &QueryError{"filter", "not an RE2 expression" + syntaxFault(err) + "; put a backslash before special characters that are meant literally"}
		}
	}
	sel.users = s.users()
	if q.User == "" {
		return sel, nil
	}
	uid, ok := sel.users.find(q.User)
	if !ok {
		return selection{}, &QueryError{"user", "no such user in /etc/passwd; use the numeric id"}
	}
	sel.uid = &uid
	return sel, nil
}

// syntaxFault says what is wrong with an expression without repeating it.
func syntaxFault(err error) string {
	var fault *syntax.Error
	if !errors.As(err, &fault) {
		return ""
	}
	return " (" + fault.Code.String() + ")"
}

// checkPage checks limit and offset and returns the limit to use.
func checkPage(limit, offset int) (int, error) {
	if limit == 0 {
		limit = defaultLimit
	}
	if limit < 1 || limit > MaxLimit {
		return 0, &QueryError{"limit", "use 1 to " + strconv.Itoa(MaxLimit)}
	}
	if offset < 0 {
		return 0, &QueryError{"offset", "use 0 or next_offset of an earlier answer"}
	}
	return limit, nil
}

// cut takes a page out of rows; next is 0 after the last row.
func cut[T any](rows []T, offset, limit int) (page []T, next int) {
	rest := rows[min(offset, len(rows)):]
	if len(rest) <= limit {
		return rest, 0
	}
	return rest[:limit], offset + limit
}

// noteHidden tells when procfs itself hides the processes of other users.
func (s *survey) noteHidden(ctx context.Context) {
	_ = eachLine(ctx, s.src.proc("self/mountinfo"), func(line []byte) error {
		m, ok := parseMount(line)
		if !ok || m.fsType != "proc" || m.point != "/proc" {
			return nil
		}
		switch mode, _ := optionValue(m.super, "hidepid"); mode {
		case "", "0", "off":
		default:
			s.note("processes: /proc is mounted with hidepid=%s, so processes of other users may be missing", text([]byte(mode)))
		}
		return nil
	})
}

// process fills in what only the processes of a page need. It is false when the
// process has ended.
func (s *survey) process(row processRow, t processTable, names users) (Process, bool) {
	st := row.stat
	p := Process{
		PID:          row.pid,
		PPID:         st.ppid,
		State:        stateName(st.state),
		Name:         st.name,
		KernelThread: st.kernelThread,
		RSSBytes:     st.rssPages * t.pageSize,
		VirtualBytes: st.virtual,
		Threads:      st.threads,
		CPUSeconds:   float64(st.cpuTicks) / ticksPerSecond,
	}
	cmdline, truncated, err := s.commandLine(row.pid)
	if isGone(err) {
		return Process{}, false
	}
	p.CommandLine, p.CommandLineTruncated = cmdline, truncated
	if uid, ok := s.uid(row.pid); ok {
		p.UID, p.User = &uid, names.name(uid)
	}
	if percent, ok := t.percent(st); ok {
		p.CPUPercent = ptr(round2(percent))
	}
	if !t.boot.IsZero() {
		started := t.boot.Add(time.Duration(st.startTicks) * (time.Second / ticksPerSecond))
		p.StartTime = started.Format(time.RFC3339)
	}
	p.OpenFiles = s.openFiles(row.pid)
	return p, true
}

// sort orders the rows; equal ones are in order of their ids.
func (t *processTable) sort(order string) {
	slices.SortFunc(t.rows, func(a, b processRow) int {
		var c int
		switch order {
		case SortCPU:
			pa, _ := t.percent(a.stat)
			pb, _ := t.percent(b.stat)
			c = cmp.Compare(pb, pa)
		case SortMemory:
			c = cmp.Compare(b.stat.rssPages, a.stat.rssPages)
		case SortName:
			c = cmp.Compare(a.stat.name, b.stat.name)
		case SortStart:
			c = cmp.Compare(b.stat.startTicks, a.stat.startTicks)
		}
		return cmp.Or(c, cmp.Compare(a.pid, b.pid))
	})
}
