package jsonrpc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// burst sends n frames at one moment.
func burst(n int, frame func(i int) string) step {
	return func(s *scenario) {
		in := make([]incoming, n)
		for i := range in {
			in[i].frame = []byte(frame(i))
		}
		s.stream.push(in...)
	}
}

// wantEach waits for n frames, one for each of the ids 0 to n-1, and checks how
// many of them are errors.
func wantEach(n, failures int) step {
	return func(s *scenario) {
		s.Helper()
		seen := make([]bool, n)
		for range n {
			var f struct {
				ID    int
				Error *struct{ Code int }
			}
			if err := json.Unmarshal([]byte(s.next()), &f); err != nil {
				s.Fatalf("a broken frame: %v", err)
			}
			if f.ID < 0 || f.ID >= n || seen[f.ID] {
				s.Fatalf("an answer to %d that nobody asked for", f.ID)
			}
			seen[f.ID] = true
			if f.Error != nil {
				failures--
			}
		}
		if failures != 0 {
			s.Errorf("%d errors too few", failures)
		}
	}
}

// memory runs a step that must not need more.
func memory(most uint64, do step) step {
	return func(s *scenario) {
		s.Helper()
		before := heap()
		do(s)
		if after := heap(); after > before+most {
			s.Errorf("the heap has grown by %d KiB, want at most %d KiB", (after-before)>>10, most>>10)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestConnBounds(t *testing.T) {
	numbered := func(method, params string) func(int) string {
		return func(i int) string { return call(strconv.Itoa(i), method, params) }
	}
	limit := func(n int) string {
		return strconv.Itoa(n) + " requests are in flight, which is the limit; send this one again when some have been answered"
	}
	broken := func(int) string { return `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1000) + `"}` }
	const large = `{"bytes":65536}`
	tests := []struct {
		name  string
		o     jsonrpc.Options
		steps []step
	}{
		{"ten thousand requests in flight", jsonrpc.Options{}, []step{
			burst(10000, numbered("hold", `{"key":"k"}`)), sleep(time.Minute), inFlight(1024),
			func(s *scenario) {
				s.handler.release("k")
				wantEach(10000, 10000-1024)(s)
			},
			inFlight(0), send(echo("1")), want(done("1")),
		}},
		{"the refusal says what to do, and does not wait", jsonrpc.Options{MaxInFlight: 2}, []step{
			send(hold("1", "k"), hold("2", "k"), hold("3", "k"), tell("x", "{}"), cancel("1"), hold("4", "k")),
			within(2*ms, want(failure("3", -32603, limit(2)))), settle(), send(hold("5", "k")),
			inFlight(2), release("k"), func(s *scenario) {
				// Whether there was room for 4 depends on how fast 1 was to end.
				frames := []string{s.next(), s.next(), s.next()}
				if !slices.Contains(frames, done("2")) {
					s.Errorf("2 was not answered: %v", frames)
				}
			},
			noted("x {}", "cancel 1: true", "1: the peer cancelled the request"),
		}},
		{"a batch fills the same table", jsonrpc.Options{MaxInFlight: 2}, []step{
			send(`[` + hold("1", "k") + `,` + hold("2", "k") + `,` + hold("3", "k") + `]`), inFlight(2), release("k"),
			wantLike(failure("3", -32603, limit(2)), done("1"), done("2")), inFlight(0),
		}},
		{"answers that the peer does not read are bounded by the requests in flight", jsonrpc.Options{MaxInFlight: 32}, []step{
			stall(), memory(6<<20, func(s *scenario) {
				burst(4000, numbered("fill", large))(s)
				sleep(time.Minute)(s)
				inFlight(32)(s)
			}),
			func(s *scenario) {
				if n := s.stream.unread(); n > 0 {
					s.Errorf("%d frames were not read", n)
				}
			},
			resume(), func(s *scenario) {
				for i := range 4000 {
					if f := s.next(); !strings.Contains(f, "fill") && !strings.Contains(f, limit(32)) {
						s.Fatalf("answer %d is broken: %.100s", i, f)
					}
				}
			}, inFlight(0),
		}},
		{"nor does it help that their time is over", jsonrpc.Options{MaxInFlight: 32}, []step{
			stall(), memory(6<<20, func(s *scenario) {
				for range 100 {
					burst(40, numbered("fill late", large))(s)
					sleep(time.Minute)(s)
				}
				inFlight(32)(s)
			}),
			resume(), func(s *scenario) {
				for range 4000 {
					s.next()
				}
			}, inFlight(0),
		}},
		{"a request can be cancelled though the peer does not read", jsonrpc.Options{MaxInFlight: 32}, []step{
			send(hold("9001", "k")), sleep(5 * ms), stall(), burst(1000, numbered("fill", large)), sleep(time.Minute),
			send(cancel("9001")), noted("cancel 9001: true", "9001: the peer cancelled the request"), inFlight(31),
			resume(), repeat(1000, func(int) step { return func(s *scenario) { s.next() } }), quiet(time.Minute),
		}},
		{"an answer that waits to be queued can be cancelled", jsonrpc.Options{MaxInFlight: 32}, []step{
			stall(), burst(32, numbered("fill", large)), sleep(time.Minute),
			func(s *scenario) {
				waiting := s.conn.InFlight()
				if waiting < 20 || waiting >= 32 {
					s.Fatalf("%d answers wait to be queued, want most but not all of 32", waiting)
				}
				burst(32, func(i int) string { return cancel(strconv.Itoa(i)) })(s)
				inFlight(0)(s)
				s.handler.noted()
				resume()(s)
				for range 32 - waiting {
					wantLike("fill")(s)
				}
				quiet(time.Minute)(s)
			},
		}},
		{"a flood of notifications waits for the peer", jsonrpc.Options{}, []step{
			stall(), memory(2<<20, func(s *scenario) {
				send(call("1", "say", `{"say":2000,"bytes":10000}`))(s)
				sleep(time.Minute)(s)
			}), inFlight(1),
			resume(), repeat(2000, func(i int) step { return wantLike(`"n":` + strconv.Itoa(i) + `,`) }), want(done("1")),
		}},
		{"and ends with its request", jsonrpc.Options{}, []step{
			stall(), send(hold("2", "k")), sleep(5 * ms), send(call("1", "say", `{"say":2000,"bytes":10000}`)), sleep(time.Minute),
			send(echo("3")), sleep(ms), send(cancel("2")), sleep(ms), send(cancel("1")), sleep(ms), inFlight(1),
			func(s *scenario) {
				resume()(s)
				for f := s.next(); f != done("3"); f = s.next() {
					if !strings.Contains(f, `"by":1,`) {
						s.Errorf("unexpected frame %.100s", f)
					}
				}
			}, quiet(time.Minute), func(s *scenario) { s.handler.noted() },
		}},
		{"refusals that the peer does not read are bounded, and none is lost", jsonrpc.Options{}, []step{
			stall(), memory(64<<20, func(s *scenario) {
				burst(20000, broken)(s)
				sleep(time.Minute)(s)
			}),
			func(s *scenario) {
				if n := s.stream.unread(); n == 0 {
					s.Error("all frames were read, want the reader to wait at last")
				}
			},
			resume(), repeat(20000, func(int) step { return wantLike("-32600") }),
		}},
		{"such a peer does not keep the connection from ending", jsonrpc.Options{}, []step{
			stall(), burst(20000, broken), sleep(time.Minute),
			shutdown(errEnded), within(7*time.Second, over(errEnded)),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, tt.o, batches, tt.steps...) })
	}
}

// Each request of a random mix is answered once, after its own notifications,
// whatever happens at the same time.
func TestConnMix(t *testing.T) {
	const n = 3000
	kinds := []string{
		`"method":"echo","params":{}`,
		`"method":"echo","params":{"say":2}`,
		`"method":"hold","params":{"sleep":1}`,
		`"method":"hold","params":{"sleep":7,"say":1}`,
		`"method":"fill","params":{"bytes":40000}`,
		`"method":"ordered","params":{"sleep":1,"say":1}`,
		`"method":"ask","params":{}`,
		`"method":"panic","params":{"say":1}`,
	}
	play(t, jsonrpc.Options{MaxInFlight: n}, jsonrpc.Dialect{}, func(s *scenario) {
		for i := range n {
			// No randomness is needed: the remainders meet in all combinations.
			k := (i*i + i/7) % len(kinds)
			s.stream.push(texts([]string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, i, kinds[k])})...)
			if i%97 == 0 {
				time.Sleep(3 * ms)
			}
		}
		said, answered := make(map[int]int), make(map[int]bool)
		for len(answered) < n {
			var f struct {
				ID     *int
				Method string
				Params struct{ By, For, N int }
			}
			if err := json.Unmarshal([]byte(s.next()), &f); err != nil {
				s.Fatalf("a broken frame: %v", err)
			}
			switch f.Method {
			case "question":
				send(result(strconv.Itoa(*f.ID), "{}"))(s)
			case "said":
				if said[f.Params.By] != f.Params.N || answered[f.Params.By] {
					s.Errorf("notification %d of %d came late, or early", f.Params.N, f.Params.By)
				}
				said[f.Params.By]++
			default:
				if answered[*f.ID] {
					s.Errorf("%d was answered twice", *f.ID)
				}
				answered[*f.ID] = true
			}
		}
	})
}

// Whatever is queued in whatever state of the connection is written within two
// milliseconds, though nothing more is read.
func TestConnForgetsNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	play(t, jsonrpc.Options{}, batches, func(s *scenario) {
		next, held := 0, []string(nil)
		for range 3000 {
			time.Sleep(time.Duration(random.IntN(40_000)) * time.Microsecond * time.Duration(random.IntN(2)))
			var in, out []string
			for range 1 + random.IntN(4) {
				next++
				id := strconv.Itoa(next)
				switch random.IntN(8) {
				case 0:
					in, out = append(in, call(id, "hold", `{"say":1,"key":"`+id+`"}`)), append(out, note(id, 0))
					held = append(held, id)
				case 1:
					in, out = append(in, call(id, "echo", `{"say":2}`)), append(out, note(id, 0), note(id, 1), done(id))
				case 2:
					in, out = append(in, call(id, "ordered", `{"say":1}`)), append(out, note(id, 0), done(id))
				case 3:
					in, out = append(in, `[`+echo(id)+`]`), append(out, `[`+done(id)+`]`)
				case 4:
					in = append(in, tell("x", "{}"))
				case 5:
					in, out = append(in, call(id, "refuse", "{}")), append(out, failure(id, -1, "no"))
				default:
					in, out = append(in, echo(id)), append(out, done(id))
				}
			}
			for len(held) > 0 && random.IntN(3) == 0 {
				s.handler.release(held[0])
				out = append(out, done(held[0]))
				held = held[1:]
			}
			send(in...)(s)
			within(2*ms, wantAll(out...))(s)
		}
		for _, id := range held {
			s.handler.release(id)
			want(done(id))(s)
		}
	})
}
