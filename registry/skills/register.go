package skills

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

// sensitivity is that of all files: they are instructions, not data.
const sensitivity = policy.Internal

// metaDigest is the key under which the metadata of a file has its digest.
const metaDigest = "dev.cloudg/digest"

// Register adds the files of all skills: each SKILL.md as a resource that is
// listed, the others as a template for each skill. If one cannot be added, none
// is.
func (s *Set) Register(reg *registry.Registry) error {
	for i, sk := range s.skills {
		if err := s.register(reg, sk); err != nil {
			for _, done := range s.skills[:i] {
				reg.RemoveResource(done.uri())
				reg.RemoveTemplate(done.template())
			}
			return fmt.Errorf("%s: %w", sk.place(), err)
		}
	}
	return nil
}

func (s *Set) register(reg *registry.Registry, sk *skill) error {
	err := reg.AddResource(*sk.resource(func(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
		return s.read(ctx, sk, sk.byPath[manifestName], call.URI)
	}))
	if err != nil || len(sk.files) == 1 {
		return err
	}
	if err := s.registerFiles(reg, sk); err != nil {
		reg.RemoveResource(sk.uri())
		return err
	}
	return nil
}

func (s *Set) registerFiles(reg *registry.Registry, sk *skill) error {
	return reg.AddTemplate(registry.Template{
		URITemplate: sk.template(), Name: sk.name + " files",
		Description: "A file of the skill " + sk.name + ", by its path in the directory of the skill.",
		Category:    Category, Sensitivity: sensitivity, Capabilities: policy.ReadFS,
		Handler: func(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			f := sk.byPath[call.Var("path")]
			// Whoever may see SKILL.md does not come here for it.
			if f == nil || f.path == manifestName {
				return nil, registry.ErrNotFound
			}
			return s.read(ctx, sk, f, call.URI)
		},
		Complete: map[string]registry.Completer{"path": sk.complete},
	})
}

// template returns the URI template of the files of the skill.
func (s *skill) template() string { return encodeURI(s.path) + "/{+path}" }

// resource returns the SKILL.md as a resource.
func (s *skill) resource(h registry.ResourceHandler) *registry.Resource {
	f := s.byPath[manifestName]
	return &registry.Resource{
		URI: s.uri(), Name: s.name, Description: s.description, MIMEType: typeMarkdown, Size: f.size,
		Category: Category, Sensitivity: sensitivity, Capabilities: policy.ReadFS,
		Meta: f.appendMeta(nil), Handler: h,
	}
}

// appendMeta appends the metadata of the file as an object.
func (f *file) appendMeta(dst []byte) []byte {
	dst = append(dst, '{')
	dst = jsonwire.AppendQuote(dst, metaDigest)
	dst = append(dst, ':')
	dst = jsonwire.AppendQuote(dst, f.digest())
	return append(dst, '}')
}

// read reads a file, unless it is no longer the one that entries describe.
func (s *Set) read(ctx context.Context, sk *skill, f *file, uri string) (*protocol.ReadResourceResult, error) {
	data, err := sk.src.read(path.Join(sk.dir, f.path), f.size)
	if err == nil && sha256.Sum256(data) != f.sum {
		err = errDigest
	}
	if err != nil {
		s.log.WarnContext(ctx, "skill file differs from its digest", "file", sk.src.place(path.Join(sk.dir, f.path)), "reason", err)
		return nil, protocol.Errorf(protocol.CodeInternal,
			"this file of the skill %s is not what it was when the server started, so it has no valid digest: the server must be started again to serve it", sk.name)
	}
	part := protocol.ResourceContents{URI: uri, MIMEType: f.mime}
	if f.text {
		part.Text = string(data)
	} else {
		part.Blob = data
	}
	return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{part}}, nil
}

var errDigest = errors.New("the content was changed")

// complete completes the path of a file, in the form that it has in a URI.
func (s *skill) complete(_ context.Context, _ *registry.Call, value string, _ map[string]string) (*protocol.Completion, error) {
	c := &protocol.Completion{Values: []string{}}
	for _, f := range s.files {
		p := strings.TrimPrefix(encodeURI(f.path), scheme)
		if f.path == manifestName || !strings.HasPrefix(p, value) {
			continue
		}
		if c.Total++; c.Total <= protocol.MaxCompletionValues {
			c.Values = append(c.Values, p)
		}
	}
	c.More = c.Total > len(c.Values)
	return c, nil
}
