package schema

import (
	"fmt"
	"testing"
)

// TestHashTellsApart looks for collisions among values that differ little.
func TestHashTellsApart(t *testing.T) {
	formats := []string{`%d`, `"%d"`, `[%d]`, `{"a":%d}`, `{"%d":"a"}`, `{"a":{"b":[%d]},"c":1}`, `[[%d],[]]`, `-%d1`, `1e%d`, `0.%d1`}
	h := newHasher()
	seen := map[uint64]string{}
	for _, format := range formats {
		for i := range 2000 {
			v := fmt.Sprintf(format, i)
			sum := h.value([]byte(v))
			budget := 1000
			if other, ok := seen[sum]; ok && !equal([]byte(v), []byte(other), &budget) {
				t.Fatalf("%s and %s have one hash", v, other)
			}
			seen[sum] = v
		}
	}
}

// TestHashOfEqualValues writes values in different ways.
func TestHashOfEqualValues(t *testing.T) {
	tests := []struct {
		name string
		in   []string
	}{
		{"numbers", []string{`10`, `10.0`, `1e1`, `100e-1`, `1.00E+1`}},
		{"zero", []string{`0`, `-0`, `0.00`, `0e9`}},
		{"text", []string{`"a/é"`, `"\u0061\/\u00e9"`}},
		{"arrays", []string{`[1,"a"]`, `[ 1.0 , "\u0061" ]`}},
		{"objects", []string{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, `{ "\u0062" : [ 2 ] , "a" : 1 }`}},
	}
	h := newHasher()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range tt.in[1:] {
				budget := 1000
				if h.value([]byte(v)) != h.value([]byte(tt.in[0])) || !equal([]byte(v), []byte(tt.in[0]), &budget) {
					t.Errorf("%s and %s differ", v, tt.in[0])
				}
			}
		})
	}
}
