package catalog_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog"
)

func TestServerInfo(t *testing.T) {
	r := writable(t, nil)
	other := registry.Resource{URI: "test://other", Name: "other", Handler: func(context.Context, *registry.Call) (*protocol.ReadResourceResult, error) {
		return nil, registry.ErrNotFound
	}}
	if err := r.reg.AddResource(other); err != nil {
		t.Fatal(err)
	}
	category := func(name string, tools, resources, templates, prompts float64) any {
		return map[string]any{"name": name, "tools": tools, "resources": resources, "resource_templates": templates, "prompts": prompts}
	}
	want := map[string]any{
		"name": "cloudg", "title": "Cloudg", "version": "1.2.3",
		"go_version": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		"protocol_versions": []any{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"},
		"roots":             1.0, "writable": true,
		"tools": 17.0, "resources": 2.0, "resource_templates": 1.0, "prompts": 3.0,
		"categories": []any{category("host", 4, 0, 0, 1), category("files", 12, 0, 1, 2), category("meta", 1, 1, 0, 0), category("other", 0, 1, 0, 0)},
	}
	res := r.ok("server_info", `{}`)
	equal(t, want, structured(t, res))
	equal(t, string(res.StructuredContent), text(res))

	read, err := r.layer.ReadResource(t.Context(), r.req, "cloudg://server")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "application/json", read.Contents[0].MIMEType)
	equal(t, "cloudg://server", read.Contents[0].URI)
	var got map[string]any
	if err := json.Unmarshal([]byte(read.Contents[0].Text), &got); err != nil {
		t.Fatal(err)
	}
	equal(t, want, got)
}

// TestServerInfo_hidden shows that what a principal may not see is not counted
// for it, and that no prompt tells it of a tool.
func TestServerInfo_hidden(t *testing.T) {
	r := start(t, &catalog.Options{Visible: func(p *policy.Principal, s *policy.Subject) bool {
		return p.ID == "local" || s.Sensitivity == policy.Public
	}})
	equal(t, any(6.0), structured(t, r.ok("server_info", `{}`))["tools"])
	r.req.Principal = policy.NewPrincipal("guest")
	got := structured(t, r.ok("server_info", `{}`))
	equal(t, any(1.0), got["tools"])
	equal(t, 2, len(got["categories"].([]any)))
	_, err := r.layer.GetPrompt(t.Context(), r.req, "diagnose_host", nil)
	if err == nil {
		t.Fatal("the prompt names tools that the guest must not know of")
	}
}
