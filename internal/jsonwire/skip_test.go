package jsonwire_test

import (
	"strings"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
)

func TestSkipString(t *testing.T) {
	tests := []string{
		`""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"\\\\"`, `"a\"b\"c"`, `"\\\"\\"`, `"\u0022"`, `"é\"𝄞"`,
		`"` + strings.Repeat(`\\`, 50) + `"`, `"` + strings.Repeat(`\"`, 50) + `"`,
	}
	for _, in := range tests {
		for _, tail := range []string{"", `"`, `,"b"`, `\"`, ` : "x"`} {
			if got := jsonwire.SkipString([]byte(in + tail)); got != len(in) {
				t.Errorf("SkipString(%q) = %d, want %d", in+tail, got, len(in))
			}
		}
	}
}

func TestSkipValue(t *testing.T) {
	values := append([]string{`[[[[]]]]`, `{"}":"]","a\"}":{"[":"{"}}`, `[{},[],"[",{"a":[{}]}]`, "[\n1 ,\t2\r]"}, corpus...)
	for _, in := range values {
		in = strings.TrimSpace(in)
		for _, tail := range []string{"", ",", "]", "}", " ", "\n]", "\t}", "\r", `:1`, `,"a"`} {
			if got := jsonwire.SkipValue([]byte(in + tail)); got != len(in) {
				t.Errorf("SkipValue(%q) = %d, want %d", in+tail, got, len(in))
			}
		}
	}
}

// pairs reads all members of an object as it is written.
func pairs(obj string) [][2]string {
	var all [][2]string
	for o := jsonwire.Members([]byte(obj)); ; {
		name, value, ok := o.Next()
		if !ok {
			if _, _, again := o.Next(); again {
				all = append(all, [2]string{"a member", "after the last"})
			}
			return all
		}
		all = append(all, [2]string{string(name), string(value)})
	}
}

func TestMembers(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want [][2]string
	}{
		{"empty", `{}`, nil},
		{"empty with space", "{ \n}", nil},
		{"one", `{"a":1}`, [][2]string{{`"a"`, `1`}}},
		{"every kind", `{"a":-1.5e3,"b":"x","c":null,"d":[1,2],"e":{"f":{}}}`, [][2]string{
			{`"a"`, `-1.5e3`}, {`"b"`, `"x"`}, {`"c"`, `null`}, {`"d"`, `[1,2]`}, {`"e"`, `{"f":{}}`},
		}},
		{"space everywhere", "{ \"a\" :\t1 ,\r\n\"b\" : [ 2 ] }", [][2]string{{`"a"`, `1`}, {`"b"`, `[ 2 ]`}}},
		{"punctuation in strings", `{"{,":"}:","\"":"\\"}`, [][2]string{{`"{,"`, `"}:"`}, {`"\""`, `"\\"`}}},
		{"duplicates are all there", `{"a":1,"a":2}`, [][2]string{{`"a"`, `1`}, {`"a"`, `2`}}},
		{"names are not decoded", `{"\u0061":1}`, [][2]string{{`"\u0061"`, `1`}}},
		{"empty name", `{"":""}`, [][2]string{{`""`, `""`}}},
		{"array", `["a"]`, nil},
		{"string", `"{}"`, nil},
		{"null", `null`, nil},
		{"nothing", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, pairs(tt.in)); diff != "" {
				t.Errorf("Members(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// values reads all elements of an array as they are written.
func values(arr string) []string {
	var all []string
	for a := jsonwire.Elements([]byte(arr)); ; {
		value, ok := a.Next()
		if !ok {
			if _, again := a.Next(); again {
				all = append(all, "an element after the last")
			}
			return all
		}
		all = append(all, string(value))
	}
}

func TestElements(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"empty", `[]`, nil},
		{"empty with space", "[\t]", nil},
		{"one", `[1]`, []string{`1`}},
		{"every kind", `[-1.5e3,"x",null,[1,2],{"f":[]}]`, []string{`-1.5e3`, `"x"`, `null`, `[1,2]`, `{"f":[]}`}},
		{"space everywhere", "[ 1 ,\r\n[ ] , \"a\"\t]", []string{`1`, `[ ]`, `"a"`}},
		{"punctuation in strings", `["]","\",["]`, []string{`"]"`, `"\",["`}},
		{"object", `{"a":1}`, nil},
		{"number", `1`, nil},
		{"nothing", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, values(tt.in)); diff != "" {
				t.Errorf("Elements(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	const obj = `{"a":1,"A":2,"\u0062":3,"a":4,"c":null,"":5,"aa":6}`
	tests := []struct{ name, want string }{
		{"a", "1"}, // the first
		{"A", "2"}, // case counts
		{"b", "3"}, // however it is spelled
		{"c", "null"},
		{"", "5"},
		{"aa", "6"},
		{"x", ""},
		{`\u0062`, ""}, // the spelling is not the name
	}
	for _, tt := range tests {
		if got := string(jsonwire.Lookup([]byte(obj), tt.name)); got != tt.want {
			t.Errorf("Lookup(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := jsonwire.Lookup([]byte(`["a"]`), "a"); got != nil {
		t.Errorf("Lookup in an array = %q, want nil", got)
	}
}

func TestIteratorsDoNotAllocate(t *testing.T) {
	obj := []byte(`{"a":[1,2,{"b":"c"}],"d":"e"}`)
	count := 0
	if n := testing.AllocsPerRun(100, func() {
		count = 0
		for o := jsonwire.Members(obj); ; count++ {
			_, value, ok := o.Next()
			if !ok {
				break
			}
			for a := jsonwire.Elements(value); ; count++ {
				if _, ok := a.Next(); !ok {
					break
				}
			}
		}
		if jsonwire.Lookup(obj, "d") == nil {
			t.Error("d is not found")
		}
	}); n != 0 || count != 5 {
		t.Errorf("%v allocations for %d values, want 0 for 5", n, count)
	}
}
