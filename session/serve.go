package session

import (
	"context"

	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/notify"
	"cloudg.dev/cloudg/policy"
)

// Serve serves one peer over a stream, until the stream or ctx ends; see
// [jsonrpc.Conn.Run]. Of the options, Decoder.Methods and Ordered are the
// server's.
func (s *Server) Serve(ctx context.Context, stream jsonrpc.Stream, p *policy.Principal, o *jsonrpc.Options) error {
	var opts jsonrpc.Options
	if o != nil {
		opts = *o
	}
	opts.Decoder.Methods = s.names
	opts.Ordered = s.Ordered
	if opts.Logger == nil {
		opts.Logger = s.log
	}
	return jsonrpc.NewConn(stream, s.NewSession(p), &opts).Run(ctx)
}

// Announce returns a function for [registry.Options] that tells a hub of the
// changes of a registry.
func Announce(hub *notify.Hub) func(policy.Kind) {
	return func(kind policy.Kind) {
		switch kind {
		case policy.Tool:
			hub.Publish(notify.Event{Kind: notify.ToolsChanged})
		case policy.Prompt:
			hub.Publish(notify.Event{Kind: notify.PromptsChanged})
		default:
			hub.Publish(notify.Event{Kind: notify.ResourcesChanged})
		}
	}
}
