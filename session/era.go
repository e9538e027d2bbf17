package session

import (
	"strings"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
)

// classify decides which era a request belongs to, checks what that era demands
// of it, and returns the method.
func (x *exchange) classify() (*method, error) {
	c, err := x.readMeta()
	if err != nil {
		return nil, err
	}
	if c.made || x.req.Method == protocol.MethodDiscover {
		return x.classifyStateless(&c)
	}
	return x.classifyHandshake()
}

// claim is what the metadata of a request says for the stateless era, as raw
// JSON. Made means that at least one of its keys is there.
type claim struct {
	made                                  bool
	version, capabilities, info, logLevel []byte
}

// readMeta reads the metadata of the request, once.
func (x *exchange) readMeta() (c claim, err error) {
	raw := x.req.Params.Get("_meta")
	if raw == nil {
		return c, nil
	}
	if raw[0] != '{' {
		return c, invalidParams("_meta must be an object")
	}
	x.Meta = raw
	for o := jsonwire.Members(raw); ; {
		key, value, ok := o.Next()
		if !ok {
			return c, nil
		}
		if err := x.readMetaMember(&c, key, value); err != nil {
			return c, err
		}
	}
}

func (x *exchange) readMetaMember(c *claim, key, value []byte) error {
	switch {
	case jsonwire.EqualString(key, protocol.MetaProtocolVersion):
		c.made = true
		return once(&c.version, value, protocol.MetaProtocolVersion)
	case jsonwire.EqualString(key, protocol.MetaClientCapabilities):
		c.made = true
		return once(&c.capabilities, value, protocol.MetaClientCapabilities)
	case jsonwire.EqualString(key, protocol.MetaClientInfo):
		c.made = true
		return once(&c.info, value, protocol.MetaClientInfo)
	case jsonwire.EqualString(key, protocol.MetaLogLevel):
		return once(&c.logLevel, value, protocol.MetaLogLevel)
	case jsonwire.EqualString(key, protocol.MetaProgressToken):
		if x.progress != nil {
			return invalidParams("_meta has %q twice", protocol.MetaProgressToken)
		}
		if !isToken(value) {
			return invalidParams("_meta.progressToken must be a string or an integer")
		}
		x.progress = &progress{token: value}
	}
	return nil
}

// once sets a member of the metadata. Of two, others may read the first one or the
// last.
func once(field *[]byte, value []byte, name string) error {
	if *field != nil {
		return malformed("_meta has %q twice", name)
	}
	*field = value
	return nil
}

// isToken reports whether a raw value is a string or an integer.
func isToken(raw []byte) bool {
	if raw[0] == '"' {
		return true
	}
	return (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && !strings.ContainsAny(string(raw), ".eE")
}

// classifyStateless checks a request of the stateless era in the order of
// DESIGN.md section 5.
func (x *exchange) classifyStateless(c *claim) (*method, error) {
	if len(c.version) == 0 || c.version[0] != '"' {
		return nil, malformed("_meta must have %q, a string, in every request of this protocol version", protocol.MetaProtocolVersion)
	}
	if len(c.capabilities) == 0 || c.capabilities[0] != '{' {
		return nil, malformed("_meta must have %q, an object, in every request of this protocol version", protocol.MetaClientCapabilities)
	}
	if err := x.checkHeaders(c.version); err != nil {
		return nil, err
	}
	v := protocol.ParseVersion(jsonwire.Unquote(c.version))
	if !v.Stateless() {
		return nil, unsupportedVersion(c.version)
	}
	m := x.server.method(x.req.Method)
	x.Version = v
	if m == nil || !m.has(v) {
		return nil, x.unknownMethod()
	}
	if c.logLevel != nil {
		x.logLevel = protocol.LogNone
		if c.logLevel[0] == '"' {
			x.logLevel = protocol.ParseLogLevel(jsonwire.Unquote(c.logLevel))
		}
		if x.logLevel == protocol.LogNone {
			return nil, malformed("_meta has an unknown log level: want one of %s", strings.Join(protocol.LogLevels(), ", "))
		}
	}
	return m, nil
}

// unsupportedVersion refuses a version that a request claims. The revisions
// with a handshake cannot be claimed by a request, so they are not listed as
// supported, but the text names them.
func unsupportedVersion(requested []byte) error {
	e := protocol.Errorf(protocol.CodeUnsupportedVersion, "Unsupported protocol version: a request can claim %s; %s are negotiated by initialize",
		strings.Join(protocol.StatelessVersions(), ", "), strings.Join(protocol.HandshakeVersions(), ", "))
	e.Status = 400
	e.Data = append(e.Data, `{"supported":`...)
	e.Data = protocol.AppendStrings(e.Data, protocol.StatelessVersions())
	e.Data = append(e.Data, `,"requested":`...)
	e.Data = append(append(e.Data, requested...), '}')
	return e
}

// classifyHandshake checks a request of the handshake era.
func (x *exchange) classifyHandshake() (*method, error) {
	m := x.server.method(x.req.Method)
	negotiated, level := x.session.terms()
	switch {
	case m != nil && x.req.Method == protocol.MethodInitialize:
		if negotiated != protocol.Unknown {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "initialize was answered already: this session speaks %s", negotiated)
		}
		return m, nil
	case negotiated == protocol.Unknown && x.req.Method == protocol.MethodPing:
		return m, nil
	case negotiated == protocol.Unknown:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest,
			"the session has not begun: send initialize first (%s), or the metadata of %s with every request",
			strings.Join(protocol.HandshakeVersions(), ", "), strings.Join(protocol.StatelessVersions(), ", "))
	}
	x.Version = negotiated
	if m == nil || !m.has(negotiated) {
		return nil, x.unknownMethod()
	}
	x.logLevel = level
	return m, nil
}

// maxEcho bounds what is repeated of a peer's text in an error or in the log.
const maxEcho = 100

// brief cuts a text of the peer's for that.
func brief(text string) string {
	if len(text) <= maxEcho {
		return text
	}
	return strings.ToValidUTF8(text[:maxEcho], "") + "…"
}

// unknownMethod refuses a method that the version does not have. In the
// stateless era HTTP says so as well.
func (x *exchange) unknownMethod() error {
	e := protocol.Errorf(protocol.CodeMethodNotFound, "Method not found: %s", brief(x.req.Method))
	if x.Version.Stateless() {
		e.Status = 404
	}
	return e
}

// malformed refuses a request whose metadata the stateless era does not allow.
func malformed(format string, args ...any) error {
	e := protocol.Errorf(protocol.CodeInvalidParams, format, args...)
	e.Status = 400
	return e
}

func invalidParams(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalidParams, format, args...)
}
