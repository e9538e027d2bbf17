package registry

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry/uritemplate"
)

// ResourceHandler reads a resource; Call.URI and, for a template, Call.Vars say
// which. It returns [ErrNotFound] for a URI that it does not have. Other errors
// are as for [ToolHandler], but a [*Failure] is an error for the peer.
type ResourceHandler func(context.Context, *Call) (*protocol.ReadResourceResult, error)

// A Completer suggests values for one variable of a template or one argument of
// a prompt. Value is what was typed so far, given the values of the others.
type Completer func(ctx context.Context, call *Call, value string, given map[string]string) (*protocol.Completion, error)

// Resource is the specification of a resource with a fixed URI. URI, Name and
// Handler are mandatory.
type Resource struct {
	URI, Name                    string
	Title, Description, MIMEType string
	Size                         int64 // bytes; listed only if greater than zero
	Icons                        []protocol.Icon
	Annotations                  *protocol.Annotations

	Category     string
	Tags         []string
	Sensitivity  policy.Sensitivity
	Capabilities policy.Capabilities

	Timeout time.Duration // as for Tool
	Meta    []byte
	Handler ResourceHandler
}

// Template is the specification of a family of resources. URITemplate, Name and
// Handler are mandatory.
type Template struct {
	URITemplate, Name            string
	Title, Description, MIMEType string
	Icons                        []protocol.Icon
	Annotations                  *protocol.Annotations

	Category     string
	Tags         []string
	Sensitivity  policy.Sensitivity
	Capabilities policy.Capabilities

	Timeout  time.Duration
	Meta     []byte
	Handler  ResourceHandler
	Complete map[string]Completer // by variable
}

// ResourceEntry is a registered resource. It is immutable.
type ResourceEntry struct {
	Resource
	Subject policy.Subject
}

func newResourceEntry(r Resource) (*ResourceEntry, error) {
	if err := checkURI(r.URI); err != nil {
		return nil, fmt.Errorf("resource %q: %w", r.URI, err)
	}
	if err := checkResource(r.Name, r.Handler, r.Meta); err != nil {
		return nil, fmt.Errorf("resource %q: %w", r.URI, err)
	}
	e := &ResourceEntry{Resource: r}
	e.Subject = policy.Subject{Kind: policy.Resource, Name: r.URI, Category: r.Category, Tags: r.Tags, Sensitivity: r.Sensitivity, Capabilities: r.Capabilities}
	return e, nil
}

// checkResource checks what resources and templates have in common.
func checkResource(name string, h ResourceHandler, meta []byte) error {
	if name == "" {
		return fmt.Errorf("name: %w", errMissing)
	}
	if h == nil {
		return fmt.Errorf("handler: %w", errMissing)
	}
	if err := checkMeta(meta); err != nil {
		return fmt.Errorf("_meta: %w", err)
	}
	return nil
}

// AppendDefinition appends the resource as resources/list shows it.
func (e *ResourceEntry) AppendDefinition(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"uri":`...)
	dst = jsonwire.AppendQuote(dst, e.URI)
	dst = appendCommon(dst, v, e.Name, e.Title, e.Description, e.MIMEType, e.Annotations)
	if e.Size > 0 {
		dst = append(dst, `,"size":`...)
		dst = strconv.AppendInt(dst, e.Size, 10)
	}
	if v.HasIcons() {
		dst = protocol.AppendIcons(dst, e.Icons)
	}
	dst = protocol.AppendMeta(dst, e.Meta, v)
	return append(dst, '}')
}

func appendCommon(dst []byte, v protocol.Version, name, title, description, mime string, a *protocol.Annotations) []byte {
	dst = append(dst, `,"name":`...)
	dst = jsonwire.AppendQuote(dst, name)
	if v.HasTitle() {
		dst = protocol.AppendText(dst, "title", title)
	}
	dst = protocol.AppendText(dst, "description", description)
	dst = protocol.AppendText(dst, "mimeType", mime)
	return protocol.AppendAnnotations(dst, a, v)
}

// TemplateEntry is a registered template. It is immutable.
type TemplateEntry struct {
	Template
	Subject policy.Subject

	parsed *uritemplate.Template
}

func newTemplateEntry(t Template) (*TemplateEntry, error) {
	parsed, err := uritemplate.Parse(t.URITemplate)
	if err != nil {
		return nil, fmt.Errorf("resource template %q: %w", t.URITemplate, err)
	}
	if err := checkResource(t.Name, t.Handler, t.Meta); err != nil {
		return nil, fmt.Errorf("resource template %q: %w", t.URITemplate, err)
	}
	known := parsed.Vars()
	for name := range t.Complete {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("resource template %q: completion for %q, which is not a variable of it", t.URITemplate, name)
		}
	}
	e := &TemplateEntry{Template: t, parsed: parsed}
	e.Subject = policy.Subject{Kind: policy.ResourceTemplate, Name: t.URITemplate, Category: t.Category, Tags: t.Tags, Sensitivity: t.Sensitivity, Capabilities: t.Capabilities}
	return e, nil
}

// HasVar reports whether the template has a variable of that name.
func (e *TemplateEntry) HasVar(name string) bool { return slices.Contains(e.parsed.Vars(), name) }

// Match reports whether the template covers the URI and returns its variables.
func (e *TemplateEntry) Match(uri string) ([]uritemplate.Var, bool) {
	return e.parsed.Match(uri, nil)
}

// AppendDefinition appends the template as resources/templates/list shows it.
func (e *TemplateEntry) AppendDefinition(dst []byte, v protocol.Version) []byte {
	dst = append(dst, `{"uriTemplate":`...)
	dst = jsonwire.AppendQuote(dst, e.URITemplate)
	dst = appendCommon(dst, v, e.Name, e.Title, e.Description, e.MIMEType, e.Annotations)
	if v.HasIcons() {
		dst = protocol.AppendIcons(dst, e.Icons)
	}
	dst = protocol.AppendMeta(dst, e.Meta, v)
	return append(dst, '}')
}
