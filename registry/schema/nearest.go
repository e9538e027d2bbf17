package schema

import "strings"

// nearest returns the name that was probably meant by a misspelt one, or "".
func nearest(name string, names []string) string {
	const longest = 64 // no one misspells more than that, and the work is quadratic
	if len(name) > longest {
		return ""
	}
	best, distance := "", 1+max(1, len(name)/3)
	for _, n := range names {
		if len(n) > longest {
			continue
		}
		if fold(n) == fold(name) {
			return n
		}
		if d := editDistance(fold(name), fold(n)); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// fold removes what people spell in different ways: case and separators.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(s))
}

// editDistance counts the bytes to insert, remove, replace or swap with their
// neighbour to get from one name to the other.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
