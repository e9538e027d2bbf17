package files

import (
	"fmt"
	"strings"
)

// maxHintBytes bounds the text of the file that a hint quotes.
const maxHintBytes = 400

// hint helps with a piece of text that is not in a file. A near match, which differs in white space only, is the usual case
// and is quoted as it is in the file; otherwise the first line of the piece may be there.
func hint(text, piece string) string {
	wanted := strings.Split(strings.Trim(piece, "\r\n"), "\n")
	for i, line := range wanted {
		wanted[i] = squeeze(line)
	}
	if from, to, ok := nearMatch(text, wanted); ok {
		return fmt.Sprintf("%s differs only in white space: it is %s", lineRange(text, from, to), quoteExact(text[from:to]))
	}
	if from, to, ok := nearMatch(text, wanted[:1]); ok && len(wanted) > 1 && wanted[0] != "" {
		return fmt.Sprintf("its first line is %s, but what follows differs; read the file again from there", lineRange(text, from, to))
	}
	return "nothing like it is there; read the file again and copy the text exactly"
}

// squeeze makes runs of white space one space and drops them at the ends.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// nearMatch finds the first lines that are the wanted ones but for white space, as a range of bytes.
func nearMatch(text string, wanted []string) (from, to int, ok bool) {
	for pos := 0; pos < len(text); {
		if end, ok := matchesAt(text, pos, wanted); ok {
			return pos, end, true
		}
		next := strings.IndexByte(text[pos:], '\n')
		if next < 0 {
			break
		}
		pos += next + 1
	}
	return 0, 0, false
}

// matchesAt compares the lines from a position on.
func matchesAt(text string, pos int, wanted []string) (end int, ok bool) {
	for i, want := range wanted {
		if i > 0 {
			if pos == len(text) {
				return 0, false
			}
			pos++ // the newline before this line
		}
		end = len(text)
		if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
			end = pos + n
		}
		if squeeze(text[pos:end]) != want {
			return 0, false
		}
		pos = end
	}
	return pos, true
}

// lineRange names the lines that a range of bytes is in.
func lineRange(text string, from, to int) string {
	first := strings.Count(text[:from], "\n") + 1
	last := first + strings.Count(text[from:to], "\n")
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("the text of lines %d to %d", first, last)
}

// quoteExact quotes text so that tabs and line ends can be told from spaces.
func quoteExact(s string) string {
	if len(s) > maxHintBytes {
		return fmt.Sprintf("%q…", cutText(s, maxHintBytes))
	}
	return fmt.Sprintf("%q", s)
}
