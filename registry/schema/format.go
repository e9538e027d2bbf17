package schema

import (
	"bytes"
	"errors"
	"net/netip"
	"regexp/syntax"
	"unicode/utf8"
)

// A format is a format that can be checked.
type format struct {
	valid    func(text []byte) bool
	describe string // "a date such as 2006-01-02"
}

// formatNamed returns what is known about a format, or nil. An unknown format
// is an annotation and accepts everything.
func formatNamed(name string) *format {
	switch name {
	case "date-time":
		return &format{validDateTime, "a date and time such as 2006-01-02T15:04:05Z"}
	case "date":
		return &format{validDate, "a date such as 2006-01-02"}
	case "time":
		return &format{validTime, "a time such as 15:04:05Z"}
	case "duration":
		return &format{validDuration, "a duration such as P3DT12H"}
	case "email":
		return &format{func(s []byte) bool { return validEmail(s, false) }, "an email address"}
	case "idn-email":
		return &format{func(s []byte) bool { return validEmail(s, true) }, "an email address"}
	case "hostname":
		return &format{validHostname, "a host name"}
	case "idn-hostname":
		return &format{validIDN, "a host name"}
	case "ipv4":
		return &format{validIPv4, "an IPv4 address"}
	case "ipv6":
		return &format{validIPv6, "an IPv6 address"}
	case "uri":
		return &format{func(s []byte) bool { return validURI(s, false, true) }, "an absolute URI"}
	case "uri-reference":
		return &format{func(s []byte) bool { return validURI(s, false, false) }, "a URI reference"}
	case "iri":
		return &format{func(s []byte) bool { return validURI(s, true, true) }, "an absolute IRI"}
	case "iri-reference":
		return &format{func(s []byte) bool { return validURI(s, true, false) }, "an IRI reference"}
	case "uri-template":
		return &format{validURITemplate, "a URI template"}
	case "uuid":
		return &format{validUUID, "a UUID"}
	case "json-pointer":
		return &format{validPointer, "a JSON Pointer"}
	case "relative-json-pointer":
		return &format{validRelativePointer, "a relative JSON Pointer"}
	case "regex":
		return &format{validRegex, "a regular expression"}
	}
	return nil
}

// number reads n decimal digits at the start of s. It is -1 if they are not
// there.
func number(s []byte, n int) int {
	if len(s) < n {
		return -1
	}
	v := 0
	for _, c := range s[:n] {
		if !isDigit(c) {
			return -1
		}
		v = v*10 + int(c-'0')
	}
	return v
}

func validDate(s []byte) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	year, month, day := number(s, 4), number(s[5:], 2), number(s[8:], 2)
	return year >= 0 && 1 <= month && month <= 12 && 1 <= day && day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func validDateTime(s []byte) bool {
	return len(s) > 11 && s[10]|0x20 == 't' && validDate(s[:10]) && validTime(s[11:])
}

// validTime accepts a leap second where it can be: at the end of a day in UTC.
func validTime(s []byte) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, minute, second := number(s, 2), number(s[3:], 2), number(s[6:], 2)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return false
	}
	s = s[8:]
	if s[0] == '.' {
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == 1 {
			return false
		}
		s = s[n:]
	}
	offset, ok := zoneOffset(s)
	if !ok || second < 60 {
		return ok
	}
	const day = 24 * 60
	return (hour*60+minute-offset+day)%day == day-1
}

// zoneOffset reads "Z" or "+01:00" as minutes.
func zoneOffset(s []byte) (minutes int, ok bool) {
	if len(s) == 1 {
		return 0, s[0]|0x20 == 'z'
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hour, minute := number(s[1:], 2), number(s[4:], 2)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	minutes = hour*60 + minute
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes, true
}

// validDuration follows the grammar in appendix A of RFC 3339, where the units
// that are given have no gap between them and weeks stand alone.
func validDuration(s []byte) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	date, clock, hasClock := bytes.Cut(s[1:], []byte("T"))
	if hasClock && !durationUnits(clock, "HMS") {
		return false
	}
	if len(date) == 0 {
		return hasClock
	}
	return durationUnits(date, "YMD") || !hasClock && durationUnits(date, "W")
}

// durationUnits reads numbers, each followed by a unit, the units in a row.
func durationUnits(s []byte, units string) bool {
	next := -1
	for len(s) > 0 {
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == 0 || n == len(s) {
			return false
		}
		unit := bytes.IndexByte([]byte(units), s[n])
		if unit < 0 || next >= 0 && unit != next {
			return false
		}
		next = unit + 1
		s = s[n+1:]
	}
	return next > 0
}

// validEmail accepts a mailbox of RFC 5321, and with more characters that of
// RFC 6531.
func validEmail(s []byte, unicode bool) bool {
	at := bytes.LastIndexByte(s, '@')
	if at < 1 || at > 64 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if !unicode {
		for _, c := range s {
			if c >= utf8.RuneSelf {
				return false
			}
		}
	}
	if len(domain) > 2 && domain[0] == '[' && domain[len(domain)-1] == ']' {
		literal := domain[1 : len(domain)-1]
		if v6, ok := bytes.CutPrefix(literal, []byte("IPv6:")); ok {
			return validLocal(local) && validIPv6(v6)
		}
		return validLocal(local) && validIPv4(literal)
	}
	return validLocal(local) && (validHostname(domain) || unicode && validIDN(domain))
}

// validLocal accepts what stands before the @: words with points between them,
// or a text in quotes.
func validLocal(s []byte) bool {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return validQuoted(s[1 : len(s)-1])
	}
	word := false
	for _, c := range s {
		switch {
		case c == '.' && word:
			word = false
		case c >= utf8.RuneSelf || isAlphanumeric(c) || bytes.IndexByte([]byte("!#$%&'*+-/=?^_`{|}~"), c) >= 0:
			word = true
		default:
			return false
		}
	}
	return word
}

func validQuoted(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
		case c < ' ' || c == '"' || c == '\\' || c == 0x7f:
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// validHostname accepts a host name of RFC 1123. A label that is encoded has to
// stand for what IDNA allows.
func validHostname(s []byte) bool {
	if len(s) > maxHost {
		return false
	}
	for label := range bytes.SplitSeq(s, []byte(".")) {
		if encoded, ok := cutPrefixFold(label, "xn--"); ok {
			if _, ok := decodeLabel(encoded); !ok || len(label) > maxLabel {
				return false
			}
			continue
		}
		if !validHostLabel(label) {
			return false
		}
	}
	return true
}

// validHostLabel accepts letters, digits and hyphens, which do not stand at the
// ends, nor both in the third and fourth place, which is reserved.
func validHostLabel(label []byte) bool {
	n := len(label)
	if n == 0 || n > maxLabel || label[0] == '-' || label[n-1] == '-' || n >= 4 && label[2] == '-' && label[3] == '-' {
		return false
	}
	for _, c := range label {
		if c != '-' && !isAlphanumeric(c) {
			return false
		}
	}
	return true
}

func validIPv4(s []byte) bool {
	parts := 0
	for part := range bytes.SplitSeq(s, []byte(".")) {
		if parts++; len(part) > 3 || len(part) > 1 && part[0] == '0' {
			return false
		}
		if n := number(part, len(part)); len(part) == 0 || n < 0 || n > 255 {
			return false
		}
	}
	return parts == 4
}

func validIPv6(s []byte) bool {
	if len(s) > 45 || bytes.IndexByte(s, '%') >= 0 || bytes.IndexByte(s, ':') < 0 {
		return false
	}
	addr, err := netip.ParseAddr(string(s))
	return err == nil && addr.Is6()
}

func validUUID(s []byte) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func validPointer(s []byte) bool {
	if len(s) > 0 && s[0] != '/' {
		return false
	}
	for i, c := range s {
		if c == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

// validRelativePointer accepts a count of steps up, and then a # or a pointer.
func validRelativePointer(s []byte) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	rest := s[n:]
	return string(rest) == "#" || validPointer(rest)
}

// validRegex accepts expressions of ECMA-262, also those that RE2 cannot run.
func validRegex(s []byte) bool {
	if len(s) > maxPatternBytes {
		return false
	}
	text, err := translate(string(s))
	var pe *patternError
	if errors.As(err, &pe) {
		return pe.foreign
	}
	_, err = syntax.Parse(text, syntax.Perl)
	return err == nil
}
