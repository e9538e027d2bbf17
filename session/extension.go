package session

import (
	"context"
	"fmt"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/jsonrpc"
	"cloudg.dev/cloudg/layer"
	"cloudg.dev/cloudg/protocol"
)

// Extension is something that a server offers beyond the protocol. It is
// declared to clients under its id, with its settings.
type Extension struct {
	ID        string // with a prefix, such as io.modelcontextprotocol/skills
	Settings  []byte // raw JSON object; nil: none
	Handshake bool   // declared and served in handshake sessions as well
	Methods   []ExtensionMethod
}

// ExtensionMethod is a request that an extension adds.
type ExtensionMethod struct {
	Name string
	// Handle appends the members of the result to dst, the first one without a
	// comma before it, at least one.
	Handle func(ctx context.Context, r *layer.Request, params *jsonrpc.Params, dst []byte) ([]byte, error)
	// Cacheable results say how long a client may keep them.
	Cacheable bool
}

// addExtensions adds the methods of extensions to the table.
func (s *Server) addExtensions(list []Extension) error {
	for _, e := range list {
		if len(e.Settings) > 0 {
			if err := jsonwire.Valid(e.Settings, 0); err != nil || e.Settings[0] != '{' {
				return fmt.Errorf("extension %q: the settings must be a JSON object", e.ID)
			}
		}
		first := protocol.LatestStateless
		if e.Handshake {
			first = protocol.V20241105
		}
		for _, m := range e.Methods {
			if s.methods[m.Name] != nil {
				return fmt.Errorf("extension %q: the method %q is there already", e.ID, m.Name)
			}
			s.methods[m.Name] = &method{m.Name, first, protocol.LatestStateless, extended(m)}
			s.names[m.Name] = m.Name
		}
	}
	s.extensions = list
	return nil
}

// extended returns the handler of an extension's method.
func extended(m ExtensionMethod) func(*exchange, []byte) ([]byte, error) {
	return func(x *exchange, dst []byte) ([]byte, error) {
		dst, err := m.Handle(x.ctx, &x.Request, &x.req.Params, x.open(dst))
		if err != nil {
			return dst, err
		}
		if m.Cacheable {
			dst = x.appendCaching(dst, x.server.layer.Private())
		}
		return x.close(dst, nil), nil
	}
}

// appendExtensions appends the extensions that a client of the version is told
// of, as a member of the capabilities.
func (s *Server) appendExtensions(dst []byte, v protocol.Version) []byte {
	first := true
	for _, e := range s.declared() {
		if v.HasHandshake() && !e.Handshake {
			continue
		}
		if first {
			dst = append(dst, `,"extensions":{`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonwire.AppendQuote(dst, e.ID), ':')
		if len(e.Settings) == 0 {
			dst = append(dst, "{}"...)
		} else {
			dst = jsonwire.AppendLine(dst, e.Settings)
		}
	}
	if first {
		return dst
	}
	return append(dst, '}')
}
