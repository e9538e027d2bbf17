package host

import (
	"bytes"
	"context"
	"strings"
)

// mount is one line of /proc/self/mountinfo.
type mount struct {
	device  string // major:minor of the file system
	root    string // folder of the file system that is mounted
	point   string // where it is mounted
	options string // of this mount
	fsType  string
	source  string // device or name, as the file system tells it
	super   string // options of the file system
}

// maxMounts is more than the kernel allows in one namespace by default.
const maxMounts = 100_000

// mounts reads the mount table of this process.
func (s *survey) mounts(ctx context.Context) []mount {
	var all []mount
	malformed := 0
	err := eachLine(ctx, s.src.proc("self/mountinfo"), func(line []byte) error {
		if len(all) == maxMounts {
			s.note("disks: only the first %d mounts were looked at", maxMounts)
			return errStop
		}
		if m, ok := parseMount(line); ok {
			all = append(all, m)
		} else {
			malformed++
		}
		return nil
	})
	if err != nil {
		s.note("disks: /proc/self/mountinfo: %v", cause(err))
	}
	if malformed > 0 {
		s.note("disks: %d lines of /proc/self/mountinfo are malformed", malformed)
	}
	return all
}

// parseMount reads a line of mountinfo. Between the mount options and a lone "-"
// stand any number of optional fields.
func parseMount(line []byte) (mount, bool) {
	line, tail, ok := bytes.Cut(line, []byte(" - "))
	if !ok {
		return mount{}, false
	}
	device, rest := nextField(skipFields(line, 2))
	root, rest := nextField(rest)
	point, rest := nextField(rest)
	options, _ := nextField(rest)
	fsType, tail := nextField(tail)
	source, tail := nextField(tail)
	super, tail := nextField(tail)
	extra, _ := nextField(tail)
	if len(super) == 0 { // an empty source leaves two blanks, which count as one
		source, super = nil, source
	}
	if !isDevice(device) || len(options) == 0 || len(fsType) == 0 || len(super) == 0 || len(extra) > 0 {
		return mount{}, false
	}
	// The root of a bind mount may be gone ("/x//deleted") or outside ("/.."), and
	// nsfs has names such as "net:[4026531840]"; a mount point is always a path.
	if point[0] != '/' {
		return mount{}, false
	}
	return mount{
		device:  string(device),
		root:    unescapeOctal(root),
		point:   unescapeOctal(point),
		options: string(options),
		fsType:  unescapeOctal(fsType),
		source:  unescapeOctal(source),
		super:   string(super),
	}, true
}

func isDevice(b []byte) bool {
	major, minor, ok := bytes.Cut(b, []byte(":"))
	_, okMajor := parseInt(major)
	_, okMinor := parseInt(minor)
	return ok && okMajor && okMinor
}

// unescapeOctal undoes the kernel's \040 for blanks and the like.
func unescapeOctal(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+3 < len(b) && isOctal(b[i+1], '3') && isOctal(b[i+2], '7') && isOctal(b[i+3], '7') {
			out = append(out, (b[i+1]-'0')<<6|(b[i+2]-'0')<<3|(b[i+3]-'0'))
			i += 3
			continue
		}
		out = append(out, b[i])
	}
	return string(out)
}

func isOctal(c, last byte) bool { return '0' <= c && c <= last }

// hasOption reports whether a comma-separated list has this very option.
func hasOption(list, option string) bool {
	for o := range strings.SplitSeq(list, ",") {
		if o == option {
			return true
		}
	}
	return false
}

// optionValue finds name=value in a comma-separated list.
func optionValue(list, name string) (string, bool) {
	for o := range strings.SplitSeq(list, ",") {
		if n, v, ok := strings.Cut(o, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
