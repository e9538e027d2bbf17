package cli

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// manual holds a text for each topic of help. The first line of each is its
// title. Subcommands get the list of their options from the option table.
//
//go:embed help/*.txt
var manual embed.FS

// overview is the topic that help shows without one.
const overview = "cloudg"

// help prints a topic of the manual.
func (inv *invocation) help(context.Context) error {
	topic := overview
	if len(inv.operands) > 0 {
		topic = inv.operands[0]
	}
	topics, err := topicNames()
	if err != nil {
		return err
	}
	if !slices.Contains(topics, topic) {
		return usagef("there is no topic %q%s: want one of %s", topic, didYouMean(topic, topics), strings.Join(topics, ", "))
	}
	text, err := manual.ReadFile("help/" + topic + ".txt")
	if err != nil {
		return err
	}
	inv.out.Write(bytes.TrimRight(text, "\n"))
	inv.out.WriteByte('\n')
	switch cmd := findCommand(topic); {
	case topic == overview:
		return inv.printTopics(topics)
	case topic == "options":
		inv.printAllOptions()
	case cmd != nil:
		inv.printOptionsOf(cmd)
	}
	return nil
}

// topicNames returns the topics, subcommands first, each group in its order.
func topicNames() ([]string, error) {
	entries, err := manual.ReadDir("help")
	if err != nil {
		return nil, err
	}
	names := commandNames()
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), path.Ext(e.Name())); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// printTopics prints the title of every topic.
func (inv *invocation) printTopics(topics []string) error {
	table := tabwriter.NewWriter(&inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nSubcommands (cloudg SUBCOMMAND --help tells more):\n")
	for i, topic := range topics {
		if i == len(commands()) {
			fmt.Fprint(table, "\nTopics (cloudg help TOPIC):\n")
		}
		text, err := manual.ReadFile("help/" + topic + ".txt")
		if err != nil {
			return err
		}
		if topic != overview {
			title, _, _ := strings.Cut(string(text), "\n")
			_, title, _ = strings.Cut(title, " - ")
			fmt.Fprintf(table, "  %s\t%s\n", topic, title)
		}
	}
	return table.Flush()
}

// printOptionsOf prints the options of a subcommand, those that only some
// transports have apart from the others.
func (inv *invocation) printOptionsOf(cmd *command) {
	groups := make(map[transportSet][]option)
	for _, o := range optionsOf(cmd) {
		groups[o.only] = append(groups[o.only], o)
	}
	inv.printOptions("Options", groups[0])
	inv.out.WriteString("  -h, --help\n      Print this text.\n")
	for _, only := range []transportSet{justStdio, justHTTP} {
		if len(groups[only]) > 0 {
			inv.printOptions("Options for --transport "+only.String(), groups[only])
		}
	}
}

// printAllOptions prints every option, those of the same subcommands and
// transports together.
func (inv *invocation) printAllOptions() {
	var titles []string
	groups := make(map[string][]option)
	for _, o := range options() {
		title := "Options of " + strings.Join(takers(&o), ", ")
		if o.only != 0 {
			title += ", for --transport " + o.only.String()
		}
		if groups[title] == nil {
			titles = append(titles, title)
		}
		groups[title] = append(groups[title], o)
	}
	for _, title := range titles {
		inv.out.WriteByte('\n')
		inv.printWrapped(title+":", "", 78)
		inv.printList(groups[title])
	}
}

// printOptions prints a list of options under a title.
func (inv *invocation) printOptions(title string, list []option) {
	fmt.Fprintf(&inv.out, "\n%s:\n", title)
	inv.printList(list)
}

func (inv *invocation) printList(list []option) {
	for i := range list {
		o := &list[i]
		fmt.Fprintf(&inv.out, "  %s\n", o.usage())
		text := o.help
		if o.env != "" {
			text += " Environment: " + o.env + "."
		}
		inv.printWrapped(text, "      ", 78)
	}
}

// printWrapped prints a text in lines of at most width bytes, if words allow.
func (inv *invocation) printWrapped(text, indent string, width int) {
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line) > len(indent) && len(line)+len(" ")+len(word) > width {
			inv.printLine(line)
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	inv.printLine(line)
}
