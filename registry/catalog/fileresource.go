package catalog

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
	"cloudg.dev/cloudg/registry/catalog/files"
)

// addFileTemplate registers the files as resources.
func (c *Catalog) addFileTemplate(r *registrar) {
	r.template(registry.Template{
		URITemplate: "file:///{+path}", Name: "file", Title: "File",
		Description: "A file below an allowed directory, by its absolute path: text if it is UTF-8, bytes otherwise. A directory gives the URIs of what is in it. " +
			"A file may have at most 10 MiB; the tool read_file reads larger ones in parts, and those whose name has a percent sign before two hexadecimal digits.",
		Category: CategoryFiles, Sensitivity: policy.Confidential, Capabilities: policy.ReadFS,
		Handler:  c.readResource,
		Complete: map[string]registry.Completer{"path": c.completeURI},
	})
}

// readResource reads a file by its URI. All that is not there to be read gets
// one answer, so that nothing outside the roots can be told from nothing.
func (c *Catalog) readResource(ctx context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
	got, err := c.files.ReadURI(ctx, call.URI)
	switch {
	case errors.Is(err, files.ErrNotFound), errors.Is(err, files.ErrOutside), errors.Is(err, files.ErrKind), errors.Is(err, files.ErrInvalid):
		return nil, registry.ErrNotFound
	case err != nil:
		return nil, failure(err)
	}
	part := protocol.ResourceContents{URI: call.URI, MIMEType: got.MimeType, Text: got.Text}
	if !got.IsText {
		part.Blob = got.Data
	}
	return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{part}}, nil
}

// completeURI completes the variable path of the template, which is an absolute
// path without the slash at its start, encoded as it is in a URI.
func (c *Catalog) completeURI(ctx context.Context, _ *registry.Call, value string, _ map[string]string) (*protocol.Completion, error) {
	typed, err := url.PathUnescape(value)
	if err != nil {
		typed = value // somebody types a name that has a percent sign
	}
	prefix := "/" + typed
	if filepath.VolumeName(typed) != "" {
		prefix = typed // Windows
	}
	paths, more, err := c.files.CompletePath(ctx, prefix, protocol.MaxCompletionValues)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		u := url.URL{Path: "/" + strings.TrimPrefix(p, "/")}
		paths[i] = u.EscapedPath()[1:]
	}
	return &protocol.Completion{Values: paths, More: more}, nil
}

// completePath completes an argument that is a path as the tools take it.
func (c *Catalog) completePath(ctx context.Context, _ *registry.Call, value string, _ map[string]string) (*protocol.Completion, error) {
	paths, more, err := c.files.CompletePath(ctx, value, protocol.MaxCompletionValues)
	if err != nil {
		return nil, err
	}
	return &protocol.Completion{Values: paths, More: more}, nil
}
