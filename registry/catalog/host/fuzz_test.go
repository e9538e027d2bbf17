package host_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/registry/catalog/host"
)

const (
	statLine  = "4598 (cat) R 4585 4585 2628 0 -1 4194304 99 0 0 0 12 34 0 0 20 0 1 0 43231 3133440 412 18446744073709551615 0"
	tcpLine   = "   0: 0100007F:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1065 1 0000000000000000 100 0 0 10 0"
	tcpBusy   = "   0: 0100007F:07E8 0100007F:8000 01 00000000:00000000 00:00000000 00000000     0        0 1065 1 0000000000000000 100 0 0 10 0"
	tcp6Line  = "   0: 00000000000000000000000001000000:0277 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4003"
	mountLine = `40 28 8:17 / /mnt/my\040disk ro,relatime shared:30 master:2 - xfs /dev/sdb1 rw,attr2`
)

func FuzzStat(f *testing.F) {
	for _, seed := range []string{statLine, statLine + "\n", "1 (a) (b) S", "1 () S 0", "1 (x S 0", ") 1 (", "9 (\xff) " + statLine[11:]} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := host.ParseStat(b)
		if err != nil {
			return
		}
		if name := host.StatName(st); !utf8.ValidString(name) {
			t.Errorf("name %q is not UTF-8", name)
		}
		if !bytes.ContainsAny(b, "(") || len(bytes.Fields(b)) < 20 {
			t.Errorf("accepted %q", b)
		}
	})
}

func FuzzNetTCP(f *testing.F) {
	for _, seed := range []string{tcpLine, tcpBusy, tcp6Line, "0: 00000000:0050", strings.Replace(tcpLine, "0A", "0Z", 1)} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, six bool) {
		protocol := "tcp"
		if six {
			protocol = "tcp6"
		}
		l, listens, ok := host.ParseTCP(b, protocol)
		if !listens {
			return
		}
		if !ok || l.Port < 1 || l.Port > 65535 || l.Owners == nil || strings.Contains(l.Address, ":") != six {
			t.Errorf("%q became %+v", b, l)
		}
	})
}

func FuzzMountinfo(f *testing.F) {
	for _, seed := range []string{mountLine, "1 1 0:1 / / rw - rootfs rootfs rw", "1 1 0:1 / / rw - tmpfs  rw", `1 1 0:1 / /\7\400\08x rw - a b c`, "1 1 0:1 / / rw -"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := host.ParseMount(b)
		if ok && !strings.HasPrefix(host.MountPoint(m), "/") {
			t.Errorf("%q is mounted on %q", b, host.MountPoint(m))
		}
	})
}

// FuzzCommandLine puts a secret where it is known to be one. Nothing around it may
// bring it to light.
func FuzzCommandLine(f *testing.F) {
	f.Add("ls -l", "--verbose")
	f.Add("--password", "'")
	f.Add("a=\"", "\\")
	f.Add("http://u:p@h token:", "\xff\xfe")
	f.Fuzz(func(t *testing.T, before, after string) {
		before = strings.ReplaceAll(before, "\x00", " ")
		const secret = "Zq7XvW2m"
		if strings.Contains(before, secret) || strings.Contains(after, secret) {
			t.Skip("the input holds the secret itself")
		}
		for _, pair := range []string{"--password=" + secret, "--password\x00" + secret, "API_TOKEN=" + secret + " " + secret} {
			got, _ := host.RenderCommandLine([]byte(before + "\x00" + pair + "\x00" + after))
			if strings.Contains(got, secret) || !utf8.ValidString(got) || len(got) > 4096 {
				t.Errorf("%q %q %q became %q", before, pair, after, got)
			}
		}
		for _, text := range []string{"sh -c token=" + secret, `{"secret":"` + secret + `"}`, "x --key " + secret + " y"} {
			got, _ := host.RenderCommandLine([]byte("prog\x00" + text + "\x00" + after))
			if strings.Contains(got, secret) {
				t.Errorf("%q %q became %q", text, after, got)
			}
		}
	})
}

func TestParseMount(t *testing.T) {
	tests := []struct {
		name, in, point, fsType, source string
		ok                              bool
	}{
		{"escapes", mountLine, "/mnt/my disk", "xfs", "/dev/sdb1", true},
		{"no optional fields", "1 1 0:1 / / rw - rootfs rootfs rw", "/", "rootfs", "rootfs", true},
		{"empty source", "1 1 0:1 / /t rw - tmpfs  rw", "/t", "tmpfs", "", true},
		{"namespace", "1 1 0:4 net:[4026532299] /run/netns/a rw - nsfs nsfs rw", "/run/netns/a", "nsfs", "nsfs", true},
		{"backslash alone", `1 1 0:1 / /a\9\08b\089\134c rw - x y rw`, `/a\9\08b\089\c`, "x", "y", true},
		{"no separator", "1 1 0:1 / / rw rootfs rootfs rw", "", "", "", false},
		{"no options", "1 1 0:1 / / - rootfs rootfs rw", "", "", "", false},
		{"device", "1 1 sda / / rw - rootfs rootfs rw", "", "", "", false},
		{"relative", "1 1 0:1 / a rw - rootfs rootfs rw", "", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := host.ParseMount([]byte(tt.in))
			if ok != tt.ok || host.MountPoint(m) != tt.point || host.MountType(m) != tt.fsType || host.MountSource(m) != tt.source {
				t.Errorf("got %+v, %v; want %q %q %q, %v", m, ok, tt.point, tt.fsType, tt.source, tt.ok)
			}
		})
	}
}

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, in, want string
		ok             bool
	}{
		{"ordinary", statLine, "cat", true},
		{"parentheses", strings.Replace(statLine, "cat", "a) (b", 1), "a) (b", true},
		{"newline", strings.Replace(statLine, "cat", "a\nb", 1), "a\nb", true},
		{"not UTF-8", strings.Replace(statLine, "cat", "\xff", 1), "\uFFFD", true},
		{"no name", strings.Replace(statLine, "(cat)", "cat", 1), "", false},
		{"no id", strings.TrimPrefix(statLine, "4598 "), "", false},
		{"two letters", strings.Replace(statLine, " R ", " RS ", 1), "", false},
		{"short", statLine[:60], "", false},
		{"negative time", strings.Replace(statLine, " 12 34 ", " -12 34 ", 1), "", false},
		{"time too large", strings.Replace(statLine, " 12 34 ", " 12 9999999999999999999 ", 1), "", false},
		{"start too late", strings.Replace(statLine, " 43231 ", " 999999999999999 ", 1), "", false},
		{"more than 64 bits", strings.Replace(statLine, " 3133440 ", " 18446744073709551616 ", 1), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st, err := host.ParseStat([]byte(tt.in))
			if got := host.StatName(st); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("got name %q, error %v; want %q, accepted %v", got, err, tt.want, tt.ok)
			}
		})
	}
}

func TestStateName(t *testing.T) {
	seen := map[string]bool{}
	for _, letter := range []byte("RSDIZTtXPWK") {
		name := host.StateName(letter)
		if len(name) < 4 || seen[name] {
			t.Errorf("state %c is called %q, want a word of its own", letter, name)
		}
		seen[name] = true
	}
	if got := host.StateName('q'); got != "q" {
		t.Errorf("an unknown state is called %q, want its letter", got)
	}
}

// The tables that can have very many lines are read without waste: a process costs
// its name, a connection costs nothing.
func TestAllocations(t *testing.T) {
	stat, busy := []byte(statLine), []byte(tcpBusy)
	if n := testing.AllocsPerRun(100, func() { _, _ = host.ParseStat(stat) }); n > 1 {
		t.Errorf("a line of stat allocates %v times, want once", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = host.ParseTCP(busy, "tcp") }); n > 0 {
		t.Errorf("a line of a connection allocates %v times, want never", n)
	}
}
