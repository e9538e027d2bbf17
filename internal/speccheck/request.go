package speccheck

import (
	"errors"
	"fmt"

	"cloudg.dev/cloudg/protocol"
)

// requestLocked judges a request of the server: there is a handshake session, it
// is ready, and the client can do what it is asked.
func (c *Checker) requestLocked(raw []byte, m object) error {
	method, id := text(m["method"]), string(m["id"])
	var name, ability string
	switch method {
	case protocol.MethodPing:
		name = "PingRequest"
	case protocol.MethodElicit:
		name, ability = "ElicitRequest", "elicitation"
	case protocol.MethodSample:
		name, ability = "CreateMessageRequest", "sampling"
	case protocol.MethodRootsList:
		name, ability = "ListRootsRequest", "roots"
	default:
		return fmt.Errorf("request %q, which no server sends", method)
	}
	switch {
	case c.negotiated == protocol.Unknown:
		return errors.New("a request of the server without a handshake")
	case c.asked[id]:
		return fmt.Errorf("the server uses the id %s again", id)
	case ability != "" && !c.ready:
		return fmt.Errorf("%s before the session is ready", method)
	case ability != "" && c.abilities[ability] == nil:
		return fmt.Errorf("%s although the client did not declare %s", method, ability)
	}
	c.asked[id] = true
	if err := c.spec.Validate(c.negotiated, "JSONRPCRequest", raw); err != nil {
		return err
	}
	return c.spec.Validate(c.negotiated, name, raw)
}

// cancelledLocked judges a cancellation of the server: of one of its requests.
func (c *Checker) cancelledLocked(params object) error {
	if id := string(params["requestId"]); !c.asked[id] {
		return fmt.Errorf("the server cancels %s, which is not its own", id)
	}
	return nil
}
