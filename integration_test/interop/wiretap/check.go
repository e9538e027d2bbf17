package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// graceMilliseconds is how long after a cancellation progress may still arrive:
// it crosses the cancellation on the way.
const graceMilliseconds = 250

// Keys in _meta that tell the era of a request and of its result.
const (
	metaVersion    = "io.modelcontextprotocol/protocolVersion"
	metaServerInfo = "io.modelcontextprotocol/serverInfo"
)

// checkFolder judges the transcripts of one client run. Besides what is wrong
// in one of them it reports what no client may skip.
func checkFolder(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var findings []string
	var seen coverage
	for _, file := range files {
		events, err := readTranscript(file)
		if err != nil {
			return nil, err
		}
		c := newChecker(&seen)
		for _, e := range events {
			c.event(e)
		}
		c.end()
		findings = append(findings, c.findings...)
	}
	return append(findings, seen.missing()...), nil
}

func readTranscript(name string) ([]event, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	events, err := decodeEvents(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return events, nil
}

func decodeEvents(r io.Reader) ([]event, error) {
	var events []event
	for decoder := json.NewDecoder(r); ; {
		var e event
		switch err := decoder.Decode(&e); {
		case errors.Is(err, io.EOF):
			return events, nil
		case err != nil:
			return nil, err
		}
		events = append(events, e)
	}
}

// coverage is what a client run must show on the wire, whatever its SDK reports.
type coverage struct {
	answer, nextPage, progress, cancel bool
	elicit, sample, roots              bool // the server asked the client

	servers int  // behind one address
	moved   bool // a state came back to another server than the one it is from
}

func (c coverage) missing() []string {
	var findings []string
	for _, part := range []struct {
		seen bool
		what string
	}{
		{c.answer, "no answer was seen"},
		{c.nextPage, "no list request had a cursor"},
		{c.progress, "no answered request had five progress notifications"},
		{c.cancel, "no request was cancelled"},
		{c.elicit, "the user was never asked"},
		{c.sample, "the model was never asked"},
		{c.roots, "the roots were never asked for"},
		{c.servers < 2 || c.moved, "no retry went to another server"},
	} {
		if !part.seen {
			findings = append(findings, part.what)
		}
	}
	return findings
}

// request is a request of the client that waits for its answer.
type request struct {
	method       string
	modern       bool
	token        string // raw progress token, empty for none
	progress     []float64
	cancelled    bool
	cancelledAt  int64
	cancellation string // its frame, for findings
}

// checker follows one conversation.
type checker struct {
	seen      *coverage
	open      map[string]*request // by raw id
	states    map[string]int      // the server that each state is from
	handshake bool
	exits     []int
	findings  []string
}

func newChecker(seen *coverage) *checker {
	return &checker{seen: seen, open: make(map[string]*request), states: make(map[string]int)}
}

func (c *checker) report(frame, format string, args ...any) {
	const limit = 400 // of a frame that is quoted
	if len(frame) > limit {
		frame = frame[:limit] + "..."
	}
	c.findings = append(c.findings, fmt.Sprintf(format, args...)+": "+frame)
}

func (c *checker) event(e event) {
	c.seen.servers = max(c.seen.servers, e.Server)
	switch {
	case e.Exit != nil:
		c.exits = append(c.exits, *e.Exit)
	case e.Fault != "":
		c.findings = append(c.findings, e.Fault)
	case e.Gone != "":
		c.gone(e)
	case e.From == fromClient:
		c.clientFrame(e)
	default:
		c.serverFrame(e)
	}
}

func (c *checker) end() {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		if r := c.open[id]; !r.cancelled {
			c.report(r.method, "request %s was never answered", id)
		}
	}
	if len(c.exits) == 0 {
		c.findings = append(c.findings, "the server had to be killed")
	}
	for _, code := range c.exits {
		if code != 0 {
			c.findings = append(c.findings, fmt.Sprintf("the server exited with %d, want 0", code))
		}
	}
}

type object = map[string]json.RawMessage

// member returns the object under a key, or nil.
func member(o object, key string) object {
	var inner object
	_ = json.Unmarshal(o[key], &inner) // anything else has no members
	return inner
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

// clientFrame notes what the client asked for; judging clients is not our business.
func (c *checker) clientFrame(e event) {
	var message object
	if json.Unmarshal([]byte(e.Frame), &message) != nil {
		return
	}
	method, params := text(message["method"]), member(message, "params")
	meta := member(params, "_meta")
	switch {
	case method == "notifications/cancelled":
		c.cancel(string(params["requestId"]), e.Milliseconds, e.Frame)
	case method != "" && message["id"] != nil:
		c.handshake = c.handshake || method == "initialize"
		c.seen.nextPage = c.seen.nextPage || params["cursor"] != nil
		from, known := c.states[text(params["requestState"])]
		c.seen.moved = c.seen.moved || known && from != e.Server
		c.open[string(message["id"])] = &request{
			method: method,
			modern: meta[metaVersion] != nil,
			token:  string(meta["progressToken"]),
		}
	}
}

func (c *checker) cancel(id string, at int64, how string) {
	if r := c.open[id]; r != nil && !r.cancelled {
		r.cancelled, r.cancelledAt, r.cancellation = true, at, how
		c.seen.cancel = true
	}
}

// gone takes a closed connection for a cancellation, which it is in the
// stateless era only.
func (c *checker) gone(e event) {
	if r := c.open[e.Gone]; r != nil && r.modern {
		c.cancel(e.Gone, e.Milliseconds, "the client closed the connection of request "+e.Gone)
	}
}

func (c *checker) serverFrame(e event) {
	var message object
	if e.Broken != "" {
		c.report(e.Frame, "a line of the server %s", e.Broken)
	}
	if json.Unmarshal([]byte(e.Frame), &message) != nil || message == nil {
		c.report(e.Frame, "a line of the server is not a JSON object")
		return
	}
	if text(message["jsonrpc"]) != "2.0" {
		c.report(e.Frame, "a message of the server is not JSON-RPC 2.0")
	}
	c.asked(message)
	switch method := text(message["method"]); {
	case method == "":
		c.answer(e, message)
	case message["id"] != nil && !c.handshake:
		c.report(e.Frame, "the server sent a request in the stateless era")
	case method == "notifications/progress":
		c.progress(e, member(message, "params"))
	}
}

// asked notes what the server asks the client, as its era has it.
func (c *checker) asked(message object) {
	questions := []object{message}
	for key := range member(member(message, "result"), "inputRequests") {
		questions = append(questions, member(member(member(message, "result"), "inputRequests"), key))
	}
	for _, question := range questions {
		switch text(question["method"]) {
		case "elicitation/create":
			c.seen.elicit = true
		case "sampling/createMessage":
			c.seen.sample = true
		case "roots/list":
			c.seen.roots = true
		}
	}
}

func (c *checker) answer(e event, message object) {
	id := string(message["id"])
	r := c.open[id]
	if r == nil {
		c.report(e.Frame, "the answer to %q fits no open request", id)
		return
	}
	delete(c.open, id)
	c.seen.answer = true
	c.seen.progress = c.seen.progress || len(r.progress) == 5
	if r.cancelled {
		c.report(e.Frame, "a cancelled request was answered")
	}
	if (message["result"] == nil) == (message["error"] == nil) {
		c.report(e.Frame, "an answer needs exactly one of result and error")
	}
	if message["result"] != nil {
		c.result(e, r, member(message, "result"))
	}
}

// result reports a result that does not belong to the era of its request.
func (c *checker) result(e event, r *request, result object) {
	if state := text(result["requestState"]); state != "" {
		c.states[state] = e.Server
	}
	if r.modern {
		if result["resultType"] == nil {
			c.report(e.Frame, "a result of the stateless era has no resultType")
		}
		return
	}
	for _, key := range []string{"resultType", "ttlMs", "cacheScope"} {
		if result[key] != nil {
			c.report(e.Frame, "a result of the handshake era has %s", key)
		}
	}
	if member(result, "_meta")[metaServerInfo] != nil {
		c.report(e.Frame, "a result of the handshake era has %s", metaServerInfo)
	}
}

func (c *checker) progress(e event, params object) {
	token := string(params["progressToken"])
	var r *request
	for _, candidate := range c.open {
		if candidate.token != "" && candidate.token == token {
			r = candidate
		}
	}
	if r == nil {
		c.report(e.Frame, "the progress fits no open request")
		return
	}
	if r.cancelled && e.Milliseconds > r.cancelledAt+graceMilliseconds {
		c.report(e.Frame, "progress %d ms after %s", e.Milliseconds-r.cancelledAt, r.cancellation)
	}
	var value float64
	if err := json.Unmarshal(params["progress"], &value); err != nil {
		c.report(e.Frame, "the progress is not a number")
		return
	}
	if n := len(r.progress); n > 0 && value <= r.progress[n-1] {
		c.report(e.Frame, "the progress does not increase after %v", r.progress[n-1])
	}
	r.progress = append(r.progress, value)
}
