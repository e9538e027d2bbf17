package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"github.com/google/go-cmp/cmp"
)

// seedFrames adds the frames of the tables, and the documents of the public
// suite for parsers as params if the suite is there.
func seedFrames(f *testing.F) {
	for _, tests := range [][]decodeTest{requestTests, responseTests, shapeTests, duplicateTests, otherServers} {
		for _, tt := range tests {
			f.Add([]byte(tt.in))
		}
	}
	f.Add([]byte(metaCall))
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "suites", "json-parsing", "test_parsing", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(doc) < 4096 {
			f.Add(append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":`), doc...), '}'))
		}
	}
}

// FuzzDecode: whatever the frame, decoding does not panic. What is accepted is
// what encoding/json reads in it, and comes back equal when it is written again.
// What is refused has a code, and the id if the frame has one.
func FuzzDecode(f *testing.F) {
	seedFrames(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, d := range []*jsonrpc.Decoder{
			{Methods: knownMethods},
			{MaxDepth: 4, MaxID: 8, MaxMembers: 3},
		} {
			m, err := d.Decode(frame)
			if err != nil {
				if m != nil {
					t.Fatalf("Decode(%q) gives a message as well as %v", frame, err)
				}
				checkRefusal(t, d, frame, err)
				continue
			}
			checkAccepted(t, d, frame, m)
		}
	})
}

// top is what encoding/json reads at the top of an object. It decodes names and
// minds their case.
type top struct {
	members map[string]json.RawMessage // the last of those with one name
	count   map[string]int
}

func readTop(t *testing.T, obj []byte) top {
	t.Helper()
	out := top{make(map[string]json.RawMessage), make(map[string]int)}
	dec := json.NewDecoder(bytes.NewReader(obj))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("encoding/json: %q begins with %v, %v", obj, tok, err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatalf("encoding/json refuses a name in %q: %v", obj, err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatalf("encoding/json refuses a value in %q: %v", obj, err)
		}
		out.members[name.(string)] = value
		out.count[name.(string)]++
	}
	return out
}

func checkAccepted(t *testing.T, d *jsonrpc.Decoder, frame []byte, m jsonrpc.Message) {
	t.Helper()
	if !json.Valid(frame) || jsonwire.Valid(frame, d.MaxDepth) != nil {
		t.Fatalf("Decode accepts %q, which is no JSON", frame)
	}
	std := readTop(t, frame)
	for name, n := range std.count {
		if n > 1 {
			t.Fatalf("Decode accepts %q with %q %d times", frame, name, n)
		}
	}
	if diff := cmp.Diff(meaning(t, std), accepted(m)); diff != "" {
		t.Fatalf("Decode(%q) is not what encoding/json reads (-encoding/json +got):\n%s", frame, diff)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Params.Raw != nil {
		params := readTop(t, r.Params.Raw)
		for name, want := range params.members {
			if got := r.Params.Get(name); params.count[name] != 1 || !bytes.Equal(got, want) {
				t.Fatalf("Get(%q) = %q, want the only %q", name, got, want)
			}
		}
	}
	again := appendMessage(m)
	if bytes.ContainsAny(again, "\r\n") {
		t.Fatalf("%q has a line end when it is written again: %q", frame, again)
	}
	back, err := d.Decode(again)
	if err != nil {
		t.Fatalf("%q is refused when it is written again, %q: %v", frame, again, err)
	}
	if diff := cmp.Diff(compacted(accepted(m)), compacted(accepted(back))); diff != "" {
		t.Fatalf("%q is another message when it is written again, %q (-want +got):\n%s", frame, again, diff)
	}
	if twice := appendMessage(back); !bytes.Equal(again, twice) {
		t.Fatalf("%q is first written as %q and then as %q", frame, again, twice)
	}
}

// meaning is what a message says that encoding/json has read.
func meaning(t *testing.T, std top) decoded {
	t.Helper()
	if v := text(t, std.members["jsonrpc"]); v != "2.0" {
		t.Fatalf("the version is %q", v)
	}
	out := decoded{Kind: "response", ID: string(std.members["id"]), Result: string(std.members["result"])}
	if method, ok := std.members["method"]; ok {
		out.Kind, out.Method, out.Params = "request", text(t, method), string(std.members["params"])
		if _, ok := std.members["id"]; !ok {
			out.Kind = "notification"
		}
		return out
	}
	if raw, ok := std.members["error"]; ok {
		if out.ID == "null" {
			out.ID = ""
		}
		obj := jsonwire.Lookup // of a name that comes twice within the error, the first counts
		out.Message, out.Data = text(t, obj(raw, "message")), string(obj(raw, "data"))
		if err := json.Unmarshal(obj(raw, "code"), &out.Code); err != nil {
			t.Fatalf("the code of %q: %v", raw, err)
		}
	}
	return out
}

func text(t *testing.T, raw []byte) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%q is no string: %v", raw, err)
	}
	return s
}

// compacted takes the white space out of what a message carries.
func compacted(d decoded) decoded {
	for _, s := range []*string{&d.Params, &d.Result, &d.Data} {
		*s = string(jsonwire.AppendCompact(nil, []byte(*s)))
	}
	return d
}

func checkRefusal(t *testing.T, d *jsonrpc.Decoder, frame []byte, err error) {
	t.Helper()
	var de *jsonrpc.DecodeError
	if !errors.As(err, &de) {
		t.Fatalf("Decode(%q) = %T, want a DecodeError", frame, err)
	}
	wellFormed := jsonwire.Valid(frame, d.MaxDepth) == nil
	switch code := de.Err.Code; {
	case wellFormed == (code == jsonrpc.CodeParse):
		t.Fatalf("Decode(%q) = %v, but whether it is well-formed is %v", frame, de, wellFormed)
	case code != jsonrpc.CodeParse && code != jsonrpc.CodeInvalidRequest && code != jsonrpc.CodeInvalidParams:
		t.Fatalf("Decode(%q) = %v, which no frame deserves", frame, de)
	case de.Response && de.Notification:
		t.Fatalf("Decode(%q) is said to be a response and a notification", frame)
	}
	limit := d.MaxID
	if limit == 0 {
		limit = jsonrpc.DefaultMaxID
	}
	if de.ID != "" {
		if _, ok := jsonrpc.ParseID([]byte(de.ID), limit); !ok || !json.Valid([]byte(de.ID)) || !bytes.Contains(frame, []byte(de.ID)) {
			t.Fatalf("Decode(%q): %q is no id of the frame", frame, de.ID)
		}
	}
	if wellFormed && bytes.HasPrefix(bytes.TrimSpace(frame), []byte("{")) {
		checkRefusedObject(t, readTop(t, frame), de, limit)
	}
}

// checkRefusedObject checks the id and the kind of a refusal against what
// encoding/json reads in the frame.
func checkRefusedObject(t *testing.T, std top, de *jsonrpc.DecodeError, limit int) {
	t.Helper()
	var want jsonrpc.ID
	if std.count["id"] == 1 {
		want, _ = jsonrpc.ParseID(std.members["id"], limit)
	}
	if de.ID != want {
		t.Fatalf("the id of the refusal of %v is %q, want %q", std.members, de.ID, want)
	}
	response := std.count["method"] == 0 && std.count["result"]+std.count["error"] > 0
	if de.Response != response {
		t.Fatalf("%v is said to be a response: %v", std.members, de.Response)
	}
	if de.Notification && (std.count["id"] > 0 || std.count["method"] == 0) {
		t.Fatalf("%v is said to be a notification", std.members)
	}
}

// FuzzSplit: a batch has the members that encoding/json reads in it.
func FuzzSplit(f *testing.F) {
	seedFrames(f)
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"} ,` + "\n" + `[[]],"]",{"a":[1,"}"]}]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		if !jsonrpc.IsBatch(frame) {
			frame = append(append([]byte("[1,"), frame...), ']')
		}
		got, err := new(jsonrpc.Decoder).Split(frame, 8)
		var de *jsonrpc.DecodeError
		if err != nil && (!errors.As(err, &de) || got != nil || de.ID != "") {
			t.Fatalf("Split(%q) = %q, %#v", frame, got, err)
		}
		if jsonwire.Valid(frame, jsonwire.DefaultDepth+1) != nil {
			if err == nil || de.Err.Code != jsonrpc.CodeParse {
				t.Fatalf("Split(%q) = %v, want a parse error", frame, err)
			}
			return
		}
		var want []json.RawMessage
		if err := json.Unmarshal(frame, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", frame, err)
		}
		if len(want) == 0 || len(want) > 8 {
			if err == nil || de.Err.Code != jsonrpc.CodeInvalidRequest {
				t.Fatalf("Split of %d members = %v, want a refusal", len(want), err)
			}
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("Split(%q) = %d members, %v; want %d", frame, len(got), err, len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("member %d of %q is %q, want %q", i, frame, got[i], want[i])
			}
		}
	})
}
