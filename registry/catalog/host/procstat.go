package host

import (
	"bytes"
	"errors"
	"math"
)

// procStat is what is wanted of /proc/PID/stat.
type procStat struct {
	name         string
	state        byte
	ppid         int
	kernelThread bool
	cpuTicks     uint64 // user and system
	threads      int
	startTicks   uint64 // since boot
	virtual      uint64 // bytes
	rssPages     uint64
}

// kernelThreadFlag is PF_KTHREAD.
const kernelThreadFlag = 0x00200000

const (
	// maxCPUTicks keeps the sum of two inside its type.
	maxCPUTicks = 1 << 62

	// maxStartTicks keeps the time of start inside a time.Duration: 292 years.
	maxStartTicks = math.MaxInt64 / (1_000_000_000 / ticksPerSecond)
)

var errBadStat = errors.New("not a line of /proc/PID/stat")

// parseStat reads the line. The name stands in parentheses and may hold blanks,
// parentheses and newlines itself, so the last parenthesis counts.
func parseStat(b []byte) (procStat, error) {
	start, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if start < 0 || end < start {
		return procStat{}, errBadStat
	}
	if _, ok := parseInt(bytes.TrimSpace(b[:start])); !ok {
		return procStat{}, errBadStat
	}
	st := procStat{name: text(b[start+1 : end])}
	state, rest := nextField(b[end+1:])
	if len(state) != 1 {
		return procStat{}, errBadStat
	}
	st.state = state[0]
	if !st.parseNumbers(rest) {
		return procStat{}, errBadStat
	}
	return st, nil
}

// parseNumbers reads the fields from the fourth on, numbered as in proc(5).
func (st *procStat) parseNumbers(b []byte) bool {
	const first, last = 4, 24
	for i := first; i <= last; i++ {
		var field []byte
		field, b = nextField(b)
		if len(field) == 0 {
			return false
		}
		switch i {
		case 4, 9, 14, 15, 20, 22, 23, 24:
		default: // others may be negative
			continue
		}
		v, ok := parseUint(field)
		if !ok || !st.set(i, v) {
			return false
		}
	}
	return true
}

// set takes field i and reports whether it is in range.
func (st *procStat) set(i int, v uint64) bool {
	switch i {
	case 4:
		st.ppid = int(v)
		return v <= math.MaxInt32
	case 9:
		st.kernelThread = v&kernelThreadFlag != 0
	case 14, 15:
		st.cpuTicks += v
		return v <= maxCPUTicks
	case 20:
		st.threads = int(v)
		return v <= math.MaxInt32
	case 22:
		st.startTicks = v
		return v <= maxStartTicks
	case 23:
		st.virtual = v
	case 24:
		st.rssPages = v
		return v <= 1<<40
	}
	return true
}

// stateName spells out the letter of a state.
func stateName(c byte) string {
	switch c {
	case 'R':
		return "running"
	case 'S':
		return "sleeping"
	case 'D':
		return "disk sleep"
	case 'I':
		return "idle"
	case 'Z':
		return "zombie"
	case 'T':
		return "stopped"
	case 't':
		return "traced"
	case 'X', 'x':
		return "dead"
	case 'P':
		return "parked"
	case 'W':
		return "waking"
	case 'K':
		return "wake kill"
	}
	return text([]byte{c})
}
