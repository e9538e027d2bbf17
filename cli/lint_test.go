package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/schema"
)

// odd has a tool that clients choke on, in two ways and at three places.
func odd() *fake {
	return &fake{more: []registry.Tool{{Name: "odd", Category: "talk", Description: "Is odd.", Handler: echo,
		InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array"},"c":{"type":"string","pattern":"x"}},"additionalProperties":false}`)}}}
}

// TestLint_table has the tools first, and then what was found, the worst first,
// with what is the same at several places in one row.
func TestLint_table(t *testing.T) {
	got := runEnv(t, cli.Env{Args: strings.Fields("tools --lint --include-tool odd --include-tool echo"), Register: odd().register})
	want := "TOOL   BYTES  TOKENS  WARNINGS  PORTABLE  INFO\n" +
		"echo   76     19      0         0         1\n" +
		"odd    149    38      2         1         0\n" +
		"(all)  225    57      2         1         1\n"
	table, findings, _ := strings.Cut(got.stdout, "\n\n")
	if diff := cmp.Diff(want, table+"\n"); diff != "" || got.code != 0 || got.stderr != "" {
		t.Errorf("code %d, %s (-want +got)\n%s", got.code, got.stderr, diff)
	}
	var rows [][]string
	for line := range strings.Lines(findings) {
		fields := strings.Fields(line)
		rows = append(rows, fields[:4])
	}
	wantRows := [][]string{
		{"LEVEL", "TOOL", "RULE", "WHERE"},
		{"warning", "odd", "missing-items", "input/properties/a"},
		{"portable", "odd", "keyword", "input/properties/c"},
		{"info", "echo", "open-object", "input"},
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" || !strings.Contains(findings, "input/properties/a and 1 more  VS Code, OpenAI API, Gemini API  an array without items") {
		t.Errorf("(-want +got)\n%s\n%s", diff, findings)
	}
}

// TestLint_json has every place by itself.
func TestLint_json(t *testing.T) {
	got := runEnv(t, cli.Env{Args: strings.Fields("tools --lint --json --include-tool odd"), Register: odd().register})
	type tool struct {
		Name          string
		Bytes, Tokens int
		Findings      []schema.Finding
	}
	var report struct {
		Tools                                    []tool
		Bytes, Tokens, Warnings, Portable, Infos int
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code != 0 || strings.Count(got.stdout, "\n") != 1 {
		t.Fatalf("%v in %+v", err, got)
	}
	var places []string
	for _, f := range report.Tools[0].Findings {
		if f.Message == "" || f.Clients == nil {
			t.Errorf("incomplete: %+v", f)
		}
		places = append(places, string(f.Level)+" "+f.Rule+" "+f.Schema+f.Path)
	}
	want := []string{"warning missing-items input/properties/a", "warning missing-items input/properties/b", "portable keyword input/properties/c"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if report.Bytes != 149 || report.Tokens != 38 || report.Warnings != 2 || report.Portable != 1 || report.Infos != 0 || report.Tools[0].Bytes != 149 {
		t.Errorf("got %+v", report)
	}
}

func TestLint_nothing(t *testing.T) {
	for in, want := range map[string]string{
		"tools --lint --exclude-tool *":        "TOOL   BYTES  TOKENS  WARNINGS  PORTABLE  INFO\n(all)  0      0       0         0         0\n",
		"tools --lint --json --exclude-tool *": `{"tools":[],"bytes":0,"tokens":0,"warnings":0,"portable":0,"infos":0}` + "\n",
	} {
		t.Run(in, func(t *testing.T) {
			if diff := cmp.Diff(result{stdout: want}, run(t, "", strings.Fields(in)...), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestLint_strict fails for warnings and for nothing less.
func TestLint_strict(t *testing.T) {
	for in, want := range map[string]int{"--lint": 0, "--lint --strict": 1, "--lint --strict --json": 1, "--lint --strict --exclude-tool odd": 0} {
		t.Run(in, func(t *testing.T) {
			got := runEnv(t, cli.Env{Args: append([]string{"tools"}, strings.Fields(in)...), Register: odd().register})
			if got.code != want || got.stdout == "" || got.stderr != "" {
				t.Errorf("got %+v, want code %d", got, want)
			}
		})
	}
}

// TestLint_catalog (A61 to A64) finds nothing in the built-in tools that makes
// a client refuse them, in any version.
func TestLint_catalog(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := cli.Run(t.Context(), cli.Env{
				Args:   []string{"tools", "--lint", "--strict", "--root", t.TempDir(), "--allow-write", "--protocol-version", version},
				Stdout: &stdout, Stderr: &stderr,
			})
			if code != 0 {
				t.Errorf("code %d\n%s%s", code, stdout.String(), stderr.String())
			}
		})
	}
}
