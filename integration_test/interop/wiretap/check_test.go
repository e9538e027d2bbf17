package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Frames of a flawless conversation.
const (
	initialize   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	call         = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}`
	modernCall   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	cancel       = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	modernAnswer = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`
	answer       = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func progress(value string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":` + value + `}}`
}

func client(frame string) event { return event{From: fromClient, Frame: frame} }
func server(frame string) event { return event{From: fromServer, Frame: frame} }

func exit(code int) event { return event{From: fromServer, Exit: &code} }

func later(milliseconds int64, e event) event {
	e.Milliseconds = milliseconds
	return e
}

func behind(server int, e event) event {
	e.Server = server
	return e
}

func TestChecker(t *testing.T) {
	tests := []struct {
		name string
		in   []event
		want []string // beginnings of the findings
	}{
		{"answered", []event{client(call), server(progress("1")), server(progress("2")), server(answer), exit(0)}, nil},
		{"refused", []event{client(modernCall), server(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}`), exit(0)}, nil},
		{"cancelled", []event{client(call), client(cancel), later(graceMilliseconds, server(progress("1"))), exit(0)}, nil},
		{"server request in a session", []event{client(initialize), server(`{"jsonrpc":"2.0","id":0,"result":{}}`), server(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), exit(0)}, nil},
		{"not JSON", []event{server(`ready`), exit(0)}, []string{"a line of the server is not a JSON object: ready"}},
		{"null", []event{server(`null`), exit(0)}, []string{"a line of the server is not a JSON object: null"}},
		{"carriage return", []event{client(call), {From: fromServer, Frame: answer + "\r", Broken: "ends with a carriage return"}, exit(0)}, []string{"a line of the server ends with a carriage return"}},
		{"version missing", []event{client(call), server(`{"id":1,"result":{}}`), exit(0)}, []string{"a message of the server is not JSON-RPC 2.0"}},
		{"id of another type", []event{client(call), server(`{"jsonrpc":"2.0","id":"1","result":{}}`), exit(0)}, []string{`the answer to "\"1\"" fits no open request`, "request 1 was never answered: tools/call"}},
		{"answered twice", []event{client(call), server(answer), server(answer), exit(0)}, []string{`the answer to "1" fits no open request`}},
		{"neither result nor error", []event{client(call), server(`{"jsonrpc":"2.0","id":1}`), exit(0)}, []string{"an answer needs exactly one of result and error"}},
		{"answered although cancelled", []event{client(call), client(cancel), server(answer), exit(0)}, []string{"a cancelled request was answered"}},
		{"still at work", []event{client(call), client(cancel), later(graceMilliseconds+1, server(progress("1"))), exit(0)}, []string{"progress 251 ms after " + cancel}},
		{"progress too late", []event{client(call), server(answer), server(progress("1")), exit(0)}, []string{"the progress fits no open request"}},
		{"progress stands still", []event{client(call), server(progress("1")), server(progress("1")), server(answer), exit(0)}, []string{"the progress does not increase after 1"}},
		{"progress without number", []event{client(call), server(progress(`"1"`)), server(answer), exit(0)}, []string{"the progress is not a number"}},
		{"modern result without type", []event{client(modernCall), server(answer), exit(0)}, []string{"a result of the stateless era has no resultType"}},
		{"legacy result with type", []event{client(call), server(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`), exit(0)}, []string{"a result of the handshake era has resultType"}},
		{"legacy result with server info", []event{client(call), server(`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{}}}}`), exit(0)}, []string{"a result of the handshake era has io.modelcontextprotocol/serverInfo"}},
		{"server request without session", []event{server(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), exit(0)}, []string{"the server sent a request in the stateless era"}},
		{"never answered", []event{client(call), exit(0)}, []string{"request 1 was never answered: tools/call"}},
		{"cancelled by closing the connection", []event{client(modernCall), {From: fromClient, Gone: "1"}, exit(0)}, nil},
		{"a closed connection in a session", []event{client(call), {From: fromClient, Gone: "1"}, exit(0)}, []string{"request 1 was never answered: tools/call"}},
		{"a closed connection that had answered", []event{client(modernCall), server(modernAnswer), {From: fromClient, Gone: "1"}, exit(0)}, nil},
		{"fault of a response", []event{{From: fromServer, Fault: "POST ping: no type"}, exit(0)}, []string{"POST ping: no type"}},
		{"one of two servers failed", []event{exit(0), exit(1)}, []string{"the server exited with 1, want 0"}},
		{"killed", nil, []string{"the server had to be killed"}},
		{"failed", []event{exit(3)}, []string{"the server exited with 3, want 0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newChecker(new(coverage))
			for _, e := range test.in {
				c.event(e)
			}
			c.end()
			var got []string
			for i, finding := range c.findings {
				if i < len(test.want) && strings.HasPrefix(finding, test.want[i]) {
					finding = test.want[i]
				}
				got = append(got, finding)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	page := client(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"c"}}`)
	asked := []event{
		server(`{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}`), server(`{"jsonrpc":"2.0","id":9,"method":"roots/list"}`),
		server(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage"}}}}`),
	}
	five := []event{client(call), server(progress("1")), server(progress("2")), server(progress("3")), server(progress("4")), server(progress("5")), server(answer)}
	state := []event{behind(1, client(modernCall)), behind(1, server(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`))}
	const retry = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"requestState":"s"}}`
	tests := []struct {
		name string
		in   []event
		want []string
	}{
		{"nothing", nil, []string{"no answer was seen", "no list request had a cursor", "no answered request had five progress notifications", "no request was cancelled", "the user was never asked", "the model was never asked", "the roots were never asked for"}},
		{"four progress notifications", slices.Concat(asked, five[:5], []event{server(answer), client(call), client(cancel), page}), []string{"no answered request had five progress notifications"}},
		{"cancellation of nothing", slices.Concat(asked, five, []event{client(cancel), page}), []string{"no request was cancelled"}},
		{"everything", slices.Concat(asked, five, []event{client(call), client(cancel), page}), nil},
		{"retry at the same server", slices.Concat(asked, five, []event{client(call), client(cancel), page}, state, []event{behind(1, client(retry)), behind(2, client(call))}), []string{"no retry went to another server"}},
		{"retry at another server", slices.Concat(asked, five, []event{client(call), client(cancel), page}, state, []event{behind(2, client(retry))}), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var seen coverage
			c := newChecker(&seen)
			for _, e := range test.in {
				c.event(e)
			}
			if diff := cmp.Diff(test.want, seen.missing()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A line is in the transcript, and passed on, as it came; what JSON cannot show is named.
func TestRelay(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		frame  string
		broken string
	}{
		{"plain", "{\"a\":\"<\u2028>\"}\n", "{\"a\":\"<\u2028>\"}", ""},
		{"empty", "\n", "", ""},
		{"carriage return", "{}\r\n", "{}\r", "ends with a carriage return"},
		{"not UTF-8", "\"\xff\"\n", "\"\ufffd\"", "is not UTF-8"},
		{"no newline", "{}", "{}", "does not end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var passed, written bytes.Buffer
			if err := newTranscript(&written).relay(&passed, strings.NewReader(test.in), fromServer); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.in, passed.String()); diff != "" {
				t.Errorf("passed on (-want +got):\n%s", diff)
			}
			events, err := decodeEvents(&written)
			if err != nil {
				t.Fatal(err)
			}
			for i := range events {
				events[i].Milliseconds = 0
			}
			want := []event{{From: fromServer, Frame: test.frame, Broken: test.broken}}
			if diff := cmp.Diff(want, events); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeEventsRefusesATornTranscript(t *testing.T) {
	if events, err := decodeEvents(io.LimitReader(strings.NewReader(`{"ms":1}`), 5)); err == nil {
		t.Errorf("a torn transcript decodes as %v", events)
	}
}
