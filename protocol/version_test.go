package protocol_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/protocol"
)

// predicate is a method of [protocol.Version].
type predicate = func(protocol.Version) bool

// predicates returns all of them by name.
func predicates() map[string]predicate {
	all := make(map[string]predicate)
	version := reflect.TypeFor[protocol.Version]()
	for i := range version.NumMethod() {
		m := version.Method(i)
		if p, ok := m.Func.Interface().(predicate); ok {
			all[m.Name] = p
		}
	}
	return all
}

// marks writes down for which of all versions a predicate is true.
func marks(p predicate) string {
	var b strings.Builder
	for _, v := range everyVersion() {
		if p(v) {
			b.WriteByte('x')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func TestPredicates(t *testing.T) {
	// One mark for each of unknown, 2024-11-05, 2025-03-26, 2025-06-18,
	// 2025-11-25 and 2026-07-28.
	want := map[string]string{
		"HasHandshake":         "-xxxx-",
		"Stateless":            "-----x",
		"AllowsBatch":          "--x---",
		"Resumable":            "--xxx-",
		"PrimesStreams":        "----x-",
		"OmitsUnknownID":       "----xx",
		"HasToolAnnotations":   "--xxxx",
		"HasAudio":             "--xxxx",
		"HasProgressMessage":   "--xxxx",
		"DeclaresCompletions":  "--xxxx",
		"HasTitle":             "---xxx",
		"HasStructuredContent": "---xxx",
		"AnyStructuredContent": "-----x",
		"HasResourceLink":      "---xxx",
		"HasElicitation":       "---xxx",
		"HasURLElicitation":    "----xx",
		"HasIcons":             "----xx",
		"HasLastModified":      "---xxx",
	}
	got := make(map[string]string)
	for name, p := range predicates() {
		got[name] = marks(p)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The schemas say what a version has: a definition, or a value that a definition
// accepts. Those of the newest version accept members that they do not declare,
// but it has everything that is asked for here.
func TestPredicatesBySpecification(t *testing.T) {
	spec := spec(t)
	if spec == nil {
		t.Skip("the schemas of the specification are not here")
	}
	tests := []struct{ predicate, definition, value string }{
		{"HasHandshake", "InitializeResult", ""},
		{"Stateless", "DiscoverResult", ""},
		{"AllowsBatch", "JSONRPCBatchRequest", ""},
		{"OmitsUnknownID", "JSONRPCErrorResponse", ""},
		{"HasToolAnnotations", "ToolAnnotations", ""},
		{"HasAudio", "AudioContent", ""},
		{"HasProgressMessage", "ProgressNotification", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"m"}}`},
		{"DeclaresCompletions", "ServerCapabilities", `{"completions":{}}`},
		{"HasTitle", "BaseMetadata", ""},
		{"HasTitle", "Tool", `{"name":"n","title":"t","inputSchema":{"type":"object"}}`},
		{"HasTitle", "Tool", `{"name":"n","inputSchema":{"type":"object"},"_meta":{}}`},
		{"HasTitle", "TextContent", `{"type":"text","text":"","_meta":{}}`},
		{"HasStructuredContent", "Tool", `{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`},
		{"HasStructuredContent", "CallToolResult", `"content":[],"structuredContent":{}`},
		{"AnyStructuredContent", "CallToolResult", `"content":[],"structuredContent":[]`},
		{"HasResourceLink", "ResourceLink", ""},
		{"HasElicitation", "ElicitRequest", ""},
		{"HasURLElicitation", "ElicitRequestURLParams", ""},
		{"HasIcons", "Icon", ""},
		{"HasIcons", "Implementation", `{"name":"n","version":"1","description":"d"}`},
		{"HasLastModified", "TextContent", `{"type":"text","text":"","annotations":{"lastModified":"2026-01-02"}}`},
	}
	all := predicates()
	for _, tt := range tests {
		has := func(v protocol.Version) bool {
			switch {
			case v == protocol.Unknown:
				return false
			case tt.value == "":
				return spec.Has(v, tt.definition)
			case tt.definition == "CallToolResult":
				return spec.Validate(v, tt.definition, []byte(strings.Replace(object(v, tt.definition), "%s", tt.value, 1))) == nil
			}
			return spec.Validate(v, tt.definition, []byte(tt.value)) == nil
		}
		if diff := cmp.Diff(marks(has), marks(all[tt.predicate])); diff != "" {
			t.Errorf("%s, by %s %s (-want +got):\n%s", tt.predicate, tt.definition, tt.value, diff)
		}
	}
}

func TestResourceNotFound(t *testing.T) {
	for _, v := range everyVersion() {
		want := protocol.CodeResourceNotFound
		if v == protocol.V20260728 {
			want = protocol.CodeInvalidParams
		}
		if got := v.ResourceNotFound(); got != want {
			t.Errorf("%s: %d, want %d", v, got, want)
		}
	}
}

func TestVersionNames(t *testing.T) {
	want := []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	var got []string
	for _, v := range protocol.Versions() {
		got = append(got, v.String())
		if back := protocol.ParseVersion(v.String()); back != v {
			t.Errorf("ParseVersion(%q) = %v", v, back)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Concat(protocol.HandshakeVersions(), protocol.StatelessVersions())); diff != "" {
		t.Errorf("versions of both eras (-want +got):\n%s", diff)
	}
	for _, v := range protocol.Versions() {
		if slices.Contains(protocol.HandshakeVersions(), v.String()) != v.HasHandshake() || slices.Contains(protocol.StatelessVersions(), v.String()) != v.Stateless() {
			t.Errorf("%s is listed in the wrong era", v)
		}
	}
	if list := protocol.HandshakeVersions(); protocol.LatestHandshake.String() != list[len(list)-1] {
		t.Errorf("the latest with a handshake is %s of %s", protocol.LatestHandshake, list)
	}
	if list := protocol.StatelessVersions(); protocol.LatestStateless.String() != list[len(list)-1] {
		t.Errorf("the latest stateless one is %s of %s", protocol.LatestStateless, list)
	}
}

// Callers get lists of their own.
func TestVersionListsAreCopies(t *testing.T) {
	protocol.Versions()[0] = protocol.Unknown
	protocol.HandshakeVersions()[0] = "x"
	protocol.StatelessVersions()[0] = "x"
	protocol.LogLevels()[0] = "x"
	if protocol.Versions()[0] == protocol.Unknown || protocol.HandshakeVersions()[0] == "x" || protocol.StatelessVersions()[0] == "x" || protocol.LogLevels()[0] == "x" {
		t.Error("a caller changed a list for all others")
	}
}

func TestParseVersionOfOthers(t *testing.T) {
	for _, in := range []string{"", "unknown", "2025-6-18", " 2025-06-18", "2025-06-18\n", "2025-06-18x", "20250618", "2026-07-29", "DRAFT-2026-v1", "2025-11-25, 2025-06-18", "２０２５-06-18"} {
		if got := protocol.ParseVersion(in); got != protocol.Unknown {
			t.Errorf("ParseVersion(%q) = %s, want none", in, got)
		}
	}
	for _, v := range []protocol.Version{protocol.Unknown, protocol.LatestStateless + 1, 255} {
		if got := v.String(); got != "unknown" {
			t.Errorf("Version(%d) is called %q, want unknown", v, got)
		}
	}
}
