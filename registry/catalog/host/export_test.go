package host

// For tests of the parsers, whose input no test can place into a running kernel.

var (
	ParseStat         = parseStat
	ParseMount        = parseMount
	RenderCommandLine = renderCommandLine
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
