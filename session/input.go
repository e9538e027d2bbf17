package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// inputs is what a call asks of its client and what it knows of the answers. In
// the stateless era a call is a series of requests, of which each but the last
// is answered with what is still to be asked; what earlier ones have learnt
// travels in the sealed state.
type inputs struct {
	round int                           // of requests so far, this one not counted
	given map[string][]byte             // answers that came with this request, not checked yet
	known map[string][]byte             // answers of earlier requests
	used  map[string][]byte             // answers for the requests that follow: known, and what this run has asked for
	kept  map[string][]byte             // what the handler saved
	run   map[string]*registry.Question // questions of this run
	asked []*registry.Question          // those of them that have no answer
	fault error                         // what is wrong with an answer that came with this request
}

// maxAnswers is how many answers may come with one request.
const maxAnswers = 1000

// inputsLocked returns the inputs of the exchange, made at first use.
func (x *exchange) inputsLocked() *inputs {
	if x.inputs == nil {
		x.inputs = new(inputs)
	}
	return x.inputs
}

// Wants implements [registry.Asker].
func (x *exchange) Wants(level protocol.LogLevel) bool {
	return x.logLevel != protocol.LogNone && level >= x.logLevel
}

// Has implements [registry.Asker].
func (x *exchange) Has(a registry.Ability) bool { return x.abilities()&a == a }

// Load implements [registry.Asker].
func (x *exchange) Load(key string) ([]byte, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	raw, ok := x.inputsLocked().kept[key]
	return raw, ok
}

// Save implements [registry.Asker].
func (x *exchange) Save(key string, raw []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := jsonwire.Valid(raw, 0); err != nil {
		x.inputsLocked().fault = fmt.Errorf("what a handler keeps under %q is no JSON: %w", key, err)
		return
	}
	set(&x.inputsLocked().kept, key, raw)
}

func set(m *map[string][]byte, key string, raw []byte) {
	if *m == nil {
		*m = make(map[string][]byte)
	}
	(*m)[key] = raw
}

// Ask implements [registry.Asker].
func (x *exchange) Ask(ctx context.Context, q *registry.Question) ([]byte, error) {
	if x.Version.Stateless() {
		return x.askLater(q)
	}
	return x.askNow(ctx, q)
}

// askLater returns the answer to a question if it is there, or notes that it has
// to be asked.
func (x *exchange) askLater(q *registry.Question) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := x.inputsLocked()
	again, err := in.note(q)
	if err != nil {
		return nil, err
	}
	if raw, ok := in.given[q.Key]; ok {
		if err := q.Check(raw); err != nil {
			in.fault = invalidParams("inputResponses: the answer to %q: %v", q.Key, err)
			return nil, in.fault
		}
		set(&in.used, q.Key, raw)
		return raw, nil
	}
	// What another version of the program has accepted need not fit any more.
	if raw, ok := in.known[q.Key]; ok && q.Check(raw) == nil {
		return raw, nil
	}
	if !again {
		in.asked = append(in.asked, q)
	}
	return nil, registry.ErrInputRequired
}

// note notes that a question was put in this run, and reports whether it was
// before. One key cannot name two questions.
func (in *inputs) note(q *registry.Question) (again bool, err error) {
	switch before := in.run[q.Key]; {
	case before == nil:
	case before.Method != q.Method || !bytes.Equal(before.Params, q.Params):
		return false, fmt.Errorf("the key %q names two questions of one call", q.Key)
	default:
		return true, nil
	}
	if in.run == nil {
		in.run = make(map[string]*registry.Question)
	}
	in.run[q.Key] = q
	return false, nil
}

var (
	// errNotReady means that a client has not ended the handshake, before which
	// nothing may be asked of it: R2.8.
	errNotReady   = errors.New("it has not sent notifications/initialized yet")
	errAskTimeout = errors.New("the client did not answer in time")
)

// askNow sends a question to the client of a handshake session and waits for the
// answer, but not for longer than the call runs.
func (x *exchange) askNow(ctx context.Context, q *registry.Question) ([]byte, error) {
	if x.isDone() {
		return nil, errCallOver
	}
	if !x.session.isReady() {
		return nil, clientError(ctx, q, errNotReady)
	}
	within, cancel := context.WithTimeoutCause(ctx, x.server.askTimeout, errAskTimeout)
	defer cancel()
	within, end := context.WithCancelCause(within)
	defer context.AfterFunc(x.ctx, func() { end(context.Cause(x.ctx)) })()
	raw, err := x.peer.Call(within, q.Method, q.Params)
	if err != nil {
		x.takeBack(err)
		return nil, clientError(within, q, err)
	}
	if err := q.Check(raw); err != nil {
		return nil, registry.Failf("the client's answer to %s cannot be used: %v", q.Method, err)
	}
	return append([]byte(nil), raw...), nil
}

// isDone reports whether the handler has returned.
func (x *exchange) isDone() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.done
}

// takeBackTime is how long a client that does not read is waited for.
const takeBackTime = time.Second

// takeBack tells the client that an answer is not waited for any more.
func (x *exchange) takeBack(err error) {
	var gone *jsonrpc.CallError
	if !errors.As(err, &gone) {
		return
	}
	params := append([]byte(`{"requestId":`), gone.ID...)
	params = protocol.AppendText(params, "reason", gone.Cause.Error())
	// The call may be over because it was cancelled; the client is told all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), takeBackTime)
	defer cancel()
	send := x.peer.Send
	if p, ok := x.peer.(interface {
		TakeBack(context.Context, []byte) error
	}); ok { // a transport that sends nothing any more for a call that was cancelled
		send = p.TakeBack
	}
	_ = send(ctx, jsonrpc.AppendRequest(nil, "", protocol.NotifyCancelled, append(params, '}')))
}

// clientError turns the failure of a question into an error that a model can
// act on, unless the call itself is over.
func clientError(ctx context.Context, q *registry.Question, err error) error {
	var answer *jsonrpc.Error
	switch {
	case errors.As(err, &answer):
		return &registry.Failure{Text: fmt.Sprintf("the client refused %s: %s", q.Method, answer.Message), Err: err}
	case errors.Is(err, jsonrpc.ErrBadResponse):
		return &registry.Failure{Text: fmt.Sprintf("the client's answer to %s cannot be used: %v", q.Method, err), Err: err}
	case errors.Is(err, errAskTimeout):
		return &registry.Failure{Text: fmt.Sprintf("the client did not answer %s in time", q.Method), Err: err}
	case ctx.Err() != nil, errors.Is(err, jsonrpc.ErrClosed), errors.Is(err, jsonrpc.ErrShutdown):
		return err
	}
	return &registry.Failure{Text: fmt.Sprintf("the client cannot be asked %s now: %v", q.Method, err), Err: err}
}

// restore reads what a request of the stateless era brings of earlier ones.
func (x *exchange) restore(target string, args []byte) error {
	if !x.Version.Stateless() {
		return nil
	}
	responses, state := x.req.Params.Get("inputResponses"), x.req.Params.Get("requestState")
	if responses == nil && state == nil {
		return nil
	}
	in := new(inputs)
	x.inputs = in
	if state != nil {
		if state[0] != '"' {
			return invalidParams("requestState must be a string")
		}
		if err := x.openState(target, args, jsonwire.Unquote(state)); err != nil {
			return err
		}
	}
	if responses == nil {
		return nil
	}
	if responses[0] != '{' {
		return invalidParams("inputResponses must be an object with an answer for each key")
	}
	for o := jsonwire.Members(responses); ; {
		k, v, ok := o.Next()
		if !ok {
			return nil
		}
		if len(in.given) == maxAnswers {
			return invalidParams("inputResponses has more than %d answers", maxAnswers)
		}
		set(&in.given, jsonwire.Unquote(k), v)
	}
}

func (x *exchange) binding(target string, args []byte) binding {
	return binding{principal: x.Principal.ID, method: x.req.Method, target: target, args: digest(args)}
}

// openState reads a sealed state.
func (x *exchange) openState(target string, args []byte, text string) error {
	b := x.binding(target, args)
	plain, err := x.server.sealer.open(&b, text, time.Now())
	if err != nil {
		return stateError()
	}
	in := x.inputs
	in.round, err = strconv.Atoi(string(jsonwire.Lookup(plain, "round")))
	if err != nil {
		return stateError()
	}
	for name, m := range map[string]*map[string][]byte{"known": &in.known, "kept": &in.kept} {
		for o := jsonwire.Members(jsonwire.Lookup(plain, name)); ; {
			k, v, ok := o.Next()
			if !ok {
				break
			}
			set(m, jsonwire.Unquote(k), v)
		}
	}
	in.used = maps.Clone(in.known)
	return nil
}

// inputRequired appends the result that asks the client, and seals what this run
// has learnt.
func (x *exchange) inputRequired(dst []byte, target string, args []byte) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := x.inputsLocked()
	if in.fault != nil {
		return dst, in.fault // the handler has asked for more as well
	}
	if in.round >= x.server.maxRounds {
		return dst, invalidParams("the client was asked %d times for one call, which is the limit", in.round)
	}
	plain := strconv.AppendInt([]byte(`{"round":`), int64(in.round+1), 10)
	plain = appendRawMap(append(plain, `,"known":`...), in.used)
	plain = appendRawMap(append(plain, `,"kept":`...), in.kept)
	b := x.binding(target, args)
	state, err := x.server.sealer.seal(&b, append(plain, '}'), time.Now())
	if err != nil { // the client's doing, or the handler's
		x.server.log.WarnContext(x.ctx, "a call cannot ask its client", "method", x.req.Method, "error", err)
		return dst, invalidParams("%v", err)
	}
	dst = append(dst, `{"resultType":"input_required"`...)
	if len(in.asked) > 0 {
		dst = append(dst, `,"inputRequests":{`...)
		for i, q := range in.asked {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendQuestion(dst, q)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `,"requestState":`...)
	dst = jsonwire.AppendQuote(dst, state)
	return x.close(dst, nil), nil
}

func appendQuestion(dst []byte, q *registry.Question) []byte {
	dst = jsonwire.AppendQuote(dst, q.Key)
	dst = append(dst, `:{"method":`...)
	dst = jsonwire.AppendQuote(dst, q.Method)
	dst = append(dst, `,"params":`...)
	return append(append(dst, q.Params...), '}')
}

// appendRawMap appends a map of raw values as an object, in the order of keys.
func appendRawMap(dst []byte, m map[string][]byte) []byte {
	dst = append(dst, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuote(dst, k), ':')
		dst = jsonwire.AppendLine(dst, m[k])
	}
	return append(dst, '}')
}
