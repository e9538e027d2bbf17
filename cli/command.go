package cli

import (
	"context"
	"strings"
)

// command is a subcommand. Its help is the file help/NAME.txt.
type command struct {
	name     string
	operands string // as usage shows them: those in brackets may be left out
	scope    scope  // which options it takes
	run      func(*invocation, context.Context) error
}

// scope is a set of subcommands, for which an option is meant.
type scope uint16

const (
	forServer    scope = 1 << iota // all that know the server: those that build one, and healthcheck
	forClient                      // all that speak to it in the same process
	forList                        // tools, resources and prompts
	forResources                   // and so on: one subcommand each
	forCall
	forComplete
	forVersion
	forTools
	forHealthcheck
)

// commands lists the subcommands.
func commands() []command {
	return []command{
		{"serve", "", forServer, (*invocation).serve},
		{"tools", "", forServer | forClient | forList | forTools, (*invocation).tools},
		{"resources", "", forServer | forClient | forList | forResources, (*invocation).resources},
		{"prompts", "", forServer | forClient | forList, (*invocation).prompts},
		{"call", "TOOL", forServer | forClient | forCall, (*invocation).call},
		{"read", "URI", forServer | forClient, (*invocation).read},
		{"complete", "REF ARGUMENT [VALUE]", forServer | forClient | forComplete, (*invocation).complete},
		{"healthcheck", "", forServer | forHealthcheck, (*invocation).healthcheck},
		{"version", "", forVersion, (*invocation).version},
		{"help", "[TOPIC]", 0, (*invocation).help},
	}
}

// findCommand returns the subcommand of that name, or nil.
func findCommand(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// choose returns the subcommand that the arguments name, and the rest of them.
func choose(args []string) (*command, []string, error) {
	if len(args) == 0 {
		return nil, nil, usagef("a subcommand is missing: want one of %s", strings.Join(commandNames(), ", "))
	}
	name := args[0]
	switch name {
	case "-h", "--help":
		return findCommand("help"), args[1:], nil
	case "--version":
		return findCommand("version"), args[1:], nil
	}
	if c := findCommand(name); c != nil {
		return c, args[1:], nil
	}
	if strings.HasPrefix(name, "-") {
		return nil, nil, usagef("%s comes before the subcommand: want cloudg SUBCOMMAND [OPTIONS], as in 'cloudg serve --root DIR'", optionName(name))
	}
	return nil, nil, usagef("unknown subcommand %q%s: want one of %s", name, didYouMean(name, commandNames()), strings.Join(commandNames(), ", "))
}

// checkOperands refuses too few operands and too many.
func (c *command) checkOperands(operands []string) error {
	names := strings.Fields(c.operands)
	if len(operands) > len(names) {
		if len(names) == 0 {
			return usagef("unexpected operand %q: %s takes none", operands[0], c.name)
		}
		return usagef("unexpected operand %q: want %s %s", operands[len(names)], c.name, c.operands)
	}
	for _, name := range names[len(operands):] {
		if !strings.HasPrefix(name, "[") {
			return usagef("%s is missing: want %s %s", name, c.name, c.operands)
		}
	}
	return nil
}
