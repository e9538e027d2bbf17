package files

import (
	"fmt"
	"strings"
)

// maxHintBytes bounds the text of the file that a hint quotes.
const maxHintBytes = 400

// maxHintLines bounds the lines of a piece that a near match is looked for.
const maxHintLines = 4096

// hint helps with a piece of text that is not in a file. A near match, which differs in white space only, is the usual case
// and is quoted as it is in the file; otherwise the first line of the piece may be there. It takes time in proportion to the
// sizes of both.
func hint(text, piece string) string {
	wanted := strings.SplitN(strings.Trim(piece, "\r\n"), "\n", maxHintLines+1)
	for i, line := range wanted {
		wanted[i] = squeeze(line)
	}
	if len(wanted) <= maxHintLines {
		if from, to, ok := nearMatch(text, wanted); ok {
			return fmt.Sprintf("%s differs only in white space: it is %s", lineRange(text, from, to), quoteExact(text[from:to]))
		}
	}
	if from, to, ok := nearMatch(text, wanted[:1]); ok && len(wanted) > 1 && wanted[0] != "" {
		return fmt.Sprintf("its first line is %s, but what follows differs; read the file again from there", lineRange(text, from, to))
	}
	return "nothing like it is there; read the file again and copy the text exactly"
}

// squeeze makes runs of white space one space and drops them at the ends.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// nearMatch finds the first lines that are the wanted ones but for white space, as a range of bytes. Each line of the text is
// looked at once, as Knuth, Morris and Pratt have it: what has matched so far says how far to go back.
func nearMatch(text string, wanted []string) (from, to int, ok bool) {
	shorter := fallbacks(wanted)
	matched := 0
	for pos := 0; pos < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
			end = pos + n
		}
		line := squeeze(text[pos:end])
		for matched > 0 && line != wanted[matched] {
			matched = shorter[matched-1]
		}
		if line == wanted[matched] {
			matched++
		}
		if matched == len(wanted) {
			return linesBack(text, end, matched), end, true
		}
		pos = end + 1
	}
	return 0, 0, false
}

// fallbacks gives for each number of lines that have matched, less one, the largest smaller number that then have matched too.
func fallbacks(wanted []string) []int {
	shorter := make([]int, len(wanted))
	for i, k := 1, 0; i < len(wanted); i++ {
		for k > 0 && wanted[i] != wanted[k] {
			k = shorter[k-1]
		}
		if wanted[i] == wanted[k] {
			k++
		}
		shorter[i] = k
	}
	return shorter
}

// linesBack gives where the n-th line before end begins, the one that ends there being the first.
func linesBack(text string, end, n int) int {
	for ; n > 0; n-- {
		end = strings.LastIndexByte(text[:end], '\n')
		if end < 0 {
			return 0
		}
	}
	return end + 1
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
