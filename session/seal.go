package session

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

const (
	// maxState bounds a requestState, in bytes of its text.
	maxState = 256 << 10
	// MinStateKey is the least number of bytes of a state key.
	MinStateKey = 16

	stateVersion = 1
	stateKeyID   = 4
	stateHead    = 1 + stateKeyID + 12 // version, key id, nonce
	stateExpiry  = 8                   // seconds, at the start of what is sealed
)

// sealer seals what a call must remember between two requests, so that a client
// can carry it but neither read nor change it, nor use it for another call. Any
// process with the same key can open it.
type sealer struct {
	keys []sealKey // the first one seals, all open
	ttl  time.Duration
}

type sealKey struct {
	id   [stateKeyID]byte
	aead cipher.AEAD
}

// newSealer makes a sealer from secrets, or from a random one if there are none.
func newSealer(secrets [][]byte, ttl time.Duration) (*sealer, error) {
	if len(secrets) == 0 {
		secret := make([]byte, 32)
		rand.Read(secret)
		secrets = [][]byte{secret}
	}
	s := &sealer{ttl: ttl}
	for i, secret := range secrets {
		if len(secret) < MinStateKey {
			return nil, fmt.Errorf("state key %d has %d bytes, at least %d are needed", i+1, len(secret), MinStateKey)
		}
		k, err := newSealKey(secret)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, k)
	}
	return s, nil
}

func newSealKey(secret []byte) (k sealKey, err error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "cloudg requestState", 32+stateKeyID)
	if err != nil {
		return k, err
	}
	copy(k.id[:], key[32:])
	block, err := aes.NewCipher(key[:32])
	if err != nil {
		return k, err
	}
	k.aead, err = cipher.NewGCM(block)
	return k, err
}

// CursorKey returns the key for cursors that goes with state keys, so that
// replicas which share those accept each other's cursors. It is nil, which makes
// a random one, if there are no state keys.
func CursorKey(stateKeys [][]byte) ([]byte, error) {
	if len(stateKeys) == 0 {
		return nil, nil
	}
	return hkdf.Key(sha256.New, stateKeys[0], nil, "cloudg cursors", 32)
}

// binding is what a state is good for.
type binding struct {
	principal, method, target string
	args                      [sha256.Size]byte
}

// append appends the binding as data that the seal authenticates.
func (b *binding) append(dst []byte) []byte {
	for _, s := range []string{b.principal, b.method, b.target} {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
		dst = append(dst, s...)
	}
	return append(dst, b.args[:]...)
}

// seal returns the text of a state. The error says that it is too large.
func (s *sealer) seal(b *binding, plain []byte, now time.Time) (string, error) {
	k := &s.keys[0]
	size := stateHead + stateExpiry + len(plain) + k.aead.Overhead()
	if n := base64.RawURLEncoding.EncodedLen(size); n > maxState {
		return "", fmt.Errorf("the state of the call has %d bytes, at most %d are allowed", n, maxState)
	}
	out := make([]byte, stateHead, size)
	out[0] = stateVersion
	copy(out[1:], k.id[:])
	nonce := out[1+stateKeyID : stateHead]
	rand.Read(nonce)
	body := binary.BigEndian.AppendUint64(make([]byte, 0, stateExpiry+len(plain)), uint64(now.Add(s.ttl).Unix()))
	body = append(body, plain...)
	out = k.aead.Seal(out, nonce, body, b.append(nil))
	return base64.RawURLEncoding.EncodeToString(out), nil
}

// errState is the one error for every state that is not good for a request. It
// does not say why.
var errState = errors.New("invalid or expired requestState: make the call again without it")

// open returns what was sealed. The error is errState.
func (s *sealer) open(b *binding, text string, now time.Time) ([]byte, error) {
	if len(text) > maxState || strings.ContainsAny(text, "\r\n") { // which the decoder would skip
		return nil, errState
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < stateHead || raw[0] != stateVersion {
		return nil, errState
	}
	for i := range s.keys {
		k := &s.keys[i]
		if string(k.id[:]) != string(raw[1:1+stateKeyID]) {
			continue
		}
		body, err := k.aead.Open(nil, raw[1+stateKeyID:stateHead], raw[stateHead:], b.append(nil))
		switch {
		case err != nil:
			continue // another key may have the same id
		case now.Unix() > int64(binary.BigEndian.Uint64(body)):
			return nil, errState
		}
		return body[stateExpiry:], nil
	}
	return nil, errState
}

// digest returns a digest of the arguments of a call that does not depend on how
// they are written: a client may write them anew for the next request.
func digest(args []byte) [sha256.Size]byte {
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	return sha256.Sum256(jsonwire.AppendCanonical(nil, args))
}

// stateError is the protocol error for a state that is not good.
func stateError() error {
	return &protocol.Error{Code: protocol.CodeInvalidParams, Message: errState.Error()}
}
