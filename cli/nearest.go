package cli

import "strings"

// didYouMean returns the part of a sentence that offers the name that was
// probably meant, or "".
func didYouMean(name string, names []string) string {
	if n := nearest(name, names); n != "" {
		return " (did you mean " + n + "?)"
	}
	return ""
}

// nearest returns the name that needs the fewest edits to get to from a
// misspelt one, or "" if none is near.
func nearest(name string, names []string) string {
	const longest = 64 // no one misspells more than that, and the work is quadratic
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, fewest := "", 2+len(name)/4
	for _, n := range names {
		if d := edits(name, strings.ToLower(n)); d < fewest {
			best, fewest = n, d
		}
	}
	return best
}

// edits counts the bytes to insert, remove or replace to get from a to b.
func edits(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, above[j+1]+1, row[j]+1)
		}
		above, row = row, above
	}
	return above[len(b)]
}
