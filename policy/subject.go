package policy

import (
	"fmt"
	"strings"
)

// Kind is what a [Subject] is.
type Kind uint8

// The kinds of primitive that a server offers.
const (
	Tool Kind = iota + 1
	Resource
	ResourceTemplate
	Prompt
)

// String returns the name of the kind: tool, resource, resource_template or
// prompt.
func (k Kind) String() string {
	switch k {
	case Tool:
		return "tool"
	case Resource:
		return "resource"
	case ResourceTemplate:
		return "resource_template"
	case Prompt:
		return "prompt"
	}
	return "unknown"
}

// A Subject is what a decision is about: one primitive and what its author says
// of it.
type Subject struct {
	Kind         Kind
	Name         string // tool or prompt name, URI, or URI template
	Category     string
	Tags         []string
	Sensitivity  Sensitivity
	Capabilities Capabilities
}

// Sensitivity says how much harm the disclosure of what a primitive returns can
// do. The zero value means that its author did not say.
type Sensitivity uint8

// The levels of sensitivity, lowest first.
const (
	Unrated Sensitivity = iota
	Public
	Internal
	Confidential
	Restricted
)

// Sensitivities returns the names of the levels, lowest first.
func Sensitivities() []string { return []string{"public", "internal", "confidential", "restricted"} }

// ParseSensitivity returns the level called s.
func ParseSensitivity(s string) (Sensitivity, error) {
	for i, name := range Sensitivities() {
		if s == name {
			return Sensitivity(i + 1), nil
		}
	}
	return Unrated, fmt.Errorf("unknown sensitivity %q: want one of %s", s, strings.Join(Sensitivities(), ", "))
}

// String returns the name of the level.
func (s Sensitivity) String() string {
	if s == Unrated || s > Restricted {
		return "unrated"
	}
	return Sensitivities()[s-1]
}

// Capabilities is a set of things that a primitive can do to the world around
// it.
type Capabilities uint8

// The capabilities that a primitive may declare.
const (
	ReadState  Capabilities = 1 << iota // reads state of the host or the server
	WriteState                          // changes such state
	ReadFS                              // reads files
	WriteFS                             // writes files
	Network                             // talks to other machines
	Exec                                // runs programs
	Reveal                              // undoes a protection of data
)

// CapabilityNames returns the names of all capabilities, in the order of their
// constants.
func CapabilityNames() []string {
	return []string{"read_state", "write_state", "read_fs", "write_fs", "network", "exec", "reveal"}
}

// ParseCapability returns the capability called s.
func ParseCapability(s string) (Capabilities, error) {
	for i, name := range CapabilityNames() {
		if s == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("unknown capability %q: want one of %s", s, strings.Join(CapabilityNames(), ", "))
}

// Has reports whether c has all of the given capabilities.
func (c Capabilities) Has(all Capabilities) bool { return c&all == all }

// Any reports whether c has one of the given capabilities.
func (c Capabilities) Any(of Capabilities) bool { return c&of != 0 }

// String returns the names of the capabilities in the set, separated by commas.
func (c Capabilities) String() string {
	var names []string
	for i, name := range CapabilityNames() {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
