package session_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/session"
)

// Keys under which state is sealed.
const (
	keyA = "key A, sixteen bytes or more"
	keyB = "key B, sixteen bytes or more"
	keyC = "key C, sixteen bytes or more"
)

// vault is a server whose tools ask before they do anything.
type vault struct {
	t      testing.TB
	server *session.Server

	mu  sync.Mutex // guards the fields below
	log strings.Builder
	ran int // how often a handler ran
}

// Write takes the log.
func (v *vault) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.log.Write(p)
}

func (v *vault) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(v, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// openVault starts a server. Without keys it has one of its own.
func openVault(t testing.TB, keys ...string) *vault {
	t.Helper()
	v := &vault{t: t}
	handler := func(ctx context.Context, call *registry.Call) (string, error) {
		v.mu.Lock()
		v.ran++
		v.mu.Unlock()
		return elicit(nameForm())(ctx, call)
	}
	reg := registry.New(nil)
	if err := reg.AddTool(tool("withdraw", textTool(handler)), tool("deposit", textTool(handler))); err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
		text, err := handler(ctx, call)
		if err != nil {
			return nil, err
		}
		return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: call.URI, Text: text}}}, nil
	}
	prompt := registry.Prompt{Name: "withdraw", Handler: func(ctx context.Context, call *registry.Call) (*protocol.GetPromptResult, error) {
		text, err := handler(ctx, call)
		if err != nil {
			return nil, err
		}
		return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: protocol.RoleUser, Content: &protocol.Text{Text: text}}}}, nil
	}}
	if err := reg.AddPrompt(prompt); err != nil {
		t.Fatal(err)
	}
	if err := reg.AddTemplate(registry.Template{URITemplate: "test://any/{+path}", Name: "t", Handler: read}); err != nil {
		t.Fatal(err)
	}
	if err := reg.AddResource(registry.Resource{URI: "test://withdraw", Name: "r", Handler: read}, registry.Resource{URI: "test://deposit", Name: "d", Handler: read}); err != nil {
		t.Fatal(err)
	}
	o := &session.Options{Layer: layer.New(&layer.Options{Registry: reg, Logger: v.logger()}), Info: protocol.Implementation{Name: "s", Version: "1"}, Logger: v.logger()}
	for _, key := range keys {
		o.StateKeys = append(o.StateKeys, []byte(key))
	}
	var err error
	if v.server, err = session.NewServer(o); err != nil {
		t.Fatal(err)
	}
	return v
}

// attempt is a request.
type attempt struct {
	principal      string
	method, params string
}

// withdrawal is the request whose state is attacked.
func withdrawal() attempt {
	return attempt{"alice", "tools/call", `"name":"withdraw","arguments":{"to":"a/b é","sum":1.50,"tags":["x","y"]}`}
}

// do makes a request and returns the whole answer.
func (v *vault) do(a attempt) []byte {
	v.t.Helper()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},%s}}`, a.method, a.params)
	d := v.server.Decoder()
	m, err := d.Decode(line)
	if err != nil {
		v.t.Fatalf("%v in %.300s", err, line)
	}
	raw, _ := jsonrpc.Answer(v.t.Context(), v.logger(), v.server.Stateless(policy.NewPrincipal(a.principal), nil), m.(*jsonrpc.Request), nobody{}, nil)
	return raw
}

// state makes a request that must be answered with a question, and returns the
// state.
func (v *vault) state(a attempt) string {
	v.t.Helper()
	var answer struct {
		Result struct{ ResultType, RequestState string }
	}
	raw := v.do(a)
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Result.ResultType != protocol.ResultInputRequired {
		v.t.Fatalf("%s is answered with %s", a.params, raw)
	}
	return answer.Result.RequestState
}

// with adds an answer and a state to a request.
func (a attempt) with(state string) attempt {
	a.params += `,"inputResponses":{"q":` + ada + `},"requestState":` + quote(state)
	return a
}

// refusal is the one answer to every state that is not good.
const refusal = `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"invalid or expired requestState: make the call again without it"}}`

// refuses checks that a state is refused, that no handler ran and that the log
// does not have the state.
func (v *vault) refuses(name string, a attempt, state string) {
	v.t.Helper()
	before := v.ran
	if got := v.do(a.with(state)); string(got) != refusal {
		v.t.Errorf("%s: the answer is %.500s", name, got)
	}
	if v.ran != before {
		v.t.Errorf("%s: the handler ran", name)
	}
	v.keeps(name, state)
}

// keeps checks that the log has no part of a state that tells anything.
func (v *vault) keeps(name, state string) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	log := v.log.String()
	const part = 12
	for i := 0; i+part <= len(state) && i < 4096; i += part {
		if strings.Contains(log, state[i:i+part]) {
			v.t.Fatalf("%s: the log has the state: %.2000s", name, log)
		}
	}
}

func (v *vault) accepts(name string, a attempt, state string) {
	v.t.Helper()
	if got := v.do(a.with(state)); !bytes.Contains(got, []byte(`"resultType":"complete"`)) {
		v.t.Errorf("%s: the answer is %.500s", name, got)
	}
	v.keeps(name, state)
}

// Each single bit counts.
func TestStateWithAFlippedBit(t *testing.T) {
	v := openVault(t, keyA)
	state := v.state(withdrawal())
	v.accepts("untouched", withdrawal(), state)
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(raw) * 8 {
		forged := bytes.Clone(raw)
		forged[i/8] ^= 1 << (i % 8)
		v.refuses(fmt.Sprintf("bit %d of the bytes", i), withdrawal(), base64.RawURLEncoding.EncodeToString(forged))
	}
	for i := range len(state) * 8 {
		forged := []byte(state)
		forged[i/8] ^= 1 << (i % 8)
		v.refuses(fmt.Sprintf("bit %d of the text", i), withdrawal(), string(forged))
	}
}

func TestStateOfAnotherLength(t *testing.T) {
	v := openVault(t, keyA)
	state := v.state(withdrawal())
	for n := range len(state) {
		v.refuses(fmt.Sprintf("the first %d bytes", n), withdrawal(), state[:n])
		v.refuses(fmt.Sprintf("all but the first %d bytes", n+1), withdrawal(), state[n+1:])
		v.refuses(fmt.Sprintf("a line end at %d", n), withdrawal(), state[:n]+"\n"+state[n:])
	}
	for _, more := range []string{"A", "AAAA", "=", "==", "\n", "\r\n", " ", "\x00", state} {
		v.refuses(fmt.Sprintf("%q behind it", more), withdrawal(), state+more)
	}
}

func TestStateIsForgedOrForeign(t *testing.T) {
	v := openVault(t, keyA)
	state := v.state(withdrawal())
	other := func(change func(*attempt)) attempt {
		a := withdrawal()
		change(&a)
		return a
	}
	args := func(json string) attempt {
		return other(func(a *attempt) { a.params = `"name":"withdraw","arguments":` + json })
	}
	tests := []struct {
		name string
		a    attempt
		in   string
	}{
		{"empty", withdrawal(), ""},
		{"one character", withdrawal(), "A"},
		{"not base64", withdrawal(), "!" + state[1:]},
		{"base64 of the other alphabet", withdrawal(), strings.Repeat("+/", 100)},
		{"padded", withdrawal(), state + "="},
		{"plain JSON", withdrawal(), `{"round":1,"known":{},"kept":{}}`},
		{"JSON in base64", withdrawal(), base64.RawURLEncoding.EncodeToString([]byte(`{"round":1,"known":{},"kept":{}}`))},
		{"nothing but zeros", withdrawal(), strings.Repeat("A", len(state))},
		{"1 MiB", withdrawal(), strings.Repeat("A", 1<<20)},
		{"1 MiB that begins well", withdrawal(), state + strings.Repeat("A", 1<<20)},
		{"1 MiB of another alphabet", withdrawal(), strings.Repeat("é\x00", 1<<19/3)},
		{"not UTF-8", withdrawal(), "\xff" + state},
		{"other principal", other(func(a *attempt) { a.principal = "mallory" }), state},
		{"other principal, longer name", other(func(a *attempt) { a.principal = "alicetools" }), state},
		{"no principal", other(func(a *attempt) { a.principal = "" }), state},
		{"other tool", other(func(a *attempt) { a.params = strings.Replace(a.params, "withdraw", "deposit", 1) }), state},
		{"other method", attempt{"alice", "prompts/get", `"name":"withdraw"`}, state},
		{"a resource", attempt{"alice", "resources/read", `"uri":"test://withdraw"`}, state},
		{"no arguments", other(func(a *attempt) { a.params = `"name":"withdraw"` }), state},
		{"other value", args(`{"to":"a/b é","sum":1.51,"tags":["x","y"]}`), state},
		{"other number of the same value", args(`{"to":"a/b é","sum":1.5,"tags":["x","y"]}`), state},
		{"other type", args(`{"to":"a/b é","sum":"1.50","tags":["x","y"]}`), state},
		{"other order of an array", args(`{"to":"a/b é","sum":1.50,"tags":["y","x"]}`), state},
		{"one more", args(`{"to":"a/b é","sum":1.50,"tags":["x","y"],"x":null}`), state},
		{"one less", args(`{"to":"a/b é","sum":1.50}`), state},
		{"other case", args(`{"To":"a/b é","sum":1.50,"tags":["x","y"]}`), state},
		{"moved quotes", args(`{"to":"a/b é","sum":1.50,"tags":["x\",\"y"]}`), state},
	}
	for _, tt := range tests {
		v.refuses(tt.name, tt.a, tt.in)
	}
	v.accepts("still good", withdrawal(), state)
}

// A state is good for one target of one method only.
func TestStateIsBoundToItsTarget(t *testing.T) {
	v := openVault(t, keyA)
	targets := []attempt{
		{"alice", "tools/call", `"name":"withdraw"`},
		{"alice", "tools/call", `"name":"deposit"`},
		{"alice", "prompts/get", `"name":"withdraw"`},
		{"alice", "resources/read", `"uri":"test://withdraw"`},
		{"alice", "resources/read", `"uri":"test://deposit"`},
		{"bob", "tools/call", `"name":"withdraw"`},
		// These two are the same if principal, method and URI are only put together.
		{"alice", "resources/read", `"uri":"test://any/resources/readtest://withdraw"`},
		{"aliceresources/readtest://any/", "resources/read", `"uri":"test://withdraw"`},
	}
	for i, from := range targets {
		state := v.state(from)
		for k, to := range targets {
			name := fmt.Sprintf("from %v to %v", from, to)
			if i == k {
				v.accepts(name, to, state)
			} else {
				v.refuses(name, to, state)
			}
		}
	}
}

// A client may write the same arguments anew for the retry.
func TestStateWithArgumentsWrittenAnew(t *testing.T) {
	tests := []struct{ name, first, second string }{
		{"as they were", `{"a":1}`, `{"a":1}`},
		{"white space", `{"a":[1,{"b":"c"}]}`, " {\n\t\"a\" : [ 1 , { \"b\" : \"c\" } ]\r\n} "},
		{"order of members", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`},
		{"escapes", `{"a":"x/y é 😀 \u2028","b":"\n\u0001"}`, "{\"\\u0061\":\"x\\/y \\u00e9 \\ud83d\\ude00 \u2028\",\"b\":\"\\u000a\\u0001\"}"},
		{"escapes change the order", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"none", ``, `{}`},
		{"null", `{}`, `null`},
	}
	v := openVault(t, keyA)
	for _, tt := range tests {
		write := func(args string) attempt {
			if args == "" {
				return attempt{"alice", "tools/call", `"name":"withdraw"`}
			}
			return attempt{"alice", "tools/call", `"name":"withdraw","arguments":` + args}
		}
		v.accepts(tt.name, write(tt.second), v.state(write(tt.first)))
		v.accepts(tt.name+", the other way round", write(tt.first), v.state(write(tt.second)))
	}
}

func TestStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := openVault(t, keyA)
		state := v.state(withdrawal())
		time.Sleep(session.DefaultStateTTL)
		v.accepts("at the last moment", withdrawal(), state)
		time.Sleep(time.Second)
		v.refuses("too late", withdrawal(), state)
		v.accepts("a new one", withdrawal(), v.state(withdrawal()))
	})
}

// Keys can be replaced: the new one seals, the old one opens for as long as it is
// listed.
func TestStateKeys(t *testing.T) {
	old, both, next, alone := openVault(t, keyA), openVault(t, keyB, keyA), openVault(t, keyC, keyB), openVault(t)
	state := old.state(withdrawal())
	both.accepts("an older key that is listed", withdrawal(), state)
	next.refuses("an older key that is not listed any more", withdrawal(), state)
	alone.refuses("a server of its own", withdrawal(), state)
	state = both.state(withdrawal())
	old.refuses("a newer key", withdrawal(), state)
	next.accepts("the key that was the first", withdrawal(), state)
	openVault(t).refuses("another server of its own", withdrawal(), alone.state(withdrawal()))
	alone.accepts("its own", withdrawal(), alone.state(withdrawal()))
}

// Two states are never the same, and nothing of what is kept can be read.
func TestStateIsSealed(t *testing.T) {
	v := openVault(t, keyA)
	first, second := v.state(withdrawal()), v.state(withdrawal())
	if first == second {
		t.Error("two calls have the same state")
	}
	raw, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"round", "withdraw", "alice", keyA} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("the state shows %q", secret)
		}
	}
}

func TestStateKeysAreLongEnough(t *testing.T) {
	_, err := session.NewServer(&session.Options{Layer: layer.New(&layer.Options{Registry: registry.New(nil)}), StateKeys: [][]byte{[]byte(keyA), []byte("fifteen bytes!!")}})
	if want := "session: state key 2 has 15 bytes, at least 16 are needed"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// refusalTime is the shortest time, of several, for refusing a state.
func refusalTime(v *vault, state string) time.Duration {
	const rounds, calls = 20, 50
	best := time.Hour
	a := withdrawal().with(state)
	for range rounds {
		start := time.Now()
		for range calls {
			v.do(a)
		}
		best = min(best, time.Since(start)/calls)
	}
	return best
}

// How long a refusal takes says little about why: a forged state with the id of
// a key is not told apart from one without by an order of magnitude.
func TestRefusalTakesAboutAsLong(t *testing.T) {
	v := openVault(t, keyA)
	raw, err := base64.RawURLEncoding.DecodeString(v.state(withdrawal()))
	if err != nil {
		t.Fatal(err)
	}
	forged := append(bytes.Clone(raw), make([]byte, 200)...)[:200]
	right := base64.RawURLEncoding.EncodeToString(forged)
	forged[1] ^= 1
	wrong := base64.RawURLEncoding.EncodeToString(forged)
	v.refuses("right key id", withdrawal(), right)
	v.refuses("wrong key id", withdrawal(), wrong)
	a, b := refusalTime(v, right), refusalTime(v, wrong)
	if a > 10*b || b > 10*a {
		t.Errorf("a refusal takes %v with the id of the key and %v without", a, b)
	}
	t.Logf("a refusal takes %v with the id of the key and %v without", a, b)
}

func BenchmarkRefuseState(b *testing.B) {
	v := openVault(b, keyA)
	raw, err := base64.RawURLEncoding.DecodeString(v.state(withdrawal()))
	if err != nil {
		b.Fatal(err)
	}
	forged := append(bytes.Clone(raw), make([]byte, 200)...)[:200]
	right := base64.RawURLEncoding.EncodeToString(forged)
	forged[1] ^= 1
	for name, state := range map[string]string{"right key id": right, "wrong key id": base64.RawURLEncoding.EncodeToString(forged)} {
		b.Run(name, func(b *testing.B) {
			a := withdrawal().with(state)
			b.ReportAllocs()
			for b.Loop() {
				v.do(a)
			}
		})
	}
}

// Only what was sealed opens, whatever a client sends.
func FuzzState(f *testing.F) {
	v := openVault(f) // with a key that no other process has
	state := v.state(withdrawal())
	for _, seed := range []string{state, state[1:], state[:len(state)-1], "", "AUNM", "!", strings.Repeat("A", len(state)), "\n" + state, `{"round":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v.t = t
		got := string(v.do(withdrawal().with(text)))
		if text == state {
			if strings.Contains(got, `"error"`) {
				t.Errorf("what was sealed does not open: %s", got)
			}
			return
		}
		if diff := cmp.Diff(refusal, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	})
}
