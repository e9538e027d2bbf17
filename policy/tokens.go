package policy

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// maxTokens bounds a set, since every request is compared with all of it.
const maxTokens int = 1024

// The parts of an [AuthError].
const (
	statusUnauthorized int    = 401
	challengeNone      string = "Bearer"
	challengeInvalid   string = `Bearer error="invalid_token"`
)

// Tokens is the set of bearer tokens that a server accepts. It holds digests,
// no secrets. It does not change and may be used by many goroutines at once.
type Tokens struct {
	digests    []Digest
	principals []*Principal // of the digest with the same index
}

// NewTokens returns the set of 1 to 1,024 tokens made by [NewToken] or
// [ParseToken].
//
// The same secret twice is an error: one of the entries would never count. Two
// secrets may have the same id, so that one can replace the other without an
// interruption, as long as their roles are the same too: sessions belong to
// ids, and a session must not lend the roles of one token to another.
func NewTokens(tokens []Token) (*Tokens, error) {
	if len(tokens) == 0 || len(tokens) > maxTokens {
		return nil, fmt.Errorf("%d tokens: want 1 to %d", len(tokens), maxTokens)
	}
	t := &Tokens{
		digests:    make([]Digest, 0, len(tokens)),
		principals: make([]*Principal, 0, len(tokens)),
	}
	entries := make(map[Digest]int, len(tokens))
	ids := make(map[string]int, len(tokens))
	for i, token := range tokens {
		p, err := principalOf(token)
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		if j, found := entries[token.digest]; found {
			return nil, fmt.Errorf("token %d is the same as token %d: want each one once", i+1, j+1)
		}
		if j, found := ids[p.ID]; found && !slices.Equal(p.Roles, t.principals[j].Roles) {
			return nil, fmt.Errorf("token %d has the id %q of token %d and other roles: want the same roles or another id", i+1, p.ID, j+1)
		}
		entries[token.digest], ids[p.ID] = i, i
		t.digests = append(t.digests, token.digest)
		t.principals = append(t.principals, p)
	}
	return t, nil
}

// principalOf returns who presents the token. The exported fields may have been
// changed since the token was made, so they are judged again.
func principalOf(t Token) (*Principal, error) {
	if t.digest == (Digest{}) {
		return nil, errors.New("has no secret: want one made by NewToken or ParseToken")
	}
	if err := checkID(t.ID); err != nil {
		return nil, err
	}
	if err := checkRoles(t.Roles); err != nil {
		return nil, err
	}
	return NewPrincipal(t.ID, t.Roles...), nil
}

// An AuthError says why a request has no principal. It is not an error value, so
// that a nil one cannot turn into an error on its way.
type AuthError struct {
	Status    int    // always 401 (PROTOCOL.md R4.7, R18.10, R18.11)
	Challenge string // value of WWW-Authenticate; no hint at OAuth, which there is none of
	Message   string // one sentence; nothing of what was presented
}

// Authenticate returns the principal whose token the values of a request's
// Authorization header present. The principal is the same one for every request
// with that token.
//
// There has to be exactly one value, with the scheme Bearer in any case; tokens
// come from nowhere else (PROTOCOL.md R18.19). The digest of what is presented is
// compared with every entry, each in constant time, so that the time says
// nothing about an entry or its place.
func (t *Tokens) Authenticate(header []string) (*Principal, *AuthError) {
	secret, refusal := bearer(header)
	if refusal != nil {
		return nil, refusal
	}
	i := find(t.digests, digestOf(secret), sameDigest)
	if i < 0 {
		return nil, &AuthError{statusUnauthorized, challengeInvalid, "the token in the Authorization header is not one that this server accepts"}
	}
	return t.principals[i], nil
}

// find returns the index of a digest, -1 when it is not there. It compares all
// entries whatever it finds.
func find(digests []Digest, want Digest, same func(x, y Digest) int) int {
	index := -1
	for i := range digests {
		index = subtle.ConstantTimeSelect(same(digests[i], want), i, index)
	}
	return index
}

// sameDigest returns 1 when the digests are equal and 0 otherwise.
func sameDigest(x, y Digest) int { return subtle.ConstantTimeCompare(x[:], y[:]) }

// digestOf hashes a secret, by way of the stack when it has an ordinary length.
func digestOf(secret string) Digest {
	var buf [256]byte
	return sha256.Sum256(append(buf[:0], secret...))
}

// bearer returns the token of an Authorization header.
func bearer(header []string) (string, *AuthError) {
	switch len(header) {
	case 0:
		return "", &AuthError{statusUnauthorized, challengeNone, "the request has no Authorization header: send Authorization: Bearer TOKEN"}
	case 1:
	default:
		return "", &AuthError{statusUnauthorized, challengeInvalid, fmt.Sprintf("the request has %d Authorization headers: send exactly one", len(header))}
	}
	scheme, secret, _ := strings.Cut(strings.Trim(header[0], " \t"), " ")
	secret = strings.TrimLeft(secret, " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return "", &AuthError{statusUnauthorized, challengeNone, "the Authorization header does not have the scheme Bearer: send Authorization: Bearer TOKEN"}
	case secret == "":
		return "", &AuthError{statusUnauthorized, challengeNone, "the Authorization header has no token after Bearer: send Authorization: Bearer TOKEN"}
	case len(secret) > maxToken:
		return "", &AuthError{statusUnauthorized, challengeInvalid, fmt.Sprintf("the token in the Authorization header has more than %d bytes", maxToken)}
	}
	return secret, nil
}

// String returns the number of tokens.
func (t *Tokens) String() string { return fmt.Sprintf("%d tokens", len(t.digests)) }

// GoString returns what String does.
func (t *Tokens) GoString() string { return t.String() }

// LogValue returns what String does.
func (t *Tokens) LogValue() slog.Value { return slog.StringValue(t.String()) }
