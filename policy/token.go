package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// The limits of what a token specification may hold.
const (
	maxToken int = 4096 // bytes of the secret
	maxField int = 128  // bytes of a role or an id
	maxRoles int = 64
)

// A Digest is the SHA-256 sum of a token's secret.
type Digest [sha256.Size]byte

// A Token is a bearer token that the server accepts, without its secret: who
// presents the secret is the principal with this id and these roles.
//
// Neither the secret nor its digest appears when a token is formatted or logged,
// unless by %+v as an unexported field of something else.
type Token struct {
	ID    string
	Roles []string // sorted, no duplicates, RoleDefault included

	digest Digest
}

// NewToken returns the token with the given secret: 1 to 4,096 bytes of visible
// ASCII, since a header carries nothing else. An empty id stands for token- and
// the first 8 hexadecimal digits of the digest. An id, and each of at most 64
// roles, is 1 to 128 ASCII letters, digits and characters of "._-/@+". The ids
// of principals that have no token, local and anonymous, are errors.
//
// Errors say nothing about the secret, and repeat no id or role: where a
// specification was split in the wrong place, these are parts of it.
func NewToken(secret, id string, roles ...string) (Token, error) {
	if err := checkSecret(secret); err != nil {
		return Token{}, err
	}
	if err := checkRoles(roles); err != nil {
		return Token{}, err
	}
	digest := Digest(sha256.Sum256([]byte(secret)))
	if id == "" {
		id = "token-" + hex.EncodeToString(digest[:4])
	}
	if err := checkID(id); err != nil {
		return Token{}, err
	}
	return Token{id, NewPrincipal(id, roles...).Roles, digest}, nil
}

// Digest returns the digest of the token's secret.
func (t Token) Digest() Digest { return t.digest }

// String returns the id and the roles.
func (t Token) String() string {
	return fmt.Sprintf("token %q with roles %s", t.ID, strings.Join(t.Roles, ","))
}

// GoString returns what String does.
func (t Token) GoString() string { return t.String() }

// LogValue returns the id and the roles.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", t.ID), slog.Any("roles", t.Roles))
}

func checkSecret(s string) error {
	switch {
	case s == "":
		return errors.New("empty token: want 1 to 4096 visible ASCII characters")
	case len(s) > maxToken:
		return fmt.Errorf("token is longer than %d bytes", maxToken)
	case placeholder(s):
		return errPlaceholder
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return fmt.Errorf("token has a character at byte %d that a header cannot carry (white space, a control character or one outside ASCII): want visible ASCII", i)
	}
	return nil
}

var errPlaceholder = errors.New("token contains ${...}, which nothing has replaced: want the token itself, env:VAR or file:PATH")

// placeholder reports whether s has a ${…} in it, the mark of a configuration
// whose reader replaces no variables.
func placeholder(s string) bool {
	_, rest, found := strings.Cut(s, "${")
	return found && strings.Contains(rest, "}")
}

func checkRoles(roles []string) error {
	if len(roles) > maxRoles {
		return fmt.Errorf("%d roles: want at most %d", len(roles), maxRoles)
	}
	for i, role := range roles {
		if err := checkField(role); err != nil {
			return fmt.Errorf("role %d %w", i+1, err)
		}
	}
	return nil
}

func checkID(id string) error {
	if slices.Contains([]string{"local", "anonymous"}, id) {
		return fmt.Errorf("id %q belongs to clients without a token: want another one", id)
	}
	if err := checkField(id); err != nil {
		return fmt.Errorf("id %w", err)
	}
	return nil
}

// checkField judges a role or an id. The error does not repeat it.
func checkField(s string) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > maxField:
		return fmt.Errorf("has %d bytes: want at most %d", len(s), maxField)
	}
	for i, c := range []byte(s) {
		if !alphanumeric(c) && !strings.ContainsRune("._-/@+", rune(c)) {
			return fmt.Errorf("has a character at byte %d that is not allowed: want ASCII letters, digits and ._-/@+ (a token with colons needs all three fields, TOKEN:ROLES:ID, which may be empty)", i)
		}
	}
	return nil
}
