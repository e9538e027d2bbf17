package cli

import (
	"io"
	"log/slog"
	"time"

	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/transport"
)

// settings are what the options say.
type settings struct {
	roots       []string
	allowWrite  bool
	prefix      string
	filter      filter
	timeout     time.Duration // negative: none
	pageSize    int
	maxOutput   int // negative: no limit
	maxLine     int
	maxInFlight int
	drain       time.Duration // negative: none
	logLevel    level
	logJSON     bool

	version   protocol.Version
	json      bool
	raw       bool
	templates bool
	arguments string // as it was written; empty: none
	given     map[string]string
}

func defaults() *settings {
	return &settings{
		timeout:     layer.DefaultTimeout,
		maxOutput:   layer.DefaultMaxOutput,
		maxLine:     transport.DefaultMaxLine,
		maxInFlight: 1024,
		drain:       5 * time.Second,
		logLevel:    level{slog.LevelInfo, protocol.LogInfo},
		version:     protocol.LatestStateless,
		given:       make(map[string]string),
	}
}

// logger returns the logger that the settings ask for.
func (s *settings) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel.own}
	if s.logJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// option is an option of subcommands.
type option struct {
	name  string // with its dashes
	value string // what help shows for the value; empty for a switch
	scope scope  // the subcommands that have it
	many  bool   // it may be given more than once
	env   string // the environment variable that stands in for it, or ""
	help  string
	set   func(*settings, string) error // of a switch, the value is empty
}

// options lists the options of all subcommands. One more needs a line here and
// nothing else: parsing, checking and help follow from it.
func options() []option {
	return []option{
		{"--root", "DIR", forServer, true, "", "Let the file tools use DIR and what is below it. May be repeated, up to 64 times; relative paths of a client begin at the first. Without it no file can be reached.",
			func(s *settings, v string) error { s.roots = append(s.roots, v); return nil }},
		{"--allow-write", "", forServer, false, "", "Register the tools that write, change, move and delete files below the roots. Needs --root.",
			func(s *settings, _ string) error { s.allowWrite = true; return nil }},
		{"--prefix", "P", forServer, false, "", "Put P before the names of all tools and prompts, with nothing in between: letters, digits, '_', '-' and '.', up to 64 of them.",
			func(s *settings, v string) error { s.prefix = v; return checkPrefix(v) }},
		{"--include-category", "C", forServer, true, "", "Offer only what is in category C. May be repeated.",
			func(s *settings, v string) error { return add(&s.filter.includeCategories, v) }},
		{"--exclude-category", "C", forServer, true, "", "Do not offer what is in category C. May be repeated. Exclusion wins over inclusion.",
			func(s *settings, v string) error { return add(&s.filter.excludeCategories, v) }},
		{"--include-tool", "GLOB", forServer, true, "", "Of the tools, offer only those whose name, without --prefix, matches GLOB, in which '*' is any text and '?' any character, and those of the included categories. May be repeated.",
			func(s *settings, v string) error { return addGlob(&s.filter.includeTools, v) }},
		{"--exclude-tool", "GLOB", forServer, true, "", "Do not offer the tools that match GLOB. May be repeated. Exclusion wins over inclusion.",
			func(s *settings, v string) error { return addGlob(&s.filter.excludeTools, v) }},
		{"--timeout", "DURATION", forServer, false, "", "Time for one call, such as 30s or 2m; 0 is no limit. Default 5m.",
			func(s *settings, v string) (err error) { s.timeout, err = limitDuration(v); return err }},
		{"--page-size", "N", forServer, false, "", "Entries in one page of a list, at most 100000. The default, 0, is one page with everything, up to 1000 entries: many clients never ask for a second.",
			func(s *settings, v string) (err error) { s.pageSize, err = count(v, 0, 100_000); return err }},
		{"--max-output", "BYTES", forServer, false, "", "Size of the text in one result of a tool that has no bound of its own; what is longer is cut and says so. 0 is no limit. Default 200000.",
			func(s *settings, v string) (err error) { s.maxOutput, err = limitSize(v); return err }},
		{"--max-line", "BYTES", forServer, false, "", "Size of one incoming message, and of the arguments that call reads, from 1KiB to 1GiB. A longer one is refused and skipped. Default 16MiB.",
			func(s *settings, v string) (err error) { s.maxLine, err = size(v, 1<<10, 1<<30); return err }},
		{"--max-in-flight", "N", forServer, false, "", "Requests of a client at one time, from 1 to 100000. Default 1024.",
			func(s *settings, v string) (err error) { s.maxInFlight, err = count(v, 1, 100_000); return err }},
		{"--drain", "DURATION", forServer, false, "", "Time for requests in flight when the input ends or a signal comes; 0 cancels them at once. Default 5s.",
			func(s *settings, v string) (err error) { s.drain, err = limitDuration(v); return err }},
		{"--log-level", "LEVEL", forServer, false, "CLOUDG_LOG_LEVEL", "What is logged to standard error: debug, info, warn or error and what is worse. Default info.",
			func(s *settings, v string) (err error) { s.logLevel, err = parseLevel(v); return err }},
		{"--log-format", "FORMAT", forServer, false, "", "How it is logged: text, or json, one object a line. Default text.",
			func(s *settings, v string) (err error) { s.logJSON, err = choice(v, "text", "json"); return err }},

		{"--protocol-version", "VERSION", forClient, false, "", "Speak VERSION to the server, one of those that 'cloudg help protocol' lists. Default 2026-07-28.",
			func(s *settings, v string) (err error) { s.version, err = parseVersion(v); return err }},
		{"--json", "", forList | forVersion, false, "", "Print JSON: of a list, the result as a client gets it, one line for each page.",
			func(s *settings, _ string) error { s.json = true; return nil }},
		{"--templates", "", forResources, false, "", "List the templates only. With --json, this is the result of resources/templates/list instead of resources/list.",
			func(s *settings, _ string) error { s.templates = true; return nil }},
		{"--args", "JSON|@FILE|-", forCall, false, "", "The arguments, a JSON object: as it is, from a file, or from standard input. Default {}.",
			func(s *settings, v string) error { s.arguments = v; return nil }},
		{"--raw", "", forCall, false, "", "Print the result as a client gets it, one line of JSON.",
			func(s *settings, _ string) error { s.raw = true; return nil }},
		{"--given", "NAME=VALUE", forComplete, true, "", "The value that another argument or variable has already. May be repeated.",
			func(s *settings, v string) error { return addGiven(s.given, v) }},
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
