package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

// writeSkill writes a skill below dir.
func writeSkill(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(path, 0o700), os.WriteFile(filepath.Join(path, "SKILL.md"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

const soundSkill = "---\nname: sum-up\ndescription: How to sum up.\n---\nBe short.\n"

func TestSkills(t *testing.T) {
	dir := t.TempDir()
	writeSkill(t, dir, "sum-up", soundSkill)
	got := run(t, "", "read", "skill://sum-up/SKILL.md", "--skills", dir)
	if diff := cmp.Diff(result{stdout: soundSkill}, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := run(t, "", "resources", "--skills", dir); got.code != 0 || !strings.Contains(got.stdout, "skill://sum-up/SKILL.md  skills ") {
		t.Errorf("got %+v", got)
	}
	tests := []struct {
		name, in string
		declared bool
	}{
		{"a skill", "--skills " + dir, true},
		{"none", "", false},
		{"empty", "--skills " + t.TempDir(), false},
		{"left out", "--skills " + dir + " --exclude-category skills", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, modern(1, "server/discover", "")+modern(2, "skills/list", ""), append([]string{"serve"}, strings.Fields(tt.in)...)...)
			declared := strings.Contains(got.stdout, `"io.modelcontextprotocol/skills":{"directoryRead":true}`)
			listed := strings.Contains(got.stdout, "How to sum up.")
			if got.code != 0 || declared != tt.declared || listed != tt.declared || strings.Contains(got.stderr, "no skill is offered") != (tt.in != "" && !tt.declared) {
				t.Errorf("declared %t, listed %t, want %t: %+v", declared, listed, tt.declared, got)
			}
		})
	}
}

// TestSkills_unsound does not start.
func TestSkills_unsound(t *testing.T) {
	dir := t.TempDir()
	writeSkill(t, dir, "sum-up", "no frontmatter\n")
	f := &fake{}
	got := runEnv(t, cli.Env{Args: []string{"serve", "--skills", dir}, Register: f.register})
	if got.code != 1 || !strings.Contains(got.stderr, "cloudg serve: --skills: ") || !strings.Contains(got.stderr, "SKILL.md") || f.closed != 1 {
		t.Errorf("got %+v, closed %d times", got, f.closed)
	}
}

// TestTaskDir keeps tasks in a directory, which is for one server at a time, and
// which nobody but a server touches.
func TestTaskDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks")
	if got := run(t, "", "tools", "--task-dir", dir); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("tools made the directory: %v", err)
	}
	for range 2 { // it can be opened again
		got := run(t, modern(1, "server/discover", ""), "serve", "--task-dir", dir)
		if got.code != 0 || !strings.Contains(got.stdout, `"io.modelcontextprotocol/tasks"`) {
			t.Errorf("got %+v", got)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "", "serve", "--task-dir", file); got.code != 1 || !strings.Contains(got.stderr, "cloudg serve: --task-dir: ") {
		t.Errorf("got %+v", got)
	}
}
