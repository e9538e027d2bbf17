package protocol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
)

// asResponse returns what the engine makes of an error of a request.
func asResponse(err error) []byte {
	wire := jsonrpc.WireError(context.Background(), slog.New(slog.DiscardHandler), "tools/call", err)
	return jsonrpc.AppendError([]byte(prefix), jsonrpc.ID("7"), false, wire)
}

func TestError(t *testing.T) {
	data := &protocol.Error{Code: protocol.CodeMissingCapability, Message: "say \"yes\"\xff", Data: []byte(`{"n": 12345678901234567890}`), Status: 400}
	const dataWant = `{"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"say \"yes\"` + "\ufffd" + `","data":{"n": 12345678901234567890}}}`
	tests := []struct {
		name   string
		in     error
		text   string
		status int
		want   string
	}{
		{"formatted", protocol.Errorf(protocol.CodeInvalidParams, "unknown tool: %q", "x"), `unknown tool: "x" (-32602)`, 0,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"unknown tool: \"x\""}}`},
		{"data and status", data, "say \"yes\"\xff (-32021)", 400, dataWant},
		{"wrapped", fmt.Errorf("on the way: %w", data), "on the way: say \"yes\"\xff (-32021)", 400, dataWant},
		{"joined", errors.Join(errors.New("a"), data), "a\nsay \"yes\"\xff (-32021)", 400, dataWant},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.text, tt.in.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			var s interface{ HTTPStatus() int }
			if !errors.As(tt.in, &s) || s.HTTPStatus() != tt.status {
				t.Errorf("status %d, want %d", s.HTTPStatus(), tt.status)
			}
			for _, v := range protocol.Versions() {
				definition := "JSONRPCError"
				if v.OmitsUnknownID() {
					definition = "JSONRPCErrorResponse"
				}
				check(t, v, asResponse(tt.in), tt.want, definition, "%s")
			}
		})
	}
}

// A nil pointer that became an error is a fault of the handler.
func TestNilError(t *testing.T) {
	var none *protocol.Error
	var log bytes.Buffer
	wire := jsonrpc.WireError(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "tools/call", none)
	incident, ok := strings.CutPrefix(wire.Message, "internal error (incident ")
	if !ok || wire.Code != protocol.CodeInternal {
		t.Errorf("the peer is told %v, want an internal error with an incident", wire)
	}
	if text := log.String(); !strings.Contains(text, "incident="+strings.TrimSuffix(incident, ")")) || !strings.Contains(text, "nil *Error") {
		t.Errorf("the log says %q, want the incident and the fault", text)
	}
	if none.Error() == "" || none.HTTPStatus() != 0 {
		t.Errorf("a nil error is %q with the status %d", none.Error(), none.HTTPStatus())
	}
}
