package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A patternError is a regular expression that cannot be used.
type patternError struct {
	what string
	// foreign says that the expression may be fine in ECMA-262, and only has
	// something that RE2 cannot do.
	foreign bool
}

func (e *patternError) Error() string { return e.what }

func badPattern(format string, args ...any) error {
	return &patternError{what: fmt.Sprintf(format, args...)}
}

func foreignPattern(format string, args ...any) error {
	return &patternError{what: "RE2, which keeps matching linear, has no " + fmt.Sprintf(format, args...), foreign: true}
}

// Sets of characters that ECMA-262 means by \s and the point, as ranges for a
// class of RE2.
const (
	ecmaSpace    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNotSpace = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	ecmaAny      = `[^\n\r\x{2028}\x{2029}]`
)

// A translator rewrites an expression of ECMA-262, read with its u flag, for
// RE2. What means the same stays as it is, and what means something else is
// replaced or refused.
type translator struct {
	src string
	pos int
	out strings.Builder
}

// translate rewrites a pattern. The error is a [*patternError].
func translate(src string) (string, error) {
	t := &translator{src: src}
	for t.pos < len(t.src) {
		if err := t.atom(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

func (t *translator) rest() string { return t.src[t.pos:] }

// copy takes n bytes over as they are.
func (t *translator) copy(n int) {
	t.out.WriteString(t.src[t.pos : t.pos+n])
	t.pos += n
}

// replace writes something else for n bytes.
func (t *translator) replace(n int, with string) {
	t.out.WriteString(with)
	t.pos += n
}

func (t *translator) atom() error {
	switch t.src[t.pos] {
	case '\\':
		return t.escape(false)
	case '[':
		return t.class()
	case '(':
		return t.group()
	case '.':
		t.replace(1, ecmaAny)
	case '*', '+', '?', '}':
		return t.quantifier(1)
	case '{':
		return t.brace()
	default:
		_, n := utf8.DecodeRuneInString(t.rest())
		t.copy(n)
	}
	return nil
}

// quantifier takes over a quantifier of n bytes. Behind it RE2 has one that
// ECMA-262 does not know.
func (t *translator) quantifier(n int) error {
	t.copy(n)
	if strings.HasPrefix(t.rest(), "+") {
		return badPattern("a quantifier follows another one")
	}
	return nil
}

// brace takes over {n}, {n,} or {n,m}, which RE2 bounds. Any other brace stands
// for itself.
func (t *translator) brace() error {
	end := strings.IndexByte(t.rest(), '}')
	if end < 0 {
		t.copy(1)
		return nil
	}
	low, high, comma := strings.Cut(t.rest()[1:end], ",")
	if !isIndex(low) || comma && high != "" && !isIndex(high) {
		t.replace(1, `\{`)
		return nil
	}
	for _, n := range []string{low, high} {
		if v, err := strconv.Atoi(n); n != "" && (err != nil || v > maxRepeat) {
			return foreignPattern("repetition of more than %d times", maxRepeat)
		}
	}
	return t.quantifier(end + 1)
}

// maxRepeat is the bound of RE2 for the numbers of a quantifier.
const maxRepeat = 1000

func (t *translator) group() error {
	r := t.rest()
	for prefix, name := range map[string]string{
		"(?=": "lookahead", "(?!": "negative lookahead", "(?<=": "lookbehind", "(?<!": "negative lookbehind",
	} {
		if strings.HasPrefix(r, prefix) {
			return foreignPattern("%s %q", name, prefix+"…)")
		}
	}
	switch {
	case !strings.HasPrefix(r, "(?"):
		t.copy(1)
	case strings.HasPrefix(r, "(?:"):
		t.copy(3)
	case strings.HasPrefix(r, "(?<"):
		// The names of RE2 allow less than those of ECMA-262, and none is used.
		end := strings.IndexByte(r, '>')
		if end < 0 {
			return badPattern("the name of a group does not end")
		}
		t.replace(end+1, "(")
	default:
		return badPattern("unknown group %q", clip(r[:min(len(r), 3)]))
	}
	return nil
}

// class translates a class. In ECMA-262 it may be empty, and an opening bracket
// in it stands for itself.
func (t *translator) class() error {
	negated := strings.HasPrefix(t.rest(), "[^")
	n := 1
	if negated {
		n = 2
	}
	if strings.HasPrefix(t.src[t.pos+n:], "]") {
		with := `[^\x00-\x{10ffff}]`
		if negated {
			with = `[\x00-\x{10ffff}]`
		}
		t.replace(n+1, with)
		return nil
	}
	t.copy(n)
	for t.pos < len(t.src) {
		switch t.src[t.pos] {
		case ']':
			t.copy(1)
			return nil
		case '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case '[':
			t.replace(1, `\[`)
		case '-':
			t.hyphen()
		default:
			_, n := utf8.DecodeRuneInString(t.rest())
			t.copy(n)
		}
	}
	return badPattern("a class does not end: %q is missing", "]")
}

// hyphen takes over a hyphen that makes a range, and escapes one that does not,
// which RE2 accepts in fewer places.
func (t *translator) hyphen() {
	written := t.out.String()
	first := strings.HasSuffix(written, "[") && !strings.HasSuffix(written, `\[`) || strings.HasSuffix(written, "[^")
	last := strings.HasPrefix(t.rest(), "-]")
	if first || last {
		t.replace(1, `\-`)
		return
	}
	t.copy(1)
}

// escape translates what starts with a backslash.
func (t *translator) escape(inClass bool) error {
	if t.pos+1 == len(t.src) {
		return badPattern("the pattern ends with a backslash")
	}
	switch c := t.src[t.pos+1]; c {
	case 'd', 'D', 'w', 'W', 't', 'n', 'r', 'f', 'v':
		t.copy(2)
	case 's':
		t.set(ecmaSpace, inClass)
	case 'S':
		t.set(ecmaNotSpace, inClass)
	case 'b':
		if inClass {
			t.replace(2, `\x08`)
		} else {
			t.copy(2)
		}
	case 'B':
		if inClass {
			return badPattern(`\B in a class`)
		}
		t.copy(2)
	case 'p', 'P':
		return t.property()
	case 'x':
		return t.hex(2, 2)
	case 'u':
		return t.unicode()
	case 'c':
		return t.control()
	case '0':
		if len(t.rest()) > 2 && isDigit(t.rest()[2]) {
			return badPattern("an octal escape")
		}
		t.replace(2, `\x00`)
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return foreignPattern("backreference %q", t.rest()[:2])
	default:
		if c >= utf8.RuneSelf || isWord(string(c)) {
			return badPattern("unknown escape %q", t.rest()[:2])
		}
		t.copy(2)
	}
	return nil
}

// set writes a class, or its content if it is part of one.
func (t *translator) set(ranges string, inClass bool) {
	if !inClass {
		ranges = "[" + ranges + "]"
	}
	t.replace(2, ranges)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hex writes the character whose number stands in digits behind the first skip
// bytes.
func (t *translator) hex(skip, digits int) error {
	r := t.rest()
	if len(r) < skip+digits {
		return badPattern("an escape that does not end")
	}
	n, err := strconv.ParseUint(r[skip:skip+digits], 16, 32)
	if err != nil {
		return badPattern("an escape without hexadecimal digits: %q", clip(r[:skip+digits]))
	}
	t.replace(skip+digits, codePoint(rune(n)))
	return nil
}

func codePoint(r rune) string { return `\x{` + strconv.FormatInt(int64(r), 16) + `}` }

// unicode translates \uXXXX, pairs of them, and \u{X}.
func (t *translator) unicode() error {
	r := t.rest()
	if strings.HasPrefix(r, `\u{`) {
		end := strings.IndexByte(r, '}')
		if end < 0 {
			return badPattern("an escape that does not end")
		}
		n, err := strconv.ParseUint(r[3:end], 16, 32)
		if err != nil || n > unicode.MaxRune {
			return badPattern("no character has the number of %q", clip(r[:end+1]))
		}
		t.replace(end+1, codePoint(rune(n)))
		return nil
	}
	high, err := unit16(r)
	if err != nil {
		return err
	}
	if !utf16.IsSurrogate(high) {
		return t.hex(2, 4)
	}
	if low, err := unit16(r[6:]); err == nil {
		if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
			t.replace(12, codePoint(pair))
			return nil
		}
	}
	return foreignPattern("half of a surrogate pair %q", r[:6])
}

// unit16 reads the \uXXXX at the start of s.
func unit16(s string) (rune, error) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, badPattern("an escape that does not end")
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, badPattern("an escape without hexadecimal digits: %q", clip(s[:6]))
	}
	return rune(n), nil
}

func (t *translator) control() error {
	r := t.rest()
	if len(r) < 3 || !isWord(r[2:3]) {
		return badPattern(`\c without a letter`)
	}
	t.replace(3, codePoint(rune(r[2]&0x1f)))
	return nil
}

// property translates \p{…}. RE2 has the same sets, with shorter names.
func (t *translator) property() error {
	r := t.rest()
	end := strings.IndexByte(r, '}')
	if len(r) < 3 || r[2] != '{' || end < 0 {
		return badPattern("%q without a name in braces", r[:2])
	}
	name := r[3:end]
	key, value, hasValue := strings.Cut(name, "=")
	if hasValue {
		switch key {
		case "Script", "sc", "General_Category", "gc":
			name = value
		default:
			return foreignPattern("property %q", clip(name))
		}
	}
	if !knownProperty(name) {
		return foreignPattern("property %q", clip(name))
	}
	t.replace(end+1, r[:2]+"{"+name+"}")
	return nil
}

// knownProperty reports whether RE2 has a set of a name with the meaning that
// ECMA-262 gives it.
func knownProperty(name string) bool {
	if _, ok := unicode.Categories[name]; ok {
		return true
	}
	if _, ok := unicode.CategoryAliases[name]; ok {
		return true
	}
	if _, ok := unicode.Scripts[name]; ok {
		return true
	}
	return name == "Any" || name == "ASCII" || name == "Assigned"
}
