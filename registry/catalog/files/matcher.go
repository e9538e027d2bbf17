package files

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxPatternBytes bounds the pattern of a search; RE2 keeps the time linear, and this the factor small.
const maxPatternBytes = 1024

// matcher gives the function that finds the pattern in a line, -1 if it is not there. It is for one goroutine. Plain text,
// which most patterns are, is found without the regular expression: that is several times faster.
func matcher(in SearchTextIn) (func(line []byte) int, error) {
	if in.Pattern == "" || len(in.Pattern) > maxPatternBytes {
		return nil, failf(ErrInvalid, "pattern must have from 1 to %d bytes, not %d", maxPatternBytes, len(in.Pattern))
	}
	if strings.Contains(in.Pattern, "\n") {
		return nil, failf(ErrInvalid, "pattern contains a line end, but each line is searched alone; search for one of the lines and set before or after")
	}
	quoted := regexp.QuoteMeta(in.Pattern)
	plain := in.Literal || quoted == in.Pattern
	if plain && !in.IgnoreCase {
		text := []byte(in.Pattern)
		return func(line []byte) int { return bytes.Index(line, text) }, nil
	}
	expr := in.Pattern
	if in.Literal {
		expr = quoted
	}
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, failf(ErrInvalid, "pattern is not valid RE2: %v; set literal to true to search for the text as it is", err)
	}
	byRegexp := func(line []byte) int {
		if at := re.FindIndex(line); at != nil {
			return at[0]
		}
		return -1
	}
	if plain && isASCII(in.Pattern) {
		return foldedASCII(strings.ToLower(in.Pattern), byRegexp), nil
	}
	return byRegexp, nil
}

// foldedASCII finds lower-case ASCII text in lines of any case. Lines with other characters are left to the regular
// expression, since a few of those fold to ASCII letters.
func foldedASCII(text string, otherwise func(line []byte) int) func(line []byte) int {
	wanted := []byte(text)
	var lower []byte
	return func(line []byte) int {
		lower = lower[:0]
		for _, c := range line {
			switch {
			case c >= utf8.RuneSelf:
				return otherwise(line)
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			}
			lower = append(lower, c)
		}
		return bytes.Index(lower, wanted)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
