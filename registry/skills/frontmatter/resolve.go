package frontmatter

import (
	"math/big"
	"strings"
)

// resolve returns the value of a plain scalar: what the core schema of YAML 1.2
// says, in the form that JSON has for it.
func (p *parser) resolve(s string) (*node, error) {
	switch s {
	case "~", "null", "Null", "NULL":
		return null(), nil
	case "true", "True", "TRUE":
		return &node{kind: literal, text: "true"}, nil
	case "false", "False", "FALSE":
		return &node{kind: literal, text: "false"}, nil
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
		return nil, p.behind("%s is a number that JSON does not have: quote it if it is text", s)
	}
	if n, ok := based(s); ok {
		return &node{kind: literal, text: n}, nil
	}
	if n, ok := decimal(s); ok {
		return &node{kind: literal, text: n}, nil
	}
	return &node{kind: str, text: s}, nil
}

// behind is errorf for the line that was read last.
func (p *parser) behind(format string, args ...any) error {
	if p.col == 0 && p.row > 0 {
		p.row--
	}
	return p.errorf(format, args...)
}

// based reads an octal or a hexadecimal number.
func based(s string) (string, bool) {
	base := 0
	switch {
	case strings.HasPrefix(s, "0o"):
		base = 8
	case strings.HasPrefix(s, "0x"):
		base = 16
	default:
		return "", false
	}
	digits := s[2:]
	if digits == "" || strings.ContainsAny(digits, "+-_") {
		return "", false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	return n.String(), true
}

// decimal reads an integer or a number with a fraction or an exponent, and
// spells it as JSON does: no plus, no needless zeros in front, digits on both
// sides of the point.
func decimal(s string) (string, bool) {
	sign, rest := "", s
	switch {
	case strings.HasPrefix(rest, "-"):
		sign, rest = "-", rest[1:]
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	}
	whole, rest := cutDigits(rest)
	fraction, point := "", strings.HasPrefix(rest, ".")
	if point {
		fraction, rest = cutDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return "", false
	}
	exponent := ""
	if rest != "" {
		if rest[0] != 'e' && rest[0] != 'E' {
			return "", false
		}
		mark := rest[1:]
		if mark != "" && (mark[0] == '+' || mark[0] == '-') {
			mark = mark[1:]
		}
		if digits, more := cutDigits(mark); digits == "" || more != "" {
			return "", false
		}
		exponent = rest
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if point {
		if fraction == "" {
			fraction = "0"
		}
		fraction = "." + fraction
	}
	return sign + whole + fraction + exponent, true
}

// cutDigits splits s behind the digits that it begins with.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}
