package catalog

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// count writes a number with the noun, or the verb, that goes with it.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// size writes a number of bytes with a binary unit and one digit after the
// point, the exact number below 1 KiB.
func size(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, units := float64(n)/1024, "KMGTPE"
	for f >= 1024 && len(units) > 1 {
		f, units = f/1024, units[1:]
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + units[:1] + "iB"
}

// oneLine quotes a name that would break a line or hide something in it.
func oneLine(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsRune(quoted, '\\') {
		return quoted
	}
	return name
}

func encodeBase64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
