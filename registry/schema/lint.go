package schema

import (
	"fmt"
	"slices"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
)

// A Level says how much a finding matters.
type Level string

// The levels of findings.
const (
	// LevelInfo is something to know.
	LevelInfo Level = "info"
	// LevelPortable is something that a widely used provider refuses or
	// ignores, while others follow the specification.
	LevelPortable Level = "portable"
	// LevelWarning is something that makes a client drop the tool, or all tools
	// of the server.
	LevelWarning Level = "warning"
)

// A Finding is something about a tool that a client is known to choke on.
type Finding struct {
	Rule    string   `json:"rule"` // a stable name such as "root-combinator"
	Level   Level    `json:"level"`
	Schema  string   `json:"schema"`  // "input", "output", or empty for the tool itself
	Path    string   `json:"path"`    // the JSON Pointer of the place in that schema
	Message string   `json:"message"` // what it is, and what to do about it
	Clients []string `json:"clients"` // whom it concerns; empty for all
}

// A Tool is what [Lint] looks at.
type Tool struct {
	Name        string
	Server      string // under which clients list it, for the length of prefixed names; may be empty
	Description string
	Input       []byte // the input schema
	Output      []byte // the output schema, or nil
}

// The bounds that lint knows of.
const (
	maxNameStrict   = 60   // server and tool together, in Cursor
	maxName         = 64   // the name that an API gets
	largeTool       = 8192 // bytes of schemas and description
	bytesPerToken   = 4    // of JSON in English, roughly
	maxPerRule      = 10   // findings of one rule for one schema
	clientVSCode    = "VS Code"
	clientOpenAI    = "OpenAI API"
	clientGemini    = "Gemini API"
	clientClaude    = "Claude Code"
	clientClaudeUI  = "Claude Desktop"
	clientCursor    = "Cursor"
	clientCodex     = "Codex"
	clientCopilot   = "GitHub Copilot CLI"
	clientAnthropic = "Anthropic API"
	clientLang      = "LangChain"
	clientTSSDK     = "clients built on the TypeScript SDK"
	client2020      = "clients that read draft 2020-12 only"
)

// Lint lists what is known to make clients refuse a tool, drop it or misread
// it. It changes nothing. The last finding tells the size. A schema that is not
// valid JSON gives one finding that says so.
func Lint(t Tool) []Finding {
	l := &linter{findings: []Finding{}}
	l.name(t)
	l.schema("input", t.Input)
	if t.Output != nil {
		l.schema("output", t.Output)
	}
	l.size(t)
	return l.findings
}

// A linter collects findings.
type linter struct {
	findings []Finding
	which    string // the schema that is looked at
	doc      []byte
}

func (l *linter) add(level Level, rule string, raw []byte, message string, clients ...string) {
	same := 0
	for _, f := range l.findings {
		if f.Rule == rule && f.Schema == l.which {
			same++
		}
	}
	if same >= maxPerRule {
		return
	}
	path := ""
	if raw != nil {
		path = pointerTo(l.doc, offsetIn(l.doc, raw))
	}
	if clients == nil {
		clients = []string{}
	}
	l.findings = append(l.findings, Finding{
		Rule: rule, Level: level, Schema: l.which, Path: path, Message: message, Clients: clients,
	})
}

func (l *linter) name(t Tool) {
	if bad := strings.IndexFunc(t.Name, func(r rune) bool { return !isNameRune(r) }); bad >= 0 {
		l.add(LevelWarning, "name-characters", nil,
			fmt.Sprintf("the name %q has characters other than letters, digits, _ and -: rename it, or map it to an alias", clip(t.Name)),
			clientClaudeUI, clientCodex, clientCopilot)
	}
	if n := len(t.Name); n > maxName {
		l.add(LevelWarning, "name-length", nil, fmt.Sprintf("the name has %d characters, more than %d", n, maxName), clientOpenAI, clientAnthropic)
		return
	}
	if t.Server == "" {
		return
	}
	if n := len("mcp__" + t.Server + "__" + t.Name); n > maxName {
		l.add(LevelWarning, "name-length", nil,
			fmt.Sprintf("with the prefix of a client, mcp__%s__…, the name has %d characters, more than %d", t.Server, n, maxName), clientClaude)
	} else if n := len(t.Server) + len(t.Name); n > maxNameStrict {
		l.add(LevelWarning, "name-length", nil,
			fmt.Sprintf("server and tool have %d characters together, more than %d", n, maxNameStrict), clientCursor)
	}
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// schema looks at one schema of the tool.
func (l *linter) schema(which string, doc []byte) {
	l.which = which
	root, err := objectRoot(doc)
	if err != nil {
		l.add(LevelWarning, "not-an-object", nil, "the schema is not a JSON object: "+err.Error())
		return
	}
	l.doc = root
	l.root(root)
	l.walk(root)
	l.which, l.doc = "", nil
}

// root looks at what matters at the root only.
func (l *linter) root(root []byte) {
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if jsonwire.Lookup(root, keyword) != nil && l.which == "input" {
			l.add(LevelWarning, "root-combinator", root,
				keyword+" at the root makes providers refuse the request or clients drop all tools of the server: flatten it into properties",
				clientAnthropic, clientOpenAI, clientClaude)
		}
	}
	if s := lookupString(root, "$schema"); s != "" && strings.TrimSuffix(s, "#") != string(Draft2020) {
		l.add(LevelWarning, "dialect-label", root,
			fmt.Sprintf("$schema says %q, upon which clients drop all tools of the server: leave it out, or relabel the schema", clip(s)), client2020)
	}
	isObject := lookupString(root, "type") == "object"
	switch {
	case l.which == "output" && !isObject:
		l.add(LevelWarning, "output-type", root,
			`the output schema lacks "type":"object", upon which clients before 2026-07-28 refuse the whole list: wrap it`, clientTSSDK)
	case l.which == "input" && !isObject:
		l.add(LevelWarning, "input-type", root, `the input schema lacks "type":"object", which the specification demands`)
	}
	if isObject && jsonwire.Lookup(root, "properties") == nil {
		l.add(LevelWarning, "missing-properties", root, `an object without properties is refused: write "properties":{}`, clientOpenAI, clientLang)
	}
	if l.which == "input" && isObject && jsonwire.Lookup(root, "additionalProperties") == nil {
		l.add(LevelInfo, "open-object", root, `misspelt arguments go unnoticed: write "additionalProperties":false`)
	}
}

// walk looks at a schema and its subschemas.
func (l *linter) walk(raw []byte) {
	if raw[0] != '{' {
		return
	}
	l.array(raw)
	for o := jsonwire.Members(raw); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		l.keyword(raw, jsonwire.Unquote(name), value)
	}
	// The walk never fails.
	_ = eachSubschema(raw, func(s *subschema) error {
		l.walk(s.raw)
		return nil
	})
}

func (l *linter) array(raw []byte) {
	items := jsonwire.Lookup(raw, "items")
	tuple := jsonwire.Lookup(raw, "prefixItems") != nil || items != nil && items[0] == '['
	switch {
	case tuple:
		l.add(LevelPortable, "tuple", raw, "a tuple is refused: use an object with named properties, or one schema for all elements", clientOpenAI, clientGemini, clientVSCode)
	case items == nil && saysArray(raw):
		l.add(LevelWarning, "missing-items", raw, `an array without items makes the client refuse all tools: write "items":{} or what the elements are`, clientVSCode, clientOpenAI, clientGemini)
	}
}

// saysArray reports whether the type of a schema allows arrays by name.
func saysArray(raw []byte) bool {
	t := jsonwire.Lookup(raw, "type")
	if t == nil {
		return false
	}
	for a := jsonwire.Elements(t); ; {
		v, ok := a.Next()
		if !ok {
			return jsonwire.EqualStrings(t, []byte(`"array"`))
		}
		if jsonwire.EqualStrings(v, []byte(`"array"`)) {
			return true
		}
	}
}

// keyword looks at one keyword of a schema.
func (l *linter) keyword(raw []byte, name string, value []byte) {
	switch name {
	case "$ref", "$dynamicRef", "$recursiveRef":
		l.add(LevelPortable, "reference", raw, name+" is not resolved by every client: write the schema out where it is used", clientGemini, clientCursor, clientVSCode)
	case "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
		"patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems",
		"contains", "minContains", "maxContains", "dependentRequired", "dependentSchemas", "dependencies",
		"if", "then", "else", "not":
		l.add(LevelPortable, "keyword", raw, name+" is refused or ignored in the strict mode of some providers; the server checks it in any case", clientOpenAI, clientGemini)
	case "format":
		if value[0] == '"' && !portableFormat(jsonwire.Unquote(value)) {
			l.add(LevelPortable, "format", raw, fmt.Sprintf("the format %q is refused by some providers", clip(jsonwire.Unquote(value))), clientOpenAI, clientGemini)
		}
	case "type":
		if value[0] == '[' {
			l.add(LevelPortable, "type-list", raw, "a list of types is refused by some providers", clientGemini)
		}
	}
}

// portableFormat reports whether the providers that check formats know one.
func portableFormat(name string) bool {
	return slices.Contains([]string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}, name)
}

// size tells what the tool costs in each request of a client.
func (l *linter) size(t Tool) {
	n := len(t.Name) + len(t.Description) + len(t.Input) + len(t.Output)
	level, text := LevelInfo, ""
	if n > largeTool {
		level, text = LevelWarning, ", which takes room in the context of every conversation: shorten descriptions, or leave the tool out of some views"
	}
	l.add(level, "size", nil, fmt.Sprintf("%d bytes, about %d tokens%s", n, Tokens(n), text))
}

// Tokens estimates how many tokens of a model a number of bytes of JSON takes.
func Tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }
