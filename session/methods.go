package session

import (
	"cloudg.dev/cloudg/policy"
	"cloudg.dev/cloudg/protocol"
)

// method is one line of the method table. A version outside first and last does
// not have the method.
type method struct {
	name        string
	first, last protocol.Version
	handle      func(x *exchange, dst []byte) ([]byte, error)
}

// has reports whether the method is part of the version.
func (m *method) has(v protocol.Version) bool { return m.first <= v && v <= m.last }

// methodTable lists the requests that are served.
func methodTable() []method {
	const (
		first     = protocol.V20241105
		handshake = protocol.LatestHandshake
		stateless = protocol.LatestStateless
	)
	return []method{
		{protocol.MethodInitialize, first, handshake, (*exchange).initialize},
		{protocol.MethodPing, first, handshake, (*exchange).ping},
		{protocol.MethodDiscover, stateless, stateless, (*exchange).discover},
		{protocol.MethodToolsList, first, stateless, lister(policy.Tool)},
		{protocol.MethodToolsCall, first, stateless, (*exchange).callTool},
		{protocol.MethodResourcesList, first, stateless, lister(policy.Resource)},
		{protocol.MethodResourcesTemplatesList, first, stateless, lister(policy.ResourceTemplate)},
		{protocol.MethodResourcesRead, first, stateless, (*exchange).readResource},
		{protocol.MethodResourcesSubscribe, first, handshake, (*exchange).subscribe},
		{protocol.MethodResourcesUnsubscribe, first, handshake, (*exchange).unsubscribe},
		{protocol.MethodPromptsList, first, stateless, lister(policy.Prompt)},
		{protocol.MethodPromptsGet, first, stateless, (*exchange).getPrompt},
		{protocol.MethodComplete, first, stateless, (*exchange).complete},
		{protocol.MethodSetLevel, first, handshake, (*exchange).setLevel},
		{protocol.MethodListen, stateless, stateless, (*exchange).listen},
		{protocol.MethodTasksGet, stateless, stateless, (*exchange).getTask},
		{protocol.MethodTasksUpdate, stateless, stateless, (*exchange).updateTask},
		{protocol.MethodTasksCancel, stateless, stateless, (*exchange).cancelTask},
	}
}

// method returns the method called name, or nil. Most calls are of one.
func (s *Server) method(name string) *method {
	if name == protocol.MethodToolsCall {
		return s.toolsCall
	}
	return s.methods[name]
}
