package catalog

import (
	"context"
	"strconv"
	"strings"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/files"
)

// args is the arguments of a tool call; JSON sorts them by name.
type args = map[string]any

// A guide becomes a prompt: a task, the tool calls that lead to its answer, and
// what the answer should look like.
type guide struct {
	description  string // of the result
	task, report string
	steps        []step
}

// A step is one tool call of a guide.
type step struct {
	tool string
	args args   // nil for a call without arguments
	look string // what to look for in the result
}

// expand makes the prompt for one caller: steps whose tool is not there for it
// are left out. Name is that of the prompt without the prefix of the registry,
// which the tools have as well.
func (c *Catalog) expand(call *registry.Call, name string, g *guide) (*protocol.GetPromptResult, error) {
	prefix := strings.TrimSuffix(call.Subject.Name, name)
	snap := c.reg.Snapshot()
	var b strings.Builder
	b.WriteString(g.task + "\n\n")
	n := 0
	for _, s := range g.steps {
		e := snap.Tool(prefix + s.tool)
		if e == nil || !c.visible(call.Principal, &e.Subject) {
			continue
		}
		n++
		if err := s.write(&b, n, e.Name); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, registry.Failf("none of the tools that this prompt needs is available; ask the operator of the server to include %s", prefix+g.steps[0].tool)
	}
	b.WriteString("\n" + g.report)
	return &protocol.GetPromptResult{
		Description: g.description,
		Messages:    []protocol.PromptMessage{{Role: protocol.RoleUser, Content: textBlock(b.String())}},
	}, nil
}

func (s *step) write(b *strings.Builder, n int, tool string) error {
	b.WriteString(strconv.Itoa(n) + ". Call " + tool)
	if s.args != nil {
		raw, err := marshal(s.args)
		if err != nil {
			return err
		}
		b.WriteString(" with " + string(raw))
	}
	b.WriteString(": " + s.look + "\n")
	return nil
}

// existing checks that a path names something of the kind, a link to it
// included, and returns it as the tools show it.
func (c *Catalog) existing(ctx context.Context, path, kind string) (string, error) {
	if path == "" {
		return "", registry.Failf("path: want a %s in an allowed directory; list_roots shows which are allowed", kind)
	}
	info, err := c.files.FileInfo(ctx, files.FileInfoIn{Path: path})
	if err != nil {
		return "", failure(err)
	}
	if info.Kind != kind && info.TargetKind != kind {
		return "", registry.Failf("path: want a %s, and %q is something else", kind, info.Path)
	}
	return info.Path, nil
}

// oneOf completes from a fixed list.
func oneOf(values ...string) registry.Completer {
	return func(_ context.Context, _ *registry.Call, typed string, _ map[string]string) (*protocol.Completion, error) {
		c := new(protocol.Completion)
		for _, v := range values {
			if strings.HasPrefix(v, typed) {
				c.Values = append(c.Values, v)
			}
		}
		c.Total = len(c.Values)
		return c, nil
	}
}
