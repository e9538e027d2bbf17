package jsonrpc_test

import (
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
)

// otherServers are frames that other servers were seen to get wrong, as far as it
// is decided where a frame is decoded. Each name says what the others did.
var otherServers = []decodeTest{
	{"id above 2^53 was answered rounded", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, decoded{Kind: "request", ID: "9007199254740993", Method: "ping"}},
	{"fraction as an id was answered cut off", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalid("", "the id must be a string or an integer")},
	{"true as an id ended the server", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, invalid("", "the id must be a string or an integer")},
	{"object as an id was echoed", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, invalid("", "the id must be a string or an integer")},
	{"null as an id made a notification", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalid("", "the id must be a string or an integer")},
	{"of two methods the last was called", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, invalid("1", `the message has the member "method" twice`)},
	{"METHOD was taken for method", `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, invalid("1", `the message has no "method", "result" or "error"`)},
	{"result and error were both accepted", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}`, silent("response", invalid("1", `the message has a "result" as well as an "error"`))},
	{"neither result nor error was accepted", `{"jsonrpc":"2.0","id":1}`, invalid("1", `the message has no "method", "result" or "error"`)},
	{"number as params was accepted, or answered with names of Go types", `{"jsonrpc":"2.0","id":1,"method":"ping","params":3}`, badParams("1", "params must be an object")},
	{"garbage behind the object was accepted", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, unparsed("1", "unexpected data after the value at byte 41")},
	{"bad bytes were replaced in silence", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", unparsed("1", "invalid UTF-8 in a string at byte 55")},
	{"no JSON ended the server", `{not json`, unparsed("", "a member name was expected at byte 1")},
	{"wrong version ended the server", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"empty array ended the server", `[]`, invalid("", "a message must be a JSON object")},
	{"error response was answered", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}`, decoded{Kind: "response", ID: "1", Code: -32601, Message: "m"}},
}

func TestRegressionOthers(t *testing.T) { runDecodeTests(t, new(jsonrpc.Decoder), otherServers) }

// A01: one line of bad JSON ended the session.
func TestRegressionA01(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"bad JSON", `{bad json`, unparsed("", "a member name was expected at byte 1")},
		{"next line", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, decoded{Kind: "request", ID: "2", Method: "ping"}},
	})
}

// A02: frames of odd shape each ended the session.
func TestRegressionA02(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"unknown method is a request", `{"jsonrpc":"2.0","id":2,"method":"no/such"}`, decoded{Kind: "request", ID: "2", Method: "no/such"}},
		{"null params", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":null}`, badParams("3", "params must be an object")},
		{"call without a name is a request", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"arguments":{}}}`, decoded{Kind: "request", ID: "4", Method: "tools/call", Params: `{"arguments":{}}`}},
		{"malformed line", `{"jsonrpc":"2.0","id":5,`, unparsed("5", "the input ends inside a value at byte 24")},
	})
	if _, err := new(jsonrpc.Decoder).Split([]byte(`[]`), 0); refused(err) != invalid("", "the batch is empty") {
		t.Errorf("Split([]) = %v, want a refusal", err)
	}
}

// A06: valid JSON that is no message was dropped, and the caller waited for
// ever.
func TestRegressionA06(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"id of no request", `{"jsonrpc":"2.0","id":99,"foo":1}`, invalid("99", `the message has no "method", "result" or "error"`)},
		{"string", `"just a string"`, invalid("", "a message must be a JSON object")},
	})
}

// A10: ids were altered or refused.
func TestRegressionA10(t *testing.T) {
	var tests []decodeTest
	for _, id := range []string{`"1"`, `1`, `-7`, `9007199254740993`, `"é"`, `"\u00e9"`, `""`} {
		tests = append(tests, decodeTest{id, `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, decoded{Kind: "request", ID: id, Method: "ping"}})
	}
	runDecodeTests(t, new(jsonrpc.Decoder), tests)
}

// A11: a null id was taken for none, so that the frame was not answered.
func TestRegressionA11(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, invalid("", "the id must be a string or an integer")},
		{"no id", `{"jsonrpc":"2.0","method":"tools/list"}`, decoded{Kind: "notification", Method: "tools/list"}},
	})
}

// A12: notifications were answered with errors.
func TestRegressionA12(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"params that are an array", `{"jsonrpc":"2.0","method":"notifications/x/y","params":[1]}`, silent("notification", badParams("", "params must be an object"))},
	})
}

// A17: one byte that is not UTF-8 ended the server, or was passed on replaced.
func TestRegressionA17(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"bad byte", "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"x\":\"\xff\"}", unparsed("2", "invalid UTF-8 in a string at byte 45")},
		{"next line", `{"jsonrpc":"2.0","id":3,"method":"ping"}`, decoded{Kind: "request", ID: "3", Method: "ping"}},
	})
}

// A100: names were matched without regard to case, so that a proxy checked one
// member and the server used another.
func TestRegressionA100(t *testing.T) {
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"Method", `{"jsonrpc":"2.0","id":1,"Method":"tools/list"}`, invalid("1", `the message has no "method", "result" or "error"`)},
		{"ID", `{"jsonrpc":"2.0","ID":1,"method":"tools/list"}`, decoded{Kind: "notification", Method: "tools/list"}},
		{"Params", `{"jsonrpc":"2.0","id":1,"method":"x","Params":3}`, decoded{Kind: "request", ID: "1", Method: "x"}},
		{"JSONRPC", `{"JSONRPC":"2.0","id":1,"method":"x"}`, invalid("1", `the member "jsonrpc" is missing: want "2.0"`)},
		{"long s folds to s elsewhere", `{"jsonrpc":"2.0","id":1,"method":"x","paramſ":{}}`, decoded{Kind: "request", ID: "1", Method: "x"}},
	})
	m, err := new(jsonrpc.Decoder).Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"side","name":"echo","arguments":{"text":"x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	params := &m.(*jsonrpc.Request).Params
	if got := string(params.Get("name")); got != `"echo"` {
		t.Errorf(`Get("name") = %s, want "echo"`, got)
	}
	if got := params.Get("NAME"); got != nil {
		t.Errorf(`Get("NAME") = %s, want nothing`, got)
	}
}
