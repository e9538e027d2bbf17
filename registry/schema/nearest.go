package schema

// The bounds of looking for a name: how long a name that is misspelt may be,
// and how many names are looked at.
const (
	maxMisspelt = 64
	maxNearest  = 500
)

// nearest returns the name that was probably meant by a misspelt one, or "".
func nearest(name string, names []string) string {
	if len(name) > maxMisspelt {
		return ""
	}
	folded := fold(name)
	// A third may be wrong, but not all of it.
	best, distance := "", 1+min(max(1, len(name)/3), len(name)-1)
	for _, n := range names[:min(len(names), maxNearest)] {
		if len(n) > maxMisspelt {
			continue
		}
		f := fold(n)
		if f == folded {
			return n
		}
		if max(len(f)-len(folded), len(folded)-len(f)) >= distance {
			continue
		}
		if d := editDistance(folded, f); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// fold removes what people spell in different ways: case and separators.
func fold(s string) string {
	b := make([]byte, 0, maxMisspelt)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c|0x20)
		default:
			b = append(b, c)
		}
	}
	return string(b)
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
