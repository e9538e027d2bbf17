package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/schema"
)

// lintReport is what the lint says of all tools.
type lintReport struct {
	Tools    []lintedTool `json:"tools"`
	Bytes    int          `json:"bytes"`
	Tokens   int          `json:"tokens"`
	Warnings int          `json:"warnings"`
	Portable int          `json:"portable"`
	Infos    int          `json:"infos"`
}

// lintedTool is what the lint says of one tool.
type lintedTool struct {
	Name     string           `json:"name"`
	Bytes    int              `json:"bytes"`  // of name, description and schemas
	Tokens   int              `json:"tokens"` // an estimate
	Findings []schema.Finding `json:"findings"`
}

// tools lists the tools or says what clients will think of them.
func (inv *invocation) tools(ctx context.Context) error {
	if inv.set.lint {
		return inv.lintTools(ctx)
	}
	if inv.set.strict {
		return usagef("--strict has no effect without --lint")
	}
	return inv.list(ctx, "NAME", toolList())
}

// lintTools prints the report. What is looked at is what a client gets.
func (inv *invocation) lintTools(ctx context.Context) (err error) {
	c, err := inv.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	report := &lintReport{Tools: []lintedTool{}}
	err = c.pages(ctx, protocol.MethodToolsList, func(page []byte) error {
		for a := jsonwire.Elements(jsonwire.Lookup(page, "tools")); ; {
			tool, ok := a.Next()
			if !ok {
				return nil
			}
			report.add(tool)
		}
	})
	if err != nil {
		return err
	}
	if inv.set.json {
		err = report.printJSON(inv)
	} else {
		err = report.print(inv)
	}
	if err == nil && inv.set.strict && report.Warnings > 0 {
		err = errFailed
	}
	return err
}

// add looks at one entry of tools/list.
func (r *lintReport) add(tool []byte) {
	t := schema.Tool{
		Name:   jsonwire.Unquote(jsonwire.Lookup(tool, "name")),
		Server: "cloudg",
		Input:  jsonwire.Lookup(tool, "inputSchema"),
		Output: jsonwire.Lookup(tool, "outputSchema"),
	}
	if d := jsonwire.Lookup(tool, "description"); d != nil {
		t.Description = jsonwire.Unquote(d)
	}
	bytes := len(t.Name) + len(t.Description) + len(t.Input) + len(t.Output)
	linted := lintedTool{t.Name, bytes, schema.Tokens(bytes), slices.DeleteFunc(schema.Lint(t), isPlainSize)}
	r.Tools = append(r.Tools, linted)
	r.Bytes += bytes
	r.Tokens += linted.Tokens
	r.Warnings += linted.count(schema.LevelWarning)
	r.Portable += linted.count(schema.LevelPortable)
	r.Infos += linted.count(schema.LevelInfo)
}

// isPlainSize reports whether a finding only repeats the size of a tool.
func isPlainSize(f schema.Finding) bool {
	return f.Rule == "size" && f.Level == schema.LevelInfo
}

func (t *lintedTool) count(level schema.Level) (n int) {
	for _, f := range t.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

func (r *lintReport) printJSON(inv *invocation) error {
	e := json.NewEncoder(&inv.out)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// print prints a table of the tools and one of the findings, the worst first.
func (r *lintReport) print(inv *invocation) error {
	table := tabwriter.NewWriter(&inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "TOOL\tBYTES\tTOKENS\tWARNINGS\tPORTABLE\tINFO\n")
	row := func(name string, counts ...int) {
		fmt.Fprint(table, name)
		for _, n := range counts {
			fmt.Fprintf(table, "\t%d", n)
		}
		fmt.Fprint(table, "\n")
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		row(t.Name, t.Bytes, t.Tokens, t.count(schema.LevelWarning), t.count(schema.LevelPortable), t.count(schema.LevelInfo))
	}
	row("(all)", r.Bytes, r.Tokens, r.Warnings, r.Portable, r.Infos)
	if r.Warnings+r.Portable+r.Infos > 0 {
		fmt.Fprint(table, "\nLEVEL\tTOOL\tRULE\tWHERE\tCLIENTS\tFINDING\n")
	}
	for _, level := range []schema.Level{schema.LevelWarning, schema.LevelPortable, schema.LevelInfo} {
		for i := range r.Tools {
			r.Tools[i].printFindings(table, level)
		}
	}
	return table.Flush()
}

// printFindings prints the findings of a level. Those that differ by their place
// only share a row, which has the first place and the number of the others.
func (t *lintedTool) printFindings(table *tabwriter.Writer, level schema.Level) {
	for i, f := range t.Findings {
		if f.Level != level || slices.ContainsFunc(t.Findings[:i], func(g schema.Finding) bool { return alike(f, g) }) {
			continue
		}
		where := cmp.Or(printable(f.Schema+f.Path), "-")
		more := 0
		for _, other := range t.Findings[i+1:] {
			if alike(f, other) {
				more++
			}
		}
		if more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		clients := cmp.Or(strings.Join(f.Clients, ", "), "all")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Level, t.Name, f.Rule, where, clients, printable(f.Message))
	}
}

// alike reports whether two findings of a tool differ by their place only.
func alike(a, b schema.Finding) bool {
	return a.Rule == b.Rule && a.Level == b.Level && a.Message == b.Message && slices.Equal(a.Clients, b.Clients)
}
