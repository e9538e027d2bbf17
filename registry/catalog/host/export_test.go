package host

import "context"

// For tests of the parsers, whose input no test can place into a running kernel.

var (
	ParseStat         = parseStat
	ParseMount        = parseMount
	RenderCommandLine = renderCommandLine
	StateName         = stateName
)

// ParseTCP tells the socket of a line of /proc/net/tcp or tcp6, whether it listens,
// and whether the line is well formed.
func ParseTCP(line []byte, protocol string) (l Listener, listens, ok bool) {
	l, v := parseInet(line, protocol, "stream", stateListen)
	return l, v == waiting, v != malformed
}

// StatName and MountPoint look into parsed lines.
func StatName(st procStat) string { return st.name }
func MountPoint(m mount) string   { return m.point }
func MountType(m mount) string    { return m.fsType }
func MountSource(m mount) string  { return m.source }

// NewWithoutProc returns a Host of the running machine as on a system that has no
// procfs.
func NewWithoutProc() *Host {
	h := New(Source{})
	h.src.Proc = ""
	return h
}

// ProcessIDs lists processes under a bound that a test can reach.
func ProcessIDs(ctx context.Context, src Source, limit int) ([]int, []string, error) {
	s := New(src).survey()
	ids, err := s.pids(ctx, limit)
	return ids, s.notes, err
}
