package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/session"
	"cloudg.dev/cloudg/transport"
	"github.com/google/go-cmp/cmp"
)

// notification is a message of a server, as far as these tests look at it.
type notification struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProgressToken json.RawMessage
		Progress      float64
		RequestID     json.RawMessage `json:"requestId"`
	}
	Result struct {
		Content       []struct{ Text string }
		ResultType    string
		RequestState  string
		InputRequests json.RawMessage
	}
	Error *wireError
}

func (n *notification) text() string {
	if len(n.Result.Content) == 0 {
		return ""
	}
	return n.Result.Content[0].Text
}

// order checks that the progress of calls grows and never comes behind their
// answer. The token of a call is its id.
type order struct {
	mu       sync.Mutex // guards the fields below
	progress map[string]float64
	answered map[string]bool
	reports  int
	faults   []string
}

func newOrder() *order {
	return &order{progress: make(map[string]float64), answered: make(map[string]bool)}
}

// see takes a message.
func (o *order) see(raw []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var n notification
	if err := json.Unmarshal(raw, &n); err != nil {
		o.faultLocked("%v in %.200s", err, raw)
		return
	}
	switch token := string(n.Params.ProgressToken); {
	case n.Method == "notifications/progress" && o.answered[token]:
		o.faultLocked("progress behind the answer: %.200s", raw)
	case n.Method == "notifications/progress" && n.Params.Progress <= o.progress[token]:
		o.faultLocked("progress does not grow: %.200s", raw)
	case n.Method == "notifications/progress":
		o.progress[token] = n.Params.Progress
		o.reports++
	case n.Method == "" && o.answered[string(n.ID)]:
		o.faultLocked("a second answer: %.200s", raw)
	case n.Method == "":
		o.answered[string(n.ID)] = true
	}
}

func (o *order) faultLocked(format string, args ...any) {
	if len(o.faults) < 10 {
		o.faults = append(o.faults, fmt.Sprintf(format, args...))
	}
}

// answers returns how many calls were answered.
func (o *order) answers() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.answered)
}

// report reports what was wrong, and that there was something to look at.
func (o *order) report(t *testing.T, calls int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, fault := range o.faults {
		t.Error(fault)
	}
	if o.reports < calls {
		t.Errorf("%d calls made %d reports of progress", calls, o.reports)
	}
}

// chatterCall is a call that reports progress under its own id.
func chatterCall(version string, id int) string {
	if version == stateless {
		return strings.Replace(modern(fmt.Sprint(id), "tools/call", `"name":"chatter"`), `"_meta":{`, fmt.Sprintf(`"_meta":{"progressToken":%d,`, id), 1)
	}
	return request(fmt.Sprint(id), "tools/call", fmt.Sprintf(`"name":"chatter","_meta":{"progressToken":%d}`, id))
}

// A thousand calls at one time, each of which leaves something behind that goes
// on reporting: no report comes behind the answer of its call.
func TestA24ProgressOfManyCalls(t *testing.T) {
	const calls = 1000
	for _, version := range []string{newest, stateless} {
		t.Run("lines "+version, func(t *testing.T) {
			p, o := newInProcess(t, session.Options{}), newOrder()
			c := p.lines(jsonrpc.Options{}, o.see)
			c.send(strings.Replace(initialize(newest), `"i"`, "0", 1))
			c.send(initialized)
			for id := range calls {
				c.send(chatterCall(version, id+1))
			}
			eventually(t, "all calls are answered", func() bool { return o.answers() == calls+1 })
			p.left.Wait()
			c.close()
			o.report(t, calls)
		})
		t.Run("HTTP "+version, func(t *testing.T) {
			p, o := newInProcess(t, session.Options{}), newOrder()
			s := p.site(transport.HTTPOptions{MaxCalls: calls})
			id := ""
			if version == newest {
				id = s.open(`{}`)
			}
			var posts sync.WaitGroup
			for i := range calls {
				posts.Go(func() {
					resp, err := s.post(context.Background(), id, chatterCall(version, i+1))
					if err != nil {
						t.Error(err)
						return
					}
					if err := messages(resp, func(raw []byte) bool { o.see(raw); return true }); err != nil {
						t.Error(err)
					}
				})
			}
			posts.Wait()
			p.left.Wait()
			if got := o.answers(); got != calls {
				t.Errorf("%d calls are answered, want %d", got, calls)
			}
			o.report(t, calls)
		})
	}
}

// soakCalls is how many calls a soak makes in all.
func soakCalls() int {
	if testing.Short() {
		return 2000
	}
	return 20_000
}

// soakCall returns a call and how long it may be cancelled after its start at
// random. Some calls work for a moment, some until they are cancelled, some ask
// the client, who never answers.
func soakCall(rnd *rand.Rand, version string, id int) (call string, after time.Duration) {
	const longest = 1500 // microseconds
	tool, args := "linger", fmt.Sprintf(`{"us":%d}`, rnd.IntN(longest))
	switch rnd.IntN(8) {
	case 0:
		tool = "hold"
	case 1:
		tool = "ask"
	}
	token := fmt.Sprintf(`"_meta":{"progressToken":%d`, id)
	if version == stateless {
		call = strings.Replace(modern(fmt.Sprint(id), "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args)), `"_meta":{`, token+",", 1)
	} else {
		call = request(fmt.Sprint(id), "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s,%s}`, tool, args, token))
	}
	return call, time.Duration(rnd.IntN(longest)) * time.Microsecond
}

func cancelLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// workers calls f for all numbers up to n, in several goroutines, each with a
// source of chance of its own.
func workers(n int, f func(rnd *rand.Rand, i int)) {
	const parallel = 64
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range parallel {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				f(rnd, i)
			}
		})
	}
	all.Wait()
}

const canElicit = `{"elicitation":{}}`

// Calls that are cancelled at random moments leave nothing behind: no goroutine,
// no request in flight, no question that waits, no handler.
func TestCancellationSoak(t *testing.T) {
	t.Run("lines", func(t *testing.T) {
		before := runtime.NumGoroutine()
		p, o := newInProcess(t, session.Options{}), newOrder()
		var asked, takenBack atomic.Int64
		c := p.lines(jsonrpc.Options{}, func(line []byte) {
			var n notification
			switch err := json.Unmarshal(line, &n); {
			case err != nil:
				t.Errorf("%v in %s", err, line)
			case n.Method == "elicitation/create":
				asked.Add(1)
			case n.Method == "notifications/cancelled":
				takenBack.Add(1)
			default:
				o.see(line)
			}
		})
		c.send(strings.Replace(strings.Replace(initialize(newest), `"capabilities":{}`, `"capabilities":`+canElicit, 1), `"i"`, "0", 1))
		c.send(initialized)
		workers(soakCalls(), func(rnd *rand.Rand, i int) {
			call, after := soakCall(rnd, []string{newest, stateless}[i%2], i)
			c.send(call)
			if rnd.IntN(4) > 0 {
				<-time.After(after)
			}
			c.send(cancelLine(i))
		})
		eventually(t, "no request is in flight", func() bool { return c.conn.InFlight() == 0 && p.running.Load() == 0 })
		c.close()
		if n := c.conn.InFlight(); n != 0 {
			t.Errorf("%d requests are in flight", n)
		}
		if asked.Load() == 0 || asked.Load() != takenBack.Load() {
			t.Errorf("%d questions were asked, and %d taken back", asked.Load(), takenBack.Load())
		}
		o.report(t, soakCalls()/10) // most calls get as far as to report
		goroutinesBack(t, before)
	})
	for _, version := range []string{newest, stateless} {
		t.Run("HTTP "+version, func(t *testing.T) { soakHTTP(t, version) })
	}
}

func soakHTTP(t *testing.T, version string) {
	before := runtime.NumGoroutine()
	const slots = 100
	p := newInProcess(t, session.Options{})
	s := p.site(transport.HTTPOptions{MaxCalls: slots})
	id := ""
	if version == newest {
		id = s.open(canElicit)
	}
	var answered atomic.Int64
	workers(soakCalls()/2, func(rnd *rand.Rand, i int) {
		call, after := soakCall(rnd, version, i)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan struct{})
		go func() { // the worker waits for it
			defer close(done)
			resp, err := s.post(ctx, id, call)
			if err == nil {
				o := newOrder() // of this call
				err = messages(resp, func(raw []byte) bool { o.see(raw); return true })
				o.report(t, 0)
				answered.Add(int64(o.answers()))
			}
			if err != nil && version == newest {
				t.Errorf("the answer to a call breaks off: %v", err)
			}
		}()
		if rnd.IntN(4) > 0 {
			<-time.After(after)
		}
		if version == stateless {
			cancel()
			<-done
			return
		}
		// The cancellation travels by itself, so it may come before its call;
		// then it is for nothing, and the client says it again.
		for again := time.NewTicker(20 * time.Millisecond); ; {
			if status := s.deliver(id, cancelLine(i)); status != http.StatusAccepted {
				t.Errorf("cancelling: status %d", status)
			}
			select {
			case <-done:
				again.Stop()
				return
			case <-again.C:
			}
		}
	})
	if n := answered.Load(); n == 0 || n == int64(soakCalls()/2) {
		t.Errorf("%d of %d calls were answered, so that nothing was cancelled, or everything", n, soakCalls()/2)
	}
	eventually(t, "no handler runs and no session is in use", func() bool { return p.running.Load() == 0 && s.store.Stats().InUse == 0 })
	if version == newest {
		allSlotsAreFree(t, s, id, slots)
	}
	s.stop()
	goroutinesBack(t, before)
}

// allSlotsAreFree makes as many calls as a session may have in flight.
func allSlotsAreFree(t *testing.T, s *site, id string, slots int) {
	t.Helper()
	var posts sync.WaitGroup
	for i := range slots {
		posts.Go(func() {
			resp, err := s.post(context.Background(), id, request(fmt.Sprint(i), "tools/call", `"name":"hold"`))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode >= 400 {
				t.Errorf("call %d: %s", i, resp.Status)
			}
			if err := messages(resp, func([]byte) bool { return true }); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all slots are taken", func() bool { return s.running.Load() == int64(slots) })
	for i := range slots {
		s.deliver(id, cancelLine(i))
	}
	posts.Wait()
}

// A client of the stateless era that leaves has cancelled; one with a session
// has not, and its call goes on until it says so.
func TestA23DisconnectIsCancel(t *testing.T) {
	for _, version := range []string{newest, stateless} {
		t.Run(version, func(t *testing.T) {
			before := runtime.NumGoroutine()
			p := newInProcess(t, session.Options{})
			s := p.site(transport.HTTPOptions{})
			id := ""
			call := strings.Replace(modern("1", "tools/call", `"name":"hold"`), `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
			if version == newest {
				id = s.open(`{}`)
				call = request("1", "tools/call", `"name":"hold","_meta":{"progressToken":1}`)
			}
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			resp, err := s.post(ctx, id, call)
			if err != nil {
				t.Fatal(err)
			}
			if err := messages(resp, func([]byte) bool { return false }); err != nil { // until it works
				t.Fatal(err)
			}
			leave()
			if version == newest {
				if status := s.deliver(id, request("2", "ping", "")); status != http.StatusOK {
					t.Errorf("ping: status %d", status)
				}
				if n := p.running.Load(); n != 1 {
					t.Errorf("%d handlers run after the client has left, want 1", n)
				}
				s.deliver(id, cancelLine(1))
			}
			eventually(t, "the handler has returned", func() bool { return p.running.Load() == 0 && s.store.Stats().InUse == 0 })
			s.stop()
			goroutinesBack(t, before)
		})
	}
}

// A question travels in the stream of the call that it serves, and its answer in
// a POST of its own.
func TestElicitationOverHTTP(t *testing.T) {
	s := newInProcess(t, session.Options{}).site(transport.HTTPOptions{})
	id := s.open(canElicit)
	tests := []struct{ name, in, want string }{
		{"accept", `"result":{"action":"accept","content":{"name":"Ada"}}`, "accept Ada"},
		{"decline", `"result":{"action":"decline"}`, "decline "},
		{"cancel", `"result":{"action":"cancel"}`, "cancel "},
		{"refusal", `"error":{"code":-1,"message":"no user"}`, "the client refused elicitation/create: no user"},
		{"malformed", `"result":{"action":"accept"}`, `the client's answer to elicitation/create cannot be used: an accepted form needs "content", an object`},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := s.post(context.Background(), id, request(fmt.Sprint(i), "tools/call", `"name":"ask"`))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = messages(resp, func(raw []byte) bool {
				n := decode[notification](t, raw)
				if n.Method != "" {
					got = append(got, n.Method)
					if status := s.deliver(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, n.ID, tt.in)); status != http.StatusAccepted {
						t.Errorf("the answer was met with status %d", status)
					}
					return true
				}
				got = append(got, n.text())
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"elicitation/create", tt.want}, got); diff != "" {
				t.Errorf("what comes (-want +got):\n%s", diff)
			}
		})
	}
}

// A call that is cancelled while it waits for its client is over at once, and
// the stream ends without an answer, also when the client answers after all.
func TestCancelWhileAskingOverHTTP(t *testing.T) {
	p := newInProcess(t, session.Options{})
	s := p.site(transport.HTTPOptions{})
	id := s.open(canElicit)
	resp, err := s.post(context.Background(), id, request("1", "tools/call", `"name":"ask"`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = messages(resp, func(raw []byte) bool {
		n := decode[notification](t, raw)
		got = append(got, n.Method)
		s.deliver(id, cancelLine(1))
		eventually(t, "the handler has returned", func() bool { return p.running.Load() == 0 })
		if status := s.deliver(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"cancel"}}`, n.ID)); status != http.StatusAccepted {
			t.Errorf("the late answer was met with status %d", status)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"elicitation/create"}, got); diff != "" {
		t.Errorf("what comes (-want +got):\n%s", diff)
	}
}

// withElicitation is a call of the stateless era by a client that can ask.
func withElicitation(id, more string) string {
	return strings.Replace(modern(id, "tools/call", `"name":"ask"`+more), `clientCapabilities":{}`, `clientCapabilities":`+canElicit, 1)
}

// A98, our side of it: a client of the stateless era needs no session and gets
// none, whatever it sends, and the retry of a call may land on another process
// with the same state key.
func TestA98RetryOnAnotherServer(t *testing.T) {
	key := session.Options{StateKeys: [][]byte{[]byte("sixteen bytes or more")}}
	first, second := newInProcess(t, key).site(transport.HTTPOptions{}), newInProcess(t, key).site(transport.HTTPOptions{})
	stranger := newInProcess(t, session.Options{}).site(transport.HTTPOptions{})
	answer := func(s *site, call string) notification {
		t.Helper()
		resp, err := s.post(context.Background(), "", call)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Values("Mcp-Session-Id"); len(got) > 0 {
			t.Errorf("the answer names the session %q", got)
		}
		var n notification
		if err := messages(resp, func(raw []byte) bool { n = decode[notification](t, raw); return true }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	asked := answer(first, withElicitation("1", ""))
	if asked.Result.ResultType != "input_required" || asked.Result.RequestState == "" {
		t.Fatalf("the first answer is %+v", asked)
	}
	retry := withElicitation("2", fmt.Sprintf(`,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},"requestState":%q`, asked.Result.RequestState))
	if got := answer(second, retry); got.text() != "accept Ada" {
		t.Errorf("on the second server the retry comes to %+v", got)
	}
	if got := answer(stranger, retry); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("on a server with another key the retry comes to %+v", got)
	}
	if n := first.store.Stats().Sessions + second.store.Stats().Sessions; n != 0 {
		t.Errorf("there are %d sessions", n)
	}
}

// What the client must declare is told with the status that the stateless era
// has for that.
func TestMissingAbilityOverHTTP(t *testing.T) {
	s := newInProcess(t, session.Options{}).site(transport.HTTPOptions{})
	resp, err := s.post(context.Background(), "", modern("1", "tools/call", `"name":"ask"`))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := messages(resp, func(raw []byte) bool { got = string(raw); return true }); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"The client must declare elicitation.form for this","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`
	if diff := cmp.Diff(want, got); diff != "" || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d (-want +got):\n%s", resp.StatusCode, diff)
	}
}

// A client that does not answer in time is told so in the stream of the call.
func TestAskTimeoutOverHTTP(t *testing.T) {
	s := newInProcess(t, session.Options{AskTimeout: 20 * time.Millisecond}).site(transport.HTTPOptions{})
	resp, err := s.post(context.Background(), s.open(canElicit), request("1", "tools/call", `"name":"ask"`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	question := ""
	err = messages(resp, func(raw []byte) bool {
		n := decode[notification](t, raw)
		switch n.Method {
		case "elicitation/create":
			question = string(n.ID)
		case "notifications/cancelled":
			if string(n.Params.RequestID) != question {
				t.Errorf("request %s is taken back, want %s", n.Params.RequestID, question)
			}
		}
		got = append(got, n.Method+n.text())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"elicitation/create", "notifications/cancelled", "the client did not answer elicitation/create in time"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what comes (-want +got):\n%s", diff)
	}
}

// A client that has no stream cannot be asked, and the model learns it.
func TestAskWithoutAStream(t *testing.T) {
	s := newInProcess(t, session.Options{}).site(transport.HTTPOptions{JSONResponse: true})
	resp, err := s.post(context.Background(), s.open(canElicit), request("1", "tools/call", `"name":"ask"`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if err := messages(resp, func(raw []byte) bool { n := decode[notification](t, raw); got = n.text(); return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("the client cannot be asked elicitation/create now: the client has no stream open", got); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
}

// A stream cannot be resumed behind an event that nobody knows: the answer is a
// sentence with status 400, and the session goes on.
func TestA31UnknownLastEventID(t *testing.T) {
	s := newInProcess(t, session.Options{}).site(transport.HTTPOptions{})
	id := s.open(`{}`)
	for _, last := range []string{"does-not-exist", "abc_1", "_", "0", "-1", "abc_-1", "abc_99999999999999999999", strings.Repeat("x", 5000)} {
		req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:1/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Accept": "text/event-stream", "Mcp-Session-Id": id, "Mcp-Protocol-Version": newest, "Last-Event-Id": last} {
			req.Header.Set(name, value)
		}
		resp, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		says := ""
		if err := messages(resp, func(raw []byte) bool { says = string(raw); return true }); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(says, "Last-Event-ID") {
			t.Errorf("%.30q: status %d: %s", last, resp.StatusCode, says)
		}
	}
	if status := s.deliver(id, request("1", "ping", "")); status != http.StatusOK {
		t.Errorf("ping: status %d", status)
	}
}
