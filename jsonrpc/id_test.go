package jsonrpc_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/jsonrpc"
)

func TestParseID(t *testing.T) {
	tests := []struct {
		in string
		ok bool
	}{
		{`1`, true},
		{`0`, true},
		{`-0`, true},
		{`-12`, true},
		{`123456789012345678901234`, true},
		{`""`, true},
		{`"a"`, true},
		{`"\u0061"`, true},
		{`"1.5"`, true},
		{strings.Repeat("1", 32), true},
		{strings.Repeat("1", 33), false},
		{`"` + strings.Repeat("a", 30) + `"`, true},
		{`"` + strings.Repeat("a", 31) + `"`, false},
		{``, false},
		{`-`, false},
		{`1.0`, false},
		{`1e1`, false},
		{`1E1`, false},
		{`-1.5`, false},
		{`null`, false},
		{`true`, false},
		{`false`, false},
		{`{}`, false},
		{`[1]`, false},
	}
	for _, tt := range tests {
		id, ok := jsonrpc.ParseID([]byte(tt.in), 32)
		want := jsonrpc.ID("")
		if tt.ok {
			want = jsonrpc.ID(tt.in)
		}
		if ok != tt.ok || id != want {
			t.Errorf("ParseID(%q) = %q, %v; want %q, %v", tt.in, id, ok, want, tt.ok)
		}
	}
}

// An id is a copy: it outlives the frame that it came in.
func TestParseIDCopies(t *testing.T) {
	raw := []byte(`"abc"`)
	id, _ := jsonrpc.ParseID(raw, 32)
	copy(raw, `"xyz"`)
	if id != `"abc"` {
		t.Errorf("the id is %s after its frame has changed, want %q", id, "abc")
	}
}

func TestIDEqual(t *testing.T) {
	tests := []struct {
		a, b jsonrpc.ID
		want bool
	}{
		{`1`, `1`, true},
		{`1`, `"1"`, false},
		{`1`, `01`, false},
		{`"a"`, `"a"`, true},
		{`"a"`, `"A"`, false},
		{`"a"`, `"\u0061"`, true},
		{`"\u0061"`, `"\u0061"`, true},
		{`"\/"`, `"/"`, true},
		{`"\n"`, `"\u000a"`, true},
		{`"\\"`, `"\u005c"`, true},
		{`"\\n"`, `"\n"`, false},
		{`""`, ``, false},
	}
	for _, tt := range tests {
		if tt.a.Equal(tt.b) != tt.want || tt.b.Equal(tt.a) != tt.want {
			t.Errorf("Equal(%s, %s) is not %v both ways", tt.a, tt.b, tt.want)
		}
	}
}
