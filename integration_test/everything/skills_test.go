package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudg.dev/cloudg/registry"
)

// BenchmarkOpenSkills measures what the skills cost at start.
func BenchmarkOpenSkills(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := openSkills(registry.New(nil), slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSkills has one conversation about skills, from their declaration to a
// file, and one in a handshake session, where they are resources and no more.
func TestSkills(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modern := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + params + `}}`
	}
	const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	tests := []struct {
		name string
		in   []string
		path []string // to a member of the last answer
		want string
	}{
		{"declared", []string{modern("server/discover", "")}, []string{"result", "capabilities", "extensions", "io.modelcontextprotocol/skills"}, `{"directoryRead":true}`},
		{"not declared in a handshake", []string{handshake}, []string{"result", "capabilities", "extensions"}, ""},
		{"list, complete", []string{modern("skills/list", "")}, []string{"result", "resultType"}, `"complete"`},
		{"list, for how long", []string{modern("skills/list", "")}, []string{"result", "ttlMs"}, "60000"},
		{"list, for whom", []string{modern("skills/list", "")}, []string{"result", "cacheScope"}, `"public"`},
		{"get", []string{modern("skills/get", `,"uri":"skill://pdf-tools/SKILL.md"`)}, []string{"result", "skill", "frontmatter", "metadata"},
			`{"version":"1.20","stage":"beta","reviewed":true,"sizes":[1,2.50,16]}`},
		{"get, for whom", []string{modern("skills/get", `,"uri":"skill://pdf-tools/SKILL.md"`)}, []string{"result", "cacheScope"}, `"public"`},
		{"get, unknown", []string{modern("skills/get", `,"uri":"skill://none/SKILL.md"`)}, []string{"error"},
			`{"code":-32602,"message":"No skill is served at skill://none/SKILL.md","data":{"uri":"skill://none/SKILL.md"}}`},
		{"directory", []string{modern("resources/directory/read", `,"uri":"skill://acme/billing"`)}, []string{"result", "resources"},
			`[{"uri":"skill://acme/billing/refunds","name":"refunds","mimeType":"inode/directory"}]`},
		{"directory, no cache", []string{modern("resources/directory/read", `,"uri":"skill://acme/billing"`)}, []string{"result", "ttlMs"}, ""},
		{"file", []string{modern("resources/read", `,"uri":"skill://acme/billing/refunds/examples/letter.md"`)}, []string{"result", "contents"},
			`[{"uri":"skill://acme/billing/refunds/examples/letter.md","mimeType":"text/markdown","text":"We return the amount of your order within five days.\n"}]`},
		{"no methods in a handshake", []string{handshake, `{"jsonrpc":"2.0","id":1,"method":"skills/list"}`}, []string{"error", "code"}, "-32601"},
		{"files in a handshake", []string{handshake, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"skill://acme/billing/refunds/examples/letter.md"}}`},
			[]string{"result", "contents"},
			`[{"uri":"skill://acme/billing/refunds/examples/letter.md","mimeType":"text/markdown","text":"We return the amount of your order within five days.\n"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := json.RawMessage(converse(t, tt.in))
			for _, name := range tt.path {
				var m map[string]json.RawMessage
				if err := json.Unmarshal(got, &m); err != nil {
					t.Fatalf("%s: %v", got, err)
				}
				got = m[name]
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// converse sends lines to a server and returns its answer to the last one.
func converse(t *testing.T, lines []string) string {
	t.Helper()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with its input; it is waited for below
		err := serve(t.Context(), &config{stdio: true, maxOutput: -1}, slog.New(slog.DiscardHandler), strings.NewReader(strings.Join(lines, "\n")+"\n"), stdout)
		stdout.Close()
		ended <- err
	}()
	last := ""
	for s := bufio.NewScanner(out); s.Scan(); {
		last = s.Text()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return last
}
