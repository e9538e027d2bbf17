package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/skills"
	"cloudg.dev/cloudg/session"
)

//go:embed skilldata
var skillData embed.FS

// openSkills registers the files of the skills. The caller closes the set.
func openSkills(reg *registry.Registry, log *slog.Logger) (*skills.Set, error) {
	data, err := fs.Sub(skillData, "skilldata")
	if err != nil {
		return nil, err
	}
	set, err := skills.Open(&skills.Options{Systems: []fs.FS{data}, Logger: log})
	if err != nil {
		return nil, err
	}
	if err := set.Register(reg); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return set, nil
}

// skillsExtension returns what the server declares of the skills, and the
// methods.
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
