package policy_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/policy"
	"github.com/google/go-cmp/cmp"
)

func newToken(t testing.TB, secret, id string, roles ...string) policy.Token {
	t.Helper()
	token, err := policy.NewToken(secret, id, roles...)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func newTokens(t testing.TB, list ...policy.Token) *policy.Tokens {
	t.Helper()
	tokens, err := policy.NewTokens(list)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokens_Authenticate(t *testing.T) {
	tokens := newTokens(t, newToken(t, "alpha", "alice", "admin"), newToken(t, "beta", ""), newToken(t, "gamma==", "alice", "admin"))
	alice := policy.NewPrincipal("alice", "admin")
	beta := policy.NewPrincipal(idOf("beta"))
	tests := []struct {
		name      string
		in        []string
		want      *policy.Principal
		challenge string // when want is nil
		message   string // part
	}{
		{"first", []string{"Bearer alpha"}, alice, "", ""},
		{"without id", []string{"Bearer beta"}, beta, "", ""},
		{"last, same id", []string{"Bearer gamma=="}, alice, "", ""},
		{"lower case", []string{"bearer alpha"}, alice, "", ""},
		{"upper case", []string{"BEARER alpha"}, alice, "", ""},
		{"spaces", []string{"  Bearer   alpha \t"}, alice, "", ""},

		{"no header", nil, nil, "Bearer", "no Authorization header"},
		{"empty header", []string{""}, nil, "Bearer", "does not have the scheme Bearer"},
		{"only the scheme", []string{"Bearer"}, nil, "Bearer", "no token after Bearer"},
		{"only the scheme and a space", []string{"Bearer "}, nil, "Bearer", "no token after Bearer"},
		{"other scheme", []string{"Basic alpha"}, nil, "Bearer", "does not have the scheme Bearer"},
		{"no scheme", []string{"alpha"}, nil, "Bearer", "does not have the scheme Bearer"},
		{"scheme without a space", []string{"Beareralpha"}, nil, "Bearer", "does not have the scheme Bearer"},
		{"tab after the scheme", []string{"Bearer\talpha"}, nil, "Bearer", "does not have the scheme Bearer"},

		{"unknown", []string{"Bearer delta"}, nil, `Bearer error="invalid_token"`, "not one that this server accepts"},
		{"other case", []string{"Bearer Alpha"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"beginning", []string{"Bearer alph"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"longer", []string{"Bearer alphaa"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"two tokens", []string{"Bearer alpha beta"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"two joined headers", []string{"Bearer alpha, Bearer alpha"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"quoted", []string{`Bearer "alpha"`}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"digest instead of the secret", []string{fmt.Sprintf("Bearer %x", sha256.Sum256([]byte("alpha")))}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"strange bytes", []string{"Bearer \xff\x00é"}, nil, `Bearer error="invalid_token"`, "not one that"},
		{"too long", []string{"Bearer " + strings.Repeat("a", 4097)}, nil, `Bearer error="invalid_token"`, "more than 4096 bytes"},
		{"two headers", []string{"Bearer alpha", "Bearer alpha"}, nil, `Bearer error="invalid_token"`, "2 Authorization headers"},
		{"two headers, one good", []string{"Basic x", "Bearer alpha"}, nil, `Bearer error="invalid_token"`, "2 Authorization headers"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, refusal := tokens.Authenticate(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("principal mismatch (-want +got):\n%s", diff)
			}
			if tt.want != nil {
				if refusal != nil {
					t.Errorf("refused: %+v", refusal)
				}
				return
			}
			if refusal == nil {
				t.Fatal("not refused")
			}
			if refusal.Status != 401 || refusal.Challenge != tt.challenge || !strings.Contains(refusal.Message, tt.message) {
				t.Errorf("refusal %+v, want 401, %q and a message with %q", refusal, tt.challenge, tt.message)
			}
			for _, presented := range []string{"alpha", "beta", "delta", "Basic"} {
				if strings.Contains(refusal.Message, presented) {
					t.Errorf("the message repeats what was presented: %q", refusal.Message)
				}
			}
		})
	}
}

func TestNewTokens_errors(t *testing.T) {
	alice := newToken(t, "alpha", "alice", "admin")
	renamed := alice
	renamed.ID = ""
	reserved := alice
	reserved.ID = "local"
	badRole := alice
	badRole.Roles = []string{""}
	many := make([]policy.Token, 1025)
	for i := range many {
		many[i] = newToken(t, fmt.Sprint("token", i), "")
	}
	tests := []struct {
		name string
		in   []policy.Token
		want string // empty: no error
	}{
		{"none", nil, "0 tokens: want 1 to 1024"},
		{"too many", many, "1025 tokens: want 1 to 1024"},
		{"as many as allowed", many[1:], ""},
		{"the same twice", []policy.Token{newToken(t, "beta", ""), alice, newToken(t, "alpha", "bob")}, "token 3 is the same as token 2: want each one once"},
		{"one id, same roles", []policy.Token{alice, newToken(t, "beta", "alice", "default", "admin")}, ""},
		{"one id, other roles", []policy.Token{alice, newToken(t, "beta", "alice")}, `token 2 has the id "alice" of token 1 and other roles: want the same roles or another id`},
		{"zero token", []policy.Token{{}}, "token 1: has no secret: want one made by NewToken or ParseToken"},
		{"id taken away", []policy.Token{renamed}, "token 1: id is empty"},
		{"id changed", []policy.Token{reserved}, `token 1: id "local" belongs to clients without a token: want another one`},
		{"role changed", []policy.Token{badRole}, "token 1: role 1 is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := policy.NewTokens(tt.in)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// Every entry is compared, whether and wherever one matches.
func TestFind_comparesAll(t *testing.T) {
	digests := make([]policy.Digest, 9)
	for i := range digests {
		digests[i] = sha256.Sum256([]byte{byte(i)})
	}
	for want := -1; want < len(digests); want++ {
		compared := make(map[policy.Digest]int)
		same := func(x, y policy.Digest) int {
			compared[x]++
			return policy.SameDigest(x, y)
		}
		if got := policy.Find(digests, sha256.Sum256([]byte{byte(want)}), same); got != want {
			t.Errorf("Find = %d, want %d", got, want)
		}
		for i, d := range digests {
			if compared[d] != 1 {
				t.Errorf("looking for %d: entry %d was compared %d times, want 1", want, i, compared[d])
			}
		}
	}
}

func TestTokens_returnsOnePrincipal(t *testing.T) {
	tokens := newTokens(t, newToken(t, "alpha", ""))
	a, _ := tokens.Authenticate([]string{"Bearer alpha"})
	b, _ := tokens.Authenticate([]string{"Bearer alpha"})
	if a == nil || a != b {
		t.Errorf("two requests with one token have the principals %p and %p", a, b)
	}
}

// authenticated are headers of a set of ten tokens.
var authenticated = []struct {
	name   string
	secret string
}{
	{"short", "0123456789abcdef0123456789abcdef"},
	{"long", strings.Repeat("0123456789abcdef", 15)},
}

func ten(t testing.TB, secret string) (*policy.Tokens, []string) {
	list := []policy.Token{newToken(t, secret, "alice")}
	for i := range 9 {
		list = append(list, newToken(t, fmt.Sprint("other", i), ""))
	}
	return newTokens(t, list...), []string{"Bearer " + secret}
}

func TestTokens_allocatesNothing(t *testing.T) {
	for _, tt := range authenticated {
		t.Run(tt.name, func(t *testing.T) {
			tokens, header := ten(t, tt.secret)
			if _, refusal := tokens.Authenticate(header); refusal != nil {
				t.Fatalf("refused: %+v", refusal)
			}
			if got := testing.AllocsPerRun(100, func() { tokens.Authenticate(header) }); got != 0 {
				t.Errorf("Authenticate allocates %v times, want 0", got)
			}
		})
	}
}

func BenchmarkTokens(b *testing.B) {
	for _, bb := range authenticated {
		b.Run(bb.name, func(b *testing.B) {
			tokens, header := ten(b, bb.secret)
			b.ReportAllocs()
			for b.Loop() {
				tokens.Authenticate(header)
			}
		})
	}
}
