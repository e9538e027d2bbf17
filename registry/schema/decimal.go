package schema

import (
	"math"
	"math/big"
	"math/bits"
)

// A decimal is a JSON number as it is written, taken apart so that it can be
// compared exactly. No digit is ever lost to a float64.
type decimal struct {
	neg  bool
	sig  []byte // from the first digit that is not zero to the last; may hold a point
	mag  int64  // the number is 0.sig × 10^mag
	unit int64  // the last digit of sig counts 10^unit
}

// maxExponent bounds exponents, far outside of what two numbers of bounded
// length could differ in.
const maxExponent = 1 << 50

// parseDecimal takes a valid JSON number apart.
func parseDecimal(b []byte) decimal {
	var d decimal
	if b[0] == '-' {
		d.neg = true
		b = b[1:]
	}
	point, end := -1, len(b)
	first, last := -1, -1
	for i, c := range b {
		if c == '.' {
			point = i
			continue
		}
		if c|0x20 == 'e' {
			end = i
			break
		}
		if c != '0' {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return decimal{}
	}
	if point < 0 {
		point = end
	}
	exp := parseExponent(b[end:])
	d.sig = b[first : last+1]
	d.mag = exp + place(point, first) + 1
	d.unit = exp + place(point, last)
	return d
}

// place is the power of ten that the digit at index i counts, given the index
// of the point.
func place(point, i int) int64 {
	if i < point {
		return int64(point - i - 1)
	}
	return int64(point - i)
}

// parseExponent reads the exponent of a number, "e-5" or nothing, within
// bounds.
func parseExponent(b []byte) int64 {
	if len(b) == 0 {
		return 0
	}
	b = b[1:]
	neg := b[0] == '-'
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	var n int64
	for _, c := range b {
		if n = n*10 + int64(c-'0'); n > maxExponent {
			n = maxExponent
			break
		}
	}
	if neg {
		return -n
	}
	return n
}

func (d decimal) zero() bool { return len(d.sig) == 0 }

// integral reports whether the number is an integer, as 1.0 and 1e3 are.
func (d decimal) integral() bool { return d.zero() || d.unit >= 0 }

// compare orders two numbers: negative if d < x, zero if they are equal.
func (d decimal) compare(x decimal) int {
	if s, t := d.sign(), x.sign(); s != t || s == 0 {
		return s - t
	}
	c := d.compareMagnitude(x)
	if d.neg {
		return -c
	}
	return c
}

func (d decimal) sign() int {
	switch {
	case d.zero():
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compareMagnitude(x decimal) int {
	if d.mag != x.mag {
		if d.mag < x.mag {
			return -1
		}
		return 1
	}
	a, b := d.sig, x.sig
	for {
		a, b = skipPoint(a), skipPoint(b)
		if len(a) == 0 || len(b) == 0 {
			// What is left over is not all zeros, since the last digit is not.
			return len(a) - len(b)
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
}

func skipPoint(b []byte) []byte {
	if len(b) > 0 && b[0] == '.' {
		return b[1:]
	}
	return b
}

// parseInt reads a number that is written as an integer of at most 18 digits,
// which is what nearly all are.
func parseInt(b []byte) (int64, bool) {
	neg := b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// A bound is a number in a schema, ready to be compared with.
type bound struct {
	raw   []byte
	dec   decimal
	small int64 // the number, if exact is true
	exact bool
}

func newBound(raw []byte) *bound {
	b := &bound{raw: raw, dec: parseDecimal(raw)}
	b.small, b.exact = parseInt(raw)
	return b
}

// compare orders a JSON number and the bound: negative if the number is less.
func (b *bound) compare(raw []byte) int {
	if b.exact {
		if n, ok := parseInt(raw); ok {
			switch {
			case n < b.small:
				return -1
			case n > b.small:
				return 1
			}
			return 0
		}
	}
	return parseDecimal(raw).compare(b.dec)
}

// divides reports whether a JSON number is a multiple of the bound, which is
// positive.
func (b *bound) divides(raw []byte) bool {
	if b.exact {
		if n, ok := parseInt(raw); ok {
			return n%b.small == 0
		}
	}
	d := parseDecimal(raw)
	if d.zero() {
		return true
	}
	// The numbers are v×10^d.unit and m×10^b.unit, where neither v nor m ends
	// in a zero. So v has no factor 10 to spare for a finer unit than that of m.
	shift := d.unit - b.dec.unit
	if shift < 0 {
		return false
	}
	if m, ok := b.dec.significand(); ok {
		return mulMod(modOf(d.sig, m), powMod10(shift, m), m) == 0
	}
	return b.dividesBig(d, shift)
}

// dividesBig is divides for a bound of more digits than fit in a word.
func (b *bound) dividesBig(d decimal, shift int64) bool {
	m := bigOf(b.dec.sig)
	v := bigOf(d.sig)
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), m)
	return v.Mul(v, p).Mod(v, m).Sign() == 0
}

func bigOf(sig []byte) *big.Int {
	digits := make([]byte, 0, len(sig))
	for _, c := range sig {
		if c != '.' {
			digits = append(digits, c)
		}
	}
	n, _ := new(big.Int).SetString(string(digits), 10)
	return n
}

// significand returns the digits as a number, if they fit in a word.
func (d decimal) significand() (uint64, bool) {
	var n uint64
	for _, c := range d.sig {
		if c == '.' {
			continue
		}
		hi, lo := bits.Mul64(n, 10)
		lo, carry := bits.Add64(lo, uint64(c-'0'), 0)
		if hi+carry != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// modOf is the number with the given digits, modulo m.
func modOf(sig []byte, m uint64) uint64 {
	var r uint64
	for _, c := range sig {
		if c == '.' {
			continue
		}
		hi, lo := bits.Mul64(r, 10)
		lo, carry := bits.Add64(lo, uint64(c-'0'), 0)
		r = bits.Rem64(hi+carry, lo, m)
	}
	return r
}

func mulMod(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m)
}

// powMod10 is 10^n modulo m.
func powMod10(n int64, m uint64) uint64 {
	r, p := 1%m, 10%m
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = mulMod(r, p, m)
		}
		p = mulMod(p, p, m)
	}
	return r
}

// parseCount reads a number that has to be an integer and not negative. One
// that is too large for an int is as good as the largest.
func parseCount(raw []byte) (int, bool) {
	d := parseDecimal(raw)
	if d.zero() {
		return 0, true
	}
	if d.neg || !d.integral() {
		return 0, false
	}
	n, ok := d.uint64()
	if !ok {
		return math.MaxInt, true
	}
	return int(min(n, math.MaxInt)), true
}

// uint64 returns the magnitude of an integral number, if it fits.
func (d decimal) uint64() (uint64, bool) {
	n, ok := d.significand()
	if !ok || d.unit > 19 {
		return 0, ok && n == 0
	}
	for range d.unit {
		hi, lo := bits.Mul64(n, 10)
		if hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// int64 returns an integral number, if it fits.
func (d decimal) int64() (int64, bool) {
	n, ok := d.uint64()
	switch {
	case !ok:
		return 0, false
	case d.neg:
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}
