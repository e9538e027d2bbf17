package policy

import "slices"

// RoleDefault is a role that every principal has.
const RoleDefault string = "default"

// A Principal is who sends a request, as the transport established it. Nothing
// that a client says about itself goes into it. A principal is not changed
// after it was made.
type Principal struct {
	ID    string
	Roles []string // sorted, no duplicates, RoleDefault included
}

// NewPrincipal returns a principal with the given roles and [RoleDefault].
func NewPrincipal(id string, roles ...string) *Principal {
	roles = append(slices.Clone(roles), RoleDefault)
	slices.Sort(roles)
	return &Principal{ID: id, Roles: slices.Compact(roles)}
}

// Local returns the principal of a client that started this process and speaks
// to it over its standard streams.
func Local() *Principal { return NewPrincipal("local", "local") }

// HasRole reports whether the principal has the role.
func (p *Principal) HasRole(role string) bool {
	_, ok := slices.BinarySearch(p.Roles, role)
	return ok
}
