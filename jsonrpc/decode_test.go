package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"github.com/google/go-cmp/cmp"
)

// knownMethods is what a server gives its decoder.
var knownMethods = map[string]string{"tools/call": "tools/call", "ping": "ping"}

// decoded is what became of a frame, in a form that can be compared.
type decoded struct {
	Kind    string // request, notification, response or refused
	ID      string
	Method  string
	Params  string
	Result  string
	Code    int
	Message string
	Data    string
	Silent  string // why a refusal is not answered: response or notification
}

func decode(d *jsonrpc.Decoder, frame string) decoded {
	m, err := d.Decode([]byte(frame))
	if err != nil {
		return refused(err)
	}
	return accepted(m)
}

func refused(err error) decoded {
	var de *jsonrpc.DecodeError
	if !errors.As(err, &de) {
		return decoded{Kind: fmt.Sprintf("an error of type %T", err)}
	}
	out := decoded{Kind: "refused", ID: string(de.ID), Code: de.Err.Code, Message: de.Err.Message}
	switch {
	case de.Response:
		out.Silent = "response"
	case de.Notification:
		out.Silent = "notification"
	}
	return out
}

func accepted(m jsonrpc.Message) decoded {
	switch m := m.(type) {
	case *jsonrpc.Request:
		out := decoded{Kind: "request", ID: string(m.ID), Method: m.Method, Params: string(m.Params.Raw)}
		if m.IsNotification() {
			out.Kind = "notification"
		}
		return out
	case *jsonrpc.Response:
		out := decoded{Kind: "response", ID: string(m.ID), Result: string(m.Result)}
		if m.Error != nil {
			out.Code, out.Message, out.Data = m.Error.Code, m.Error.Message, string(m.Error.Data)
		}
		return out
	}
	return decoded{Kind: fmt.Sprintf("a message of type %T", m)}
}

// decodeTest is a row of the tables: a frame and what becomes of it.
type decodeTest struct {
	name string
	in   string
	want decoded
}

func runDecodeTests(t *testing.T, d *jsonrpc.Decoder, tests []decodeTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(d, tt.in)); diff != "" {
				t.Errorf("Decode(%.300q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// invalid and unparsed are the refusals of what is no message and no JSON.
func invalid(id, message string) decoded {
	return decoded{Kind: "refused", ID: id, Code: jsonrpc.CodeInvalidRequest, Message: message}
}

func unparsed(id, message string) decoded {
	return decoded{Kind: "refused", ID: id, Code: jsonrpc.CodeParse, Message: "parse error: " + message}
}

func badParams(id, message string) decoded {
	return decoded{Kind: "refused", ID: id, Code: jsonrpc.CodeInvalidParams, Message: message}
}

// silent is a refusal that nobody is told of.
func silent(why string, d decoded) decoded {
	d.Silent = why
	return d
}

// requestTests are accepted.
var requestTests = []decodeTest{
	{"without params", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, decoded{Kind: "request", ID: "1", Method: "ping"}},
	{"with params", smallCall, decoded{Kind: "request", ID: "17", Method: "tools/call", Params: `{"name":"add","arguments":{"a":2,"b":40}}`}},
	{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, decoded{Kind: "request", ID: "1", Method: "no/such"}},
	{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, decoded{Kind: "request", ID: "1"}},
	{"empty params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, decoded{Kind: "request", ID: "1", Method: "ping", Params: `{}`}},
	{"notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, decoded{Kind: "notification", Method: "notifications/cancelled", Params: `{"requestId":7}`}},
	{"members in any order", `{"params":{"a":1},"method":"x","id":"q","jsonrpc":"2.0"}`, decoded{Kind: "request", ID: `"q"`, Method: "x", Params: `{"a":1}`}},
	{"space everywhere", "\r\n{ \"jsonrpc\" : \"2.0\" ,\t\"id\" : 1 , \"method\" : \"x\" , \"params\" : { \"a\" : 1 } } \n", decoded{Kind: "request", ID: "1", Method: "x", Params: `{ "a" : 1 }`}},
	{"escapes in names", `{"json\u0072pc":"2.0","\u0069d":1,"metho\u0064":"x","p\u0061rams":{}}`, decoded{Kind: "request", ID: "1", Method: "x", Params: `{}`}},
	{"escapes in values", `{"jsonrpc":"\u0032.0","id":"\u0061","method":"tools\/call"}`, decoded{Kind: "request", ID: `"\u0061"`, Method: "tools/call"}},
	{"method with an escaped quote", `{"jsonrpc":"2.0","id":1,"method":"a\"b\\"}`, decoded{Kind: "request", ID: "1", Method: `a"b\`}},
	{"members that are not part of JSON-RPC", `{"jsonrpc":"2.0","id":1,"method":"x","trace":{"a":[1]},"foo":null}`, decoded{Kind: "request", ID: "1", Method: "x"}},
}

func TestDecodeRequests(t *testing.T) {
	runDecodeTests(t, &jsonrpc.Decoder{Methods: knownMethods}, requestTests)
}

// responseTests are accepted, or refused without an answer.
var responseTests = []decodeTest{
	{"result", `{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`, decoded{Kind: "response", ID: "1", Result: `{"a":[1]}`}},
	{"empty result", `{"jsonrpc":"2.0","id":"x","result":{}}`, decoded{Kind: "response", ID: `"x"`, Result: `{}`}},
	{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, decoded{Kind: "response", ID: "1", Code: -32601, Message: "no"}},
	{"error with data", `{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"\u00e9","data":{"a":1}}}`, decoded{Kind: "response", ID: "1", Code: 7, Message: "é", Data: `{"a":1}`}},
	{"error with data that is null", `{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"m","data":null}}`, decoded{Kind: "response", ID: "1", Code: 7, Message: "m", Data: `null`}},
	{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`, decoded{Kind: "response", Code: -32700, Message: "m"}},
	{"error with a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, decoded{Kind: "response", Code: -32700, Message: "m"}},
	{"params of a response do not matter", `{"jsonrpc":"2.0","id":1,"result":{},"params":[]}`, decoded{Kind: "response", ID: "1", Result: `{}`}},

	{"both", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}`, silent("response", invalid("1", `the message has a "result" as well as an "error"`))},
	{"result and a null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, silent("response", invalid("1", `the message has a "result" as well as an "error"`))},
	{"result that is no object", `{"jsonrpc":"2.0","id":1,"result":[]}`, silent("response", invalid("1", "the result must be an object"))},
	{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, silent("response", invalid("1", "the result must be an object"))},
	{"result without id", `{"jsonrpc":"2.0","result":{}}`, silent("response", invalid("", "a result needs an id"))},
	{"result with a null id", `{"jsonrpc":"2.0","id":null,"result":{}}`, silent("response", invalid("", "the id must be a string or an integer"))},
	{"error that is a string", `{"jsonrpc":"2.0","id":1,"error":"no"}`, silent("response", invalid("1", "invalid error object: it is not an object"))},
	{"null error", `{"jsonrpc":"2.0","id":1,"error":null}`, silent("response", invalid("1", "invalid error object: it is not an object"))},
	{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}`, silent("response", invalid("1", `invalid error object: "code" must be an integer`))},
	{"error with a fraction", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, silent("response", invalid("1", `invalid error object: "code" must be an integer`))},
	{"error without message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, silent("response", invalid("1", `invalid error object: "message" must be a string`))},
	{"error with a null message", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}`, silent("response", invalid("1", `invalid error object: "message" must be a string`))},
	{"result twice", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, silent("response", invalid("1", `the message has the member "result" twice`))},
	{"wrong version", `{"jsonrpc":"1.0","id":1,"result":{}}`, silent("response", invalid("1", `the member "jsonrpc" must be "2.0"`))},
	{"result with bad bytes", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\xff\"}}", silent("response", unparsed("1", "invalid UTF-8 in a string at byte 39"))},
	{"result cut off", `{"jsonrpc":"2.0","id":1,"result":{`, silent("response", unparsed("1", "the input ends inside a value at byte 34"))},

	{"method as well as error with a null id", `{"jsonrpc":"2.0","id":null,"method":"x","error":{"code":1,"message":"m"}}`, invalid("", "the id must be a string or an integer")},
	{"method as well as result", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, invalid("1", `the message has a "method" as well as a "result" or an "error"`)},
}

func TestDecodeResponses(t *testing.T) { runDecodeTests(t, new(jsonrpc.Decoder), responseTests) }

// shapeTests are no JSON or no message.
var shapeTests = []decodeTest{
	{"nothing", ``, unparsed("", "the input ends inside a value at byte 0")},
	{"space", " \t", unparsed("", "the input ends inside a value at byte 2")},
	{"number", `1`, invalid("", "a message must be a JSON object")},
	{"null", `null`, invalid("", "a message must be a JSON object")},
	{"broken string", `"a`, unparsed("", "the input ends inside a value at byte 2")},
	{"array where one message is wanted", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalid("", "a message must be a JSON object")},
	{"empty object", `{}`, invalid("", `the member "jsonrpc" is missing: want "2.0"`)},
	{"empty object and more", `{ }x`, unparsed("", "unexpected data after the value at byte 3")},
	{"byte-order mark", "\ufeff{}", unparsed("", "a value was expected at byte 0")},
	{"no version", `{"id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" is missing: want "2.0"`)},
	{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"version in a number", `{"jsonrpc":12.09,"id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"version in an array", `{"jsonrpc":[2.0],"id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"version null", `{"jsonrpc":null,"id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"version 2", `{"jsonrpc":"2","id":1,"method":"ping"}`, invalid("1", `the member "jsonrpc" must be "2.0"`)},
	{"method as a number", `{"jsonrpc":"2.0","id":1,"method":3}`, invalid("1", `the member "method" must be a string`)},
	{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, invalid("1", `the member "method" must be a string`)},
	{"method as a number without id", `{"jsonrpc":"2.0","method":3}`, invalid("", `the member "method" must be a string`)},
	{"no method", `{"jsonrpc":"2.0","id":1}`, invalid("1", `the message has no "method", "result" or "error"`)},
	{"comma at the end", `{"jsonrpc":"2.0","id":1,"method":"x",}`, unparsed("1", "a member name was expected at byte 37")},
	{"comment", `{"jsonrpc":"2.0",/* a */"id":1}`, unparsed("", "a member name was expected at byte 17")},
	{"control character in a name", "{\"a\nb\":1}", unparsed("", "unescaped control character in a string at byte 3")},
}

func TestDecodeShapes(t *testing.T) { runDecodeTests(t, new(jsonrpc.Decoder), shapeTests) }

func TestDecodeParams(t *testing.T) {
	frame := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}`
	}
	notification := func(params string) string {
		return `{"jsonrpc":"2.0","method":"x","params":` + params + `}`
	}
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"null", frame(`null`), badParams("1", "params must be an object")},
		{"array", frame(`[1]`), badParams("1", "params must be an object")},
		{"string", frame(`"a"`), badParams("1", "params must be an object")},
		{"member twice", frame(`{"a":1,"b":2,"a":1}`), badParams("1", "params has a member twice")},
		{"member twice, once spelled with an escape", frame(`{"a":1,"\u0061":1}`), badParams("1", "params has a member twice")},
		{"member twice, with an escape before both", frame(`{"\u0062":0,"a":1,"a":1}`), badParams("1", "params has a member twice")},
		{"member twice, both spelled with escapes", frame(`{"\u0061b":1,"a\u0062":1}`), badParams("1", "params has a member twice")},
		{"members that differ in case", frame(`{"a":1,"A":2}`), decoded{Kind: "request", ID: "1", Method: "x", Params: `{"a":1,"A":2}`}},
		{"member twice further inside is the reader's business", frame(`{"a":{"b":1,"b":2}}`), decoded{Kind: "request", ID: "1", Method: "x", Params: `{"a":{"b":1,"b":2}}`}},
		{"long name met", frame(`{"` + strings.Repeat("a", 1022) + `":1}`), decoded{Kind: "request", ID: "1", Method: "x", Params: `{"` + strings.Repeat("a", 1022) + `":1}`}},
		{"long name exceeded", frame(`{"` + strings.Repeat("a", 1023) + `":1}`), badParams("1", "params has a member whose name is longer than 1024 bytes")},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}}`, invalid("1", `the message has the member "params" twice`)},
		{"params twice, the first no object", `{"jsonrpc":"2.0","id":1,"method":"x","params":3,"params":{}}`, invalid("1", `the message has the member "params" twice`)},
		{"cut off in a name", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a`, unparsed("1", "the input ends inside a value at byte 49")},
		{"cut off in a value", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[`, unparsed("1", "the input ends inside a value at byte 52")},
		{"cut off behind a value", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[] `, unparsed("1", "the input ends inside a value at byte 54")},
		{"cut off before the value", `{"jsonrpc":"2.0","id":1,"method":"x","params":`, unparsed("1", "the input ends inside a value at byte 46")},
		{"comma at the end", frame(`{"a":1,}`), unparsed("1", "a member name was expected at byte 53")},
		{"of a notification", notification(`[1]`), silent("notification", badParams("", "params must be an object"))},
		{"of a notification, member twice", notification(`{"a":1,"a":1}`), silent("notification", badParams("", "params has a member twice"))},
		{"of what has a broken id", `{"jsonrpc":"2.0","id":null,"method":"x","params":[1]}`, invalid("", "the id must be a string or an integer")},
	})
}

// duplicateTests have a member twice.
var duplicateTests = []decodeTest{
	{"version", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"x"}`, invalid("1", `the message has the member "jsonrpc" twice`)},
	{"id: nobody knows which is meant", `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, invalid("", `the message has the member "id" twice`)},
	{"id spelled with an escape", `{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"x"}`, invalid("", `the message has the member "id" twice`)},
	{"id null first", `{"jsonrpc":"2.0","id":null,"id":1,"method":"x"}`, invalid("", `the message has the member "id" twice`)},
	{"method", `{"jsonrpc":"2.0","id":1,"method":"x","method":"x"}`, invalid("1", `the message has the member "method" twice`)},
	{"method with the id behind it", `{"jsonrpc":"2.0","method":"x","method":"x","id":1}`, invalid("1", `the message has the member "method" twice`)},
	{"error", `{"jsonrpc":"2.0","id":1,"error":{},"error":{}}`, silent("response", invalid("1", `the message has the member "error" twice`))},
	{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"x","a":1,"b":2,"a":1}`, invalid("1", "the message has a member twice")},
	{"unknown member spelled with an escape", `{"jsonrpc":"2.0","id":1,"method":"x","a":1,"\u0061":1}`, invalid("1", "the message has a member twice")},
	{"unknown member of a notification", `{"jsonrpc":"2.0","method":"x","a":1,"a":1}`, silent("notification", invalid("", "the message has a member twice"))},
	{"the first reason counts", `{"jsonrpc":"2.0","id":1,"method":"x","a":1,"a":1,"method":"y"}`, invalid("1", "the message has a member twice")},
}

func TestDecodeDuplicates(t *testing.T) { runDecodeTests(t, new(jsonrpc.Decoder), duplicateTests) }

func TestDecodeIDs(t *testing.T) {
	frame := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"x"}` }
	request := func(id string) decoded { return decoded{Kind: "request", ID: id, Method: "x"} }
	const notOne = "the id must be a string or an integer"
	full := `"` + strings.Repeat("i", 1022) + `"`
	runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
		{"zero", frame(`0`), request(`0`)},
		{"minus zero", frame(`-0`), request(`-0`)},
		{"negative", frame(`-7`), request(`-7`)},
		{"beyond 64 bits", frame(`18446744073709551616`), request(`18446744073709551616`)},
		{"spelled with escapes", frame(`"\u0041\n\/"`), request(`"\u0041\n\/"`)},
		{"fraction", frame(`1.0`), invalid("", notOne)},
		{"exponent", frame(`1e3`), invalid("", notOne)},
		{"false", frame(`false`), invalid("", notOne)},
		{"object", frame(`{}`), invalid("", notOne)},
		{"array", frame(`[1]`), invalid("", notOne)},
		{"as long as allowed", frame(full), request(full)},
		{"string too long", frame(`"` + strings.Repeat("i", 1023) + `"`), invalid("", "the id has 1025 bytes, at most 1024 are allowed")},
		{"number too long", frame(strings.Repeat("1", 1025)), invalid("", "the id has 1025 bytes, at most 1024 are allowed")},
		{"fraction too long", frame("0." + strings.Repeat("1", 1025)), invalid("", notOne)},
		{"4 MiB", frame(`"` + strings.Repeat("i", 4<<20) + `"`), invalid("", "the id has 4194306 bytes, at most 1024 are allowed")},
		{"of what is refused for something else", `{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 1023) + `"}`, invalid("", "the id has 1025 bytes, at most 1024 are allowed")},

		{"cut off string", `{"jsonrpc":"2.0","method":"x","id":"abc`, unparsed("", "the input ends inside a value at byte 39")},
		{"string with bad bytes", "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":\"abc\xff\"}", unparsed("", "invalid UTF-8 in a string at byte 39")},
		{"number that may be cut off", `{"jsonrpc":"2.0","method":"x","id":12`, unparsed("", "the input ends inside a value at byte 37")},
		{"number that may be cut off before space", `{"jsonrpc":"2.0","method":"x","id":12 `, unparsed("", "the input ends inside a value at byte 38")},
		{"number with letters behind it", `{"jsonrpc":"2.0","method":"x","id":12a}`, unparsed("", "a comma or the end of the container was expected at byte 37")},
		{"whole, with a fault behind it", `{"jsonrpc":"2.0","method":"x","id":12,`, unparsed("12", "the input ends inside a value at byte 38")},
		{"whole, with a fault behind the message", `{"jsonrpc":"2.0","method":"x","id":12}}`, unparsed("12", "unexpected data after the value at byte 38")},
	})
}

func TestDecodeBounds(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	members := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"m%d":%d`, i, i))
		}
		return strings.Join(all, ",")
	}
	params := func(p string) string { return `{"jsonrpc":"2.0","id":1,"method":"x","params":` + p + `}` }
	other := func(m string) string { return `{"jsonrpc":"2.0","id":1,"method":"x",` + m + `}` }
	ok := func(p string) decoded { return decoded{Kind: "request", ID: "1", Method: "x", Params: p} }

	t.Run("chosen", func(t *testing.T) {
		runDecodeTests(t, &jsonrpc.Decoder{MaxDepth: 4, MaxID: 4, MaxMembers: 3}, []decodeTest{
			{"depth met in params", params(`{"a":[[]]}`), ok(`{"a":[[]]}`)},
			{"depth exceeded in params", params(`{"a":[[[]]]}`), unparsed("1", "nesting is too deep at byte 53")},
			{"depth met in another member", other(`"a":[[[]]]`), ok("")},
			{"depth exceeded in another member", other(`"a":[[[[]]]]`), unparsed("1", "nesting is too deep at byte 44")},
			{"depth exceeded in a second params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{"a":[[[]]]}}`, unparsed("1", "nesting is too deep at byte 65")},
			{"depth exceeded by what is no object", nested(5), unparsed("", "nesting is too deep at byte 4")},
			{"id met", `{"jsonrpc":"2.0","id":"ab","method":"x"}`, decoded{Kind: "request", ID: `"ab"`, Method: "x"}},
			{"id exceeded", `{"jsonrpc":"2.0","id":"abc","method":"x"}`, invalid("", "the id has 5 bytes, at most 4 are allowed")},
			{"params met", params("{" + members(3) + "}"), ok("{" + members(3) + "}")},
			{"params exceeded", params("{" + members(4) + "}"), badParams("1", "params has more than 3 members")},
			{"others met", other(members(3)), ok("")},
			{"others exceeded", other(members(4)), invalid("1", "the message has more than 3 members that are not part of JSON-RPC")},
			{"others exceeded, the id behind them", `{` + members(9) + `,"jsonrpc":"2.0","id":1,"method":"x"}`, invalid("1", "the message has more than 3 members that are not part of JSON-RPC")},
		})
	})
	t.Run("least", func(t *testing.T) {
		runDecodeTests(t, &jsonrpc.Decoder{MaxDepth: 1}, []decodeTest{
			{"no params", `{"jsonrpc":"2.0","id":1,"method":"x"}`, ok("")},
			{"params are a level", params(`{}`), unparsed("1", "nesting is too deep at byte 46")},
		})
	})
	t.Run("default", func(t *testing.T) {
		long := strings.Repeat("a", 1023)
		runDecodeTests(t, new(jsonrpc.Decoder), []decodeTest{
			{"depth met", params(`{"a":` + nested(510) + `}`), ok(`{"a":` + nested(510) + `}`)},
			{"depth exceeded", params(`{"a":` + nested(511) + `}`), unparsed("1", "nesting is too deep at byte 561")},
			{"100,000 levels", params(strings.Repeat("[", 100_000)), unparsed("1", "nesting is too deep at byte 557")},
			{"params met", params("{" + members(256) + "}"), ok("{" + members(256) + "}")},
			{"params exceeded", params("{" + members(257) + "}"), badParams("1", "params has more than 256 members")},
			{"others exceeded", other(members(257)), invalid("1", "the message has more than 256 members that are not part of JSON-RPC")},
			{"long name", other(`"` + long + `":1`), invalid("1", "the message has a member whose name is longer than 1024 bytes")},
		})
	})
}

// A frame with very many members costs no more than to scan it: not a comparison
// of each with each, and no memory for those beyond the bound.
func TestDecodeCrowd(t *testing.T) {
	crowd := func(head, tail string) []byte {
		frame := []byte(head)
		for i := range 200_000 {
			frame = fmt.Appendf(frame, `"\u0061%d":0,`, i)
		}
		return append(frame, tail...)
	}
	tests := []struct {
		name  string
		frame []byte
		code  int
	}{
		{"envelope", crowd(`{"jsonrpc":"2.0","id":1,"method":"x",`, `"z":0}`), jsonrpc.CodeInvalidRequest},
		{"params", crowd(`{"jsonrpc":"2.0","id":1,"method":"x","params":{`, `"z":0}}`), jsonrpc.CodeInvalidParams},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := new(jsonrpc.Decoder).Decode(tt.frame)
			var de *jsonrpc.DecodeError
			if !errors.As(err, &de) || de.ID != "1" || de.Err.Code != tt.code {
				t.Errorf("Decode = %v, want a refusal of id 1 with code %d", err, tt.code)
			}
		})
	}
}

func TestIsBatch(t *testing.T) {
	tests := []struct {
		in   string
		want bool
	}{
		{`[]`, true}, {" \r\n\t[", true}, {`{}`, false}, {``, false}, {` `, false}, {`"["`, false}, {`{"a":[]}`, false},
	}
	for _, tt := range tests {
		if got := jsonrpc.IsBatch([]byte(tt.in)); got != tt.want {
			t.Errorf("IsBatch(%q) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	type split struct {
		Members []string
		Refused decoded
	}
	many := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	tests := []struct {
		name string
		in   string
		max  int
		want split
	}{
		{"one", `[{"a":1}]`, 0, split{Members: []string{`{"a":1}`}}},
		{"several with space", " [ {} ,\n1, \"]\" , [ ] ] ", 0, split{Members: []string{`{}`, `1`, `"]"`, `[ ]`}}},
		{"empty", `[]`, 0, split{Refused: invalid("", "the batch is empty")}},
		{"empty with space", "[ \n]", 0, split{Refused: invalid("", "the batch is empty")}},
		{"cut off", `[{"jsonrpc":"2.0"},`, 0, split{Refused: unparsed("", "the input ends inside a value at byte 19")}},
		{"comma at the end", `[1,]`, 0, split{Refused: unparsed("", "a value was expected at byte 3")}},
		{"and more", `[1] 2`, 0, split{Refused: unparsed("", "unexpected data after the value at byte 4")}},
		{"bad bytes in one member", "[{},\"\xff\"]", 0, split{Refused: unparsed("", "invalid UTF-8 in a string at byte 5")}},
		{"bound met", `[1,2]`, 2, split{Members: []string{"1", "2"}}},
		{"bound exceeded", `[1,2,3]`, 2, split{Refused: invalid("", "the batch has more than 2 members")}},
		{"default bound exceeded", many(1001), 0, split{Refused: invalid("", "the batch has more than 1000 members")}},
		{"a message may be as deep as outside", `[[[[]]]]`, 0, split{Members: []string{`[[[]]]`}}},
		{"but no deeper", `[[[[[]]]]]`, 0, split{Refused: unparsed("", "nesting is too deep at byte 4")}},
	}
	d := &jsonrpc.Decoder{MaxDepth: 3}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got split
			members, err := d.Split([]byte(tt.in), tt.max)
			if err != nil {
				got.Refused = refused(err)
			}
			for _, m := range members {
				got.Members = append(got.Members, string(m))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Split(%.100q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
	if members, err := d.Split([]byte(many(1000)), 0); err != nil || len(members) != 1000 {
		t.Errorf("Split of 1000 members = %d members, %v", len(members), err)
	}
}

// Frames as clients send them: a call of the handshake era, the same with the
// _meta of the stateless era, and one with a long text.
const (
	smallCall = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}`
	metaCall  = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
)

func bigCall() string {
	text := strings.Repeat("func main() {\n\tprintln(\"hello\")\n}\n", 1<<20/36)
	return `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":` +
		string(jsonwire.AppendQuote(nil, text)) + `}}}`
}

// A decoded request costs one allocation for itself and one for its id.
func TestDecodeAllocations(t *testing.T) {
	d := &jsonrpc.Decoder{Methods: knownMethods}
	for _, frame := range []string{smallCall, metaCall} {
		if !json.Valid([]byte(frame)) {
			t.Fatalf("%s is no JSON", frame)
		}
		in := []byte(frame)
		if n := testing.AllocsPerRun(200, func() {
			if _, err := d.Decode(in); err != nil {
				t.Error(err)
			}
		}); n > 2 {
			t.Errorf("decoding %s allocates %v times, want at most 2", frame, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct{ name, frame string }{
		{"small", smallCall},
		{"with _meta", metaCall},
		{"1 MiB", bigCall()},
	} {
		b.Run(bb.name, func(b *testing.B) {
			d := jsonrpc.Decoder{Methods: knownMethods}
			frame := []byte(bb.frame)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
