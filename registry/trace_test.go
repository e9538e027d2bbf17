package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/registry"
)

func TestTrace(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	meta := func(parent string) string {
		return `{"a":1,"traceparent":"` + parent + `","tracestate":"v=1","baggage":"user=x"}`
	}
	whole := registry.Trace{Parent: parent, State: "v=1", Baggage: "user=x"}
	tests := []struct {
		name, in string
		want     registry.Trace
	}{
		{"none", ``, registry.Trace{}},
		{"whole", meta(parent), whole},
		{"spelled with escapes", strings.ReplaceAll(meta(parent), "traceparent", `trace\u0070arent`), whole},
		{"alone", `{"traceparent":"` + parent + `"}`, registry.Trace{Parent: parent}},
		{"a later version with more", meta("01" + parent[2:] + "-x"), registry.Trace{Parent: "01" + parent[2:] + "-x", State: "v=1", Baggage: "user=x"}},
		{"more than version 00 has", meta(parent + "-x"), registry.Trace{}},
		{"version ff", meta("ff" + parent[2:]), registry.Trace{}},
		{"upper case", meta(strings.ToUpper(parent)), registry.Trace{}},
		{"too short", meta(parent[:54]), registry.Trace{}},
		{"not a string", `{"traceparent":1,"tracestate":"v=1"}`, registry.Trace{}},
		{"long state", `{"traceparent":"` + parent + `","tracestate":"` + strings.Repeat("x", 600) + `"}`, registry.Trace{Parent: parent}},
		{"other metadata only", `{"progressToken":1}`, registry.Trace{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call := registry.Call{Meta: []byte(tt.in)}
			got := call.Trace()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := registry.ParseTrace(append(got.AppendMembers([]byte(`{"x":0`)), '}')); again != got {
				t.Errorf("passed on as %+v", again)
			}
			for _, a := range got.LogAttrs() {
				if strings.Contains(a.Value.String(), "user=x") {
					t.Errorf("the log gets %v", a)
				}
			}
		})
	}
}
