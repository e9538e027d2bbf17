package host

import (
	"math"
	"strconv"
)

// nextField cuts the first run of bytes other than blanks off b. At the end of the
// line the field is empty.
func nextField(b []byte) (field, rest []byte) {
	start := 0
	for start < len(b) && isBlank(b[start]) {
		start++
	}
	end := start
	for end < len(b) && !isBlank(b[end]) {
		end++
	}
	return b[start:end], b[end:]
}

// skipFields cuts n fields off b.
func skipFields(b []byte, n int) []byte {
	for range n {
		_, b = nextField(b)
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// parseUint reads a whole field of decimal digits. strconv would need a string,
// which is an allocation per field.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		d := uint64(c - '0')
		if v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// parseInt is parseUint for numbers that fit an int32, such as process ids.
func parseInt(b []byte) (int, bool) {
	v, ok := parseUint(b)
	return int(v), ok && v <= math.MaxInt32
}

// parseHex reads a whole field of up to 16 hexadecimal digits.
func parseHex(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		var d byte
		switch {
		case '0' <= c && c <= '9':
			d = c - '0'
		case 'a' <= c && c <= 'f':
			d = c - 'a' + 10
		case 'A' <= c && c <= 'F':
			d = c - 'A' + 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// parseDecimal reads a whole field such as "432.32". Signs, exponents and names of
// special values are refused: JSON has no infinity.
func parseDecimal(b []byte) (float64, bool) {
	if len(b) > 32 {
		return 0, false
	}
	for _, c := range b {
		if c != '.' && (c < '0' || c > '9') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}

// round2 keeps two decimals, which is what a percentage of ticks is good for.
func round2(v float64) float64 { return math.Round(v*100) / 100 }
