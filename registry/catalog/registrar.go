package catalog

import (
	"log/slog"
	"slices"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry"
)

// registrar puts what is accepted into a registry. After its first error it
// does nothing, so that the error is looked at once.
type registrar struct {
	reg    *registry.Registry
	accept func(*policy.Subject) bool // nil: all
	log    *slog.Logger
	undo   []func() // takes out what was put in
	err    error
}

func newRegistrar(reg *registry.Registry, o *Options) *registrar {
	r := &registrar{reg: reg, accept: o.Accept, log: o.Logger}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// wants reports whether a primitive is to be registered.
func (r *registrar) wants(s policy.Subject) bool {
	if r.err != nil {
		return false
	}
	if r.accept != nil && !r.accept(&s) {
		r.log.Debug("left out of the catalog", "kind", s.Kind.String(), "name", s.Name)
		return false
	}
	return true
}

// added notes the outcome of a registration.
func (r *registrar) added(err error, undo func()) {
	if err != nil {
		r.err = err
		return
	}
	r.undo = append(r.undo, undo)
}

// rollBack takes out all that was put in.
func (r *registrar) rollBack() {
	for _, undo := range slices.Backward(r.undo) {
		undo()
	}
	r.undo = nil
}

// tool takes the results of [registry.Typed] and [rendered].
func (r *registrar) tool(t registry.Tool, err error) {
	if r.err == nil {
		r.err = err
	}
	if r.wants(policy.Subject{Kind: policy.Tool, Name: t.Name, Category: t.Category, Tags: t.Tags, Sensitivity: t.Sensitivity, Capabilities: t.Capabilities}) {
		r.added(r.reg.AddTool(t), func() { r.reg.RemoveTool(t.Name) })
	}
}

func (r *registrar) resource(p registry.Resource) {
	if r.wants(policy.Subject{Kind: policy.Resource, Name: p.URI, Category: p.Category, Tags: p.Tags, Sensitivity: p.Sensitivity, Capabilities: p.Capabilities}) {
		r.added(r.reg.AddResource(p), func() { r.reg.RemoveResource(p.URI) })
	}
}

func (r *registrar) template(t registry.Template) {
	if r.wants(policy.Subject{Kind: policy.ResourceTemplate, Name: t.URITemplate, Category: t.Category, Tags: t.Tags, Sensitivity: t.Sensitivity, Capabilities: t.Capabilities}) {
		r.added(r.reg.AddTemplate(t), func() { r.reg.RemoveTemplate(t.URITemplate) })
	}
}

func (r *registrar) prompt(p registry.Prompt) {
	if r.wants(policy.Subject{Kind: policy.Prompt, Name: p.Name, Category: p.Category, Tags: p.Tags, Sensitivity: p.Sensitivity, Capabilities: p.Capabilities}) {
		r.added(r.reg.AddPrompt(p), func() { r.reg.RemovePrompt(p.Name) })
	}
}
