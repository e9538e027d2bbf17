package policy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"cloudg.dev/cloudg/policy"
	"github.com/google/go-cmp/cmp"
)

// secret is what must never show.
const secret = "s3cr3t-0f-the-tests"

// environment is what the specifications of the tests refer to.
func environment(name string) string {
	return map[string]string{
		"TOKEN":    secret,
		"NEWLINE":  secret + "\n",
		"UNFILLED": "${TOKEN}",
		"LONG":     strings.Repeat("x", 4097),
	}[name]
}

// files is where they may be read from.
var files = fstest.MapFS{
	"token":      {Data: []byte(secret), Mode: 0o600},
	"newline":    {Data: []byte(secret + "\n"), Mode: 0o640},
	"crlf":       {Data: []byte(secret + "\r\n"), Mode: 0o400},
	"a:b":        {Data: []byte(secret), Mode: 0o600},
	"two":        {Data: []byte(secret + "\n" + secret), Mode: 0o600},
	"empty":      {Data: []byte("\n"), Mode: 0o600},
	"unfilled":   {Data: []byte("${TOKEN}"), Mode: 0o600},
	"big":        {Data: bytes.Repeat([]byte("x"), 1<<20), Mode: 0o600},
	"largest":    {Data: append(bytes.Repeat([]byte("x"), 4096), "\r\n"...), Mode: 0o600},
	"readable":   {Data: []byte(secret), Mode: 0o644},
	"writable":   {Data: []byte(secret), Mode: 0o602},
	"dir/in/dir": {Data: []byte(secret), Mode: 0o600},
}

func parseToken(spec string) (policy.Token, error) {
	return policy.ParseToken(spec, environment, files.Open)
}

// idOf returns the default id of a secret.
func idOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "token-" + hex.EncodeToString(sum[:])[:8]
}

func TestParseToken(t *testing.T) {
	def := []string{policy.RoleDefault}
	ops := []string{"admin", policy.RoleDefault, "ops"}
	largest := strings.Repeat("x", 4096)
	tests := []struct {
		name   string
		in     string
		secret string
		id     string
		roles  []string
	}{
		{"token", secret, secret, idOf(secret), def},
		{"token, roles", secret + ":ops,admin", secret, idOf(secret), ops},
		{"token, roles, id", secret + ":ops,admin:alice", secret, "alice", ops},
		{"token, no roles, id", secret + "::alice", secret, "alice", def},
		{"token, roles, no id", secret + ":ops,admin:", secret, idOf(secret), ops},
		{"empty fields", secret + "::", secret, idOf(secret), def},
		{"colons in the token", "a:b:c:ops,admin:alice", "a:b:c", "alice", ops},
		{"colons in the token, empty fields", "a:b::", "a:b", idOf("a:b"), def},
		{"colon at the end of the token", "a:::", "a:", idOf("a:"), def},
		{"white space and repetitions in roles", secret + ": ops, admin ,ops", secret, idOf(secret), ops},
		{"roles of white space", secret + ": ", secret, idOf(secret), def},
		{"role default", secret + ":default", secret, idOf(secret), def},
		{"characters of roles and ids", secret + ":a.b_c-d/e+f:alice@corp.example", secret, "alice@corp.example", []string{"a.b_c-d/e+f", policy.RoleDefault}},
		{"every visible character", "!#$%&'()*+,-./;<=>?@[]^_`{|}~\"\\", "!#$%&'()*+,-./;<=>?@[]^_`{|}~\"\\", idOf("!#$%&'()*+,-./;<=>?@[]^_`{|}~\"\\"), def},
		{"dollar without braces", "$TOKEN", "$TOKEN", idOf("$TOKEN"), def},
		{"env", "env:TOKEN", secret, idOf(secret), def},
		{"env, roles", "env:TOKEN:ops,admin", secret, idOf(secret), ops},
		{"env, roles, id", "env:TOKEN:ops,admin:alice", secret, "alice", ops},
		{"env, id", "env:TOKEN::alice", secret, "alice", def},
		{"file", "file:token", secret, idOf(secret), def},
		{"file, roles, id", "file:token:ops,admin:alice", secret, "alice", ops},
		{"file that ends in a newline", "file:newline", secret, idOf(secret), def},
		{"file that ends in CRLF", "file:crlf", secret, idOf(secret), def},
		{"file with a colon", "file:a:b::", secret, idOf(secret), def},
		{"largest file", "file:largest", largest, idOf(largest), def},
		{"file in a directory", "file:dir/in/dir", secret, idOf(secret), def},
		{"scheme in another case", "ENV:x", "ENV", idOf("ENV"), []string{policy.RoleDefault, "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseToken(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if want := policy.Digest(sha256.Sum256([]byte(tt.secret))); got.Digest() != want {
				t.Errorf("the digest is not that of %q", tt.secret)
			}
			if diff := cmp.Diff(tt.id, got.ID); diff != "" {
				t.Errorf("id mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.roles, got.Roles); diff != "" {
				t.Errorf("roles mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseToken_errors(t *testing.T) {
	modes := "has mode"
	if runtime.GOOS == "windows" {
		modes = "" // modes say nothing there, and these files are accepted
	}
	tests := []struct {
		name string
		in   string
		want string // part; empty: no error
	}{
		{"empty", "", "empty token"},
		{"only colons", "::", "empty token"},
		{"empty token with roles", ":admin", "empty token"},
		{"empty token with id", ":admin:alice", "empty token"},
		{"placeholder", "${SECRET}", "${...}, which nothing has replaced"},
		{"placeholder with default", "${SECRET:-x}", "${...}, which nothing has replaced"},
		{"placeholder inside", "x${SECRET}y:admin:alice", "${...}, which nothing has replaced"},
		{"space", secret + " x", "character at byte 19 that a header cannot carry"},
		{"newline", secret + "\n", "character at byte 19"},
		{"control character", "\x7f", "character at byte 0"},
		{"non-ASCII", "naïve", "character at byte 2"},
		{"invalid UTF-8", "a\xff", "character at byte 1"},
		{"too long", strings.Repeat("x", 4097), "longer than 4096 bytes"},
		{"empty role", secret + ":a,,b", "role 2 is empty"},
		{"bad role", secret + ":a,b c", "role 2 has a character at byte 1"},
		{"long role", secret + ":" + strings.Repeat("r", 129), "role 1 has 129 bytes: want at most 128"},
		{"many roles", secret + ":" + strings.Repeat("r,", 64) + "r", "65 roles: want at most 64"},
		{"bad id", secret + "::al\x1b[0mice", "id has a character at byte 2"},
		{"long id", secret + "::" + strings.Repeat("i", 129), "id has 129 bytes"},
		{"id of stdio", secret + "::local", `id "local" belongs to clients without a token`},
		{"id of nobody", secret + "::anonymous", `id "anonymous" belongs to clients without a token`},
		{"env: no name", "env:", "env: is not followed by the name of a variable"},
		{"env: no name with roles", "env::admin", "env: is not followed by the name of a variable"},
		{"env: bad name", "env:$TOKEN", "env: is not followed by the name of a variable"},
		{"env: digit first", "env:1TOKEN", "env: is not followed by the name of a variable"},
		{"env: four fields", "env:TOKEN:a:b:c", "env: is not followed by the name of a variable"},
		{"env: not set", "env:OTHER", "environment variable OTHER is empty or not set"},
		{"env: newline", "env:NEWLINE", `"env:NEWLINE": token has a character at byte 19`},
		{"env: placeholder", "env:UNFILLED", `"env:UNFILLED": token contains ${...}`},
		{"env: too long", "env:LONG", `"env:LONG": token is longer than 4096 bytes`},
		{"file: no path", "file:", "file: is not followed by a path"},
		{"file: missing", "file:other", "opening token file: open other: file does not exist"},
		{"file: empty", "file:empty", `token file "empty" is empty`},
		{"file: two lines", "file:two", `"file:two": token has a character at byte 19`},
		{"file: placeholder", "file:unfilled", `"file:unfilled": token contains ${...}`},
		{"file: big", "file:big", `"file:big": token is longer than 4096 bytes`},
		{"file: directory", "file:dir", `token file "dir" is a directory`},
		{"file: readable by everybody", "file:readable", modes},
		{"file: writable by everybody", "file:writable", modes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseToken(tt.in)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("ParseToken = %v, %v, want an error with %q", got, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

func TestParseToken_modeIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the mode of a file does not say who may read it")
	}
	_, err := parseToken("file:readable")
	const want = `token file "readable" has mode 0644, which lets every user read or write it: want 0600 or 0640`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// broken is a file whose mode is not known.
type broken struct{ fs.File }

func (broken) Stat() (fs.FileInfo, error) { return nil, fs.ErrPermission }

// unreadable is a file that can be judged but not read.
type unreadable struct{ fs.File }

func (unreadable) Read([]byte) (int, error) { return 0, fs.ErrClosed }

func TestParseToken_brokenFile(t *testing.T) {
	tests := []struct {
		name string
		in   func(fs.File) fs.File
		want error
	}{
		{"mode", func(f fs.File) fs.File { return broken{f} }, fs.ErrPermission},
		{"content", func(f fs.File) fs.File { return unreadable{f} }, fs.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := policy.ParseToken("file:token", environment, func(path string) (fs.File, error) {
				f, err := files.Open(path)
				return tt.in(f), err
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// closeCounter is a file that counts how often it is closed.
type closeCounter struct {
	fs.File
	closed *int
}

func (c closeCounter) Close() error { *c.closed++; return c.File.Close() }

func TestParseToken_closesTheFile(t *testing.T) {
	for _, name := range []string{"token", "readable", "empty", "dir"} {
		closed := 0
		policy.ParseToken("file:"+name, environment, func(path string) (fs.File, error) {
			f, err := files.Open(path)
			return closeCounter{f, &closed}, err
		})
		if closed != 1 {
			t.Errorf("%s was closed %d times, want 1", name, closed)
		}
	}
}

// No way of printing a token shows its secret or its digest.
func TestToken_isRedacted(t *testing.T) {
	token, err := policy.NewToken(secret, "alice", "admin")
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := policy.NewTokens([]policy.Token{token})
	if err != nil {
		t.Fatal(err)
	}
	digest := token.Digest()
	forbidden := []string{secret, hex.EncodeToString(digest[:8]), fmt.Sprint(digest[:4]), strings.Trim(fmt.Sprint(digest[:4]), "[]")}
	var shown []string
	for _, v := range []any{token, &token, []policy.Token{token}, tokens, struct{ T policy.Token }{token}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		shown = append(shown, string(data), log.String())
	}
	for _, s := range shown {
		for _, f := range forbidden {
			if strings.Contains(s, f) {
				t.Errorf("%q shows %q", s, f)
			}
		}
	}
	if diff := cmp.Diff(`token "alice" with roles admin,default`, token.String()); diff != "" {
		t.Errorf("String mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("1 tokens", tokens.String()); diff != "" {
		t.Errorf("String mismatch (-want +got):\n%s", diff)
	}
}

// FuzzParseToken checks that what is accepted can be presented, and that an
// error never shows a secret.
func FuzzParseToken(f *testing.F) {
	for _, spec := range []string{secret, secret + ":a,b:c", "a:b:c::", "env:TOKEN:a", "file:token::x", "${X}", "", "::", "env:", "file:readable", "x:local:local"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		token, err := parseToken(spec)
		if err != nil {
			if strings.Contains(err.Error(), secret) || len(err.Error()) > 1024+2*len(spec) {
				t.Errorf("ParseToken(%q): %v", spec, err)
			}
			return
		}
		tokens, err := policy.NewTokens([]policy.Token{token})
		if err != nil {
			t.Fatalf("ParseToken(%q) gave a token that is refused: %v", spec, err)
		}
		// The secret is one of the beginnings of spec, or comes from elsewhere.
		candidates := []string{secret, strings.Repeat("x", 4096)}
		for i := range len(spec) + 1 {
			candidates = append(candidates, spec[:i])
		}
		for _, c := range candidates {
			if sha256.Sum256([]byte(c)) != token.Digest() {
				continue
			}
			p, refusal := tokens.Authenticate([]string{"Bearer " + c})
			if refusal != nil || p.ID != token.ID || !p.HasRole(policy.RoleDefault) {
				t.Errorf("ParseToken(%q): its secret gives %+v, %+v", spec, p, refusal)
			}
			return
		}
		t.Errorf("ParseToken(%q): the secret is no part of it", spec)
	})
}
