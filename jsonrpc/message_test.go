package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
	"github.com/google/go-cmp/cmp"
)

func TestAppend(t *testing.T) {
	failure := &jsonrpc.Error{Code: -32601, Message: "no \"such\" <method>\n"}
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"request", jsonrpc.AppendRequest(nil, "1", "ping", nil), `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"request with params", jsonrpc.AppendRequest(nil, `"a"`, "x", []byte(`{"a":1}`)), `{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":1}}`},
		{"notification", jsonrpc.AppendRequest(nil, "", "x/y", []byte(`{}`)), `{"jsonrpc":"2.0","method":"x/y","params":{}}`},
		{"method is quoted", jsonrpc.AppendRequest(nil, "", "a\"b<\xff>", nil), `{"jsonrpc":"2.0","method":"a\"b<` + "\ufffd" + `>"}`},
		{"result", jsonrpc.AppendResult(nil, `"\u0061"`, []byte(`{"a":[]}`)), `{"jsonrpc":"2.0","id":"\u0061","result":{"a":[]}}`},
		{"error", jsonrpc.AppendError(nil, "7", true, failure), `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \"such\" <method>\n"}}`},
		{"error without id, null", jsonrpc.AppendError(nil, "", false, failure), `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no \"such\" <method>\n"}}`},
		{"error without id, left out", jsonrpc.AppendError(nil, "", true, failure), `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no \"such\" <method>\n"}}`},
		{"error with data", jsonrpc.AppendError(nil, "7", true, &jsonrpc.Error{Code: 1, Message: "m", Data: []byte("{\n\"a\": 1}\n")}), `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m","data":{"a":1}}}`},
		{"behind something", jsonrpc.AppendResult([]byte("x\n"), "1", []byte(`{}`)), "x\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(tt.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever was decoded can be passed on: it comes back equal, without line ends.
func TestAppendDecoded(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"request", smallCall, smallCall},
		{"notification", `{"method":"x","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":"x"}`},
		{"request on many lines", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"x\",\n  \"params\": {\n    \"a\": \" b \"\n  }\n}\n", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":" b "}}`},
		{"result", `{"jsonrpc":"2.0","id":"a","result":{"n": 9007199254740993}}`, `{"jsonrpc":"2.0","id":"a","result":{"n": 9007199254740993}}`},
		{"result on many lines", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\r\n\"a\":1}}", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}`},
		{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`, `{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := new(jsonrpc.Decoder).Decode([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(appendMessage(m))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func appendMessage(m jsonrpc.Message) []byte {
	if r, ok := m.(*jsonrpc.Request); ok {
		return r.Append(nil)
	}
	return m.(*jsonrpc.Response).Append(nil)
}

func TestParamsGet(t *testing.T) {
	// More members than there is room for within the request.
	var names []string
	params := []byte(`{`)
	for i := range 20 {
		name := fmt.Sprintf("m%d", i)
		names = append(names, name)
		params = fmt.Appendf(params, "%s : [%d, \"}\"] ,\n", quotedName(name, i%3 == 0), i)
	}
	params = append(bytes.TrimRight(params, ",\n"), '}')
	m, err := new(jsonrpc.Decoder).Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":` + string(params) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &m.(*jsonrpc.Request).Params
	for i, name := range names {
		if got, want := string(p.Get(name)), fmt.Sprintf(`[%d, "}"]`, i); got != want {
			t.Errorf("Get(%q) = %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"", "m", "M1", "m20", "m1 "} {
		if got := p.Get(name); got != nil {
			t.Errorf("Get(%q) = %s, want nothing", name, got)
		}
	}
}

// quotedName quotes a name, on demand with its first character as an escape.
func quotedName(name string, escape bool) string {
	if escape {
		return fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:])
	}
	return `"` + name + `"`
}

func TestParamsGetNone(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{"b":1}}}`,
	} {
		m, err := new(jsonrpc.Decoder).Decode([]byte(frame))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*jsonrpc.Request).Params.Get("b"); got != nil {
			t.Errorf("%s: Get = %s, want nothing", frame, got)
		}
	}
}

// A method that the decoder knows is the decoder's string, and any other is a
// copy, so that neither keeps the frame alive or changes with it.
func TestDecodeMethodOutlivesFrame(t *testing.T) {
	for _, method := range []string{"tools/call", "tools/other"} {
		frame := []byte(`{"jsonrpc":"2.0","id":"abc","method":"` + method + `"}`)
		m, err := (&jsonrpc.Decoder{Methods: knownMethods}).Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		copy(frame, strings.Repeat("x", len(frame)))
		if r := m.(*jsonrpc.Request); r.Method != method || r.ID != `"abc"` {
			t.Errorf("after the frame has changed: method %q, id %s; want %q and \"abc\"", r.Method, r.ID, method)
		}
	}
}

func BenchmarkAppendError(b *testing.B) {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `the tool "x" is unknown`, Data: json.RawMessage(`{"name":"x"}`)}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = jsonrpc.AppendError(dst[:0], "17", true, e)
	}
}
