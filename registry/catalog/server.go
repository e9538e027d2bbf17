package catalog

import (
	"context"
	"fmt"
	"runtime"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/files"
)

const serverURI = "cloudg://server"

// serverInfo is what server_info returns.
type serverInfo struct {
	Name              string         `json:"name" jsonschema:"description=Name of the server"`
	Title             string         `json:"title,omitempty" jsonschema:"description=Name of the server for people"`
	Version           string         `json:"version" jsonschema:"description=Version of the server"`
	GoVersion         string         `json:"go_version" jsonschema:"description=Version of Go that it was built with"`
	Platform          string         `json:"platform" jsonschema:"description=Operating system and architecture that it was built for"`
	ProtocolVersions  []string       `json:"protocol_versions" jsonschema:"description=Versions of the Model Context Protocol that it speaks; oldest first"`
	Roots             int            `json:"roots" jsonschema:"description=Number of directories whose files may be used (see list_roots),minimum=0"`
	Writable          bool           `json:"writable" jsonschema:"description=Whether files there may be changed"`
	Tools             int            `json:"tools" jsonschema:"description=Tools that you may see,minimum=0"`
	Resources         int            `json:"resources" jsonschema:"description=Resources that you may see,minimum=0"`
	ResourceTemplates int            `json:"resource_templates" jsonschema:"description=Resource templates that you may see,minimum=0"`
	Prompts           int            `json:"prompts" jsonschema:"description=Prompts that you may see,minimum=0"`
	Categories        []categoryInfo `json:"categories" jsonschema:"description=What all these are about"`
}

// categoryInfo counts what is in a category.
type categoryInfo struct {
	Name              string `json:"name" jsonschema:"description=Name of the category; other for what has none"`
	Tools             int    `json:"tools" jsonschema:"description=Its tools,minimum=0"`
	Resources         int    `json:"resources" jsonschema:"description=Its resources,minimum=0"`
	ResourceTemplates int    `json:"resource_templates" jsonschema:"description=Its resource templates,minimum=0"`
	Prompts           int    `json:"prompts" jsonschema:"description=Its prompts,minimum=0"`
}

// addServer registers the category meta.
func (c *Catalog) addServer(r *registrar) {
	r.tool(registry.Typed(registry.Tool{
		Name: "server_info", Title: "About this server",
		Description: "What this server is: name, version, platform, protocol versions, and how many tools, resources and prompts of which categories you may use. " +
			"Use it to report a problem, or to see what kind of help to expect here; tools/list has the tools themselves. " +
			"For the machine it runs on use host_status.",
		Category: CategoryMeta, Sensitivity: policy.Public, Capabilities: policy.ReadState,
	}, func(ctx context.Context, call *registry.Call, _ nothing) (serverInfo, error) {
		return c.describe(ctx, call)
	}))
	r.resource(registry.Resource{
		URI: serverURI, Name: "server", Title: "About this server", MIMEType: "application/json",
		Description: "What this server is: name, version, platform, protocol versions, and how many tools, resources and prompts of which categories you may use.",
		Category:    CategoryMeta, Sensitivity: policy.Public, Capabilities: policy.ReadState,
		Handler: c.readServer,
	})
}

func (c *Catalog) readServer(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
	info, err := c.describe(ctx, call)
	if err != nil {
		return nil, err
	}
	raw, err := marshal(&info)
	if err != nil {
		return nil, fmt.Errorf("encoding the server's description: %w", err)
	}
	return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{URI: call.URI, MIMEType: "application/json", Text: string(raw)}}}, nil
}

// describe describes the server to the one who calls.
func (c *Catalog) describe(ctx context.Context, call *registry.Call) (serverInfo, error) {
	info := serverInfo{
		Name: c.info.Name, Title: c.info.Title, Version: c.info.Version,
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		ProtocolVersions: []string{}, Writable: c.write, Categories: []categoryInfo{},
	}
	for _, v := range protocol.Versions() {
		info.ProtocolVersions = append(info.ProtocolVersions, v.String())
	}
	if c.files != nil {
		out, err := c.files.ListRoots(ctx, files.ListRootsIn{})
		if err != nil {
			return serverInfo{}, failure(err)
		}
		info.Roots = len(out.Roots)
	}
	c.countAll(&info, call.Principal)
	return info, nil
}

// countAll counts what the principal may see of the whole registry, whoever
// registered it.
func (c *Catalog) countAll(info *serverInfo, p *policy.Principal) {
	snap := c.reg.Snapshot()
	for _, e := range snap.Tools {
		c.count(info, p, &e.Subject)
	}
	for _, e := range snap.Resources {
		c.count(info, p, &e.Subject)
	}
	for _, e := range snap.Templates {
		c.count(info, p, &e.Subject)
	}
	for _, e := range snap.Prompts {
		c.count(info, p, &e.Subject)
	}
}

func (c *Catalog) count(info *serverInfo, p *policy.Principal, s *policy.Subject) {
	if !c.visible(p, s) {
		return
	}
	category := info.category(s.Category)
	switch s.Kind {
	case policy.Tool:
		info.Tools++
		category.Tools++
	case policy.Resource:
		info.Resources++
		category.Resources++
	case policy.ResourceTemplate:
		info.ResourceTemplates++
		category.ResourceTemplates++
	case policy.Prompt:
		info.Prompts++
		category.Prompts++
	}
}

// category returns the counts for a category, which begin with its first
// member.
func (info *serverInfo) category(name string) *categoryInfo {
	if name == "" {
		name = "other"
	}
	for i := range info.Categories {
		if info.Categories[i].Name == name {
			return &info.Categories[i]
		}
	}
	info.Categories = append(info.Categories, categoryInfo{Name: name})
	return &info.Categories[len(info.Categories)-1]
}
