package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/session"
)

// tokensVariable holds bearer tokens beside those of --auth-token.
const tokensVariable = "CLOUDG_AUTH_TOKENS"

// openFile opens a file for [policy.ParseToken].
func openFile(path string) (fs.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // not f, which is a nil that an interface hides
	}
	return f, nil
}

// hasTokens reports whether any token is given.
func (inv *invocation) hasTokens() bool {
	return len(inv.set.http.tokens) > 0 || strings.TrimSpace(inv.env.Getenv(tokensVariable)) != ""
}

// tokens reads the bearer tokens; nil means that there are none.
func (inv *invocation) tokens() (*policy.Tokens, error) {
	var list []policy.Token
	read := func(where string, specs []string) error {
		for _, spec := range specs {
			t, err := policy.ParseToken(spec, inv.env.Getenv, openFile)
			if err != nil {
				return usagef("%s: %v", where, err)
			}
			list = append(list, t)
		}
		return nil
	}
	if err := read("--auth-token", inv.set.http.tokens); err != nil {
		return nil, err
	}
	if err := read("the environment variable "+tokensVariable, strings.Fields(inv.env.Getenv(tokensVariable))); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, nil
	}
	tokens, err := policy.NewTokens(list)
	if err != nil {
		return nil, usagef("the tokens of --auth-token and %s: %v", tokensVariable, err)
	}
	return tokens, nil
}

// maxStateKey bounds a state key, in bytes.
const maxStateKey = 4096

// readStateKeys reads the state keys.
func (inv *invocation) readStateKeys() ([][]byte, error) {
	var keys [][]byte
	for i, spec := range inv.set.stateKeys {
		key, err := inv.readStateKey(spec)
		switch {
		case err != nil:
		case len(key) < session.MinStateKey || len(key) > maxStateKey:
			err = fmt.Errorf("the secret must have %d to %d bytes", session.MinStateKey, maxStateKey)
		case bytes.HasPrefix(key, []byte("${")):
			err = errors.New("the secret begins with ${, like a variable that nobody replaced")
		case slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) }):
			err = errors.New("two keys are the same: want different ones")
		}
		if err != nil && len(inv.set.stateKeys) > 1 {
			return nil, usagef("--state-key: key %d: %v", i+1, err)
		}
		if err != nil {
			return nil, usagef("--state-key: %v", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// readStateKey reads the secret that a specification names. The secret itself
// cannot be given: the list of processes would show it.
func (inv *invocation) readStateKey(spec string) ([]byte, error) {
	if name, ok := strings.CutPrefix(spec, "env:"); ok && name != "" {
		key := inv.env.Getenv(name)
		if key == "" {
			return nil, fmt.Errorf("the environment variable %s is not set", name)
		}
		return []byte(key), nil
	}
	if path, ok := strings.CutPrefix(spec, "file:"); ok && path != "" {
		return readSecretFile(path)
	}
	return nil, errors.New("want env:VAR or file:PATH")
}

// readSecretFile reads a file that others must not be able to read or replace.
// Line ends at its end do not count.
func readSecretFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const openToAll = 0o006
	if mode := info.Mode().Perm(); mode&openToAll != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the file %s has mode %04o, which lets every user read or write it: want 0600 or 0640", path, mode)
	}
	key, err := io.ReadAll(io.LimitReader(f, maxStateKey+int64(len("\r\n"))+1))
	return bytes.TrimRight(key, "\r\n"), err
}
