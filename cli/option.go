package cli

import "slices"

// option is an option of subcommands.
type option struct {
	name  string       // with its dashes
	value string       // what help shows for the value; empty for a switch
	scope scope        // the subcommands that have it
	only  transportSet // the transports that it is for; empty: all
	many  bool         // it may be given more than once
	env   string       // the environment variable that stands in for it, or ""
	help  string
	set   func(*settings, string) error // of a switch, the value is empty
}

// options lists the options of all subcommands. One more needs a line in one of
// the tables and nothing else: parsing, checking and help follow from it.
func options() []option {
	return slices.Concat(transportOptions(), serverOptions(), httpOptions(), clientOptions())
}

// serverOptions say what is served.
func serverOptions() []option {
	return []option{
		{name: "--root", value: "DIR", scope: forServer, many: true,
			help: "Let the file tools use DIR and what is below it. May be repeated, up to 64 times; relative paths of a client begin at the first. Without it no file can be reached.",
			set:  func(s *settings, v string) error { s.roots = append(s.roots, v); return nil }},
		{name: "--allow-write", scope: forServer,
			help: "Register the tools that write, change, move and delete files below the roots. Needs --root.",
			set:  func(s *settings, _ string) error { s.allowWrite = true; return nil }},
		{name: "--skills", value: "DIR", scope: forServer, many: true,
			help: "Offer the skill in DIR, which has a SKILL.md, or all skills below DIR. May be repeated. The files are served as they are now: one that changes later is refused until a restart.",
			set:  func(s *settings, v string) error { return add(&s.skills, v) }},
		{name: "--task-dir", value: "DIR", scope: forServer,
			help: "Keep tasks, which are calls that go on after they were answered, in DIR, so that what they ended with can be read after a restart. DIR is made if it is not there, and is for one server at a time. No tool that comes with cloudg makes tasks; those of programs built on its packages do. Default: in memory.",
			set:  func(s *settings, v string) error { s.taskDir = v; return nil }},
		{name: "--prefix", value: "P", scope: forServer,
			help: "Put P before the names of all tools and prompts, with nothing in between: letters, digits, '_', '-' and '.', up to 64 of them.",
			set:  func(s *settings, v string) error { s.prefix = v; return checkPrefix(v) }},
		{name: "--include-category", value: "C", scope: forServer, many: true,
			help: "Offer only what is in category C. May be repeated.",
			set:  func(s *settings, v string) error { return add(&s.filter.includeCategories, v) }},
		{name: "--exclude-category", value: "C", scope: forServer, many: true,
			help: "Do not offer what is in category C. May be repeated. Exclusion wins over inclusion.",
			set:  func(s *settings, v string) error { return add(&s.filter.excludeCategories, v) }},
		{name: "--include-tool", value: "GLOB", scope: forServer, many: true,
			help: "Of the tools, offer only those whose name, without --prefix, matches GLOB, in which '*' is any text and '?' any character, and those of the included categories. May be repeated.",
			set:  func(s *settings, v string) error { return addGlob(&s.filter.includeTools, v) }},
		{name: "--exclude-tool", value: "GLOB", scope: forServer, many: true,
			help: "Do not offer the tools that match GLOB. May be repeated. Exclusion wins over inclusion.",
			set:  func(s *settings, v string) error { return addGlob(&s.filter.excludeTools, v) }},
		{name: "--timeout", value: "DURATION", scope: forServer,
			help: "Time for one call, such as 30s or 2m; 0 is no limit. Default 5m.",
			set:  func(s *settings, v string) (err error) { s.timeout, err = limitDuration(v); return err }},
		{name: "--page-size", value: "N", scope: forServer,
			help: "Entries in one page of a list, at most 100000. The default, 0, is one page with everything, up to 1000 entries: many clients never ask for a second.",
			set:  func(s *settings, v string) (err error) { s.pageSize, err = count(v, 0, 100_000); return err }},
		{name: "--max-output", value: "BYTES", scope: forServer,
			help: "Size of the text in one result of a tool that has no bound of its own; what is longer is cut and says so. 0 is no limit. Default 200000.",
			set:  func(s *settings, v string) (err error) { s.maxOutput, err = limitSize(v); return err }},
		{name: "--max-line", value: "BYTES", scope: forServer, only: justStdio,
			help: "Size of one incoming message, and of the arguments that call reads, from 1KiB to 1GiB. A longer one is refused and skipped. Default 16MiB.",
			set:  func(s *settings, v string) (err error) { s.maxLine, err = size(v, 1<<10, 1<<30); return err }},
		{name: "--max-in-flight", value: "N", scope: forServer,
			help: "Requests of a client, or over HTTP of a session, at one time, from 1 to 100000. Default 1024; over HTTP, 256.",
			set:  func(s *settings, v string) (err error) { s.maxInFlight, err = count(v, 1, 100_000); return err }},
		{name: "--drain", value: "DURATION", scope: forServer,
			help: "Time for requests in flight when the input ends or a signal comes; 0 cancels them at once. Default 2s.",
			set:  func(s *settings, v string) (err error) { s.drain, err = limitDuration(v); return err }},
		{name: "--state-key", value: "env:VAR|file:PATH", scope: forServer, many: true,
			help: "A secret of 16 to 4096 bytes, from an environment variable or a file, under which two things that clients bring back are sealed: the cursors of lists, and the state of a call that has to ask its client. May be repeated: the first seals, all of them open. Default: a random one, which ends with the process. See 'cloudg help stateless'.",
			set:  func(s *settings, v string) error { return add(&s.stateKeys, v) }},
		{name: "--log-level", value: "LEVEL", scope: forServer, env: "CLOUDG_LOG_LEVEL",
			help: "What is logged to standard error: debug, info, warn or error and what is worse. Default info.",
			set:  func(s *settings, v string) (err error) { s.logLevel, err = parseLevel(v); return err }},
		{name: "--log-format", value: "FORMAT", scope: forServer,
			help: "How it is logged: text, or json, one object a line. Default text.",
			set:  func(s *settings, v string) (err error) { s.logJSON, err = choice(v, "text", "json"); return err }},
	}
}

// clientOptions say what is asked for and how it is printed.
func clientOptions() []option {
	return []option{
		{name: "--protocol-version", value: "VERSION", scope: forClient,
			help: "Speak VERSION to the server, one of those that 'cloudg help protocol' lists. Default 2026-07-28.",
			set:  func(s *settings, v string) (err error) { s.version, err = parseVersion(v); return err }},
		{name: "--json", scope: forList | forVersion,
			help: "Print JSON: of a list, the result as a client gets it, one line for each page.",
			set:  func(s *settings, _ string) error { s.json = true; return nil }},
		{name: "--lint", scope: forTools,
			help: "Print what clients are known to refuse or misread in the tools, and how large each is. See 'cloudg help lint'.",
			set:  func(s *settings, _ string) error { s.lint = true; return nil }},
		{name: "--strict", scope: forTools,
			help: "With --lint, fail if there is a warning.",
			set:  func(s *settings, _ string) error { s.strict = true; return nil }},
		{name: "--templates", scope: forResources,
			help: "List the templates only. With --json, this is the result of resources/templates/list instead of resources/list.",
			set:  func(s *settings, _ string) error { s.templates = true; return nil }},
		{name: "--args", value: "JSON|@FILE|-", scope: forCall,
			help: "The arguments, a JSON object: as it is, from a file, or from standard input. Default {}.",
			set:  func(s *settings, v string) error { s.arguments = v; return nil }},
		{name: "--raw", scope: forCall,
			help: "Print the result as a client gets it, one line of JSON.",
			set:  func(s *settings, _ string) error { s.raw = true; return nil }},
		{name: "--given", value: "NAME=VALUE", scope: forComplete, many: true,
			help: "The value that another argument or variable has already. May be repeated.",
			set:  func(s *settings, v string) error { return addGiven(s.given, v) }},
		{name: "--within", value: "DURATION", scope: forHealthcheck,
			help: "Time for the check. Default 5s.",
			set:  func(s *settings, v string) (err error) { s.within, err = span(v); return err }},
	}
}

// optionsOf returns the options of a subcommand.
func optionsOf(c *command) []option {
	var list []option
	for _, o := range options() {
		if o.scope&c.scope != 0 {
			list = append(list, o)
		}
	}
	return list
}

// usage returns the option as help shows it.
func (o *option) usage() string {
	if o.value == "" {
		return o.name
	}
	return o.name + " " + o.value
}
