package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "cloudg.dev/cloudg"

// arrows says which packages of ours each package may import. ARCHITECTURE.md
// draws the same picture. A name with a slash and dots behind it stands for
// everything below it.
var arrows = map[string][]string{
	"internal/jsonwire": {},
	"policy":            {},
	"notify":            {},

	"protocol":             {"internal/jsonwire"},
	"jsonrpc":              {"internal/jsonwire"},
	"registry/schema":      {"internal/jsonwire"},
	"registry/uritemplate": {},
	"task":                 {"internal/jsonwire"},

	"registry": {"registry/schema", "registry/uritemplate", "policy", "protocol", "internal/jsonwire"},

	"layer":                       {"registry", "policy", "protocol", "notify", "internal/jsonwire"},
	"registry/catalog":            {"registry", "registry/catalog/host", "registry/catalog/files", "policy", "protocol", "internal/jsonwire"},
	"registry/skills":             {"registry", "registry/skills/frontmatter", "policy", "protocol", "internal/jsonwire"},
	"registry/skills/frontmatter": {"internal/jsonwire"},
	"registry/catalog/host":       {},
	"registry/catalog/files":      {},

	"session": {"layer", "registry", "task", "jsonrpc", "protocol", "policy", "notify", "internal/jsonwire"},

	"transport":               {"jsonrpc", "protocol", "policy", "internal/jsonwire"},
	"transport/transporttest": {"jsonrpc"},
	"internal/speccheck":      {"registry/schema", "protocol", "internal/jsonwire"},
	"internal/memnet":         {},
	"adapter":                 {"layer", "registry", "protocol", "policy", "jsonrpc", "notify"},

	"cli": {"..."},
	".":   {"cli"},
}

// free are the folders whose code is not part of the house: black-box tests and
// fixtures may import anything, and nested modules are checked by themselves.
var free = []string{"integration_test"}

// source is one Go file of the module.
type source struct {
	dir  string // relative to the root, "." for it
	name string
	test bool
	file *ast.File
	fset *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || slices.Contains(free, filepath.ToSlash(p))) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		list = append(list, source{filepath.ToSlash(filepath.Dir(p)), p, strings.HasSuffix(p, "_test.go"), f, fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("only %d Go files found; is the test run in the root of the module?", len(list))
	}
	return list
}

func TestArrows(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		allowed, drawn := arrows[s.dir]
		if !drawn {
			t.Errorf("%s: package %s is not in the picture: add it to arrows and to ARCHITECTURE.md", s.name, s.dir)
			continue
		}
		for _, imp := range s.file.Imports {
			to, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			rel, ours := strings.CutPrefix(to, modulePath+"/")
			switch {
			case ours && !slices.Contains(allowed, rel) && !slices.Contains(allowed, "..."):
				t.Errorf("%s: %s must not import %s", s.name, s.dir, rel)
			case !ours && strings.Contains(strings.Split(to, "/")[0], "."):
				t.Errorf("%s: imports %s, which is not part of the standard library", s.name, to)
			}
		}
	}
}

// TestNoSurprises forbids what hides work or state: init functions, and
// standard output outside main.go.
func TestNoSurprises(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init function", s.fset.Position(f.Pos()))
			}
		}
		if s.test || s.name == "main.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch what := pkg.Name + "." + sel.Sel.Name; what {
			case "os.Stdout", "os.Exit", "fmt.Print", "fmt.Println", "fmt.Printf", "log.Fatal", "log.Fatalf":
				t.Errorf("%s: %s outside main.go", s.fset.Position(sel.Pos()), what)
			}
			return true
		})
	}
}

// TestEnvelopesAreHandWritten keeps encoding/json away from messages.
func TestEnvelopesAreHandWritten(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains([]string{"jsonrpc", "protocol", "session", "transport", "layer", "internal/jsonwire"}, s.dir) {
			continue
		}
		for _, imp := range s.file.Imports {
			if p := imp.Path.Value; p == `"encoding/json"` || p == `"reflect"` || p == `"unsafe"` {
				t.Errorf("%s: imports %s", s.name, p)
			}
		}
	}
}

// TestNoSleeps keeps tests from waiting for the clock: only packages whose tests
// run in synctest bubbles may sleep, since that costs nothing there.
func TestNoSleeps(t *testing.T) {
	all := sources(t)
	bubbles := make(map[string]bool)
	for _, s := range all {
		for _, imp := range s.file.Imports {
			bubbles[s.dir] = bubbles[s.dir] || s.test && imp.Path.Value == `"testing/synctest"`
		}
	}
	for _, s := range all {
		if !s.test || bubbles[s.dir] {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s: time.Sleep outside a synctest bubble", s.fset.Position(sel.Pos()))
				}
			}
			return true
		})
	}
}

// TestDocs wants a package comment for every package.
func TestDocs(t *testing.T) {
	documented := make(map[string]bool)
	for _, s := range sources(t) {
		if !s.test {
			documented[s.dir] = documented[s.dir] || s.file.Doc != nil
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", path.Join(modulePath, dir))
		}
	}
}
