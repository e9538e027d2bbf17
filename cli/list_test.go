package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/cli"
)

func TestRun_tables(t *testing.T) {
	tests := []struct {
		name, in string
		want     string
	}{
		{"tools", "tools --include-tool echo --include-tool shape --include-tool wait",
			"NAME   CATEGORY  CAPABILITIES        SENSITIVITY  DESCRIPTION\n" +
				"echo   talk      -                   unrated      Gives the arguments back.\n" +
				"shape  talk      read_state,network  internal     Structured content and a picture.\n" +
				"wait   faults    -                   unrated      -\n"},
		{"prefix", "tools --include-tool echo --prefix x.",
			"NAME    CATEGORY  CAPABILITIES  SENSITIVITY  DESCRIPTION\n" +
				"x.echo  talk      -             unrated      Gives the arguments back.\n"},
		{"pages", "tools --exclude-category faults --page-size 1",
			"NAME    CATEGORY  CAPABILITIES        SENSITIVITY  DESCRIPTION\n" +
				"echo    talk      -                   unrated      Gives the arguments back.\n" +
				"shape   talk      read_state,network  internal     Structured content and a picture.\n" +
				"blocks  talk      -                   unrated      -\n" +
				"report  talk      -                   unrated      -\n"},
		{"resources", "resources",
			"URI               CATEGORY  CAPABILITIES  SENSITIVITY  DESCRIPTION\n" +
				"test://text       talk      -             unrated      A text.\n" +
				"test://{id}/data  -         -             public       -\n"},
		{"templates", "resources --templates --protocol-version 2024-11-05",
			"URI               CATEGORY  CAPABILITIES  SENSITIVITY  DESCRIPTION\n" +
				"test://{id}/data  -         -             public       -\n"},
		{"prompts", "prompts --prefix p_",
			"NAME   CATEGORY  CAPABILITIES  SENSITIVITY  DESCRIPTION\n" +
				"p_ask  talk      -             unrated      Asks.\n"},
		{"nothing", "prompts --exclude-category talk",
			"NAME  CATEGORY  CAPABILITIES  SENSITIVITY  DESCRIPTION\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(result{stdout: tt.want}, run(t, "", strings.Fields(tt.in)...), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRun_filters lists the tools, and whether the resource and the prompt of
// the category talk are there.
func TestRun_filters(t *testing.T) {
	const all = "echo shape blocks fail crash report wait"
	tests := []struct {
		name, in string
		want     string
	}{
		{"none", "", all + " test://text ask"},
		{"include category", "--include-category talk", "echo shape blocks report test://text ask"},
		{"other category", "--include-category faults", "fail crash wait"},
		{"both", "--include-category faults --include-category=talk", all + " test://text ask"},
		{"exclude category", "--exclude-category talk", "fail crash wait"},
		{"include tools", "--include-tool *a* --include-tool echo", "echo shape fail crash wait test://text ask"},
		{"one character", "--include-tool ?ai?", "fail wait test://text ask"},
		{"category and tool", "--include-category faults --include-tool echo", "echo fail crash wait"},
		{"exclude tools", "--exclude-tool *", "test://text ask"},
		{"exclusion wins", "--include-tool echo --include-category talk --exclude-tool e* --exclude-category faults", "shape blocks report test://text ask"},
		{"without the prefix", "--prefix p_ --exclude-tool ec*", "p_shape p_blocks p_fail p_crash p_report p_wait test://text p_ask"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, list := range []string{"tools", "resources", "prompts"} {
				rows := strings.Split(strings.TrimSpace(run(t, "", append([]string{list}, strings.Fields(tt.in)...)...).stdout), "\n")
				for _, row := range rows[1:] {
					if name := strings.Fields(row)[0]; name != "test://{id}/data" { // it has no category
						got = append(got, name)
					}
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRun_listJSON(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"cloudg","title":"cloudg","version":"devel"}}}`
	tests := []struct {
		name, in string
		want     []string // lines
	}{
		{"stateless", "tools --json --include-tool report", []string{
			`{"resultType":"complete","tools":[{"name":"report","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true,"openWorldHint":false}}],"ttlMs":60000,"cacheScope":"public",` + meta}},
		{"handshake", "tools --json --include-tool report --protocol-version 2025-06-18", []string{
			`{"tools":[{"name":"report","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]}`}},
		{"first version", "tools --json --include-tool report --protocol-version 2024-11-05", []string{
			`{"tools":[{"name":"report","inputSchema":{"type":"object","properties":{}}}]}`}},
		{"resources", "resources --json --protocol-version 2025-11-25", []string{
			`{"resources":[{"uri":"test://text","name":"text","description":"A text."}]}`}},
		{"templates", "resources --json --templates --protocol-version 2025-11-25", []string{
			`{"resourceTemplates":[{"uriTemplate":"test://{id}/data","name":"data"}]}`}},
		{"prompts", "prompts --json --protocol-version 2025-11-25", []string{
			`{"prompts":[{"name":"ask","description":"Asks. Politely.","arguments":[{"name":"what","required":false},{"name":"how","required":false}]}]}`}},
		{"empty", "prompts --json --exclude-category talk", []string{
			`{"resultType":"complete","prompts":[],"ttlMs":60000,"cacheScope":"public",` + meta}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, "", strings.Fields(tt.in)...)
			if got.code != 0 {
				t.Fatalf("got %+v", got)
			}
			if diff := cmp.Diff(tt.want, strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRun_listJSONPages follows the cursor when pages were asked for.
func TestRun_listJSONPages(t *testing.T) {
	got := run(t, "", "tools", "--json", "--page-size", "3")
	var sizes []int
	for line := range strings.Lines(got.stdout) {
		var page struct{ Tools []json.RawMessage }
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		sizes = append(sizes, len(page.Tools))
	}
	if diff := cmp.Diff([]int{3, 3, 1}, sizes); diff != "" || got.code != cli.ExitOK {
		t.Errorf("code %d, pages (-want +got)\n%s", got.code, diff)
	}
}
