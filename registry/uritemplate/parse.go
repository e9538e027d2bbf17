package uritemplate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads a template. It refuses what RFC 6570 does not allow, what is beyond the bounds of this package, and what
// could not be matched again; the package comment says which that is. The error is a [*ParseError].
func Parse(s string) (*Template, error) {
	if len(s) > MaxTemplate {
		reason := fmt.Sprintf("the template has %d bytes; at most %d are allowed", len(s), MaxTemplate)
		return nil, &ParseError{MaxTemplate, s, reason}
	}
	t := &Template{source: s}
	if err := t.split(); err != nil {
		return nil, err
	}
	if err := t.compile(); err != nil {
		return nil, err
	}
	return t, nil
}

// split cuts the source into pieces and collects the variables.
func (t *Template) split() error {
	for pos := 0; pos < len(t.source); {
		read := t.literal
		if t.source[pos] == '{' {
			read = t.expression
		}
		p, err := read(pos)
		if err != nil {
			return err
		}
		t.pieces = append(t.pieces, p)
		pos = p.end
	}
	return nil
}

// literal reads the text from pos to the next expression.
func (t *Template) literal(pos int) (piece, error) {
	end := len(t.source)
	if n := strings.IndexByte(t.source[pos:], '{'); n >= 0 {
		end = pos + n
	}
	var b []byte
	for i := pos; i < end; {
		size, err := literalChar(t.source[i:end])
		if err != nil {
			return piece{}, &ParseError{i, t.source, err.Error()}
		}
		if char := t.source[i : i+size]; char[0] < utf8.RuneSelf {
			b = append(b, char...)
		} else {
			b = appendEncoded(b, char, false)
		}
		i += size
	}
	return piece{offset: pos, end: end, literal: string(b)}, nil
}

// literalChar returns the length of the character at the start of s, which may be a percent-encoded byte.
func literalChar(s string) (int, error) {
	// U+0080 to U+009F are control characters.
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return 0, errors.New("the template is not UTF-8")
	case r >= 0xA0, r < utf8.RuneSelf && unreserved().union(reserved()).has(s[0]):
		return size, nil
	case r == '%':
		if _, ok := triplet(s); ok {
			return 3, nil
		}
		return 0, errors.New("a percent sign needs two hexadecimal digits behind it; write %25 for the sign itself")
	case r == '}':
		return 0, errors.New("a brace closes no expression; write %7D for the brace itself")
	}
	return 0, fmt.Errorf("%q is not allowed in a URI; percent-encode it", r)
}

// expression reads the expression at pos.
func (t *Template) expression(pos int) (piece, error) {
	n := strings.IndexByte(t.source[pos:], '}')
	if n < 0 {
		return piece{}, t.refuse(pos, len(t.source), "the expression is not closed with a brace")
	}
	p := piece{offset: pos, end: pos + n + 1, lo: len(t.vars)}
	body := t.source[pos+1 : pos+n]
	if body == "" {
		return piece{}, t.refuse(p.offset, p.end, "the expression names no variable")
	}
	op, isOp := operatorOf(body[0])
	if isOp {
		body = body[1:]
	}
	p.op = op
	for name := range strings.SplitSeq(body, ",") {
		if reason := t.addVar(name, op); reason != "" {
			return piece{}, t.refuse(p.offset, p.end, reason)
		}
	}
	p.hi = len(t.vars)
	return p, nil
}

// addVar appends the variable called name of an expression with op. It returns why it cannot, or "".
func (t *Template) addVar(name string, op operator) (reason string) {
	if reason := checkName(name); reason != "" {
		return reason
	}
	if len(t.vars) == MaxVars {
		return fmt.Sprintf("the template has more than %d variables", MaxVars)
	}
	key, _ := normalise(name) // a checked name always has a normal form
	if hasKey(t.vars, key) {
		return fmt.Sprintf("the variable %q occurs twice", name)
	}
	t.vars = append(t.vars, variable{name, key, op.reserved})
	if op.reserved {
		t.reserved++
	}
	return ""
}

// nameChars says what the name of a variable is made of.
const nameChars = "letters, digits, underscores, inner dots and percent-encoded bytes"

// checkName returns why name is not the name of a variable, or "".
func checkName(name string) (reason string) {
	if name == "" {
		return "the name of a variable is empty"
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '%':
			if _, ok := triplet(name[i:]); !ok {
				return "a percent sign in a name needs two hexadecimal digits behind it"
			}
			i += 2
		case c == '.':
			if i == 0 || i == len(name)-1 || name[i-1] == '.' {
				return "a dot in a name has to stand between other characters"
			}
		case i > 0 && (c == ':' || c == '*'):
			return fmt.Sprintf("the modifier %s is not supported, for such a value cannot be matched again", excerpt(name[i:]))
		case c == '-' || c == '~' || !unreserved().has(c):
			r, _ := utf8.DecodeRuneInString(name[i:])
			return fmt.Sprintf("%q is not allowed here: a name has %s", r, nameChars)
		}
	}
	return ""
}

// refuse returns the error for the expression, or the text between two, at source[from:to].
func (t *Template) refuse(from, to int, reason string) error {
	return &ParseError{from, t.source, fmt.Sprintf("%s: %s; %s", excerpt(t.source[from:to]), reason, supported)}
}
