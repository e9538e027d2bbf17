package host

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Cgroup is what the control group of this process allows. A limit is the tightest
// one from the process's own group up to the topmost group that it can see, and
// the current figure is that of the same group; without a limit it is that of the
// own group. An absent limit is no limit, unless a note says otherwise.
type Cgroup struct {
	Version            int      `json:"version" jsonschema:"description=1 when a controller below is on the version 1 hierarchy; otherwise 2"`
	Path               string   `json:"path" jsonschema:"description=Group of this process as it sees it"`
	MemoryLimitBytes   *uint64  `json:"memory_limit_bytes,omitempty" jsonschema:"description=Most memory the group may use; absent without a limit,minimum=0"`
	MemoryCurrentBytes *uint64  `json:"memory_current_bytes,omitempty" jsonschema:"description=Memory the group uses (page cache included),minimum=0"`
	CPULimit           *float64 `json:"cpu_limit,omitempty" jsonschema:"description=Processors' worth of time the group may use (quota by period); absent without a limit,minimum=0"`
	PidsLimit          *uint64  `json:"pids_limit,omitempty" jsonschema:"description=Most tasks the group may have; absent without a limit,minimum=0"`
	PidsCurrent        *uint64  `json:"pids_current,omitempty" jsonschema:"description=Tasks the group has,minimum=0"`
}

// membership is /proc/self/cgroup: the group of this process in each hierarchy.
type membership struct {
	v1      map[string]string // by controller
	unified string            // of version 2; empty when there is none
}

// hierarchy is one controller's groups, from the process's own up to the top.
type hierarchy struct {
	version int
	path    string   // of the own group
	levels  []string // folders
}

const (
	maxCgroupDepth = 64

	// unlimitedV1 is where version 1 starts to mean "no limit": its counters are
	// pages in a signed word, and the top value depends on the page size.
	unlimitedV1 = 1 << 62
)

// cgroup finds the limits this process lives under.
func (s *survey) cgroup(mounts []mount) *Cgroup {
	b, ok := s.readProc("cgroup", "self/cgroup", maxSmallFile)
	if !ok {
		return nil
	}
	member := parseCgroup(b)
	var c *Cgroup
	for _, name := range []string{"memory", "cpu", "pids"} {
		at, ok := s.hierarchy(name, member, mounts)
		if !ok {
			continue
		}
		if c == nil {
			c = &Cgroup{Version: at.version, Path: at.path}
		}
		c.Version = min(c.Version, at.version)
		switch name {
		case "memory":
			c.MemoryLimitBytes, c.MemoryCurrentBytes = s.memoryLimit(at)
		case "cpu":
			c.CPULimit = s.cpuLimit(at)
		case "pids":
			c.PidsLimit, c.PidsCurrent = s.pidsLimit(at)
		}
	}
	if c == nil {
		s.note("cgroup: no control group file system is mounted that this process could read its limits from")
	}
	return c
}

// parseCgroup reads lines such as "4:cpu,cpuacct:/a/b" and "0::/a/b".
func parseCgroup(b []byte) membership {
	m := membership{v1: make(map[string]string)}
	for line := range bytes.Lines(b) {
		id, rest, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(":"))
		if !ok {
			continue
		}
		controllers, group, ok := bytes.Cut(rest, []byte(":"))
		if !ok || !bytes.HasPrefix(group, []byte("/")) {
			continue
		}
		if string(id) == "0" && len(controllers) == 0 {
			m.unified = string(group)
			continue
		}
		for name := range bytes.SplitSeq(controllers, []byte(",")) {
			m.v1[string(name)] = string(group)
		}
	}
	return m
}

// hierarchy finds the folders of a controller. A controller is on one hierarchy
// only: version 1 when the process has a group for it there.
func (s *survey) hierarchy(controller string, member membership, mounts []mount) (hierarchy, bool) {
	group, onV1 := member.v1[controller]
	version := 1
	if !onV1 {
		group, version = member.unified, 2
	}
	if group == "" {
		return hierarchy{}, false
	}
	for _, m := range mounts {
		if onV1 && m.fsType == "cgroup" && hasOption(m.super, controller) || !onV1 && m.fsType == "cgroup2" {
			return hierarchy{version: version, path: text([]byte(group)), levels: s.levels(m, group)}, true
		}
	}
	return hierarchy{}, false
}

// levels lists the folders from the group up to the mount. A group that is not
// below what is mounted (a container without its own cgroup namespace) is best
// known by the mount itself.
func (s *survey) levels(m mount, group string) []string {
	rel := "/"
	if below, ok := strings.CutPrefix(path.Clean(group), strings.TrimSuffix(m.root, "/")); ok && strings.HasPrefix(below, "/") {
		rel = below
	}
	top := s.src.root(m.point)
	if below, ok := strings.CutPrefix(m.point, "/sys/"); ok {
		top = s.src.sys(below)
	}
	var dirs []string
	for range maxCgroupDepth {
		dirs = append(dirs, top+rel)
		if rel == "/" {
			break
		}
		rel = path.Dir(rel)
	}
	return dirs
}

// memoryLimit is the limit on memory and what is used of it.
func (s *survey) memoryLimit(at hierarchy) (limit, current *uint64) {
	limitFile, currentFile := "memory.max", "memory.current"
	if at.version == 1 {
		limitFile, currentFile = "memory.limit_in_bytes", "memory.usage_in_bytes"
	}
	return s.counterLimit(at, "memory", limitFile, currentFile)
}

// pidsLimit is the limit on tasks and how many there are. Its files have the same
// names in both versions.
func (s *survey) pidsLimit(at hierarchy) (limit, current *uint64) {
	return s.counterLimit(at, "pids", "pids.max", "pids.current")
}

func (s *survey) counterLimit(at hierarchy, controller, limitFile, currentFile string) (limit, current *uint64) {
	limit, dir := tightest(s, at, controller, func(dir string) (uint64, bool, error) {
		v, err := s.counter(dir, limitFile)
		return v, v < unlimitedV1, err
	})
	v, err := s.counter(dir, currentFile)
	switch {
	case err == nil:
		current = &v
	case !errors.Is(err, fs.ErrNotExist): // the topmost group has no such file
		s.note("cgroup: %s: %v", currentFile, cause(err))
	}
	return limit, current
}

// cpuLimit is the quota by its period.
func (s *survey) cpuLimit(at hierarchy) *float64 {
	read := s.quotaV2
	if at.version == 1 {
		read = s.quotaV1
	}
	limit, _ := tightest(s, at, "cpu", read)
	return limit
}

func (s *survey) quotaV2(dir string) (float64, bool, error) {
	b, err := s.read(dir+"/cpu.max", maxSmallFile)
	if err != nil {
		return 0, false, err
	}
	quota, rest := nextField(b)
	period, _ := nextField(rest)
	return quotient(quota, period)
}

func (s *survey) quotaV1(dir string) (float64, bool, error) {
	b, err := s.read(dir+"/cpu.cfs_quota_us", maxSmallFile)
	if err != nil {
		return 0, false, err
	}
	quota := bytes.Clone(bytes.TrimSpace(b)) // the next read takes the buffer
	b, err = s.read(dir+"/cpu.cfs_period_us", maxSmallFile)
	if err != nil {
		return 0, false, err
	}
	return quotient(quota, bytes.TrimSpace(b))
}

// quotient is a quota in processors; "max" and -1 are none.
func quotient(quota, period []byte) (float64, bool, error) {
	if string(quota) == "max" || string(quota) == "-1" {
		return 0, false, nil
	}
	q, ok := parseUint(quota)
	p, okPeriod := parseUint(period)
	if !ok || !okPeriod || p == 0 {
		return 0, false, errNotANumber
	}
	return round2(float64(q) / float64(p)), true, nil
}

// counter reads a file of one number; "max" is unlimitedV1, which both versions
// then treat alike.
func (s *survey) counter(dir, file string) (uint64, error) {
	b, err := s.read(dir+"/"+file, maxSmallFile)
	if err != nil {
		return 0, err
	}
	b = bytes.TrimSpace(b)
	if string(b) == "max" {
		return unlimitedV1, nil
	}
	v, ok := parseUint(b)
	if !ok {
		return 0, errNotANumber
	}
	return v, nil
}

var errNotANumber = errors.New("not a number")

// tightest walks up from the own group and returns the smallest limit and the
// folder of the group that sets it, or nil and the own folder. A group without the
// file sets no limit; if no group but the topmost exists, that is the normal case.
func tightest[T cmp.Ordered](s *survey, at hierarchy, controller string, read func(dir string) (T, bool, error)) (*T, string) {
	var limit *T
	where := at.levels[0]
	found := len(at.levels) == 1
	for _, dir := range at.levels {
		v, limited, err := read(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			s.note("cgroup: limit of controller %s: %v", controller, cause(err))
		case limited && (limit == nil || v < *limit):
			limit, where = ptr(v), dir
		}
		found = true
	}
	if !found {
		s.note("cgroup: controller %s is not enabled for %s", controller, at.path)
	}
	return limit, where
}
