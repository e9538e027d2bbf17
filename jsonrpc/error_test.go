package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
	"github.com/google/go-cmp/cmp"
)

func TestError(t *testing.T) {
	e := jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no method %q", "x")
	e.Data = []byte(`[1]`)
	if got, want := e.Error(), `no method "x" (-32601)`; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	code, message, data := e.ErrorObject()
	if code != -32601 || message != `no method "x"` || string(data) != `[1]` {
		t.Errorf("ErrorObject() = %d, %q, %s", code, message, data)
	}
	if got, want := string(e.Append([]byte("x"))), `x{"code":-32601,"message":"no method \"x\"","data":[1]}`; got != want {
		t.Errorf("Append = %s, want %s", got, want)
	}
}

func TestDecodeErrorUnwraps(t *testing.T) {
	_, err := new(jsonrpc.Decoder).Decode([]byte(`{`))
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != jsonrpc.CodeParse {
		t.Errorf("errors.As finds %v, want the error to reply with", e)
	}
	if got, want := err.Error(), "parse error: the input ends inside a value at byte 1 (-32700)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

// objectError is an error of another package that is meant for the peer.
type objectError struct{}

func (objectError) Error() string { return "not for the peer" }

func (objectError) ErrorObject() (int, string, []byte) {
	return -32002, "not found", []byte(`{"uri":"a"}`)
}

func TestWireErrorForPeer(t *testing.T) {
	own := &jsonrpc.Error{Code: 5, Message: "m", Data: []byte(`1`)}
	tests := []struct {
		name string
		in   error
		want *jsonrpc.Error
	}{
		{"own", own, own},
		{"own, wrapped", fmt.Errorf("calling: %w", own), own},
		{"own, joined", errors.Join(io.EOF, own), own},
		{"of another package", objectError{}, &jsonrpc.Error{Code: -32002, Message: "not found", Data: []byte(`{"uri":"a"}`)}},
		{"of another package, wrapped", fmt.Errorf("reading: %w", objectError{}), &jsonrpc.Error{Code: -32002, Message: "not found", Data: []byte(`{"uri":"a"}`)}},
		{"of a frame", &jsonrpc.FrameError{Err: own}, own},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			got := jsonrpc.WireError(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "x", tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("WireError (-want +got):\n%s", diff)
			}
			if log.Len() > 0 {
				t.Errorf("logged %q, want nothing", &log)
			}
		})
	}
}

// What is not meant for the peer goes to the log, and the peer gets a number to
// ask for.
func TestWireErrorInternal(t *testing.T) {
	const secret = "password hunter2"
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(jsonrpc.ErrCancelled)
	tests := []struct {
		name string
		ctx  context.Context
		in   error
	}{
		{"plain", t.Context(), errors.New(secret)},
		{"wrapped", t.Context(), fmt.Errorf("running: %w", errors.New(secret))},
		{"nil of our own type", t.Context(), (*jsonrpc.Error)(nil)},
		{"nil of our own type beside the reason", t.Context(), errors.Join(errors.New(secret), (*jsonrpc.Error)(nil))},
		{"without a code", t.Context(), &jsonrpc.Error{Message: secret}},
		{"panic", t.Context(), &jsonrpc.PanicError{Value: secret}},
		{"panic of a call that was cancelled", cancelled, &jsonrpc.PanicError{Value: secret}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			got := jsonrpc.WireError(tt.ctx, slog.New(slog.NewJSONHandler(&log, nil)), "tools/call", tt.in)
			m := regexp.MustCompile(`^internal error \(incident ([A-Z2-7]{12})\)$`).FindStringSubmatch(got.Message)
			if got.Code != jsonrpc.CodeInternal || got.Data != nil || m == nil {
				t.Fatalf("WireError = %+v, want an internal error with an incident", got)
			}
			var entry struct{ Level, Incident, Method, Error string }
			if err := json.Unmarshal(log.Bytes(), &entry); err != nil {
				t.Fatalf("the log is %q: %v", &log, err)
			}
			if entry.Level != "ERROR" || entry.Incident != m[1] || entry.Method != "tools/call" {
				t.Errorf("logged %+v, want an error of tools/call under incident %s", entry, m[1])
			}
			if _, isNil := tt.in.(*jsonrpc.Error); !isNil && !strings.Contains(entry.Error, secret) {
				t.Errorf("logged %q, want what went wrong", entry.Error)
			}
		})
	}
}

// A request that the connection has ended is no incident.
func TestWireErrorEndedEarly(t *testing.T) {
	tests := []struct {
		cause error
		want  string
	}{
		{jsonrpc.ErrShutdown, "the server is shutting down"},
		{jsonrpc.ErrCancelled, "the peer cancelled the request"},
		{fmt.Errorf("%w: broken pipe", jsonrpc.ErrClosed), "the peer cancelled the request"},
	}
	for _, tt := range tests {
		var log bytes.Buffer
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tt.cause)
		got := jsonrpc.WireError(ctx, slog.New(slog.NewTextHandler(&log, nil)), "x", fmt.Errorf("waiting: %w", ctx.Err()))
		if diff := cmp.Diff(&jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: tt.want}, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.cause, diff)
		}
		if log.Len() > 0 {
			t.Errorf("%v: logged %q, want nothing at this level", tt.cause, &log)
		}
	}
}

// stackError is an error that knows where it comes from, as a panic does.
type stackError struct{}

func (stackError) Error() string { return "oh no" }

func (stackError) StackTrace() []byte { return []byte("in some function") }

func TestWireErrorLogsStack(t *testing.T) {
	var log bytes.Buffer
	err := fmt.Errorf("calling: %w", stackError{})
	jsonrpc.WireError(t.Context(), slog.New(slog.NewJSONHandler(&log, nil)), "x", err)
	var entry struct{ Error, Stack string }
	if err := json.Unmarshal(log.Bytes(), &entry); err != nil {
		t.Fatalf("the log is %q: %v", &log, err)
	}
	if entry.Error != "calling: oh no" || entry.Stack != "in some function" {
		t.Errorf("logged %+v, want the error and its stack", entry)
	}
}

// Data of an error that is no JSON would break the frame, or be one.
func TestWireErrorBrokenData(t *testing.T) {
	for _, data := range []string{`{`, ` `, `1 2`, "{\"a\":\"\n{}\n\"}", "\"say \\\"hel\n"} {
		var log bytes.Buffer
		got := jsonrpc.WireError(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "x", &jsonrpc.Error{Code: 5, Message: "m", Data: []byte(data)})
		if diff := cmp.Diff(&jsonrpc.Error{Code: 5, Message: "m"}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
		if !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%q: the log says %q", data, &log)
		}
	}
	empty := &jsonrpc.Error{Code: 5, Message: "m", Data: []byte{}}
	if got := string(empty.Append(nil)); got != `{"code":5,"message":"m"}` {
		t.Errorf("with empty data: %s", got)
	}
}
