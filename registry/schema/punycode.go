package schema

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"
)

// The parameters of Punycode (RFC 3492).
const (
	punyBase, punyMin, punyMax = 36, 1, 26
	punySkew, punyDamp         = 38, 700
	punyBias, punyFirst        = 72, 128
)

// encodePunycode writes characters as letters, digits and hyphens.
func encodePunycode(l []rune) []byte {
	var out []byte
	for _, r := range l {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	done := len(out)
	basic := done
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := punyFirst, 0, punyBias
	for done < len(l) {
		least := math.MaxInt32
		for _, r := range l {
			if int(r) >= n {
				least = min(least, int(r))
			}
		}
		delta += (least - n) * (done + 1)
		n = least
		for _, r := range l {
			if int(r) < n {
				delta++
			}
			if int(r) != n {
				continue
			}
			out = appendPunyNumber(out, delta, bias)
			bias = adaptPunycode(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return out
}

// appendPunyNumber writes a number in digits whose weights depend on the bias.
func appendPunyNumber(out []byte, n, bias int) []byte {
	for k := punyBase; ; k += punyBase {
		t := min(max(k-bias, punyMin), punyMax)
		if n < t {
			return append(out, punyDigits[n])
		}
		out = append(out, punyDigits[t+(n-t)%(punyBase-t)])
		n = (n - t) / (punyBase - t)
	}
}

const punyDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// decodePunycode is the reverse. It is false for what stands for nothing.
func decodePunycode(s []byte) ([]rune, bool) {
	var out []rune
	if i := bytes.LastIndexByte(s, '-'); i >= 0 {
		for _, c := range s[:i] {
			out = append(out, rune(c))
		}
		s = s[i+1:]
	}
	basic := len(out)
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
		bias = adaptPunycode(i-start, count, count == basic+1)
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
