package registry

import (
	"context"
	"fmt"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// PromptHandler expands a prompt; Call.Strings has the arguments, of which the
// required ones are present. Errors are as for [ResourceHandler].
type PromptHandler func(context.Context, *Call) (*protocol.GetPromptResult, error)

// PromptArgument is an argument of a prompt. Its value is always a string.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
	Complete                 Completer // may be nil
}

// Prompt is the specification of a prompt. Name and Handler are mandatory.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Icons                    []protocol.Icon

	Category     string
	Tags         []string
	Sensitivity  policy.Sensitivity
	Capabilities policy.Capabilities

	Timeout time.Duration
	Meta    []byte
	Handler PromptHandler
}

// PromptEntry is a registered prompt. It is immutable.
type PromptEntry struct {
	Prompt
	Subject policy.Subject
}

func newPromptEntry(p Prompt) (*PromptEntry, error) {
	if err := checkName("prompt", p.Name); err != nil {
		return nil, err
	}
	if p.Handler == nil {
		return nil, fmt.Errorf("prompt %q: handler: %w", p.Name, errMissing)
	}
	if err := checkMeta(p.Meta); err != nil {
		return nil, fmt.Errorf("prompt %q: _meta: %w", p.Name, err)
	}
	for i, a := range p.Arguments {
		if a.Name == "" {
			return nil, fmt.Errorf("prompt %q: argument %d: name: %w", p.Name, i, errMissing)
		}
		for _, b := range p.Arguments[:i] {
			if a.Name == b.Name {
				return nil, fmt.Errorf("prompt %q: argument %q is declared twice", p.Name, a.Name)
			}
		}
	}
	e := &PromptEntry{Prompt: p}
	e.Subject = policy.Subject{Kind: policy.Prompt, Name: p.Name, Category: p.Category, Tags: p.Tags, Sensitivity: p.Sensitivity, Capabilities: p.Capabilities}
	return e, nil
}

// Argument returns the declaration of an argument, or nil.
func (e *PromptEntry) Argument(name string) *PromptArgument {
	for i := range e.Arguments {
		if e.Arguments[i].Name == name {
			return &e.Arguments[i]
		}
	}
	return nil
}

// AppendDefinition appends the prompt as prompts/list shows it.
func (e *PromptEntry) AppendDefinition(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"name":`...)
	dst = jsonwire.AppendQuote(dst, e.Name)
	if v.HasTitle() {
		dst = protocol.AppendText(dst, "title", e.Title)
	}
	dst = protocol.AppendText(dst, "description", e.Description)
	dst = append(dst, `,"arguments":[`...)
	for i, a := range e.Arguments {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		dst = jsonwire.AppendQuote(dst, a.Name)
		if v.HasTitle() {
			dst = protocol.AppendText(dst, "title", a.Title)
		}
		dst = protocol.AppendText(dst, "description", a.Description)
		dst = append(dst, `,"required":`...)
		dst = appendBool(dst, a.Required)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if v.HasIcons() {
		dst = protocol.AppendIcons(dst, e.Icons)
	}
	dst = protocol.AppendMeta(dst, e.Meta, v)
	return append(dst, '}')
}
