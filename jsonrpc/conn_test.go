package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

const ms = time.Millisecond

const (
	duplicate = "a request with this id is in flight already"
	leaving   = "the server is shutting down"
	noBatches = "batches are not part of this protocol version: send each message in a frame of its own"
)

var (
	batches  = jsonrpc.Dialect{Batches: true}
	errEnded = errors.New("the terminal was closed")
)

// slow makes the connection send the requests that follow to workers at once.
func slow(s *scenario) {
	for _, do := range []step{send(hold(`"slow"`, "slow"), echo(`"behind"`)), want(done(`"behind"`)), release("slow"), want(done(`"slow"`)), settle()} {
		do(s)
	}
	s.writes.Store(0)
}

func TestConnRequests(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
	}{
		{"one is answered at once", []step{
			send(echo("1")), within(0, want(done("1"))), inFlight(0),
		}},
		{"ids come back as they were spelled", []step{
			send(echo(`"\u0041"`), echo("-7"), echo("12345678901234567890"), echo(`""`)),
			want(done(`"\u0041"`), done("-7"), done("12345678901234567890"), done(`""`)),
		}},
		{"many that came together are answered with one write", []step{
			repeat(2, func(int) step {
				return func(s *scenario) {
					var frames []string
					for i := range 500 {
						frames = append(frames, echo(strconv.Itoa(i)))
					}
					send(frames...)(s)
					repeat(500, func(i int) step { return want(done(strconv.Itoa(i))) })(s)
					wrote(1)(s)
				}
			}),
		}},
		{"answers and refusals that came together are one write, in order", []step{
			send("garbage", echo("1"), tell("x", "{}"), `{"jsonrpc":"2.0","id":2}`, call("3", "ordered", "{}")),
			wantLike(`"id":null`, `-32700`), want(done("1")), wantLike(`"id":2`, `-32600`), want(done("3")),
			wrote(1), noted("x {}"),
		}},
		{"a slow one delays what is behind it by two milliseconds at most", []step{
			send(hold("1", "k"), echo("2")), within(2*ms, want(done("2"))),
			inFlight(1), release("k"), want(done("1")),
		}},
		{"also when the watcher has slept", []step{
			send(echo("0")), want(done("0")), sleep(time.Minute),
			send(hold("1", "k"), echo("2")), within(2*ms, want(done("2"))),
			release("k"), want(done("1")),
		}},
		{"only the first slow one delays anything", []step{
			slow, send(hold("1", "k"), hold("2", "k"), echo("3")), within(0, want(done("3"))),
			release("k"), wantAll(done("1"), done("2")),
		}},
		{"after a while without slow ones requests are run by the reader again", []step{
			slow, repeat(200, func(i int) step {
				return func(s *scenario) { send(echo(strconv.Itoa(i)))(s); want(done(strconv.Itoa(i)))(s) }
			}),
			send(hold("1", "k"), echo("2")), atLeast(ms, within(2*ms, want(done("2")))),
			release("k"), want(done("1")),
		}},
		{"ordered methods keep everything behind them waiting", []step{
			send(call("1", "ordered", `{"sleep":100}`), tell("x", "{}"), echo("2")),
			sleep(99 * ms), noted(), within(ms, want(done("1"), done("2"))), noted("x {}"),
		}},
		{"what was queued before an ordered method does not wait for it", []step{
			sleep(time.Minute), // the watcher sleeps
			send("garbage", echo("1"), call("2", "ordered", `{"sleep":100}`)),
			within(2*ms, func(s *scenario) { wantLike(`-32700`)(s); want(done("1"))(s) }), want(done("2")),
		}},
		{"a refusal does not wait for an ordered method", []step{
			sleep(time.Minute), send("garbage", call("2", "ordered", `{"sleep":100}`)),
			within(2*ms, wantLike(`-32700`)), want(done("2")),
		}},
		{"an id in flight is not used twice", []step{
			send(hold("1", "k"), echo("1"), echo(`"1"`)),
			wantAll(failure("1", -32600, duplicate), done(`"1"`)),
			release("k"), want(done("1")), send(echo("1")), want(done("1")),
		}},
		{"ids that are spelled differently are the same", []step{
			send(hold(`"aA"`, "k"), echo(`"\u0061\u0041"`)), want(failure(`"\u0061\u0041"`, -32600, duplicate)),
			release("k"), want(done(`"aA"`)),
		}},
		{"a frame that the stream refuses is answered", []step{
			cut(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "too long")), want(failure("null", -32600, "too long")),
			send(echo("1")), want(done("1")),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, tt.steps...) })
	}
}

func TestConnErrors(t *testing.T) {
	const big = 100 << 10
	tests := []struct {
		name  string
		steps []step
	}{
		{"an error on purpose is sent as it is", []step{
			send(call("1", "refuse", "{}")), want(failure("1", -1, "no")),
		}},
		{"any other becomes an incident", []step{
			send(call("1", "fail", "{}")), wantLike(`"id":1,"error":{"code":-32603,"message":"internal error (incident `),
			logged("the disk is on fire", "incident="), send(echo("2")), want(done("2")),
		}},
		{"a panic becomes an incident, with its stack in the log", []step{
			send(call("1", "panic", "{}")), wantLike(`"id":1,"error":{"code":-32603,"message":"internal error (incident `),
			logged("panic: boom", "conn_handler_test.go"), send(echo("2")), want(done("2")),
		}},
		{"a panic of a worker too", []step{
			slow, send(call("1", "panic", "{}")), wantLike(`"id":1`, `incident `), send(echo("2")), want(done("2")),
		}},
		{"a panic over a notification is logged", []step{
			send(tell("panic", "{}"), echo("1")), want(done("1")), logged("panic=boom"),
		}},
		{"an invalid response is never answered", []step{
			send(`{"jsonrpc":"2.0","id":true,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":3}`,
				`{"jsonrpc":"2.0","id":1,"error":"bad"}`, `{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`,
				`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, echo("1")),
			want(done("1")),
		}},
		{"large answers, which are written from where they are, keep their place", []step{
			slow, repeat(50, func(i int) step {
				id := strconv.Itoa(i)
				return func(s *scenario) {
					send(call(id, "fill", `{"bytes":`+strconv.Itoa(big)+`,"say":2}`), echo(`"`+id+`"`))(s)
				}
			}),
			wantInterleaved(50, 2),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, tt.steps...) })
	}
}

// wantInterleaved waits for the answers to n requests that send notifications
// first, and to n others, in any order but with each answer behind its
// notifications and all of them in order.
func wantInterleaved(n, notifications int) step {
	return func(s *scenario) {
		s.Helper()
		said := make(map[string]int)
		for range n*(notifications+1) + n {
			var f struct {
				ID     json.RawMessage
				Params struct {
					By json.RawMessage
					N  int
				}
			}
			if err := json.Unmarshal([]byte(s.next()), &f); err != nil {
				s.Fatalf("a broken frame: %v", err)
			}
			switch by := string(f.Params.By); {
			case by != "":
				if said[by] != f.Params.N {
					s.Errorf("notification %d of %s came when %d had come", f.Params.N, by, said[by])
				}
				said[by]++
			case f.ID[0] != '"' && said[string(f.ID)] != notifications:
				s.Errorf("the answer to %s came after %d of its notifications", f.ID, said[string(f.ID)])
			}
		}
	}
}

func TestConnSend(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
	}{
		{"notifications precede the answer, in one write", []step{
			send(call("1", "echo", `{"say":3}`)), want(note("1", 0), note("1", 1), note("1", 2), done("1")), wrote(1),
		}},
		{"also from a worker", []step{
			slow, send(call("1", "echo", `{"say":3}`)), want(note("1", 0), note("1", 1), note("1", 2), done("1")),
		}},
		{"they do not wait for the answer", []step{
			send(call("1", "hold", `{"say":2,"key":"k"}`)), within(2*ms, want(note("1", 0), note("1", 1))),
			release("k"), want(done("1")),
		}},
		{"nor for anything from a worker", []step{
			slow, send(call("1", "hold", `{"say":2,"key":"k"}`)), within(0, want(note("1", 0), note("1", 1))),
			release("k"), want(done("1")),
		}},
		{"nor from an ordered method", []step{
			send(call("1", "ordered", `{"say":2,"key":"k"}`)), within(0, want(note("1", 0), note("1", 1))),
			release("k"), want(done("1")),
		}},
		{"what a worker sends during another run is written in time", []step{
			send(hold(`"w"`, "w"), echo("0")), want(done("0")), // the first is nobody's any more
			repeat(64, func(i int) step {
				return func(s *scenario) { send(echo(strconv.Itoa(i)))(s); want(done(strconv.Itoa(i)))(s) }
			}),
			send(hold("1", "r")), release("w"), within(2*ms, want(done(`"w"`))), release("r"), want(done("1")),
		}},
		{"they precede a large answer, too", []step{
			send(call("1", "fill", `{"say":1,"bytes":33000}`)), wantLike(`"said"`), wantLike(`"result"`),
		}},
		{"what a handler leaves running sends nothing behind the answer", []step{
			send(call("1", "linger", "{}")), want(done("1")), noted("1: send: the connection is closed"), quiet(time.Minute),
		}},
		{"a flood is written in pieces, not at the end", []step{
			send(call("1", "hold", `{"say":1000,"bytes":1000,"key":"k"}`)),
			within(2*ms, repeat(1000, func(i int) step { return wantLike(`"n":` + strconv.Itoa(i) + `,`) })),
			release("k"), want(done("1")),
		}},
		{"a frame may be sent from outside at any time", []step{
			send(echo("1")), want(done("1")), sleep(time.Minute),
			func(s *scenario) {
				if err := s.handler.lastPeer().Send(s.Context(), []byte("hello")); err != nil {
					s.Error(err)
				}
			},
			within(0, want("hello")),
		}},
		{"but not after the end", []step{
			send(echo("1")), want(done("1")), eof(), over(nil),
			func(s *scenario) {
				peer := s.handler.lastPeer()
				if err := peer.Send(s.Context(), []byte("hello")); !errors.Is(err, jsonrpc.ErrClosed) {
					s.Errorf("Send: %v, want %v", err, jsonrpc.ErrClosed)
				}
				if _, err := peer.Call(s.Context(), "question", nil); !errors.Is(err, jsonrpc.ErrClosed) {
					s.Errorf("Call: %v, want %v", err, jsonrpc.ErrClosed)
				}
			},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, tt.steps...) })
	}
}

func TestConnCancel(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
	}{
		{"a cancelled request sends nothing more", []step{
			send(hold("1", "k"), cancel("1")), sleep(2 * ms), noted("cancel 1: true", "1: the peer cancelled the request"),
			quiet(time.Minute), inFlight(0),
		}},
		{"nor does one that a worker runs", []step{
			slow, send(hold("1", "k"), cancel("1")), noted("cancel 1: true", "1: the peer cancelled the request"),
			quiet(time.Minute), inFlight(0),
		}},
		{"nor one that does not look at its context", []step{
			send(call("1", "say late", `{"key":"k"}`)), sleep(5 * ms), send(cancel("1")), sleep(ms), release("k"),
			noted("cancel 1: true", "1: send: the peer cancelled the request"), quiet(time.Minute), inFlight(0),
		}},
		{"what it sent before stays", []step{
			send(call("1", "hold", `{"say":2,"key":"k"}`)), sleep(5 * ms), send(cancel("1")),
			want(note("1", 0), note("1", 1)), quiet(time.Minute),
			noted("cancel 1: true", "1: the peer cancelled the request"),
		}},
		{"its id is in use until its handler returns", []step{
			send(call("1", "deaf", `{"key":"k"}`), cancel("1"), echo("1")), want(failure("1", -32600, duplicate)),
			release("k"), settle(), send(echo("1")), want(done("1")), noted("cancel 1: true"),
		}},
		{"a string is not a number", []step{
			send(hold("1", "k"), hold(`"1"`, "k"), cancel(`"1"`)), sleep(2 * ms),
			noted(`cancel "1": true`, `"1": the peer cancelled the request`), release("k"), want(done("1")),
		}},
		{"an id may be spelled differently", []step{
			send(hold(`"\u0041/"`, "k"), cancel(`"A\/"`)), sleep(2 * ms),
			noted(`cancel "A\/": true`, `"\u0041/": the peer cancelled the request`), quiet(ms),
		}},
		{"one that is unknown, or done, is ignored", []step{
			send(cancel("1"), echo("1")), want(done("1")), send(cancel("1"), echo("2")), want(done("2")),
			noted("cancel 1: false", "cancel 1: false"),
		}},
		{"twice is once", []step{
			send(call("1", "deaf", `{"key":"k"}`), cancel("1"), cancel("1")), sleep(5 * ms), release("k"),
			noted("cancel 1: true", "cancel 1: true"), quiet(ms),
		}},
		{"an ordered request cannot be cancelled", []step{
			send(call("1", "ordered", `{"sleep":5}`), cancel("1")), settle(),
			func(s *scenario) {
				if s.handler.lastPeer().Cancel("1", jsonrpc.ErrCancelled) {
					s.Error("Cancel reported true")
				}
			},
			want(done("1")), noted("cancel 1: false"),
		}},
		{"a request of ours that is waited for ends with the one that asked", []step{
			send(call("1", "ask", "{}")), want(call("1", "question", `{"for":1}`)), send(cancel("1")),
			noted("cancel 1: true", "1: gave up 1: the peer cancelled the request"),
			send(result("1", `{"late":true}`), echo("2")), want(done("2")),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, tt.steps...) })
	}
}

func TestConnCall(t *testing.T) {
	ask := func(id string) string { return call(id, "ask", "{}") }
	question := func(n, of string) string { return call(n, "question", `{"for":`+of+`}`) }
	tests := []struct {
		name  string
		steps []step
	}{
		{"the answer is read while the asking request runs", []step{
			send(ask(`"a"`)), within(0, want(question("1", `"a"`))),
			send(result("1", `{"x":[1, 2]}`)), within(0, want(result(`"a"`, `{"answer":{"x":[1, 2]}}`))),
		}},
		{"a worker's question does not wait for anything", []step{
			slow, send(ask(`"a"`)), within(0, want(question("1", `"a"`))),
			send(result("1", `{}`)), want(result(`"a"`, `{"answer":{}}`)),
		}},
		{"others are served meanwhile", []step{
			send(ask(`"a"`), echo("2")), within(0, want(question("1", `"a"`), done("2"))),
			send(result("1", `{}`)), want(result(`"a"`, `{"answer":{}}`)),
		}},
		{"answers find those who asked", []step{
			repeat(10, func(i int) step {
				return func(s *scenario) {
					id := `"a` + strconv.Itoa(i) + `"`
					send(ask(id))(s)
					want(question(strconv.Itoa(i+1), id))(s)
				}
			}),
			repeat(10, func(i int) step {
				return func(s *scenario) {
					answer := `{"is":` + strconv.Itoa(10-i) + `}`
					send(result(strconv.Itoa(10-i), answer))(s)
					want(result(`"a`+strconv.Itoa(9-i)+`"`, `{"answer":`+answer+`}`))(s)
				}
			}),
		}},
		{"our ids are not those of the peer", []step{
			send(ask("1")), want(question("1", "1")), send(echo("2"), cancel("7")), want(done("2")),
			send(result("1", `{}`)), want(result("1", `{"answer":{}}`)), noted("cancel 7: false"),
		}},
		{"an error is the peer's own", []step{
			send(ask(`"a"`)), want(question("1", `"a"`)), send(failure("1", -32601, "what?")),
			want(failure(`"a"`, -32601, "what?")),
		}},
		{"answers that nobody waits for are ignored", []step{
			send(ask(`"a"`)), want(question("1", `"a"`)),
			send(result("2", "{}"), result(`"1"`, `{}`), failure("0", 1, "m"), result("1", `{"right":1}`), result("1", `{}`)),
			want(result(`"a"`, `{"answer":{"right":1}}`)), send(echo("2")), want(done("2")),
		}},
		{"an ordered request cannot ask", []step{
			send(call("1", "ordered", "{}")), want(done("1")),
			func(s *scenario) {
				if _, err := s.handler.lastPeer().Call(s.Context(), "question", nil); err == nil {
					s.Error("Call succeeded")
				}
			},
		}},
		{"nobody waits for an answer when the peer has hung up", []step{
			send(ask(`"a"`)), want(question("1", `"a"`)), eof(),
			within(0, want(result(`"a"`, `{"failed":true}`))), over(nil), noted(`"a": call: the connection is closed`),
		}},
		{"an answer that came before the end counts", []step{
			send(ask(`"a"`)), want(question("1", `"a"`)),
			func(s *scenario) { s.stream.push(incoming{frame: []byte(result("1", `{}`))}, end()) },
			want(result(`"a"`, `{"answer":{}}`)), over(nil),
		}},
		{"answers are read while the connection ends", []step{
			send(ask(`"a"`)), want(question("1", `"a"`)), shutdown(errEnded), sleep(time.Second),
			send(result("1", `{}`)), want(result(`"a"`, `{"answer":{}}`)), over(errEnded),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, jsonrpc.Dialect{}, tt.steps...) })
	}
}

// An answer that has come counts, though the stream has ended before the asking
// request could look for it.
func TestConnCallAnsweredBeforeEnd(t *testing.T) {
	for range 10 { // what comes first must not be left to chance
		play(t, jsonrpc.Options{}, jsonrpc.Dialect{},
			stall(), send(call(`"a"`, "ask", "{}")), sleep(5*ms), // it is being written
			send(result("1", `{}`)), eof(), settle(), resume(),
			want(call("1", "question", `{"for":"a"}`), result(`"a"`, `{"answer":{}}`)), over(nil))
	}
}

func TestConnBatch(t *testing.T) {
	tests := []struct {
		name    string
		dialect jsonrpc.Dialect
		steps   []step
	}{
		{"refused in other versions", jsonrpc.Dialect{OmitUnknownID: true}, []step{
			send(`[`+echo("1")+`]`, ` []`, echo("2")),
			want(failure("", -32600, noBatches), failure("", -32600, noBatches), done("2")),
		}},
		{"empty", batches, []step{
			send(`[]`, ` [ ] `), want(failure("null", -32600, "the batch is empty"), failure("null", -32600, "the batch is empty")),
		}},
		{"no JSON", batches, []step{send(`[1,`), wantLike(`"id":null`, "-32700")}},
		{"no JSON in other versions", jsonrpc.Dialect{}, []step{send(`[1,`), wantLike(`"id":null`, "-32700")}},
		{"too many", batches, []step{
			func(s *scenario) {
				frame := "[1"
				for range jsonrpc.DefaultMaxBatch {
					frame += ",1"
				}
				send(frame + "]")(s)
			},
			wantLike("-32600", "more than 1000 members"),
		}},
		{"one answer to all", batches, []step{
			send(`[` + call("1", "hold", `{"key":"k"}`) + `,` + echo("2") + `,` + tell("x", "{}") + `]`),
			noted("x {}"), quiet(time.Minute), release("k"), want(`[` + done("2") + `,` + done("1") + `]`), inFlight(0),
		}},
		{"broken members are refused on their own", batches, []step{
			send(`[1,{"jsonrpc":"2.0","id":5},` + call("6", "ordered", "{}") + `,` + result("9", "{}") + `]`),
			wantLike(`[{"jsonrpc":"2.0","id":null,`, `{"jsonrpc":"2.0","id":5,`,
				`,`+failure("6", -32600, "ordered cannot be part of a batch")+`]`),
		}},
		{"only notifications and responses", batches, []step{
			send(`[` + tell("x", `{"a":1}`) + `,` + result("9", "{}") + `,` + tell("y", "{}") + `]`), noted(`x {"a":1}`, "y {}"), quiet(time.Minute),
			send(echo("1")), want(done("1")),
		}},
		{"a cancelled member is left out", batches, []step{
			send(`[` + hold("1", "k") + `,` + hold("2", "k") + `,` + cancel("1") + `]`),
			noted("cancel 1: true", "1: the peer cancelled the request"), release("k"), want(`[` + done("2") + `]`),
		}},
		{"also when it was done already", batches, []step{
			send(`[` + hold("1", "k") + `,` + echo("2") + `]`), sleep(5 * ms), send(cancel("2"), echo("2")),
			want(failure("2", -32600, duplicate)), release("k"), want(`[` + done("1") + `]`), noted("cancel 2: true"),
			send(echo("2")), want(done("2")),
		}},
		{"all members cancelled", batches, []step{
			send(`[`+hold("1", "k")+`,`+hold("2", "k")+`]`, cancel("1"), cancel("2")), quiet(time.Minute), inFlight(0),
		}},
		{"an id twice", batches, []step{
			send(`[` + hold("1", "k") + `,` + echo("1") + `]`), settle(), release("k"),
			want(`[` + failure("1", -32600, duplicate) + `,` + done("1") + `]`),
		}},
		{"a member may ask", batches, []step{
			send(`[` + call("1", "ask", "{}") + `]`), want(call("1", "question", `{"for":1}`)),
			send(`[` + result("1", `{"x":1}`) + `]`), want(`[` + result("1", `{"answer":{"x":1}}`) + `]`),
		}},
		{"drained at the end", batches, []step{
			send(`[`+hold("1", "k")+`]`, hold("2", "k")), eof(), sleep(time.Second), release("k"),
			wantAll(`[`+done("1")+`]`, done("2")), over(nil),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, jsonrpc.Options{}, tt.dialect, tt.steps...) })
	}
}
