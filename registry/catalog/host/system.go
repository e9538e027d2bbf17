package host

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"
)

// identity fills the names of the system.
func (s *survey) identity(st *Status) {
	st.Distribution = s.distribution()
	st.Kernel = s.oneLine("kernel", "sys/kernel/osrelease")
	st.KernelVersion = s.oneLine("kernel_version", "sys/kernel/version")
	st.Hostname = s.oneLine("hostname", "sys/kernel/hostname")
}

// oneLine reads a file of one line below procfs.
func (s *survey) oneLine(topic, name string) string {
	b, ok := s.readProc(topic, name, maxSmallFile)
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return text(bytes.TrimSpace(line))
}

// distribution is PRETTY_NAME of os-release, which has two places.
func (s *survey) distribution() string {
	b, err := s.read(s.src.root("etc/os-release"), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = s.read(s.src.root("usr/lib/os-release"), maxSmallFile)
	}
	if err != nil {
		s.note("distribution: /etc/os-release: %v", cause(err))
		return ""
	}
	for line := range bytes.Lines(b) {
		if value, ok := bytes.CutPrefix(line, []byte("PRETTY_NAME=")); ok {
			return text(unquoteShell(bytes.TrimSpace(value)))
		}
	}
	s.note("distribution: /etc/os-release has no PRETTY_NAME")
	return ""
}

// unquoteShell undoes the quotes that os-release allows around a value.
func unquoteShell(b []byte) []byte {
	if len(b) < 2 || b[0] != b[len(b)-1] || b[0] != '"' && b[0] != '\'' {
		return b
	}
	if b[0] == '\'' {
		return b[1 : len(b)-1]
	}
	var out []byte
	for inner := b[1 : len(b)-1]; len(inner) > 0; inner = inner[1:] {
		if inner[0] == '\\' && len(inner) > 1 {
			inner = inner[1:]
		}
		out = append(out, inner[0])
	}
	return out
}

// clock fills the uptime and the time of boot.
func (s *survey) clock(st *Status) {
	if up, ok := s.uptime(); ok {
		st.UptimeSeconds = &up
	}
	if boot, ok := s.bootTime(); ok {
		st.BootTime = boot.Format(time.RFC3339)
	}
}

// uptime is the time since boot in seconds.
func (s *survey) uptime() (float64, bool) {
	b, ok := s.readProc("uptime_seconds", "uptime", maxSmallFile)
	if !ok {
		return 0, false
	}
	field, _ := nextField(b)
	up, ok := parseDecimal(field)
	if !ok {
		s.note("uptime_seconds: /proc/uptime does not start with a number")
	}
	return up, ok
}

// bootTime comes from the kernel, not from the clock minus the uptime, which would
// wander by a second from call to call.
func (s *survey) bootTime() (time.Time, bool) {
	b, ok := s.readProc("boot_time", "stat", maxStatFile)
	if !ok {
		return time.Time{}, false
	}
	for line := range bytes.Lines(b) {
		value, ok := bytes.CutPrefix(line, []byte("btime "))
		if !ok {
			continue
		}
		if sec, ok := parseUint(bytes.TrimSpace(value)); ok && sec < maxUnixTime {
			return time.Unix(int64(sec), 0).UTC(), true
		}
		break
	}
	s.note("boot_time: /proc/stat has no usable btime")
	return time.Time{}, false
}

// maxUnixTime is the end of the year 9999; RFC 3339 cannot write a later one.
const maxUnixTime = 253402300800

// load reads the load averages.
func (s *survey) load() *Load {
	b, ok := s.readProc("load", "loadavg", maxSmallFile)
	if !ok {
		return nil
	}
	var l Load
	for _, dst := range []*float64{&l.OneMinute, &l.FiveMinutes, &l.FifteenMinutes} {
		var field []byte
		field, b = nextField(b)
		v, valid := parseDecimal(field)
		ok = ok && valid
		*dst = v
	}
	tasks, _ := nextField(b)
	runnable, total, _ := bytes.Cut(tasks, []byte("/"))
	var okRun, okAll bool
	l.RunnableTasks, okRun = parseInt(runnable)
	l.TotalTasks, okAll = parseInt(total)
	if !ok || !okRun || !okAll {
		s.note("load: /proc/loadavg is not of the form \"0.00 0.00 0.00 1/100 4321\"")
		return nil
	}
	return &l
}

// cpu counts processors in /proc/stat, whose form is the same on every
// architecture, unlike that of /proc/cpuinfo.
func (s *survey) cpu(ctx context.Context) CPU {
	var c CPU
	if b, ok := s.readProc("cpu.online", "stat", maxStatFile); ok {
		c.Online = countCPULines(b)
		if c.Online == 0 {
			s.note("cpu.online: /proc/stat has no line for a processor")
		}
	}
	c.Usable = s.usableCPUs()
	c.Model = s.cpuModel(ctx)
	return c
}

func countCPULines(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		if len(line) > 3 && bytes.HasPrefix(line, []byte("cpu")) && '0' <= line[3] && line[3] <= '9' {
			n++
		}
	}
	return n
}

// usableCPUs is the size of the affinity mask of this process.
func (s *survey) usableCPUs() int {
	b, ok := s.readProc("cpu.usable", "self/status", maxSmallFile)
	if !ok {
		return 0
	}
	for line := range bytes.Lines(b) {
		list, ok := bytes.CutPrefix(line, []byte("Cpus_allowed_list:"))
		if !ok {
			continue
		}
		if n, ok := countList(bytes.TrimSpace(list)); ok {
			return n
		}
		break
	}
	s.note("cpu.usable: /proc/self/status has no usable Cpus_allowed_list")
	return 0
}

// countList counts the members of a list such as "0-3,8,10-11".
func countList(list []byte) (int, bool) {
	n := 0
	for item := range bytes.SplitSeq(list, []byte(",")) {
		first, last, isRange := bytes.Cut(item, []byte("-"))
		lo, ok := parseInt(first)
		hi := lo
		if ok && isRange {
			hi, ok = parseInt(last)
		}
		if !ok || hi < lo || hi > maxCPUNumber {
			return 0, false
		}
		n += hi - lo + 1
	}
	return n, true
}

const maxCPUNumber = 1 << 16

// cpuModel finds a name for the first processor. The keys differ by architecture;
// Arm has numbers only.
func (s *survey) cpuModel(ctx context.Context) string {
	var best, implementer, part string
	keys := []string{"model name", "cpu model", "cpu", "Processor", "uarch"} // best first
	rank := len(keys)
	err := eachLine(ctx, s.src.proc("cpuinfo"), func(line []byte) error {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil
		}
		name, found := string(bytes.TrimSpace(key)), text(bytes.TrimSpace(value))
		for i, k := range keys[:rank] {
			if name == k && found != "" && !isNumber(found) {
				best, rank = found, i
			}
		}
		switch {
		case rank == 0:
			return errStop
		case name == "CPU implementer" && implementer == "":
			implementer = found
		case name == "CPU part" && part == "":
			part = found
		}
		return nil
	})
	switch {
	case best != "":
		return best
	case implementer != "" && part != "":
		return "implementer " + implementer + " part " + part
	case err != nil:
		s.note("cpu.model: /proc/cpuinfo: %v", cause(err))
	default:
		s.note("cpu.model: /proc/cpuinfo names no model")
	}
	return ""
}

func isNumber(s string) bool {
	_, ok := parseUint([]byte(s))
	return ok
}
