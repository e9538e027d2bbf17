package host

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxCommandLineRead is how much of a command line is looked at.
	maxCommandLineRead = 16 << 10

	// maxCommandLine is how many bytes of it are shown.
	maxCommandLine = 4 << 10
)

// commandLine reads the arguments of a process and renders them without secrets.
// It is empty for kernel threads and zombies, which have none.
func (s *survey) commandLine(pid int) (line string, truncated bool, err error) {
	b, err := s.read(s.pidFile(pid, "cmdline"), maxCommandLineRead+1)
	if err != nil {
		return "", false, err
	}
	if len(b) > maxCommandLineRead {
		b, truncated = b[:maxCommandLineRead], true
	}
	line, cut := renderCommandLine(b)
	return line, truncated || cut, nil
}

// renderCommandLine joins arguments, each ended by a NUL, with blanks. Secrets are
// cut out before anything is shortened, so that no half of one survives.
func renderCommandLine(b []byte) (line string, truncated bool) {
	// Programs that write a title over their arguments leave NULs or blanks behind.
	b = bytes.TrimRight(b, "\x00 ")
	if len(b) == 0 {
		return "", false
	}
	args := strings.Split(text(b), "\x00")
	redactArgs(args)
	if len(args) == 1 { // a title, or a command without arguments
		line = clean(args[0])
	} else {
		for i, arg := range args {
			args[i] = quoteArg(arg)
		}
		line = strings.Join(args, " ")
	}
	if len(line) <= maxCommandLine {
		return line, false
	}
	end := maxCommandLine
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end], true
}

// quoteArg makes the borders of an argument visible where blanks would hide them.
func quoteArg(arg string) string {
	if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }) {
		return strconv.Quote(arg)
	}
	return arg
}

// clean replaces control characters, which have no business in a title.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
