package sse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/integration_test/interop/internal/sse"
)

func TestSplitter(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string
		open bool
	}{
		{"nothing", "", nil, false},
		{"one", "data: {}\n\n", []string{"{}"}, false},
		{"without the blank", "data:{}\n\n", []string{"{}"}, false},
		{"fields around it", "event: message\nid: 1\ndata: {}\nretry: 5\n\n", []string{"{}"}, false},
		{"several lines", "data: {\ndata: }\n\n", []string{"{\n}"}, false},
		{"carriage returns", "data: {}\r\n\r\ndata: []\r\n\r\n", []string{"{}", "[]"}, false},
		{"only an id", "id: 1\ndata:\n\n", nil, false},
		{"comment", ": still here\n\n", nil, false},
		{"broken off in a line", "data: {}\n\ndata: {", []string{"{}"}, true},
		{"broken off after a line", "data: {}\n", nil, true},
	}
	for _, test := range tests {
		for _, size := range []int{1, 3, 1 << 10} {
			t.Run(test.name, func(t *testing.T) {
				var s sse.Splitter
				var got []string
				for rest := test.in; rest != ""; {
					n := min(size, len(rest))
					for _, event := range s.Add([]byte(rest[:n])) {
						got = append(got, string(event))
					}
					rest = rest[n:]
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("in pieces of %d: events of %q (-want +got):\n%s", size, test.in, diff)
				}
				if s.Open() != test.open {
					t.Errorf("Open after %s is %v, want %v", strings.TrimSpace(test.in), s.Open(), test.open)
				}
			})
		}
	}
}
