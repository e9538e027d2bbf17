package host

import "bytes"

// Memory is the main memory in bytes.
type Memory struct {
	TotalBytes     uint64  `json:"total_bytes" jsonschema:"description=All memory the kernel manages,minimum=0"`
	AvailableBytes *uint64 `json:"available_bytes,omitempty" jsonschema:"description=What new work can have without swapping (the kernel's estimate),minimum=0"`
	UsedBytes      *uint64 `json:"used_bytes,omitempty" jsonschema:"description=Total less available; on kernels without that estimate total less free and buffers and cache,minimum=0"`
	FreeBytes      *uint64 `json:"free_bytes,omitempty" jsonschema:"description=Memory nothing uses,minimum=0"`
	BuffersBytes   *uint64 `json:"buffers_bytes,omitempty" jsonschema:"description=Buffers of block devices,minimum=0"`
	CachedBytes    *uint64 `json:"cached_bytes,omitempty" jsonschema:"description=Page cache,minimum=0"`
}

// Swap is the swap space in bytes; all zero on a machine without swap.
type Swap struct {
	TotalBytes uint64 `json:"total_bytes" jsonschema:"description=All swap space,minimum=0"`
	UsedBytes  uint64 `json:"used_bytes" jsonschema:"description=Swap space in use,minimum=0"`
	FreeBytes  uint64 `json:"free_bytes" jsonschema:"description=Swap space left,minimum=0"`
}

// meminfo holds the lines of /proc/meminfo that are wanted; nil is a line that is
// missing or malformed.
type meminfo struct {
	total, available, free, buffers, cached, swapTotal, swapFree *uint64
}

// memory reads /proc/meminfo once for both answers.
func (s *survey) memory() (*Memory, *Swap) {
	b, err := s.read(s.src.proc("meminfo"), maxSmallFile)
	if err != nil {
		s.note("memory: /proc/meminfo: %v", cause(err))
		s.note("swap: /proc/meminfo: %v", cause(err))
		return nil, nil
	}
	info := parseMeminfo(b)
	return s.mainMemory(info), s.swap(info)
}

func parseMeminfo(b []byte) meminfo {
	var info meminfo
	for line := range bytes.Lines(b) {
		key, rest, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		dst := info.field(key)
		if dst == nil {
			continue
		}
		number, rest := nextField(rest)
		unit, _ := nextField(rest)
		if kb, ok := parseUint(number); ok && kb <= 1<<53 && string(unit) == "kB" {
			*dst = ptr(kb << 10)
		}
	}
	return info
}

func (m *meminfo) field(key []byte) **uint64 {
	switch string(key) {
	case "MemTotal":
		return &m.total
	case "MemAvailable":
		return &m.available
	case "MemFree":
		return &m.free
	case "Buffers":
		return &m.buffers
	case "Cached":
		return &m.cached
	case "SwapTotal":
		return &m.swapTotal
	case "SwapFree":
		return &m.swapFree
	}
	return nil
}

func (s *survey) mainMemory(info meminfo) *Memory {
	if info.total == nil {
		s.note("memory: /proc/meminfo has no MemTotal")
		return nil
	}
	m := &Memory{
		TotalBytes:     *info.total,
		AvailableBytes: info.available,
		FreeBytes:      info.free,
		BuffersBytes:   info.buffers,
		CachedBytes:    info.cached,
	}
	switch {
	case info.available != nil:
		m.UsedBytes = ptr(less(*info.total, *info.available))
	case info.free != nil && info.buffers != nil && info.cached != nil:
		s.note("memory: /proc/meminfo has no MemAvailable (Linux before 3.14)")
		m.UsedBytes = ptr(less(*info.total, *info.free+*info.buffers+*info.cached))
	default:
		s.note("memory: /proc/meminfo has no MemAvailable and not all of MemFree, Buffers and Cached")
	}
	return m
}

func (s *survey) swap(info meminfo) *Swap {
	for _, line := range []struct {
		name  string
		value *uint64
	}{{"SwapTotal", info.swapTotal}, {"SwapFree", info.swapFree}} {
		if line.value == nil {
			s.note("swap: /proc/meminfo has no %s", line.name)
			return nil
		}
	}
	return &Swap{
		TotalBytes: *info.swapTotal,
		UsedBytes:  less(*info.swapTotal, *info.swapFree),
		FreeBytes:  *info.swapFree,
	}
}

// less is a-b, and 0 where the kernel's counters, which are not read at one
// instant, would make it negative.
func less(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
