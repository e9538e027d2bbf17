package catalog

import (
	"fmt"
	"strings"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/catalog/files"
)

// showMatches is the text of search_text, in the way of grep: the lines under
// the name of their file, ":" after the number of one that matches and "-" after
// that of one around it.
func showMatches(out *files.SearchTextOut) []protocol.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s, %s searched\n", out.Path,
		count(matchingLines(out), "line matches", "lines match"), count(len(out.Files), "file", "files"), count(out.FilesSearched, "file", "files"))
	if len(out.Matches) == 0 {
		for _, f := range out.Files {
			fmt.Fprintf(&b, "%6d  %s\n", f.Lines, oneLine(f.Path))
		}
	}
	for matches := out.Matches; len(matches) > 0; {
		n := sameFile(matches)
		b.WriteString(oneLine(matches[0].Path) + "\n")
		writeMatches(&b, matches[:n])
		matches = matches[n:]
	}
	writeNotes(&b, 0, out.Notes)
	return []protocol.Content{textBlock(b.String())}
}

func matchingLines(out *files.SearchTextOut) int {
	n := 0
	for _, f := range out.Files {
		n += f.Lines
	}
	return n
}

// sameFile returns how many matches from the first on are in the same file.
func sameFile(matches []files.Match) int {
	n := 1
	for n < len(matches) && matches[n].Path == matches[0].Path {
		n++
	}
	return n
}

// writeMatches writes the matches of one file. Lines that are around two of
// them, or match themselves, are written once.
func writeMatches(b *strings.Builder, matches []files.Match) {
	written := 0 // the last line that was
	for i, m := range matches {
		if first := m.Line - len(m.Before); written > 0 && first > written+1 && len(m.Before)+len(m.After) > 0 {
			b.WriteString("    --\n")
		}
		for j, line := range m.Before {
			if number := m.Line - len(m.Before) + j; number > written {
				fmt.Fprintf(b, "%6d- %s\n", number, line)
			}
		}
		cut := ""
		if m.TextTruncated {
			cut = " [part of a long line]"
		}
		fmt.Fprintf(b, "%6d: %s%s\n", m.Line, m.Text, cut)
		written = m.Line
		for j, line := range m.After {
			number := m.Line + 1 + j
			if i+1 < len(matches) && number >= matches[i+1].Line {
				break
			}
			fmt.Fprintf(b, "%6d- %s\n", number, line)
			written = number
		}
	}
}
