package jsonwire_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"

	"cloudg.dev/cloudg/internal/jsonwire"
	"github.com/google/go-cmp/cmp"
)

func TestAppendFloat(t *testing.T) {
	tests := []struct {
		in   float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "-0"},
		{1, "1"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{1 << 53, "9007199254740992"},
		{1e20, "100000000000000000000"},
		{1e21, "1e+21"},
		{1e-6, "0.000001"},
		{9e-7, "9e-07"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{math.SmallestNonzeroFloat64, "5e-324"},
		{math.Inf(1), "null"},
		{math.Inf(-1), "null"},
		{math.NaN(), "null"},
	}
	for _, tt := range tests {
		got := string(jsonwire.AppendFloat([]byte("x"), tt.in))
		if diff := cmp.Diff("x"+tt.want, got); diff != "" {
			t.Errorf("AppendFloat(%g) (-want +got):\n%s", tt.in, diff)
		}
		if err := jsonwire.Valid([]byte(got[1:]), 0); err != nil {
			t.Errorf("AppendFloat(%g) = %s: %v", tt.in, got[1:], err)
		}
		if back, err := strconv.ParseFloat(got[1:], 64); tt.want != "null" && (err != nil || back != tt.in) {
			t.Errorf("AppendFloat(%g) reads back as %g, %v", tt.in, back, err)
		}
	}
}

func TestAppendValue(t *testing.T) {
	tests := []struct {
		name, in string
		line     string // without line ends
		compact  string // without any white space
	}{
		{"scalar", ` 1 `, `1`, `1`},
		{"string with space", `"a b"`, `"a b"`, `"a b"`},
		{"one line", `{ "a": [1, 2] }`, `{ "a": [1, 2] }`, `{"a":[1,2]}`},
		{"one line with ends around it", "\r\n\t{ \"a\": 1 }\r\n", `{ "a": 1 }`, `{"a":1}`},
		{"many lines", "{\n  \"a b\": [\n    1,\r\n    \"x \\n y\"\n  ]\n}\n", `{"a b":[1,"x \n y"]}`, `{"a b":[1,"x \n y"]}`},
		{"escaped quotes", "[\"\\\" \\\\\",\n\" \"]", `["\" \\"," "]`, `["\" \\"," "]`},
		{"carriage return alone", "[1,\r2]", `[1,2]`, `[1,2]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonwire.AppendValue([]byte("x"), []byte(tt.in), 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("x"+tt.line, string(got)); diff != "" {
				t.Errorf("AppendValue (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("x"+tt.line, string(jsonwire.AppendLine([]byte("x"), []byte(tt.in)))); diff != "" {
				t.Errorf("AppendLine (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("x"+tt.compact, string(jsonwire.AppendCompact([]byte("x"), []byte(tt.in)))); diff != "" {
				t.Errorf("AppendCompact (-want +got):\n%s", diff)
			}
			if !json.Valid(got[1:]) {
				t.Errorf("AppendValue gives %q, which is not JSON", got[1:])
			}
		})
	}
}

func TestAppendValueRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		depth    int
		want     error
	}{
		{"two values", `1 2`, 0, jsonwire.ErrTrailing},
		{"bad bytes", "\"\xff\"", 0, jsonwire.ErrUTF8},
		{"too deep", `[[]]`, 1, jsonwire.ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonwire.AppendValue([]byte("x"), []byte(tt.in), tt.depth)
			if !errors.Is(err, tt.want) || string(got) != "x" {
				t.Errorf("AppendValue = %q, %v; want dst as it was and %v", got, err, tt.want)
			}
		})
	}
}
