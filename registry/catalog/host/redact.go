package host

import "strings"

// redacted stands where a secret was.
const redacted = "[redacted]"

// redactArgs cuts secrets out of the arguments of a command, in place. It knows
//
//   - --name=value, name=value, name: value and -Dname=value, where the name holds
//     one of the words of secretWord: the value is the rest of the argument;
//   - --name value: the value is the next argument. One that starts with "--" is
//     another flag; one that starts with "-" may well be a secret and is cut;
//   - the same inside of an argument, such as a script for a shell, a JSON text, a
//     query string or a header, where the value is a quoted string or ends at a blank;
//   - passwords in URLs.
//
// It cuts too much rather than too little, and cannot be complete: a program may
// take a secret in any place it likes.
func redactArgs(args []string) {
	expected := false // the argument is the value of the flag before it
	for i, arg := range args {
		isFlag := isSecretFlag(arg)
		switch {
		case expected && !strings.HasPrefix(arg, "--"):
			args[i] = redacted
		default:
			args[i] = redactArg(arg)
		}
		expected = isFlag
	}
}

// isSecretFlag reports whether an argument is nothing but a flag with a name that
// promises a secret.
func isSecretFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	return isName(arg) && secretWord(arg) >= 0
}

// redactArg cuts secrets out of one argument.
func redactArg(arg string) string {
	end := 0
	for end < len(arg) && isNameByte(arg[end]) {
		end++
	}
	if value := valueStart(arg, end, false); value > end && value < len(arg) && secretWord(arg[:end]) >= 0 {
		return arg[:value] + redacted
	}
	return redactURLs(redactText(arg))
}

// redactText cuts the values of secret names out of a text.
func redactText(s string) string {
	if secretWord(s) < 0 {
		return s
	}
	var out strings.Builder
	for {
		at := secretWord(s)
		if at < 0 {
			break
		}
		start, end := at, at
		for start > 0 && isNameByte(s[start-1]) {
			start--
		}
		for end < len(s) && isNameByte(s[end]) {
			end++
		}
		value := valueStart(s, end, s[start] == '-')
		quote := quoteAround(s, start, end)
		out.WriteString(s[:value])
		s = s[value:]
		if value == end { // the name has no value
			continue
		}
		n := valueLen(s)
		if quote != 0 {
			n = max(n, untilQuote(s, quote))
		}
		if n > 0 {
			out.WriteString(redacted)
			s = s[n:]
		}
	}
	out.WriteString(s)
	return out.String()
}

// valueStart finds where the value of a name begins that ends at end: after "=" or
// ":", whose left side may be a closing quote or bracket, or after blanks when the
// name is a flag. Without a value it is end.
func valueStart(s string, end int, isFlag bool) int {
	i := end
	for i < len(s) && i < end+4 && strings.IndexByte(`\"')]}`, s[i]) >= 0 {
		i++
	}
	sep := skipBlanks(s, i)
	if sep < len(s) && (s[sep] == '=' || s[sep] == ':') {
		for sep < len(s) && (s[sep] == '=' || s[sep] == ':') { // also := and ==
			sep++
		}
		return skipBlanks(s, sep)
	}
	if blank := skipBlanks(s, i); isFlag && blank > i && !startsFlag(s[blank:]) {
		return blank
	}
	return end
}

// quoteAround is the quote that stands before a name and not behind it, as in
// "Authorization: Digest …": the value then goes on to its twin. It is 0 for none.
func quoteAround(s string, start, end int) byte {
	if start == 0 || end == len(s) || !isQuote(s[start-1]) || isQuote(s[end]) || s[end] == '\\' {
		return 0
	}
	return s[start-1]
}

func untilQuote(s string, quote byte) int {
	if n := strings.IndexByte(s, quote); n >= 0 {
		return n
	}
	return len(s)
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// startsFlag reports whether a flag and not a value follows. With one dash it could
// be either, unless its name promises a secret of its own.
func startsFlag(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return strings.HasPrefix(word, "--") || isSecretFlag(word)
}

// valueLen measures the value at the start of s: a quoted string, or a run without
// blanks. The scheme of an Authorization header belongs to it.
func valueLen(s string) int {
	i := 0
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && isQuote(s[i]) {
		return quotedLen(s, i)
	}
	n := strings.IndexAny(s, " \t\r\n")
	if n < 0 {
		return len(s)
	}
	switch strings.ToLower(s[:n]) {
	case "bearer", "basic", "digest", "token":
		rest := skipBlanks(s, n)
		return rest + valueLen(s[rest:])
	}
	return n
}

// quotedLen is the length up to and with the quote that ends the one at open.
func quotedLen(s string, open int) int {
	for i := open + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[open]:
			return i + 1
		}
	}
	return len(s)
}

// redactURLs cuts the password of scheme://user:password@host, and for HTTP a user
// without a password as well, since tokens are passed that way.
func redactURLs(s string) string {
	var out strings.Builder
	for {
		scheme := strings.Index(s, "://")
		if scheme < 0 {
			out.WriteString(s)
			return out.String()
		}
		start := scheme + len("://")
		authority := s[start:]
		if end := strings.IndexAny(authority, "/?# \t\r\n\"'"); end >= 0 {
			authority = authority[:end]
		}
		out.WriteString(s[:start])
		s = s[start:]
		at := strings.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		user, _, hasPassword := strings.Cut(authority[:at], ":")
		switch before := out.String(); {
		case hasPassword:
			out.WriteString(user + ":" + redacted)
		case hasSuffixFold(before, "http://"), hasSuffixFold(before, "https://"):
			out.WriteString(redacted)
		default:
			out.WriteString(user)
		}
		s = s[at:]
	}
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// secretWord finds the first word that a name of a secret holds, in any case. The
// word pass must stand by itself in the name: there are bypasses.
func secretWord(s string) int {
	for i := range len(s) {
		for _, word := range [...]string{"password", "passwd", "passphrase", "pwd", "token", "secret", "key", "credential", "authorization"} {
			if s[i]|0x20 == word[0] && len(s)-i >= len(word) && strings.EqualFold(s[i:i+len(word)], word) {
				return i
			}
		}
		if isPass(s, i) {
			return i
		}
	}
	return -1
}

func isPass(s string, i int) bool {
	const word = "pass"
	end := i + len(word)
	return end <= len(s) && strings.EqualFold(s[i:end], word) && (i == 0 || !isLetter(s[i-1])) && (end == len(s) || !isLetter(s[end]))
}

func isLetter(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'z' }

// isName reports whether s is a name of a flag or a variable.
func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}
