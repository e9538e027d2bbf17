package cli

import (
	"strings"

	"cloudg.dev/cloudg/registry/catalog/files"
)

// parsed is a command line.
type parsed struct {
	set      *settings
	operands []string
	help     bool // help was asked for, and nothing else matters
}

// parse reads the arguments of a subcommand. Options and operands may come in
// any order; nothing is guessed, nothing is ignored, and the last of two values
// does not win: what cannot be meant is an error.
func parse(cmd *command, args []string, getenv func(string) string) (*parsed, error) {
	p := &parser{cmd: cmd, options: optionsOf(cmd), args: args, seen: make(map[string]bool)}
	p.set = defaults()
	if cmd.scope&forHealthcheck != 0 {
		p.set.transport = overHTTP // nothing else can be checked
	}
	for len(p.args) > 0 && !p.help {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if p.help {
		return &p.parsed, nil
	}
	if err := p.environment(getenv); err != nil {
		return nil, err
	}
	if err := p.checkTransport(); err != nil {
		return nil, err
	}
	if len(p.set.roots) > files.MaxRoots {
		return nil, usagef("--root: %d directories are too many: want at most %d, and perhaps one above them", len(p.set.roots), files.MaxRoots)
	}
	if p.set.allowWrite && len(p.set.roots) == 0 {
		return nil, usagef("--allow-write has no effect without a directory to write to: add --root DIR")
	}
	return &p.parsed, cmd.checkOperands(p.operands)
}

type parser struct {
	parsed
	cmd     *command
	options []option
	args    []string        // not read yet
	seen    map[string]bool // options that were given
}

// next reads an option with its value, or an operand.
func (p *parser) next() error {
	arg := p.args[0]
	p.args = p.args[1:]
	switch {
	case arg == "--":
		p.operands = append(p.operands, p.args...)
		p.args = nil
	case arg == "-h" || arg == "--help":
		p.help = true
	case strings.HasPrefix(arg, "--"):
		return p.option(arg)
	case strings.HasPrefix(arg, "-") && arg != "-":
		return p.singleDash(arg)
	default:
		p.operands = append(p.operands, arg)
	}
	return nil
}

// option reads one option, whose value may be the next argument.
func (p *parser) option(arg string) error {
	name, value, joined := strings.Cut(arg, "=")
	o := p.find(name)
	switch {
	case o == nil:
		return p.unknown(name)
	case p.seen[name] && !o.many:
		return usagef("%s is given twice: once is enough", name)
	case o.value == "" && joined:
		return usagef("%s takes no value: want %s alone", name, name)
	}
	p.seen[name] = true
	if o.value != "" && !joined {
		if len(p.args) == 0 || strings.HasPrefix(p.args[0], "--") {
			return usagef("%s needs a value: want %s (or %s=… for a value that begins with dashes)", name, o.usage(), name)
		}
		value = p.args[0]
		p.args = p.args[1:]
	}
	if o.value != "" && value == "" {
		return usagef("%s: the value is empty: want %s", name, o.usage())
	}
	if err := o.set(p.set, value); err != nil {
		return usagef("%s: %v", name, err)
	}
	return nil
}

func (p *parser) find(name string) *option {
	for i := range p.options {
		if p.options[i].name == name {
			return &p.options[i]
		}
	}
	return nil
}

// unknown is the error for an option that the subcommand does not have.
func (p *parser) unknown(name string) error {
	var names []string
	for _, o := range p.options {
		names = append(names, o.name)
	}
	for _, o := range options() {
		if o.name == name {
			return usagef("%s is not an option of %s: it belongs to %s", name, p.cmd.name, strings.Join(takers(&o), ", "))
		}
	}
	if len(names) == 0 {
		return usagef("unknown option %s: %s has none but --help", optionName(name), p.cmd.name)
	}
	return usagef("unknown option %s%s", optionName(name), didYouMean(name, names))
}

// takers returns the names of the subcommands that have an option.
func takers(o *option) []string {
	var names []string
	for _, c := range commands() {
		if c.scope&o.scope != 0 {
			names = append(names, c.name)
		}
	}
	return names
}

// singleDash is the error for an argument with one dash: there is no short
// option but -h.
func (p *parser) singleDash(arg string) error {
	name := optionName(arg)
	if p.find("-"+name) != nil {
		return usagef("unknown option %s (did you mean -%s?)", name, name)
	}
	return usagef("unknown option %s: options begin with two dashes; put -- before an operand that begins with one", name)
}

// optionName returns an argument that looks like an option without its value,
// and short enough to repeat.
func optionName(arg string) string {
	const longest = 64
	name, _, _ := strings.Cut(arg, "=")
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "") + "…"
	}
	return name
}

// environment applies the variables that stand in for options not given. Those
// for another transport are left alone: the environment describes a deployment,
// in which not every command uses everything.
func (p *parser) environment(getenv func(string) string) error {
	for i := range p.options {
		o := &p.options[i]
		if o.env == "" || p.seen[o.name] || !o.only.covers(p.set.transport) {
			continue
		}
		for _, value := range o.values(getenv(o.env)) {
			if err := o.set(p.set, value); err != nil {
				return usagef("the environment variable %s, which stands in for %s: %v", o.env, o.name, err)
			}
		}
	}
	return nil
}

// values returns the values in an environment variable. White space separates
// those of an option that may be repeated.
func (o *option) values(variable string) []string {
	switch {
	case o.many:
		return strings.Fields(variable)
	case variable == "":
		return nil
	}
	return []string{variable}
}
