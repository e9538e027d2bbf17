package layer

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unicode/utf8"

	"cloudg.dev/cloudg/internal/jsonwire"
	"cloudg.dev/cloudg/protocol"
	"cloudg.dev/cloudg/registry"
)

var errTimeout = errors.New("the time for the call is over")

// maxEcho bounds what is repeated of a name or a URI in an error.
const maxEcho = 200

// maxURI bounds the URI that is repeated in the data of an error.
const maxURI = 8 << 10

// echo shortens a text that a client sent for use in an error.
func echo(s string) string {
	if len(s) <= maxEcho {
		return s
	}
	n := maxEcho
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func unknown(what, name string) error {
	return protocol.Errorf(protocol.CodeInvalidParams, "Unknown %s: %s", what, echo(name))
}

// notFound is the one answer for a resource that does not exist, that is
// hidden, or that its handler does not have.
func notFound(v protocol.Version, uri string) error {
	e := protocol.Errorf(v.ResourceNotFound(), "Resource not found: %s", echo(uri))
	if len(uri) <= maxURI {
		e.Data = append(jsonwire.AppendQuote([]byte(`{"uri":`), uri), '}')
	}
	return e
}

func invalidParams(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalidParams, format, args...)
}

// A PanicError is a panic of a handler.
type PanicError struct {
	Value any
	stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// StackTrace returns the stack of the goroutine that panicked.
func (e *PanicError) StackTrace() []byte { return e.stack }

// recovered turns a panic into an error; it is deferred.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, stack: debug.Stack()}
	}
}

// failure returns the failure that a handler reported on purpose, or nil.
func failure(err error) *registry.Failure {
	var f *registry.Failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// missingAbility returns the error for the peer if a handler needs what the
// client cannot do, or nil. The stateless era has a code for that.
func missingAbility(inv *Invocation, err error) error {
	abilities := missingAbilities(err)
	if abilities == 0 {
		return nil
	}
	if !inv.Call.Version.Stateless() {
		return invalidParams("%v", &registry.MissingAbilityError{Missing: abilities})
	}
	return MissingCapability(abilities)
}

// MissingCapability returns the error of the stateless era for a client that did
// not declare what it must.
func MissingCapability(a registry.Ability) *protocol.Error {
	e := protocol.Errorf(protocol.CodeMissingCapability, "The client must declare %s for this", a)
	e.Data = append(a.AppendCapabilities([]byte(`{"requiredCapabilities":`)), '}')
	e.Status = 400
	return e
}

// missingAbilities returns all abilities that an error says are missing; a
// handler may have joined several such errors.
func missingAbilities(err error) (a registry.Ability) {
	switch e := err.(type) {
	case *registry.MissingAbilityError:
		return e.Missing
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			a |= missingAbilities(joined)
		}
	case interface{ Unwrap() error }:
		return missingAbilities(e.Unwrap())
	}
	return a
}
