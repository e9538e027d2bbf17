package cli

import (
	"context"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/skills"
	"cloudg.dev/cloudg/session"
)

// addSkills opens the skills, registers their files and adds the extension that
// lists them. Without any, clients are not told of the extension.
func (inv *invocation) addSkills(a *assembly, reg *registry.Registry, o *session.Options, cursorKey []byte) error {
	set, err := skills.Open(&skills.Options{
		Dirs: inv.set.skills, Accept: inv.set.filter.accept, PageSize: inv.set.pageSize, CursorKey: cursorKey, Logger: inv.log,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, set)
	if set.Len() == 0 {
		inv.log.Warn("no skill is offered: there is no SKILL.md below the directories of --skills, or the filters leave all out")
		return nil
	}
	o.Extensions = append(o.Extensions, skillsExtension(set))
	return set.Register(reg)
}

// skillsExtension returns what clients are told of the skills, and the methods.
func skillsExtension(set *skills.Set) session.Extension {
	e := session.Extension{ID: protocol.ExtensionSkills, Settings: []byte(skills.Settings)}
	for _, m := range set.Methods() {
		e.Methods = append(e.Methods, session.ExtensionMethod{
			Name: m.Name, Cacheable: m.Cacheable,
			Handle: func(_ context.Context, r *layer.Request, p *jsonrpc.Params, dst []byte) ([]byte, error) {
				return m.Append(dst, &skills.Query{Principal: r.Principal, URI: p.Get("uri"), Cursor: p.Get("cursor")})
			},
		})
	}
	return e
}
