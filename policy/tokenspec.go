package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
)

// openToAll are the permissions that let every user of a machine read or
// replace a token.
const openToAll fs.FileMode = 0o006

// ParseToken returns the token of a specification, one value of --auth-token:
//
//	TOKEN[:ROLES[:ID]]
//	env:VAR[:ROLES[:ID]]
//	file:PATH[:ROLES[:ID]]
//
// ROLES are separated by commas, and white space around a role does not count.
// Fields are split off from the right, so a TOKEN or PATH that has colons itself
// needs all three fields, of which ROLES and ID may be empty. See [NewToken] for
// what each may be.
//
// getenv looks an environment variable up, as [os.Getenv] does. open opens a
// file, as [os.Open] does; it is open, not a function that reads, so that the
// file whose mode was judged is the file that is read. A file that every user
// may read or write is an error that names its mode (except on Windows, where
// the mode says nothing of that); so is a directory. Newlines at the end of a
// file are left out.
//
// Errors repeat the name of a variable or file, but nothing of a token.
func ParseToken(spec string, getenv func(string) string, open func(string) (fs.File, error)) (Token, error) {
	if placeholder(spec) { // before it is split, since ${VAR:-x} has a colon
		return Token{}, errPlaceholder
	}
	source, roles, id := splitSpec(spec)
	secret, err := readSecret(source, getenv, open)
	if err != nil {
		return Token{}, err
	}
	t, err := NewToken(secret, id, splitRoles(roles)...)
	if err != nil && secret != source {
		return Token{}, fmt.Errorf("%s: %w", quote(source), err)
	}
	return t, err
}

// splitSpec takes the last two fields off a specification, or the last one when
// there are only two.
func splitSpec(spec string) (source, roles, id string) {
	prefix := ""
	for _, p := range []string{"env:", "file:"} {
		if rest, found := strings.CutPrefix(spec, p); found {
			prefix, spec = p, rest
			break
		}
	}
	last := strings.LastIndexByte(spec, ':')
	if last < 0 {
		return prefix + spec, "", ""
	}
	before := strings.LastIndexByte(spec[:last], ':')
	if before < 0 {
		return prefix + spec[:last], spec[last+1:], ""
	}
	return prefix + spec[:before], spec[before+1 : last], spec[last+1:]
}

func splitRoles(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	roles := strings.Split(s, ",")
	for i := range roles {
		roles[i] = strings.TrimSpace(roles[i])
	}
	return roles
}

// readSecret returns the secret that the first field of a specification is or
// names.
func readSecret(source string, getenv func(string) string, open func(string) (fs.File, error)) (string, error) {
	if name, found := strings.CutPrefix(source, "env:"); found {
		return fromEnv(name, getenv)
	}
	if path, found := strings.CutPrefix(source, "file:"); found {
		return fromFile(path, open)
	}
	return source, nil
}

// fromEnv reads the secret from an environment variable. A name that cannot be
// one is not repeated, since it may be the secret, put in the wrong place.
func fromEnv(name string, getenv func(string) string) (string, error) {
	valid := name != "" && (name[0] < '0' || name[0] > '9')
	for _, c := range []byte(name) {
		valid = valid && (alphanumeric(c) || c == '_')
	}
	if !valid || len(name) > maxField {
		return "", errors.New("env: is not followed by the name of a variable: want env:VAR of ASCII letters, digits and _")
	}
	secret := getenv(name)
	if secret == "" {
		return "", fmt.Errorf("environment variable %s is empty or not set: want it to hold the token", name)
	}
	return secret, nil
}

// fromFile reads the secret from a file.
func fromFile(path string, open func(string) (fs.File, error)) (secret string, err error) {
	if path == "" {
		return "", errors.New("file: is not followed by a path: want file:PATH")
	}
	f, err := open(path)
	if err != nil {
		return "", fmt.Errorf("opening token file: %w", err)
	}
	defer f.Close() // read only; nothing to lose
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading mode of token file: %w", err)
	}
	if err := checkMode(path, info.Mode()); err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(maxToken+len("\r\n")+1)))
	if err != nil {
		return "", fmt.Errorf("reading token file: %w", err)
	}
	secret = strings.TrimRight(string(data), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("token file %s is empty: want it to hold the token", quote(path))
	}
	return secret, nil
}

func checkMode(path string, mode fs.FileMode) error {
	if mode.IsDir() {
		return fmt.Errorf("token file %s is a directory: want a file", quote(path))
	}
	if mode.Perm()&openToAll != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("token file %s has mode %04o, which lets every user read or write it: want 0600 or 0640", quote(path), mode.Perm())
	}
	return nil
}
