package protocol_test

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/protocol"
)

// constants returns the constants that names.go declares, by name.
func constants(t *testing.T) map[string]constant.Value {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("protocol", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]constant.Value)
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			all[name] = c.Val()
		}
	}
	return all
}

// family returns what a constant is one of.
func family(name string) string {
	for _, prefix := range []string{"Method", "Notify", "Meta", "Code", "Result", "Extension", "Max"} {
		if strings.HasPrefix(name, prefix) {
			return prefix
		}
	}
	return ""
}

// methods returns the names of methods among the constants.
func methods(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for name, value := range constants(t) {
		if f := family(name); f == "Method" || f == "Notify" {
			all[constant.StringVal(value)] = true
		}
	}
	return all
}

func TestNamesAreUnique(t *testing.T) {
	first := make(map[[2]string]string)
	for name, value := range constants(t) {
		f := family(name)
		if f == "" {
			t.Errorf("%s belongs to no family of names", name)
		}
		if f == "Notify" {
			f = "Method" // both stand in one place
		}
		key := [2]string{f, value.ExactString()}
		if other, taken := first[key]; taken {
			t.Errorf("%s and %s are both %s", name, other, value)
		}
		first[key] = name
	}
	if len(first) < 50 {
		t.Errorf("only %d names were found", len(first))
	}
}

func TestNotificationsAreNamedAsSuch(t *testing.T) {
	for name, value := range constants(t) {
		if f := family(name); f == "Method" || f == "Notify" {
			if got, want := strings.HasPrefix(constant.StringVal(value), "notifications/"), f == "Notify"; got != want {
				t.Errorf("%s is %s", name, value)
			}
		}
	}
}

func TestCodes(t *testing.T) {
	pairs := [][2]int{
		{protocol.CodeParse, jsonrpc.CodeParse},
		{protocol.CodeInvalidRequest, jsonrpc.CodeInvalidRequest},
		{protocol.CodeMethodNotFound, jsonrpc.CodeMethodNotFound},
		{protocol.CodeInvalidParams, jsonrpc.CodeInvalidParams},
		{protocol.CodeInternal, jsonrpc.CodeInternal},
	}
	for _, p := range pairs {
		if p[0] != p[1] {
			t.Errorf("the code %d is %d for the engine", p[0], p[1])
		}
	}
	for _, own := range []int{protocol.CodeAccessDenied, protocol.CodeRateLimited} {
		if -32768 <= own && own <= -32000 {
			t.Errorf("%d is in the range that JSON-RPC reserves", own)
		}
	}
}

// published is what is named anywhere in the schemas of the specification.
type published struct {
	methods map[string]bool
	codes   map[int]bool
	members map[string]bool
}

// collect walks through a schema.
func (p *published) collect(node any) {
	switch node := node.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			for name := range properties {
				p.members[name] = true
			}
			if m, ok := fixed(properties["method"]).(string); ok {
				p.methods[m] = true
			}
			if c, ok := fixed(properties["code"]).(float64); ok {
				p.codes[int(c)] = true
			}
		}
		for _, inner := range node {
			p.collect(inner)
		}
	case []any:
		for _, inner := range node {
			p.collect(inner)
		}
	}
}

// fixed returns the only value that a schema accepts, if it says so.
func fixed(schema any) any {
	s, _ := schema.(map[string]any)
	return s["const"]
}

// readPublished reads the schemas of all versions and of the tasks extension.
func readPublished(t *testing.T) *published {
	t.Helper()
	if spec(t) == nil {
		t.Skip("the schemas of the specification are not here")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "spec", "*", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := &published{methods: make(map[string]bool), codes: make(map[int]bool), members: make(map[string]bool)}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema any
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.collect(schema)
	}
	return p
}

func TestMethodsBySpecification(t *testing.T) {
	want := readPublished(t).methods
	// Of the extension, whose schema leaves the names of its methods to its text.
	want[protocol.MethodTasksUpdate] = true
	// Tasks of 2025-11-25 were an experiment that the extension replaced.
	for _, name := range []string{"tasks/list", "tasks/result", "notifications/tasks/status"} {
		delete(want, name)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(methods(t)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodesBySpecification(t *testing.T) {
	got := make(map[int]bool)
	for name, value := range constants(t) {
		if family(name) == "Code" {
			code, _ := constant.Int64Val(value)
			got[int(code)] = true
		}
	}
	// The first one is in the text of the specification only, two are our own.
	for _, code := range []int{protocol.CodeResourceNotFound, protocol.CodeAccessDenied, protocol.CodeRateLimited} {
		delete(got, code)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(readPublished(t).codes)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeysBySpecification(t *testing.T) {
	p := readPublished(t)
	// Those of the W3C, which the specification names in its text only.
	elsewhere := []string{"traceparent", "tracestate", "baggage"}
	for name, value := range constants(t) {
		if family(name) == "Meta" && !slices.Contains(elsewhere, constant.StringVal(value)) && !p.members[constant.StringVal(value)] {
			t.Errorf("%s: no schema declares a member %s", name, value)
		}
	}
}
