package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudg.dev/cloudg/jsonrpc"
)

// actor is a handler whose methods do what a test wants to happen.
type actor struct {
	dialect jsonrpc.Dialect

	mu       sync.Mutex // guards the fields below
	events   []string
	released map[string]chan struct{}
	peer     jsonrpc.Peer // of the latest call
	drained  int
}

// release lets the calls go on that hold the key, and those that will.
func (a *actor) release(key string) { close(a.gate(key)) }

func (a *actor) gate(key string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.released == nil {
		a.released = make(map[string]chan struct{})
	}
	if a.released[key] == nil {
		a.released[key] = make(chan struct{})
	}
	return a.released[key]
}

// note records an event.
func (a *actor) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, fmt.Sprintf(format, args...))
}

// noted returns what was recorded, once.
func (a *actor) noted() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	events := a.events
	a.events = nil
	return events
}

func (a *actor) lastPeer() jsonrpc.Peer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peer
}

// args are the params of all methods.
type args struct {
	Key   string
	ID    json.RawMessage
	Sleep int // milliseconds
	Say   int // notifications to send
	Bytes int // of filling in each frame that is sent
}

func parseArgs(req *jsonrpc.Request) (a args) {
	if req.Params.Raw != nil {
		if err := json.Unmarshal(req.Params.Raw, &a); err != nil {
			panic(err)
		}
	}
	return a
}

func (a *actor) Dialect() jsonrpc.Dialect { return a.dialect }

func (a *actor) Drain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drained++
}

// Notify knows "cancel", which cancels what id says, and "panic". It records
// all others.
func (a *actor) Notify(_ context.Context, n *jsonrpc.Request, peer jsonrpc.Peer) {
	switch n.Method {
	case "cancel":
		id, _ := jsonrpc.ParseID(n.Params.Get("id"), jsonrpc.DefaultMaxID)
		a.cancel(id, peer)
	case "panic":
		panic("boom")
	default:
		a.note("%s %s", n.Method, n.Params.Raw)
	}
}

// cancel cancels a request, and records that before the request can record
// anything.
func (a *actor) cancel(id jsonrpc.ID, peer jsonrpc.Peer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, fmt.Sprintf("cancel %s: %v", id, peer.Cancel(id, jsonrpc.ErrCancelled)))
}

// Handle does in this order what the params ask for: it sends notifications,
// sleeps, and holds until the key is released. Then it does what the method
// says.
func (a *actor) Handle(ctx context.Context, req *jsonrpc.Request, peer jsonrpc.Peer, dst []byte) ([]byte, error) {
	a.mu.Lock()
	a.peer = peer
	a.mu.Unlock()
	p := parseArgs(req)
	for i := range p.Say {
		if err := peer.Send(ctx, said(string(req.ID), i, p.Bytes)); err != nil {
			a.note("%s: send: %v", req.ID, err)
			return dst, err
		}
	}
	if err := a.wait(ctx, req, p); err != nil {
		return append(dst, `{"half":`...), err
	}
	switch req.Method {
	case "panic":
		_ = append(dst, `{"half":`...) // into the room of the buffer
		panic("boom")
	case "fail":
		return append(dst, `{"half":`...), errors.New("the disk is on fire")
	case "refuse":
		return append(dst, `{"half":`...), &jsonrpc.Error{Code: -1, Message: "no"}
	case "ask":
		result, err := peer.Call(ctx, "question", []byte(`{"for":`+string(req.ID)+`}`))
		return a.asked(req, dst, result, err)
	case "fill late": // answers when its time is over
		ctx.(interface {
			Limit(time.Duration, error) bool
		}).Limit(time.Millisecond, errors.New("too late"))
		time.Sleep(time.Second)
		return fill(append(dst, `{"fill":"`...), p.Bytes), nil
	case "fill":
		return fill(append(dst, `{"fill":"`...), p.Bytes), nil
	case "linger":
		go func() { // ends with the request
			<-ctx.Done()
			err := peer.Send(ctx, said(string(req.ID), 0, 0))
			a.note("%s: send: %v", req.ID, err)
		}()
	case "say late":
		err := peer.Send(ctx, said(string(req.ID), 0, 0))
		a.note("%s: send: %v", req.ID, err)
	}
	return append(dst, `{}`...), nil
}

// wait sleeps and holds. Only the method "deaf" ignores its context.
func (a *actor) wait(ctx context.Context, req *jsonrpc.Request, p args) error {
	done := ctx.Done()
	if req.Method == "deaf" || req.Method == "say late" {
		done = nil
	}
	going := true
	if p.Sleep > 0 {
		timer := time.NewTimer(time.Duration(p.Sleep) * time.Millisecond)
		defer timer.Stop()
		going = awaited(timer.C, done)
	}
	if going && p.Key != "" {
		going = awaited(a.gate(p.Key), done)
	}
	if !going {
		a.note("%s: %v", req.ID, context.Cause(ctx))
		return context.Cause(ctx)
	}
	return nil
}

// awaited waits for c. It reports false if done came first.
func awaited[T any](c <-chan T, done <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-done:
		return false
	}
}

func (a *actor) asked(req *jsonrpc.Request, dst, result []byte, err error) ([]byte, error) {
	var refused *jsonrpc.Error
	var given *jsonrpc.CallError
	switch {
	case errors.As(err, &refused):
		return dst, refused
	case errors.As(err, &given):
		a.note("%s: gave up %s: %v", req.ID, given.ID, given.Cause)
		return dst, given.Cause
	case err != nil:
		a.note("%s: call: %v", req.ID, err)
		return append(dst, `{"failed":true}`...), nil
	}
	return append(append(append(dst, `{"answer":`...), result...), '}'), nil
}

// said is the i-th notification that a request sends.
func said(id string, i, bytes int) []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"said","params":{"by":` + id + `,"n":` + strconv.Itoa(i))
	if bytes > 0 {
		b = append(b, `,"fill":"`...)
		return append(fill(b, bytes), '}')
	}
	return append(b, `}}`...)
}

func fill(dst []byte, n int) []byte {
	return append(append(dst, strings.Repeat("x", n)...), `"}`...)
}
