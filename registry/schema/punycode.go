package schema

import (
	"bytes"
	"math"
	"unicode"
)

// validPunycode reports whether an encoded label, without its prefix, stands
// for a label that needs the encoding (RFC 3492). Whether IDNA 2008 allows each
// of its characters is not looked up, for lack of tables; what can be told from
// the categories of Unicode is refused.
func validPunycode(s []byte) bool {
	runes, ok := decodePunycode(s)
	if !ok || len(runes) == 0 || unicode.IsMark(runes[0]) {
		return false
	}
	foreign := false
	for _, r := range runes {
		foreign = foreign || r > unicode.MaxASCII
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '-' && r < 0x80 {
			return false
		}
	}
	return foreign
}

// The parameters of Punycode.
const (
	punyBase, punyMin, punyMax = 36, 1, 26
	punySkew, punyDamp         = 38, 700
	punyBias, punyFirst        = 72, 128
)

func decodePunycode(s []byte) ([]rune, bool) {
	var out []rune
	if i := bytes.LastIndexByte(s, '-'); i >= 0 {
		for _, c := range s[:i] {
			out = append(out, rune(c))
		}
		s = s[i+1:]
	}
	n, i, bias := punyFirst, 0, punyBias
	for len(s) > 0 {
		start, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if len(s) == 0 {
				return nil, false
			}
			digit := punyDigit(s[0])
			s = s[1:]
			if digit < 0 || digit > (math.MaxInt32-i)/weight {
				return nil, false
			}
			i += digit * weight
			t := min(max(k-bias, punyMin), punyMax)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return nil, false
			}
			weight *= punyBase - t
		}
		count := len(out) + 1
		bias = adaptPunycode(i-start, count, start == 0)
		n += i / count
		i %= count
		if n > unicode.MaxRune {
			return nil, false
		}
		out = append(out[:i], append([]rune{rune(n)}, out[i:]...)...)
		i++
	}
	return out, true
}

func punyDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c-'0') + 26
	case isAlphanumeric(c):
		return int(c | 0x20 - 'a')
	}
	return -1
}

func adaptPunycode(delta, count int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
