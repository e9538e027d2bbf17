package host

import (
	"bytes"
	"context"
	"strings"
)

// counted is a line of /proc/net/dev.
type counted struct {
	name    string
	traffic Traffic
}

// traffic reads the counters of every interface from one file; sysfs has a file
// for each number.
func (s *survey) traffic(ctx context.Context) []counted {
	var all []counted
	bad, n := 0, 0
	err := eachLine(ctx, s.src.proc("net/dev"), func(line []byte) error {
		if n++; n <= 2 { // two lines of headings
			return nil
		}
		if len(all) == maxInterfaces {
			s.note("traffic: only the first %d interfaces were read", maxInterfaces)
			return errStop
		}
		if c, ok := parseNetDev(line); ok {
			all = append(all, c)
		} else {
			bad++
		}
		return nil
	})
	if err != nil {
		s.note("traffic: /proc/net/dev: %v", cause(err))
	}
	if bad > 0 {
		s.note("traffic: %d lines of /proc/net/dev are malformed", bad)
	}
	return all
}

// parseNetDev reads "eth0: " and eight counters each way. Alias names hold a colon
// themselves, and on old kernels no blank follows the last one.
func parseNetDev(line []byte) (counted, bool) {
	colon := bytes.LastIndexByte(line, ':')
	if colon < 0 {
		return counted{}, false
	}
	c := counted{name: text(bytes.TrimSpace(line[:colon]))}
	rest := line[colon+1:]
	t := &c.traffic
	for _, dst := range [16]*uint64{
		0: &t.RxBytes, 1: &t.RxPackets, 2: &t.RxErrors, 3: &t.RxDropped,
		8: &t.TxBytes, 9: &t.TxPackets, 10: &t.TxErrors, 11: &t.TxDropped,
	} {
		var field []byte
		field, rest = nextField(rest)
		v, ok := parseUint(field)
		if !ok {
			return counted{}, false
		}
		if dst != nil {
			*dst = v
		}
	}
	return c, c.name != ""
}

// linkState adds the counters and what sysfs tells of the link.
func (s *survey) linkState(link *Interface, counters []counted) {
	for _, c := range counters {
		if c.name == link.Name {
			link.Traffic = &c.traffic
			break
		}
	}
	if state, ok := s.linkFile(link.Name, "operstate"); ok {
		link.OperState = text(state)
	}
	// In megabits; interfaces without a speed refuse to be read, or say -1.
	if speed, ok := s.linkNumber(link.Name, "speed"); ok && speed > 0 && speed < 1<<32-1 {
		link.SpeedBitsPerSecond = ptr(speed * 1_000_000)
	}
}

// linkFile reads a file of an interface in sysfs. The names come from the kernel,
// which allows no slash in them.
func (s *survey) linkFile(name, file string) ([]byte, bool) {
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return nil, false
	}
	b, err := s.read(s.src.sys("class/net/"+name+"/"+file), maxSmallFile)
	if err != nil {
		return nil, false
	}
	return bytes.TrimSpace(b), true
}

func (s *survey) linkNumber(name, file string) (uint64, bool) {
	b, ok := s.linkFile(name, file)
	if !ok {
		return 0, false
	}
	return parseUint(b)
}
