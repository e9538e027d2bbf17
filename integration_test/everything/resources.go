package main

import (
	"context"
	"fmt"
	"strings"

	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

const watchedURI = "test://watched-resource"

// one returns a handler for a resource that never changes.
func one(c protocol.ResourceContents) registry.ResourceHandler {
	return func(_ context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
		c := c
		c.URI = call.URI
		return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{c}}, nil
	}
}

func plain(text string) registry.ResourceHandler {
	return one(protocol.ResourceContents{MIMEType: "text/plain", Text: text})
}

// benchText is 1 KiB of text.
func benchText() registry.Resource {
	const line = "The quick brown fox jumps over the lazy dog, again and again. \n"
	return registry.Resource{URI: "bench://text", Name: "text", Description: "1 KiB of text.", MIMEType: "text/plain",
		Handler: plain(strings.Repeat(line, 1024/len(line)+1)[:1024])}
}

// resources registers the resources and the template.
func (f *fixtures) resources() error {
	if err := f.reg.AddResource(
		registry.Resource{URI: "test://static-text", Name: "static-text", Description: "A text.", MIMEType: "text/plain",
			Handler: plain("This is the content of the static text resource.")},
		registry.Resource{URI: "test://static-binary", Name: "static-binary", Description: "A picture.", MIMEType: "image/png",
			Handler: one(protocol.ResourceContents{MIMEType: "image/png", Blob: f.png})},
		registry.Resource{URI: watchedURI, Name: "watched-resource", Description: "A resource to subscribe to.", MIMEType: "text/plain",
			Handler: plain("watched")},
		benchText(),
	); err != nil {
		return err
	}
	return f.reg.AddTemplate(registry.Template{
		URITemplate: "test://template/{id}/data", Name: "template-data", Description: "Data by id.", MIMEType: "application/json",
		Handler: func(_ context.Context, call *registry.Call) (*protocol.ReadResourceResult, error) {
			id := call.Var("id")
			return &protocol.ReadResourceResult{Contents: []protocol.ResourceContents{{
				URI: call.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id),
			}}}, nil
		},
		Complete: map[string]registry.Completer{"id": suggest("123", "124", "200")},
	})
}

// suggest completes from a fixed list.
func suggest(values ...string) registry.Completer {
	return func(_ context.Context, _ *registry.Call, value string, _ map[string]string) (*protocol.Completion, error) {
		c := new(protocol.Completion)
		for _, v := range values {
			if strings.HasPrefix(v, value) {
				c.Values = append(c.Values, v)
			}
		}
		c.Total = len(c.Values)
		return c, nil
	}
}
