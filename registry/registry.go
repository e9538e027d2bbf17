package registry

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/registry/uritemplate"
)

// Options configures a [Registry]. The zero value is usable.
type Options struct {
	// Prefix is put before the name of every tool and prompt that is
	// registered, with nothing in between.
	Prefix string
	// OnChange is called after each change with the kind that changed, without
	// any lock held. It must not block.
	OnChange func(policy.Kind)
}

// Registry is a set of primitives that may change while it is used. All its
// methods may be called by several goroutines.
type Registry struct {
	prefix   string
	onChange func(policy.Kind)
	schemas  schemaCache
	snap     atomic.Pointer[Snapshot] // nil after a change, until somebody reads

	mu        sync.Mutex // guards the fields below
	tools     ordered[*ToolEntry]
	resources ordered[*ResourceEntry]
	templates ordered[*TemplateEntry]
	prompts   ordered[*PromptEntry]
	gen       uint64
}

// New returns an empty registry.
func New(o *Options) *Registry {
	r := new(Registry)
	if o != nil {
		r.prefix, r.onChange = o.Prefix, o.OnChange
	}
	return r
}

// ordered is a set of named entries in the order of their registration.
type ordered[E any] struct {
	names []string
	byKey map[string]E
}

// put adds an entry, or replaces one in its place. It reports whether the name
// was there.
func (o *ordered[E]) put(name string, e E) (replaced bool) {
	if o.byKey == nil {
		o.byKey = make(map[string]E)
	}
	if _, replaced = o.byKey[name]; !replaced {
		o.names = append(o.names, name)
	}
	o.byKey[name] = e
	return replaced
}

func (o *ordered[E]) remove(name string) bool {
	if _, ok := o.byKey[name]; !ok {
		return false
	}
	delete(o.byKey, name)
	o.names = slices.DeleteFunc(o.names, func(s string) bool { return s == name })
	return true
}

func (o *ordered[E]) freeze() ([]E, map[string]E) {
	list := make([]E, len(o.names))
	byKey := make(map[string]E, len(o.names))
	for i, name := range o.names {
		list[i] = o.byKey[name]
		byKey[name] = list[i]
	}
	return list, byKey
}

// add puts an entry under its name unless the name is taken.
func add[E any](r *Registry, o *ordered[E], kind policy.Kind, name string, e E) error {
	r.mu.Lock()
	if _, taken := o.byKey[name]; taken {
		r.mu.Unlock()
		return fmt.Errorf("%s %q is registered already", kind, name)
	}
	o.put(name, e)
	r.changedLocked()
	r.mu.Unlock()
	r.tell(kind)
	return nil
}

// replace puts an entry under its name, whether it is taken or not.
func replace[E any](r *Registry, o *ordered[E], kind policy.Kind, name string, e E) {
	r.mu.Lock()
	o.put(name, e)
	r.changedLocked()
	r.mu.Unlock()
	r.tell(kind)
}

// remove takes an entry out and reports whether it was there.
func remove[E any](r *Registry, o *ordered[E], kind policy.Kind, name string) bool {
	r.mu.Lock()
	ok := o.remove(name)
	if ok {
		r.changedLocked()
	}
	r.mu.Unlock()
	if ok {
		r.tell(kind)
	}
	return ok
}

func (r *Registry) changedLocked() {
	r.gen++
	r.snap.Store(nil)
}

func (r *Registry) tell(kind policy.Kind) {
	if r.onChange != nil {
		r.onChange(kind)
	}
}

// AddTool registers tools in order. It stops at the first that is not sound or
// whose name is taken; those before it stay.
func (r *Registry) AddTool(tools ...Tool) error {
	for _, t := range tools {
		t.Name = r.prefix + t.Name
		e, err := newToolEntry(t, &r.schemas)
		if err != nil {
			return err
		}
		if err := add(r, &r.tools, policy.Tool, t.Name, e); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceTool registers a tool in the place of the one with its name, or as a
// new one.
func (r *Registry) ReplaceTool(t Tool) error {
	t.Name = r.prefix + t.Name
	e, err := newToolEntry(t, &r.schemas)
	if err != nil {
		return err
	}
	replace(r, &r.tools, policy.Tool, t.Name, e)
	return nil
}

// RemoveTool removes a tool and reports whether there was one.
func (r *Registry) RemoveTool(name string) bool {
	return remove(r, &r.tools, policy.Tool, r.prefix+name)
}

// AddResource registers resources as [Registry.AddTool] does tools.
func (r *Registry) AddResource(resources ...Resource) error {
	for _, res := range resources {
		e, err := newResourceEntry(res)
		if err != nil {
			return err
		}
		if err := add(r, &r.resources, policy.Resource, res.URI, e); err != nil {
			return err
		}
	}
	return nil
}

// RemoveResource removes a resource and reports whether there was one.
func (r *Registry) RemoveResource(uri string) bool {
	return remove(r, &r.resources, policy.Resource, uri)
}

// AddTemplate registers resource templates as [Registry.AddTool] does tools.
func (r *Registry) AddTemplate(templates ...Template) error {
	for _, t := range templates {
		e, err := newTemplateEntry(t)
		if err != nil {
			return err
		}
		if err := add(r, &r.templates, policy.ResourceTemplate, t.URITemplate, e); err != nil {
			return err
		}
	}
	return nil
}

// RemoveTemplate removes a template and reports whether there was one.
func (r *Registry) RemoveTemplate(uriTemplate string) bool {
	return remove(r, &r.templates, policy.ResourceTemplate, uriTemplate)
}

// AddPrompt registers prompts as [Registry.AddTool] does tools.
func (r *Registry) AddPrompt(prompts ...Prompt) error {
	for _, p := range prompts {
		p.Name = r.prefix + p.Name
		e, err := newPromptEntry(p)
		if err != nil {
			return err
		}
		if err := add(r, &r.prompts, policy.Prompt, p.Name, e); err != nil {
			return err
		}
	}
	return nil
}

// ReplacePrompt registers a prompt in the place of the one with its name, or as
// a new one.
func (r *Registry) ReplacePrompt(p Prompt) error {
	p.Name = r.prefix + p.Name
	e, err := newPromptEntry(p)
	if err != nil {
		return err
	}
	replace(r, &r.prompts, policy.Prompt, p.Name, e)
	return nil
}

// RemovePrompt removes a prompt and reports whether there was one.
func (r *Registry) RemovePrompt(name string) bool {
	return remove(r, &r.prompts, policy.Prompt, r.prefix+name)
}

// Snapshot returns what is registered now.
func (r *Registry) Snapshot() *Snapshot {
	if s := r.snap.Load(); s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.snap.Load(); s != nil {
		return s
	}
	s := &Snapshot{Generation: r.gen}
	s.Tools, s.tools = r.tools.freeze()
	s.Resources, s.resources = r.resources.freeze()
	s.Templates, _ = r.templates.freeze()
	s.Prompts, s.prompts = r.prompts.freeze()
	s.routes = slices.Clone(s.Templates)
	slices.SortStableFunc(s.routes, func(a, b *TemplateEntry) int { return uritemplate.Compare(a.parsed, b.parsed) })
	r.snap.Store(s)
	return s
}

// A Snapshot is what a registry held at one time. It is immutable, the slices
// included.
type Snapshot struct {
	Generation uint64 // grows with every change of its registry
	Tools      []*ToolEntry
	Resources  []*ResourceEntry
	Templates  []*TemplateEntry
	Prompts    []*PromptEntry

	tools     map[string]*ToolEntry
	resources map[string]*ResourceEntry
	prompts   map[string]*PromptEntry
	routes    []*TemplateEntry // the most specific first
}

// Tool returns the tool called name, or nil.
func (s *Snapshot) Tool(name string) *ToolEntry { return s.tools[name] }

// ToolBytes is [Snapshot.Tool] for a name that is not a string yet.
func (s *Snapshot) ToolBytes(name []byte) *ToolEntry { return s.tools[string(name)] }

// Prompt returns the prompt called name, or nil.
func (s *Snapshot) Prompt(name string) *PromptEntry { return s.prompts[name] }

// Resource returns the resource with the URI, or nil.
func (s *Snapshot) Resource(uri string) *ResourceEntry { return s.resources[uri] }

// Template returns the template whose text is exactly uriTemplate, or nil.
func (s *Snapshot) Template(uriTemplate string) *TemplateEntry {
	for _, t := range s.Templates {
		if t.URITemplate == uriTemplate {
			return t
		}
	}
	return nil
}

// Route returns the most specific template that covers the URI and for which
// accept is true, with its variables, or nil.
func (s *Snapshot) Route(uri string, accept func(*TemplateEntry) bool) (*TemplateEntry, []uritemplate.Var) {
	for _, t := range s.routes {
		if vars, ok := t.Match(uri); ok && accept(t) {
			return t, vars
		}
	}
	return nil, nil
}
