package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

func toolList() catalogList { return catalogList{policy.Tool, protocol.MethodToolsList} }

func (inv *invocation) prompts(ctx context.Context) error {
	return inv.list(ctx, "NAME", catalogList{policy.Prompt, protocol.MethodPromptsList})
}

func (inv *invocation) resources(ctx context.Context) error {
	fixed := catalogList{policy.Resource, protocol.MethodResourcesList}
	templates := catalogList{policy.ResourceTemplate, protocol.MethodResourcesTemplatesList}
	switch {
	case inv.set.templates:
		return inv.list(ctx, "URI", templates)
	case inv.set.json:
		return inv.list(ctx, "URI", fixed)
	}
	return inv.list(ctx, "URI", fixed, templates)
}

// catalogList is a list that a client can ask for.
type catalogList struct {
	kind   policy.Kind
	method string
}

// list prints lists: their results, or one table of them all.
func (inv *invocation) list(ctx context.Context, heading string, lists ...catalogList) (err error) {
	c, err := inv.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	table := tabwriter.NewWriter(&inv.out, 0, 0, 2, ' ', 0)
	if !inv.set.json {
		fmt.Fprintf(table, "%s\tCATEGORY\tCAPABILITIES\tSENSITIVITY\tDESCRIPTION\n", heading)
	}
	for _, l := range lists {
		err := c.pages(ctx, l.method, func(page []byte) error {
			if inv.set.json {
				inv.out.Write(page)
				inv.out.WriteByte('\n')
				return nil
			}
			return c.appendRows(table, l.kind, page)
		})
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

// pages asks for all pages of a list.
func (c *local) pages(ctx context.Context, method string, each func([]byte) error) error {
	var params []byte
	for {
		page, err := c.request(ctx, method, params)
		if err != nil {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		next := jsonwire.Lookup(page, "nextCursor")
		if next == nil {
			return nil
		}
		params = append([]byte(`"cursor":`), next...)
	}
}

// listResult is a result of one of the lists.
type listResult struct {
	Tools, Prompts, Resources, ResourceTemplates []listEntry
}

// listEntry is what is shown of an entry of any list.
type listEntry struct {
	Name, URI, URITemplate, Description string
}

// appendRows writes a row for each entry of a page.
func (c *local) appendRows(table *tabwriter.Writer, kind policy.Kind, page []byte) error {
	var r listResult
	if err := json.Unmarshal(page, &r); err != nil {
		return fmt.Errorf("reading the list: %w", err)
	}
	for _, entries := range [][]listEntry{r.Tools, r.Prompts, r.Resources, r.ResourceTemplates} {
		for _, e := range entries {
			name := cmp.Or(e.URI, e.URITemplate, e.Name)
			s := c.subject(kind, name)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", name, cmp.Or(s.Category, "-"), cmp.Or(s.Capabilities.String(), "-"), s.Sensitivity, firstSentence(e.Description))
		}
	}
	return nil
}

// firstSentence returns the start of a text, on one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return cmp.Or(printable(text), "-")
}
